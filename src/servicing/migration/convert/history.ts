// Reads and checks the transactions of a policy in order of effect (rules 1 to 5 and 7 of resources brief 9.3). Transactions of
// several terms may overlap, as a change of the old term after the renewal does. They take effect in order of issuedTime, but
// never before an earlier one of the same term.
import { type Instant, later } from '../../../kernel/time.ts'
import type { ProductDefinition } from '../../../product/configuration.ts'
import type {
  PolicyMigrationRequest,
  TermMigrationRequest,
  TransactionMigrationRequest,
} from '../contract-request.ts'
import type { Problems } from '../item.ts'
import {
  type ElementReading,
  type PolicyReading,
  type ReadElement,
  type ReadTree,
  readTree,
} from './elements.ts'

const CATEGORIES = [
  'issuance',
  'change',
  'renewal',
  'cancellation',
  'reinstatement',
  'reversal',
  'aggregate',
] as const

export type Category = (typeof CATEGORIES)[number]

export type ReadTransaction = {
  readonly request: TransactionMigrationRequest
  readonly path: string
  readonly term: TermMigrationRequest
  readonly termAt: number
  readonly at: number
  readonly category: Category
  readonly isFirstOfTerm: boolean
  /** When it takes effect. */
  readonly from: Instant
  readonly isGap: boolean
  /** Absent without a segment, or for a gap without elements. */
  readonly tree: ReadTree | undefined
}

/** Reads the transactions of all terms, in the order in which they are applied. Adds what is wrong to `reading.problems`. */
export function readHistory(policy: PolicyMigrationRequest, reading: PolicyReading): ReadTransaction[] {
  const { problems, product } = reading
  const { id, terms } = policy
  if (terms.length === 0) problems.add('policy', id, 'terms must have at least one term.')
  const known: ElementReading['known'] = { byFingerprint: new Map(), latest: new Map() }
  const readingOfElements = { ...reading, basis: policy.durationBasis ?? 'months', known }
  const read = terms.flatMap((term, termAt) => {
    const path = `${id}/terms[${termAt}]`
    checkTerm(term, terms[termAt - 1], path, problems)
    return term.transactions.map((request, at): ReadTransaction => {
      const { segment, issuedTime, transactionType } = request
      const transaction: PlacedTransaction = {
        request,
        path: `${path}/transactions[${at}]`,
        term,
        termAt,
        at,
        isFirstOfTerm: at === 0,
        from: clampToTerm(segment?.startTime ?? issuedTime, term),
        isGap: segment?.segmentType === 'gap',
      }
      const category = categoryOf(transactionType, product)
      checkTransaction(transaction, category, reading)
      const tree = treeOf(transaction, readingOfElements)
      return { ...transaction, category: category ?? 'change', tree }
    })
  })
  checkElements(read, problems)
  return orderTransactions(read, terms.length)
}

/** A transaction before its type and its elements are read. */
type PlacedTransaction = Omit<ReadTransaction, 'category' | 'tree'>

function treeOf(
  { request: { segment, issuedTime, installments }, path, term, from, isGap }: PlacedTransaction,
  reading: Omit<ElementReading, 'installments' | 'span' | 'issuedAt' | 'isGap'>,
): ReadTree | undefined {
  if (!segment?.rootElement) return undefined
  // A term that ends before it starts gets an empty span. It has a problem already.
  const span = { start: from, end: later(from, term.endTime) }
  const own = { installments: installments.length, span, issuedAt: issuedTime, isGap }
  return readTree(segment.rootElement, path, { ...reading, ...own })
}

const clampToTerm = (at: Instant, { startTime, endTime }: TermMigrationRequest): Instant =>
  Math.max(startTime, Math.min(at, endTime - 1)) as Instant

/** Whether the name is a cancellation type of the product, or `lapse` for nonpayment (brief 3.4). */
export const isCancellationName = (name: string, { cancellationTypes }: ProductDefinition): boolean =>
  name === 'lapse' || (cancellationTypes?.some(one => one.name === name) ?? false)

function categoryOf(type: string, product: ProductDefinition): Category | undefined {
  const category = CATEGORIES.find(one => one === type)
  if (category) return category
  if (product.endorsements.some(endorsement => endorsement.name === type)) return 'change'
  if (isCancellationName(type, product)) return 'cancellation'
  return undefined
}

type Wrong = (sentence: string) => void

function checkTerm(
  { startTime, endTime, transactions }: TermMigrationRequest,
  before: TermMigrationRequest | undefined,
  path: string,
  problems: Problems,
): void {
  const wrong: Wrong = sentence => problems.add('term', path, sentence)
  if (startTime >= endTime) wrong('startTime must be before endTime.')
  if (before && startTime < before.endTime)
    wrong(
      'startTime must not be before the endTime of the previous term. Terms must be in order and must not overlap.',
    )
  if (transactions.length === 0) wrong('transactions must have at least one transaction.')
}

function checkTransaction(
  transaction: PlacedTransaction,
  category: Category | undefined,
  reading: PolicyReading,
): void {
  const { request, path, term, at, isGap } = transaction
  const { segment, issuedTime, transactionType, createdAt } = request
  const { problems, warnings, now, product } = reading
  const wrong: Wrong = sentence => problems.add('transaction', path, sentence)
  const earlier = term.transactions[at - 1]
  if (earlier && issuedTime < earlier.issuedTime)
    wrong(
      'issuedTime must not be earlier than that of the previous transaction, because transactions apply in the order of the list.',
    )
  if (issuedTime > now) warnings.add('transaction', path, 'issuedTime is in the future.')
  if (createdAt !== undefined && createdAt > issuedTime)
    warnings.add('transaction', path, 'createdAt is after issuedTime.')
  if (!category)
    wrong(
      `transactionType '${transactionType}' must be issuance, change, renewal, cancellation, reinstatement, reversal or aggregate, or an endorsement or a cancellation type of product '${product.name}'.`,
    )
  checkPlace(transaction, category, wrong)
  checkInstallments(transaction, reading)
  if (segment && !isGap && !segment.rootElement)
    wrong('segment.rootElement is missing; a coverage segment needs one.')
}

/** Checks which transactions are allowed at this place in the term, and where the segment may be. */
function checkPlace(
  { request: { segment }, term, termAt, at }: PlacedTransaction,
  category: Category | undefined,
  wrong: Wrong,
): void {
  if (termAt === 0 && at === 0 && category && category !== 'issuance')
    wrong('transactionType must be issuance for the first transaction of a policy.')
  if (at > 0 && category === 'issuance')
    wrong('transactionType issuance is only allowed for the first transaction of a term.')
  if (at > 0 && category === 'renewal')
    wrong('transactionType renewal is only allowed for the first transaction of a term.')
  if (at === 0) checkFirstSegment(segment, term, wrong)
  else if (segment) checkLaterSegment(segment, term, category, wrong)
  else if (category === 'cancellation' || category === 'reinstatement')
    wrong(`segment is missing; a ${category} needs one.`)
}

type Segment = NonNullable<TransactionMigrationRequest['segment']>

function checkFirstSegment(segment: Segment | undefined, term: TermMigrationRequest, wrong: Wrong): void {
  if (segment?.segmentType !== 'coverage')
    wrong('segment must be a coverage segment, because the first transaction of a term begins its cover.')
  else if (segment.startTime !== term.startTime)
    wrong('segment.startTime must be the startTime of the term, where its first segment starts.')
}

function checkLaterSegment(
  segment: Segment,
  term: TermMigrationRequest,
  category: Category | undefined,
  wrong: Wrong,
): void {
  if (segment.startTime < term.startTime || segment.startTime >= term.endTime)
    wrong('segment.startTime must be within its term.')
  if (segment.segmentType === 'coverage' && category === 'cancellation')
    wrong('segment.segmentType must be gap, because a cancellation leaves a gap.')
  if (segment.segmentType === 'gap' && category === 'reinstatement')
    wrong('segment.segmentType must be coverage, because a reinstatement ends a gap.')
}

function checkInstallments(
  { request: { installments }, path }: PlacedTransaction,
  { problems, warnings }: PolicyReading,
): void {
  const ids = new Set<string>()
  for (const [at, one] of installments.entries()) {
    const place = `${path}/${one.id ?? `installments[${at}]`}`
    if (one.startTime > one.dueTime) warnings.add('installment', place, 'startTime is after dueTime.')
    if (one.generateTime !== undefined && one.generateTime > one.dueTime)
      warnings.add('installment', place, 'generateTime is after dueTime.')
    if (one.id === undefined) continue
    if (ids.has(one.id))
      problems.add('installment', place, 'id must be the id of only one installment of the transaction.')
    ids.add(one.id)
  }
}

/** Checks that an id is one element over time: of one type, in one exposure, below one root. */
function checkElements(read: readonly ReadTransaction[], problems: Problems): void {
  const report = (path: string, fault: string | undefined): void => {
    if (fault !== undefined) problems.add('element', path, fault)
  }
  const first = new Map<string, ReadElement>()
  /** The covered elements, by term and id, as of the last transaction that covered them. */
  const covered = new Map<string, ReadElement>()
  const root = read.find(one => one.tree)?.tree?.root.id
  for (const { tree, termAt } of read) {
    if (!tree) continue
    if (tree.root.id !== root)
      report(
        tree.root.path,
        `id must be '${root}', because all transactions of a policy have the same root element.`,
      )
    for (const element of tree.elements.values()) {
      const { id, path } = element
      const key = keyInTerm(termAt, id)
      report(path, faultOfCover(element, covered.get(key)))
      if (!element.isEnded) covered.set(key, element)
      const was = first.get(id) ?? element
      report(path, faultOfIdentity(element, was))
      first.set(id, was)
    }
  }
}

/** `was` is the element as it was last covered in its term. */
function faultOfCover(
  { isEnded, level, parentId }: ReadElement,
  was: ReadElement | undefined,
): string | undefined {
  if (isEnded && level === 'peril' && !was)
    return 'must have been covered earlier in its term. An element that is not covered has ended already.'
  if (!isEnded && was && was.parentId !== parentId)
    return 'must be in the same coverage as in an earlier transaction of its term.'
  return undefined
}

function faultOfIdentity({ type, exposureId, level }: ReadElement, was: ReadElement): string | undefined {
  if (was.type !== type)
    return `elementType must be '${was.type}', as in an earlier transaction, because an id is one element over time.`
  if (was.exposureId !== exposureId || was.level !== level)
    return 'must be in the same exposure as in an earlier transaction.'
  return undefined
}

/** Keeps the listed order if it is that of time. Otherwise orders by issuedTime; a term begins only once the previous has begun. */
function orderTransactions(read: ReadTransaction[], terms: number): ReadTransaction[] {
  const issued = (one: ReadTransaction): Instant => one.request.issuedTime
  if (read.every((one, at) => at === 0 || issued(read[at - 1]!) <= issued(one))) return read
  const queues = Array.from({ length: terms }, (_, term) => read.filter(one => one.termAt === term))
  const ordered: ReadTransaction[] = []
  let begun = 0
  while (ordered.length < read.length) {
    const heads = queues.slice(0, begun + 1).flatMap(([head]) => head ?? [])
    if (heads.length === 0) {
      begun += 1
      continue
    }
    const next = heads.reduce((least, one) => (issued(one) < issued(least) ? one : least))
    ordered.push(next)
    queues[next.termAt]!.shift()
    begun = Math.max(begun, next.termAt + 1)
  }
  return ordered
}

/** Returns a key for an element that is unique among all terms. `termAt` is the index of the term. */
export const keyInTerm = (termAt: number, id: string): string => `${termAt} ${id}`

/** Returns the id of the element in a key of `keyInTerm`. */
export const idOf = (key: string): string => key.slice(key.indexOf(' ') + 1)
