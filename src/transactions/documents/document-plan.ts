// The documents that a change of a policy creates (brief 1.2 to 1.7, 5.1), derived from the states before and after at the one
// place where changes are recorded. Pure.
import type { PostIssuanceInput } from '../../extension/plugins/contract.ts'
import { asPluginInput, invalidAnswer } from '../../extension/plugins/translation.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { documentResponse } from '../../policy/projection/records.ts'
import {
  type Modification,
  type PolicyAggregate,
  putRecords,
  recordsWhere,
  removeRecords,
  selectedQuote,
} from '../../policy/records/aggregate.ts'
import {
  type DocumentSubject,
  type PolicyDocument,
  reinstatementStatus,
} from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { type DocumentDefinition, hasPlugin, type ProductDefinition } from '../../product/configuration.ts'
import { type Attempt, policyInfo, requestPluginAnswer } from '../../rating/rate.ts'
import { LAPSE } from '../cancellations/decision.ts'
import { consolidationProblems, type Issuance, issuances, withConsolidations } from './consolidation.ts'

type GeneratingEvent = DocumentDefinition['generatingEvent']

/** A change creates the documents of every step between the old and the new state. */
const STEPS: Readonly<Record<string, number>> = { quoted: 1, accepted: 2, issued: 3 }
const EVENTS: readonly GeneratingEvent[] = ['quote', 'accept', 'issue']

const eventsBetween = (before: string | undefined, after: string): GeneratingEvent[] =>
  EVENTS.slice(STEPS[before ?? ''] ?? 0, STEPS[after] ?? 0)

type Owner = {
  readonly subject: DocumentSubject
  readonly subjectLocator: string
  readonly modificationLocator: Uuid | undefined
}

type DocumentPlan = {
  readonly product: ProductDefinition
  readonly now: Instant
  readonly uuid: () => Uuid
}

type Change = {
  readonly before: PolicyAggregate | undefined
  readonly after: PolicyAggregate
  readonly product: ProductDefinition
}

type Wanted = { readonly owner: Owner; readonly definitions: readonly DocumentDefinition[] }

/** Adds drafts that the change needs, and removes those it takes back. */
export function withDocuments(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  { product, now, uuid }: DocumentPlan,
): PolicyAggregate {
  const change = { before, after, product }
  const finders = [
    quoteDocuments,
    policyDocuments,
    endorsementDocuments,
    cancellationDocuments,
    reinstatementDocuments,
    invoiceDocuments,
    lapseDocuments,
  ]
  const drafts = finders
    .flatMap(find => [...find(change)])
    .flatMap(({ owner, definitions }) =>
      definitions.map(
        ({ displayName, fileName, type, templateName, pageLayout, generatingEvent }): PolicyDocument => ({
          ...owner,
          locator: uuid(),
          displayName,
          fileName,
          type,
          templateName,
          pageLayout,
          madeAt: generatingEvent,
          state: 'draft',
          createdAt: now,
          updatedAt: now,
        }),
      ),
    )
  const revoked = before ? revokedDocuments(before, after) : []
  if (drafts.length === 0 && revoked.length === 0) return after
  return { ...after, documents: putRecords(removeRecords(after.documents, revoked), drafts) }
}

/** Yields records that are new or changed, with their former value. */
function* changedRecords<K, R>(
  before: ReadonlyMap<K, R> | undefined,
  after: ReadonlyMap<K, R>,
): Generator<{ was: R | undefined; is: R }> {
  if (before === after) return
  for (const [locator, is] of after) {
    const was = before?.get(locator)
    if (was !== is) yield { was, is }
  }
}

const definitionsOfSteps = (definitions: readonly DocumentDefinition[], steps: readonly GeneratingEvent[]) =>
  definitions.filter(one => !one.isOfInvoices && steps.includes(one.generatingEvent))

/** Returns the modification by which the quote would create the policy. */
export const creationOf = ({ modifications }: PolicyAggregate, quote: number): Modification | undefined =>
  recordsWhere(modifications, one => one.quoteLocator === quote)[0]

function* quoteDocuments({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changedRecords(before?.quotes, after.quotes)) {
    const definitions = definitionsOfSteps(product.documents, eventsBetween(was?.state, is.state))
    if (definitions.length > 0)
      yield { owner: ownerWithModification('quote', is.locator, creationOf(after, is.locator)), definitions }
  }
}

function* policyDocuments({ before, after, product }: Change): Generator<Wanted> {
  const { issuedAt, locator } = after.policy
  if (issuedAt === undefined || before?.policy.issuedAt !== undefined) return
  const creation = creationOf(after, selectedQuote(after).locator)
  yield {
    owner: ownerWithModification('policy', locator, creation),
    definitions: definitionsOfSteps(product.documents, ['issue']),
  }
}

function* endorsementDocuments({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changedRecords(before?.endorsements, after.endorsements)) {
    const type =
      is.kind === 'renewal' ? product.renewals : product.endorsements.find(one => one.name === is.name)
    const definitions = definitionsOfSteps(type?.documents ?? [], eventsBetween(was?.state, is.state))
    if (definitions.length > 0) yield { owner: ownerOfRecord(is.kind, is), definitions }
  }
}

/**
 * On issue: the documents of the cancellation's type. A cancellation without a type, as in a product without cancellations.json,
 * has the document of the template with the fixed name; a lapse prefers the template `lapse`. A withdrawal has the fixed document
 * too, owned by the policy since a withdrawal has no record (brief 1.7).
 */
function* cancellationDocuments({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changedRecords(before?.cancellations, after.cancellations)) {
    if (is.state !== 'issued' || was?.state === 'issued') continue
    const type = product.cancellationTypes?.find(one => one.name === is.name)
    const ofLapse = is.name === LAPSE ? fixedDocuments(product, 'lapse', is.locator) : []
    const fixed = ofLapse.length > 0 ? ofLapse : fixedDocuments(product, 'cancellation', is.locator)
    const definitions = type ? type.documents : fixed
    yield { owner: ownerOfRecord('cancellation', is), definitions }
  }
  for (const { was, is } of changedRecords(before?.modifications, after.modifications)) {
    if (is.kind !== 'withdrawal' || is.issuedAt === undefined || was?.issuedAt !== undefined) continue
    const definitions = fixedDocuments(product, 'cancellation', is.displayId)
    yield { owner: ownerWithModification('policy', after.policy.locator, is), definitions }
  }
}

/** On acceptance, unless the document specifies `issue` (brief 1.6). */
function* reinstatementDocuments({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changedRecords(before?.reinstatements, after.reinstatements)) {
    const steps = eventsBetween(was?.state, is.state)
    if (steps.length === 0) continue
    const { name } = after.cancellations.get(is.cancellationLocator)!
    const terms = product.cancellationTypes?.find(one => one.name === name)?.reinstatement
    const definitions = terms?.documents ?? fixedDocuments(product, 'reinstatement', is.cancellationLocator)
    yield { owner: ownerOfRecord('reinstatement', is), definitions: definitionsOfSteps(definitions, steps) }
  }
}

/** Includes invoices with nothing due. */
function* invoiceDocuments({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changedRecords(before?.invoices, after.invoices)) {
    if (was) continue
    const { locator, policyModificationLocator: modificationLocator, displayId } = is
    const own = product.documents.filter(one => one.isOfInvoices)
    const definitions = [...fixedDocuments(product, 'invoice', displayId), ...own]
    yield { owner: ownerOfRecord('invoice', { locator, modificationLocator }), definitions }
  }
}

/** A legacy reinstatement has its document only once it is issued: until then it is an offer, not cover. */
function* lapseDocuments({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changedRecords(before?.gracePeriods, after.gracePeriods)) {
    if (was) continue
    const { displayId } = after.invoices.get(is.invoiceLocator)!
    const definitions = fixedDocuments(product, 'gracePeriod', displayId)
    yield { owner: ownerOfRecord('gracePeriod', { locator: is.locator }), definitions }
  }
  for (const { was, is } of changedRecords(before?.lapses, after.lapses)) {
    if (was) continue
    const { displayId } = after.modifications.get(is.modificationLocator)!
    yield { owner: ownerOfRecord('lapse', is), definitions: fixedDocuments(product, 'lapse', displayId) }
  }
  for (const { was, is } of changedRecords(before?.lapseReinstatements, after.lapseReinstatements)) {
    if (reinstatementStatus(is) !== 'issued' || (was && reinstatementStatus(was) === 'issued')) continue
    const { displayId } = after.modifications.get(is.modificationLocator!)!
    const definitions = fixedDocuments(product, 'reinstatement', displayId)
    yield { owner: ownerOfRecord('lapseReinstatement', is), definitions }
  }
}

const ownerWithModification = (
  subject: DocumentSubject,
  locator: string | number,
  modification: Modification | undefined,
): Owner => ({ subject, subjectLocator: String(locator), modificationLocator: modification?.locator })

const ownerOfRecord = (
  subject: DocumentSubject,
  { locator, modificationLocator }: { locator: string | number; modificationLocator?: Uuid },
): Owner => ({ subject, subjectLocator: String(locator), modificationLocator })

/** Templates found by name alone (brief 5.1), with the names of their documents. */
const FIXED = {
  invoice: 'Invoice',
  cancellation: 'Cancellation',
  reinstatement: 'Reinstatement',
  gracePeriod: 'Grace period',
  lapse: 'Lapse',
} as const

/** In order of preference. */
export const TEMPLATE_ENDINGS = ['liquid', 'vm', 'velocity'].flatMap(kind => [
  `.template.${kind}`,
  `.${kind}`,
])

/** Named `invoice_<id>.pdf` and so on (brief 4.1). Returns none when the product has no such template. */
function fixedDocuments(
  { templates }: ProductDefinition,
  name: keyof typeof FIXED,
  id: string | number,
): DocumentDefinition[] {
  const templateName = TEMPLATE_ENDINGS.map(end => name + end).find(one => Object.hasOwn(templates, one))
  if (templateName === undefined) return []
  const [displayName, fileName] = [`${FIXED[name]} ${id}`, `${name}_${id}.pdf`]
  return [{ displayName, fileName, templateName, type: 'pdf', generatingEvent: 'issue' }]
}

/** Returns documents of acceptances that were taken back, since their content is no longer true. */
function revokedDocuments(before: PolicyAggregate, after: PolicyAggregate): Uuid[] {
  const owners = new Set<string>()
  for (const { was, is } of changedRecords(before.quotes, after.quotes))
    if (was?.state === 'accepted' && is.state === 'quoted') owners.add(`quote ${is.locator}`)
  for (const { was, is } of changedRecords(before.reinstatements, after.reinstatements))
    if (was?.state === 'accepted' && is.state === 'draft') owners.add(`reinstatement ${is.locator}`)
  if (owners.size === 0) return []
  return recordsWhere(
    after.documents,
    one =>
      owners.has(`${one.subject} ${one.subjectLocator}`) &&
      (one.subject !== 'quote' || one.madeAt === 'accept'),
  ).map(one => one.locator)
}

/**
 * Calls the plugin (getPostIssuanceResult) for the documents to consolidate, once for each transaction that the change issues,
 * when its documents are known and before any is created. Rejects its failures with 422; from the clock (`isAttended` false) it
 * logs them and leaves documents unchanged.
 */
export async function withPostIssuance(
  before: PolicyAggregate | undefined,
  loaded: Loaded,
  attempt: Attempt,
  isAttended: boolean,
  plan: DocumentPlan,
): Promise<PolicyAggregate> {
  const { product } = loaded
  let { aggregate } = loaded
  if (!hasPlugin(product, 'getPostIssuanceResult')) return aggregate
  for (const issuance of issuances(before, aggregate)) {
    const consolidations = await requestPluginAnswer(loaded, attempt, {
      name: 'getPostIssuanceResult',
      answer: contract => contract.PostIssuanceResult,
      input: inputOf(issuance, aggregate),
      accept: ({ documentConsolidations = [] }) => {
        const problems = consolidationProblems(issuance, documentConsolidations)
        if (problems.length > 0)
          throw invalidAnswer('getPostIssuanceResult', problems, product.plugins.getPostIssuanceResult!.path)
        // Plugins that consolidate all documents answer an empty list if a transaction has none.
        return documentConsolidations.filter(one => one.documentLocators.length > 0)
      },
      onFailure: isAttended ? undefined : 'The documents are unchanged.',
    })
    aggregate = withConsolidations(aggregate, issuance, consolidations ?? [], plan)
  }
  return aggregate
}

/** Leaves out file addresses, since a plugin cannot open any. */
const inputOf = ({ operation, documents }: Issuance, aggregate: PolicyAggregate): PostIssuanceInput => ({
  operation,
  policyLocator: String(aggregate.policy.locator),
  policy: policyInfo(aggregate),
  tenantTimeZone: aggregate.policy.timeZone,
  documents: documents.map(document => {
    const { url: _, urlExpirationTimestamp: _expiration, ...shown } = documentResponse(document)
    return asPluginInput(shown) as PostIssuanceInput['documents'][number]
  }),
})
