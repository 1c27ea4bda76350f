// Which documents a change of a policy makes (brief 1.2 to 1.7, 5.1). They follow from what the change did to the
// states of quotes, endorsements, cancellations …: found at the one place where changes are recorded. Pure.
import type { PostIssuanceInput } from '../../extension/plugins/contract.ts'
import { asPluginInput, nonsense } from '../../extension/plugins/translation.ts'
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
import { type Attempt, askPlugin, policyInfo } from '../../rating/rate.ts'
import { consolidationProblems, type Issuance, issuances, withConsolidations } from './consolidation.ts'

type GeneratingEvent = DocumentDefinition['generatingEvent']

/** The steps of a transaction by its states: what lies between the state before and the state after is made. */
const STEPS: Readonly<Record<string, number>> = { quoted: 1, accepted: 2, issued: 3 }
const EVENTS: readonly GeneratingEvent[] = ['quote', 'accept', 'issue']

const eventsBetween = (before: string | undefined, after: string): GeneratingEvent[] =>
  EVENTS.slice(STEPS[before ?? ''] ?? 0, STEPS[after] ?? 0)

/** What a document is made for. */
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

/** The change of a policy that documents are made for. */
type Change = {
  readonly before: PolicyAggregate | undefined
  readonly after: PolicyAggregate
  readonly product: ProductDefinition
}

type Wanted = { readonly owner: Owner; readonly definitions: readonly DocumentDefinition[] }

/** `after` with a draft of every document that the change from `before` has made, and without those taken back. */
export function withDocuments(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  { product, now, uuid }: DocumentPlan,
): PolicyAggregate {
  const change = { before, after, product }
  const finders = [
    ofQuotes,
    ofPolicy,
    ofEndorsements,
    ofCancellations,
    ofReinstatements,
    ofInvoices,
    ofLapses,
  ]
  const made = finders
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
  const gone = before ? takenBack(before, after) : []
  if (made.length === 0 && gone.length === 0) return after
  return { ...after, documents: putRecords(removeRecords(after.documents, gone), made) }
}

/** Records of `after` that are new or other than before, with what they were. */
function* changed<K, R>(
  before: ReadonlyMap<K, R> | undefined,
  after: ReadonlyMap<K, R>,
): Generator<{ was: R | undefined; is: R }> {
  if (before === after) return
  for (const [locator, is] of after) {
    const was = before?.get(locator)
    if (was !== is) yield { was, is }
  }
}

const ofStep = (definitions: readonly DocumentDefinition[], steps: readonly GeneratingEvent[]) =>
  definitions.filter(one => !one.isOfInvoices && steps.includes(one.generatingEvent))

/** The modification of a quote's new business. */
export const creationOf = ({ modifications }: PolicyAggregate, quote: number): Modification | undefined =>
  recordsWhere(modifications, one => one.quoteLocator === quote)[0]

function* ofQuotes({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changed(before?.quotes, after.quotes)) {
    const definitions = ofStep(product.documents, eventsBetween(was?.state, is.state))
    if (definitions.length > 0)
      yield { owner: owned('quote', is.locator, creationOf(after, is.locator)), definitions }
  }
}

function* ofPolicy({ before, after, product }: Change): Generator<Wanted> {
  const { issuedAt, locator } = after.policy
  if (issuedAt === undefined || before?.policy.issuedAt !== undefined) return
  const creation = creationOf(after, selectedQuote(after).locator)
  yield { owner: owned('policy', locator, creation), definitions: ofStep(product.documents, ['issue']) }
}

function* ofEndorsements({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changed(before?.endorsements, after.endorsements)) {
    const type =
      is.kind === 'renewal' ? product.renewals : product.endorsements.find(one => one.name === is.name)
    const definitions = ofStep(type?.documents ?? [], eventsBetween(was?.state, is.state))
    if (definitions.length > 0) yield { owner: ownedBy(is.kind, is), definitions }
  }
}

/**
 * When a cancellation is issued: the documents of its type; of one that has no type, as of a product without
 * cancellations.json, the document of the template that is found by its name. A withdrawal, which has no record
 * (brief 1.7), has that one too, on the policy.
 */
function* ofCancellations({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changed(before?.cancellations, after.cancellations)) {
    if (is.state !== 'issued' || was?.state === 'issued') continue
    const type = product.cancellationTypes?.find(one => one.name === is.name)
    const definitions = type ? type.documents : fixedDocuments(product, 'cancellation', is.locator)
    yield { owner: ownedBy('cancellation', is), definitions }
  }
  for (const { was, is } of changed(before?.modifications, after.modifications)) {
    if (is.kind !== 'withdrawal' || is.issuedAt === undefined || was?.issuedAt !== undefined) continue
    const definitions = fixedDocuments(product, 'cancellation', is.displayId)
    yield { owner: owned('policy', after.policy.locator, is), definitions }
  }
}

/** When a reinstatement is accepted, unless its documents say `issue` (brief 1.6). */
function* ofReinstatements({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changed(before?.reinstatements, after.reinstatements)) {
    const steps = eventsBetween(was?.state, is.state)
    if (steps.length === 0) continue
    const { name } = after.cancellations.get(is.cancellationLocator)!
    const terms = product.cancellationTypes?.find(one => one.name === name)?.reinstatement
    const definitions = terms?.documents ?? fixedDocuments(product, 'reinstatement', is.cancellationLocator)
    yield { owner: ownedBy('reinstatement', is), definitions: ofStep(definitions, steps) }
  }
}

/** Every invoice that is made has its document, one that nothing is due on too. */
function* ofInvoices({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changed(before?.invoices, after.invoices)) {
    if (was) continue
    const { locator, policyModificationLocator: modificationLocator, displayId } = is
    const own = product.documents.filter(one => one.isOfInvoices)
    const definitions = [...fixedDocuments(product, 'invoice', displayId), ...own]
    yield { owner: ownedBy('invoice', { locator, modificationLocator }), definitions }
  }
}

/**
 * A grace period that begins and a legacy lapse have the documents of the templates of their names; the reinstatement
 * of a lapse has its own once it is issued, since until then it is an offer and no cover.
 */
function* ofLapses({ before, after, product }: Change): Generator<Wanted> {
  for (const { was, is } of changed(before?.gracePeriods, after.gracePeriods)) {
    if (was) continue
    const { displayId } = after.invoices.get(is.invoiceLocator)!
    const definitions = fixedDocuments(product, 'gracePeriod', displayId)
    yield { owner: ownedBy('gracePeriod', { locator: is.locator }), definitions }
  }
  for (const { was, is } of changed(before?.lapses, after.lapses)) {
    if (was) continue
    const { displayId } = after.modifications.get(is.modificationLocator)!
    yield { owner: ownedBy('lapse', is), definitions: fixedDocuments(product, 'lapse', displayId) }
  }
  for (const { was, is } of changed(before?.lapseReinstatements, after.lapseReinstatements)) {
    if (reinstatementStatus(is) !== 'issued' || (was && reinstatementStatus(was) === 'issued')) continue
    const { displayId } = after.modifications.get(is.modificationLocator!)!
    const definitions = fixedDocuments(product, 'reinstatement', displayId)
    yield { owner: ownedBy('lapseReinstatement', is), definitions }
  }
}

const owned = (
  subject: DocumentSubject,
  locator: string | number,
  modification: Modification | undefined,
): Owner => ({ subject, subjectLocator: String(locator), modificationLocator: modification?.locator })

const ownedBy = (
  subject: DocumentSubject,
  { locator, modificationLocator }: { locator: string | number; modificationLocator?: Uuid },
): Owner => ({ subject, subjectLocator: String(locator), modificationLocator })

/** Templates that are found by their name alone (brief 5.1), and what their documents are called. */
const FIXED = {
  invoice: 'Invoice',
  cancellation: 'Cancellation',
  reinstatement: 'Reinstatement',
  gracePeriod: 'Grace period',
  lapse: 'Lapse',
} as const

/** How a template's file may end; Liquid comes first. */
export const TEMPLATE_ENDINGS = ['liquid', 'vm', 'velocity'].flatMap(kind => [
  `.template.${kind}`,
  `.${kind}`,
])

/**
 * The document of the product's template of that name, as `invoice_<id>.pdf` (brief 4.1); none when it has no such
 * template.
 */
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

/** Documents of acceptances that were taken back: what they say is no longer so. */
function takenBack(before: PolicyAggregate, after: PolicyAggregate): Uuid[] {
  const owners = new Set<string>()
  for (const { was, is } of changed(before.quotes, after.quotes))
    if (was?.state === 'accepted' && is.state === 'quoted') owners.add(`quote ${is.locator}`)
  for (const { was, is } of changed(before.reinstatements, after.reinstatements))
    if (was?.state === 'accepted' && is.state === 'draft') owners.add(`reinstatement ${is.locator}`)
  if (owners.size === 0) return []
  return recordsWhere(
    after.documents,
    one =>
      owners.has(`${one.subject} ${one.subjectLocator}`) &&
      (one.subject !== 'quote' || one.madeAt === 'accept'),
  ).map(one => one.locator)
}

// Asks the product's plugin what is to become of the documents of a transaction that is issued (getPostIssuanceResult).
/**
 * The policy with the consolidated documents that the plugin asks for, called once for each transaction that the
 * change issues, when its documents are known and before any is made. Refuses (422) what the plugin fails with; from the
 * clock (`isAttended` false) that is logged, and the documents stay as they are.
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
    const consolidations = await askPlugin(loaded, attempt, {
      name: 'getPostIssuanceResult',
      answer: contract => contract.PostIssuanceResult,
      input: inputOf(issuance, aggregate),
      accept: ({ documentConsolidations = [] }) => {
        const problems = consolidationProblems(issuance, documentConsolidations)
        if (problems.length > 0)
          throw nonsense('getPostIssuanceResult', problems, product.plugins.getPostIssuanceResult!.path)
        return documentConsolidations
      },
      onFailure: isAttended ? undefined : 'The documents stay as they are.',
    })
    aggregate = withConsolidations(aggregate, issuance, consolidations ?? [], plan)
  }
  return aggregate
}

/** Addresses of files are none of the plugin's, which can open none. */
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
