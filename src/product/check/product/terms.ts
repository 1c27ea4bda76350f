// Terms of a product: fees, taxes, payment, lapse, endorsements, renewals, cancellations.
import { decimal, LARGEST_MINOR } from '../../../kernel/money.ts'
import type {
  CancellationType,
  DocumentDefinition,
  EndorsementType,
  FeeDefinition,
  HoldbackTerms,
  ProductDefinition,
  TaxDefinition,
  TemplateSource,
} from '../../configuration.ts'
import type { Archive } from '../archive.ts'
import {
  cancellationsFile,
  endorsementsFile,
  feesFile,
  type PolicyFile,
  renewalsFile,
  taxesFile,
} from '../files.ts'
import { type Decoded, decodeFile } from '../json/decode.ts'
import { definedEntries, displayNameOf } from '../json/scalars.ts'
import { checkUniqueNames, type ValueReport } from '../report.ts'
import { compileDocuments, type TemplateNames } from './documents.ts'
import { checkSets } from './templates.ts'

/** Compiles fees.json, in the order of the file. Without the file there are no fees. Repeated names are reported, and kept. */
export function compileFees(path: string, archive: Archive): FeeDefinition[] {
  const decoded = decodeFile(archive.take(path), feesFile, archive.report)
  if (decoded === undefined) return []
  const list = definedEntries(decoded.value.fees)
  checkUniqueNames(list, 'fee', decoded.report.at('fees'))
  return list.map(([, { name, displayName, proration }]) => ({
    name,
    displayName: displayNameOf(name, displayName),
    proration,
  }))
}

/** Compiles the taxes. Every tax needs a script, because no plugin computes taxes. */
export function compileTaxes(
  folder: string,
  archive: Archive,
  script: (path: string) => TemplateSource | undefined,
): TaxDefinition[] {
  const decoded = decodeFile(archive.take(`${folder}/taxes.json`), taxesFile, archive.report)
  const isBroken = archive.report.hasBrokenJson(`${folder}/taxes.json`)
  const list = definedEntries(decoded?.value.taxes)
  const taxes = list.map(([index, { name, displayName }]): TaxDefinition => {
    const premium = script(`${folder}/${name}.premium.liquid`)
    const missing = `The tax '${name}' has no script. Add taxes/${name}.premium.liquid, or remove the tax.`
    if (premium === undefined) decoded!.report.at('taxes', index).error('missingTaxScript', missing)
    else checkSets(premium, 'tax', archive.report)
    return {
      name,
      displayName: displayNameOf(name, displayName),
      ...(premium !== undefined && { premium }),
    }
  })
  if (decoded !== undefined) checkUniqueNames(list, 'tax', decoded.report.at('taxes'))
  const names = taxes.map(tax => tax.name)
  for (const fileName of archive.namesIn(folder)) {
    const stem = /^(.*)\.premium\.liquid$/.exec(fileName)?.[1]
    if (stem === undefined || names.some(name => name.normalize('NFC') === stem)) continue
    const path = `${folder}/${fileName}`
    archive.take(path)
    if (isBroken) continue
    const message = `There is no tax '${stem}'. Add it to taxes.json, or remove the script.${archive.report.suggestion(stem, names)}`
    archive.report.at({ path }).warning('orphanScript', message)
  }
  return taxes
}

/** The reference platform treated 30/360 and calendar months identically (brief 1.7). */
const prorations = { '30E360': 'monthly', actual: 'monthly', actualMilliseconds: 'linear' } as const

/** Can be represented in every currency, because none has more than four decimal places. */
const LARGEST_AMOUNT = LARGEST_MINOR / 10_000

const isAmount = (given: string): boolean => decimal(given).gte(0) && decimal(given).lte(LARGEST_AMOUNT)

/** Payment, lapse and reminder terms of policy.json, with their defaults. */
export function compileTerms(policy: Decoded<PolicyFile>) {
  const { defaultPaymentTerms, lapse, invoicing, cancellations } = policy.value
  const { carryForwardBelow: least } = invoicing
  const message = `'invoicing.carryForwardBelow' is ${least}; it must be from 0 to ${LARGEST_AMOUNT}. Correct the amount.`
  if (least !== undefined && !isAmount(least))
    policy.report.at('invoicing', 'carryForwardBelow').error('badBounds', message)
  return {
    paymentSchedules: paymentSchedules(policy),
    defaultPaymentTerms,
    lapse,
    invoicing,
    legacyCancellationProration: prorations[cancellations.proration],
    endReminders: endReminders(policy),
  }
}

function paymentSchedules({ value, report }: Decoded<PolicyFile>): ProductDefinition['paymentSchedules'] {
  const list = definedEntries(value.paymentSchedules).map(([index, { type, name = type, displayName }]) => {
    const schedule = { type, name, displayName: displayNameOf(name, displayName) }
    return [index, schedule] as const
  })
  checkUniqueNames(list, 'payment schedule', report.at('paymentSchedules'))
  const message =
    "'paymentSchedules' is empty, so the product has one schedule, 'upfront', of type total. List the schedules, or leave the property out."
  if (value.paymentSchedules?.length === 0)
    report.at('paymentSchedules').warning('noPaymentSchedules', message)
  if (list.length === 0) return [{ type: 'total', name: 'upfront', displayName: 'Upfront' }]
  return list.map(([, schedule]) => schedule)
}

const DAYS = { d: 1, w: 7 } as const

function endReminders({ value, report }: Decoded<PolicyFile>): ProductDefinition['endReminders'] {
  const reminders: ProductDefinition['endReminders'] = []
  const addReminder = (reminder: (typeof reminders)[number], own: ValueReport): void => {
    const { name } = reminder
    const message = `Another reminder also has the name '${name}', but each reminder of a policy needs its own. Rename or remove one of them.`
    if (reminders.some(one => one.name === name)) own.at('name').error('duplicateName', message)
    reminders.push(reminder)
  }
  for (const [index, reminder] of definedEntries(value.endReminders))
    addReminder(reminder, report.at('endReminders', index))
  for (const [index, { name, enabled, offset }] of definedEntries(value.reminders)) {
    const [, count, unit] = /^-\s*(\d{1,4})\s*([dw])$/i.exec(offset.trim()) ?? []
    if (unit === undefined) {
      const message = `The reminder '${name}' has the offset '${offset}'. Write the days or weeks before the end like '-7d' or '-2w'.`
      report.at('reminders', index, 'offset').error('badReminder', message)
    } else if (enabled) {
      const daysBefore = Number(count) * DAYS[unit.toLowerCase() as keyof typeof DAYS]
      addReminder({ name, daysBefore }, report.at('reminders', index))
    }
  }
  return reminders
}

/** Defaults for documents of endorsements, renewals (brief 5.1) and reinstatements (brief 1.6). */
const WHEN_ACCEPTED = ['transaction', 'accept'] as const

/**
 * Compiles endorsements.json, in the order of the file. Without the file there are none. Repeated names are reported, and kept.
 * `templates` are those that documents may name.
 */
export function compileEndorsements(
  path: string,
  archive: Archive,
  templates: TemplateNames,
): EndorsementType[] {
  const decoded = decodeFile(archive.take(path), endorsementsFile, archive.report)
  if (decoded === undefined) return []
  const report = decoded.report.at('endorsements')
  const list = definedEntries(decoded.value.endorsements)
  checkUniqueNames(list, 'endorsement', report)
  return list.map(([index, { name, displayName, reprice, documents }]) => ({
    name,
    displayName: displayNameOf(name, displayName),
    reprice,
    documents: compileDocuments(documents, templates, report.at(index, 'documents'), ...WHEN_ACCEPTED),
  }))
}

/** Compiles renewals.json. Without the file, renewals use the product's documents (brief 5.1). */
export function compileRenewals(
  path: string,
  archive: Archive,
  templates: TemplateNames,
  ofProduct: () => DocumentDefinition[],
): { documents: DocumentDefinition[] } {
  const file = archive.take(path)
  if (!file) return { documents: ofProduct() }
  const decoded = decodeFile(file, renewalsFile, archive.report)
  if (decoded === undefined) return { documents: [] }
  const { value, report } = decoded
  return { documents: compileDocuments(value.documents, templates, report.at('documents'), ...WHEN_ACCEPTED) }
}

/** Returns undefined without cancellations.json. The product then cancels the legacy way. */
export function compileCancellations(
  path: string,
  archive: Archive,
  templates: TemplateNames,
): CancellationType[] | undefined {
  const decoded = decodeFile(archive.take(path), cancellationsFile, archive.report)
  if (decoded === undefined) return undefined
  const types = decoded.report.at('cancellationTypes')
  const list = definedEntries(decoded.value.cancellationTypes)
  checkUniqueNames(list, 'cancellation type', types)
  const bare = list.filter(([, type]) => type.cancellationCategories.length === 0)
  for (const [index, { name }] of bare.length < list.length ? bare : []) {
    const message = `The cancellation type '${name}' has no categories, but others have. Give all of them categories, or none.`
    types.at(index).error('unevenCategories', message)
  }
  return list.map(([index, { name, title, documents, cancellationCategories, ...type }]) => {
    const report = types.at(index)
    const holdback = type.holdback && holdbackTerms(type.holdback)
    const message = `The holdback of the cancellation type '${name}' must have either an amount from 0 to ${LARGEST_AMOUNT} or a percent from 0 to 100.`
    if (type.holdback && !holdback) report.at('holdback').error('invalidHoldback', message)
    const { reinstatement } = type
    const days = reinstatement?.defaultDeadlineDays
    const ofReinstatement = report.at('reinstatement', 'documents')
    return {
      name,
      title: displayNameOf(name, title),
      documents: compileDocuments(documents, templates, report.at('documents'), 'transaction'),
      cancellationCategories,
      ...(holdback && { holdback }),
      ...(reinstatement !== undefined && {
        reinstatement: {
          ...(days !== undefined && { defaultDeadlineDays: days }),
          documents: compileDocuments(reinstatement.documents, templates, ofReinstatement, ...WHEN_ACCEPTED),
        },
      }),
    }
  })
}

type HoldbackFile = { readonly amount?: string | undefined; readonly percent?: string | undefined }

/** Returns undefined unless exactly one of the two is set and is within its bounds. */
function holdbackTerms({ amount, percent }: HoldbackFile): HoldbackTerms | undefined {
  if ((amount === undefined) === (percent === undefined)) return undefined
  if (amount !== undefined) return isAmount(amount) ? { amount } : undefined
  const share = decimal(percent!)
  return share.gte(0) && share.lte(100) ? { percent: percent! } : undefined
}
