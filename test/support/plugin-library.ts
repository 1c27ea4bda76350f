// Plugins in the style of libraries that insurers share: methods added permanently to arrays, classes with private fields,
// numbers parsed from text, undeclared names. They rate, prorate, plan installments and consolidate documents for the plain
// product.
import type { ArchiveFiles } from './examples.ts'
import { plainFiles } from './plain-product.ts'

const POLICY = 'products/plain/policy/policy.json'

const SCRIPTS = {
  'lib/utils/arrays.js': `
const add = (name, value) => { if (!Array.prototype[name]) { Object.defineProperty(Array.prototype, name, { value }) } }
add('toMap', function (keyOf, valueOf = x => x) { return new Map(this.map(one => [keyOf(one), valueOf(one)])) })
add('groupBy', function (keyOf) {
  const groups = new Map()
  for (const one of this) { const key = keyOf(one); groups.has(key) ? groups.get(key).push(one) : groups.set(key, [one]) }
  return groups
})
add('sum', function (of = x => x) { return this.reduce((all, one) => all + of(one), 0) })
add('max', function (of = x => x) { return this.reduce((most, one) => Math.max(of(one), most), -Infinity) })
add('last', function () { return this[this.length - 1] })`,
  'lib/PolicyContext.js': `
require('./utils/arrays.js')
class PolicyContext {
  #policy
  #perilChars
  constructor(policy) { this.#policy = policy }
  exposureChars(locator) { return this.#policy.exposures.flatMap(e => e.characteristics).find(c => c.locator == locator) }
  perilChars(locator) {
    this.#perilChars = this.#perilChars || this.#policy.exposures.flatMap(e => e.perils).flatMap(p => p.characteristics).toMap(c => c.locator)
    return this.#perilChars.get(locator)
  }
}
exports.PolicyContext = PolicyContext`,
  'main/options.js': `
const options = { moneyUnitName: 'cents' }
options.roundMoney = amount => Math.round(amount * 100) / 100
module.exports = { options }`,
  'main/rater.js': `
const { PolicyContext } = require('../lib/PolicyContext.js')
const { roundMoney } = require('./options').options
const global = globalThis
function getPerilRates(data) {
  const context = new PolicyContext(data.policy)
  let ret = { pricedPerilCharacteristics: {} }
  for (pep of data.policyExposurePerils) {
    const values = context.exposureChars(pep.exposureCharacteristicsLocator).fieldValues
    ret.pricedPerilCharacteristics[pep.perilCharacteristicsLocator] = { yearlyPremium: '' + roundMoney(values.yearly) }
  }
  if (!global?.debug) socotraApi.setAuxData(data.policy.locator, 'rated', JSON.stringify({ currency: data.policy.currency, quote: data.policy.quoteLocator }))
  return ret
}
exports.getPerilRates = getPerilRates`,
  'main/prorater.js': `
const { roundMoney } = require('./options.js').options
class Prorater {
  VERSION = '1.2'
  constructor(data) { this.data = data }
  getProratedAmounts() {
    const split = parseInt(this.data.segmentSplitTimestamp)
    return { items: this.data.items.map(item => {
      const [start, end] = [parseInt(item.segmentStartTimestamp), parseInt(item.segmentEndTimestamp)]
      // Some covers are earned at once.
      const share = item.fieldValues.earned == 'at once' ? 1 : (split - start) / (end - start)
      return { id: item.id, proratedAmount: roundMoney(share * parseFloat(item.amount)), holdbackAmount: 0 }
    }) }
  }
}
exports.getProrationResult = data => (new Prorater(data)).getProratedAmounts()`,
  'main/installments.js': `
require('../lib/utils/arrays.js')
const { roundMoney } = require('./options.js').options
function createInstallments(data) {
  socotraApi.setAuxData(data.policy.locator, 'billed', data.policy.quoteLocator)
  socotraApi.setAuxData(data.policy.locator, 'schedules', data.oldPaymentScheduleName + ' to ' + data.paymentScheduleName)
  const terms = data.policy.modifications.filter(m => m.name === 'modification.policy.create').map(m => parseInt(m.effectiveTimestamp))
  const end = Math.max(parseInt(data.policy.effectiveContractEndTimestamp), data.charges.max(c => parseInt(c.coverageEndTimestamp)))
  let installments = []
  for (let cursor = new Date(terms[0]); cursor.getTime() < end;) {
    const startTimestamp = cursor.getTime()
    cursor.setUTCMonth(cursor.getUTCMonth() + 1)
    installments.push({ startTimestamp, endTimestamp: Math.min(cursor.getTime(), end), issueTimestamp: startTimestamp,
      dueTimestamp: startTimestamp + 86399999, invoiceItems: [], installmentFees: [], writeOff: false })
  }
  for (const charge of data.charges) {
    const amount = parseFloat(charge.amount)
    const [from, until] = [parseInt(charge.coverageStartTimestamp), parseInt(charge.coverageEndTimestamp)]
    const own = installments.filter(i => i.startTimestamp < until && i.endTimestamp > from)
    const parts = own.map(() => roundMoney(amount / own.length))
    parts[parts.length - 1] = roundMoney(parts.last() + amount - parts.sum())
    own.forEach((i, at) => { if (parts[at]) i.invoiceItems.push({ chargeId: charge.chargeId, amount: parts[at] }) })
  }
  for (const i of installments)
    i.invoiceItems = Array.from(i.invoiceItems.groupBy(item => item.chargeId).values()).map(items => ({ chargeId: items[0].chargeId, amount: items.sum(item => item.amount) }))
  // What was billed already is left, so that an endorsement has an item on its first installment.
  if (data.operation === 'endorsement' && installments[0].invoiceItems.length === 0)
    installments[0].invoiceItems = [{ chargeId: data.charges[0].chargeId, amount: 0 }]
  return { installments: installments.filter(i => i.invoiceItems.length > 0) }
}
exports.createInstallments = createInstallments`,
  'main/postIssuance.js': `
const DEFAULT_OPTIONS = { fileName: 'consolidated.pdf', deleteSourceDocuments: true, strategy: data => data.documents.map(d => d.locator) }
class Consolidator {
  constructor(data, options = {}) { this.data = data; this.options = Object.assign({}, DEFAULT_OPTIONS, options) }
  getPostIssuanceResult() {
    return { documentConsolidations: [{ displayName: 'Consolidated Document', documentLocators: this.options.strategy(this.data),
      fileName: this.options.fileName, deleteSourceDocuments: this.options.deleteSourceDocuments }] }
  }
}
module.exports = { getPostIssuanceResult: data => (new Consolidator(data)).getPostIssuanceResult() }`,
  'main/dataAutofill.js': `
function getDataAutofill(data) {
  const locator = data.policyLocator || data.policyholderLocator
  const asked = socotraApi.getAuxData(locator, 'note')
  if (!asked) return {}
  socotraApi.deleteAuxData(locator, 'note')
  return { fieldValues: { note: asked } }
}
module.exports = { getDataAutofill }`,
}

/** The plugin functions, each with the name of its file. */
const PLUGINS = {
  getPerilRates: 'rater',
  getProrationResult: 'prorater',
  createInstallments: 'installments',
  getPostIssuanceResult: 'postIssuance',
  getDataAutofill: 'dataAutofill',
}

export function pluginLibraryFiles(): ArchiveFiles {
  const files = plainFiles({
    timezone: 'UTC',
    paymentSchedules: [{ type: 'monthly', name: 'monthly', displayName: 'Monthly' }],
  })
  const plugins = Object.entries(PLUGINS).map(([name, file]) => [
    name,
    { path: `main/${file}.js`, enabled: true },
  ])
  const peril = 'products/plain/policy/exposures/thing/perils/cover.json'
  return {
    ...files,
    [peril]: JSON.stringify({
      name: 'cover',
      fields: [{ name: 'earned', type: 'string', optional: true, informational: true }],
    }),
    ...Object.fromEntries(Object.entries(SCRIPTS).map(([path, script]) => [`scripts/${path}`, script])),
    [POLICY]: JSON.stringify({
      ...JSON.parse(files[POLICY] as string),
      plugins: Object.fromEntries(plugins),
    }),
  }
}
