// What an issued transaction posts: its charges in double entry, and the spans over which its premium is earned.
import type { Uuid } from '../../kernel/locators.ts'
import { negated } from '../../kernel/money.ts'
import { containsTime, type Instant, later as laterOf, type Span } from '../../kernel/time.ts'
import { chargesOf } from '../bills/amounts-due.ts'
import { type Charge, isHoldback } from '../bills/charge.ts'
import { isIssued, isListed, type Line, lineUpTo, segmentsInForce } from '../fold/line.ts'
import { mayChangeRun, type Piece, piecesOf } from '../fold/pieces.ts'
import { amountsOf, mapAmounts, plusAmounts } from '../fold/shares.ts'
import {
  type Amounts,
  acceptedQuote,
  type Modification,
  type PerilRun,
  type PolicyAggregate,
} from '../records/aggregate.ts'
import { Entries } from './entries.ts'
import type { JournalEntry } from './rows.ts'

/** What a transaction posts as of one time. The entries add up to zero. */
export type Posting = { readonly effectiveAt: Instant; readonly entries: readonly JournalEntry[] }

/**
 * Returns what an issued transaction posts: first as of its own time, even if that is nothing, then as of later times. What it takes
 * back of transactions that take effect later is posted when those do, because until then nothing of them is written. A part of a
 * large policy is enough, because runs and fees that the transaction does not touch charge nothing.
 */
export function postingsOf(aggregate: PolicyAggregate, modification: Modification): Posting[] {
  return postings(aggregate, modification, new Map())
}

/** `known` has the postings of modifications, by locator. */
function postings(
  aggregate: PolicyAggregate,
  modification: Modification,
  known: Map<Uuid, readonly Posting[]>,
): Posting[] {
  const { effectiveAt } = modification
  const own = new Entries()
  const later = new Map<Instant, Entries>()
  const entriesAt = (at: Instant): Entries => {
    if (at <= effectiveAt) return own
    const entries = later.get(at) ?? new Entries()
    later.set(at, entries)
    return entries
  }
  const postsAt = postingTimes(aggregate, modification)
  const spans = ratedSpans(aggregate, modification)
  for (const span of spans) addTaxesAndCommissions(entriesAt(postsAt(span)), span)
  for (const charge of chargesOf(aggregate, modification)) {
    // The spans have what perils cost: parts of it can begin later than the charge.
    if ('perilRunLocator' in charge && !isHoldback(charge)) continue
    addFeeOrHoldback(entriesAt(postsAt(charge)), charge)
  }
  for (const span of spans) {
    const { peril, start, end, amounts } = span
    entriesAt(postsAt(span)).add({ account: 'premium', peril, start, end }, -amounts.premium.minor)
  }
  for (const other of takenBackBy(aggregate, modification)) {
    const posted = known.get(other.locator) ?? postings(aggregate, other, known)
    known.set(other.locator, posted)
    for (const { effectiveAt: at, entries } of posted)
      for (const { minor, ...place } of at > effectiveAt ? entries : []) {
        own.add(place, minor)
        entriesAt(at).add(place, -minor)
      }
  }
  return [
    { effectiveAt, entries: own.list() },
    ...[...later]
      .map(([at, entries]) => ({ effectiveAt: at, entries: entries.list() }))
      .filter(({ entries }) => entries.length > 0)
      .sort((a, b) => a.effectiveAt - b.effectiveAt),
  ]
}

const ENDING: ReadonlySet<string> = new Set(['cancellation', 'lapse', 'withdrawal'])

/**
 * Returns the transactions that this one takes back as far as they take effect later. The end of cover takes back all of them; a
 * reinstatement only the end of cover that it undoes.
 */
function takenBackBy(aggregate: PolicyAggregate, modification: Modification): Modification[] {
  const { kind, effectiveAt, undoes } = modification
  if (kind === 'reinstatement') {
    const ending = undoes && aggregate.modifications.get(undoes)
    return ending ? [ending] : []
  }
  if (!ENDING.has(kind)) return []
  const earlier = earlierThan(aggregate, modification)
  const firstToCome = earlier.find(one => one.effectiveAt > effectiveAt)
  // Transactions that took effect before may have changed one to come, if it had been agreed then.
  return earlier.filter(
    one => one.effectiveAt > effectiveAt || (firstToCome !== undefined && one.number > firstToCome.number),
  )
}

const earlierThan = ({ modifications }: PolicyAggregate, { number }: Modification): Modification[] =>
  [...modifications.values()]
    .filter(one => isIssued(one) && isListed(one) && one.number < number)
    .sort((a, b) => a.number - b.number)

/**
 * Returns a function that gives the time as of which the transaction posts an amount that begins at `start`: usually its own time.
 * An endorsement changes a term to come at the start of that term, cover after a gap when cover is back, and cover to which an
 * earlier endorsement gave a price from a later time on, at that time. Until then nothing of it is in force.
 */
function postingTimes(
  aggregate: PolicyAggregate,
  modification: Modification,
): (amount: Pick<Span, 'start'> & { readonly run?: PerilRun }) => Instant {
  const { effectiveAt, kind } = modification
  const later =
    kind === 'endorsement'
      ? earlierThan(aggregate, modification).filter(one => one.effectiveAt > effectiveAt)
      : []
  if (later.length === 0) return () => effectiveAt
  const laterAt = new Map(later.map(one => [one.locator, one.effectiveAt]))
  const covered = [
    ...later.filter(one => one.kind === 'renewal').map(one => one.effectiveAt),
    ...gapEnds(aggregate, modification),
  ]
  const changed = Map.groupBy(
    [...aggregate.perilRuns.values()].filter(run => laterAt.has(run.madeBy)),
    run => run.perilLocator,
  )
  return ({ start, run }) => {
    const runs = (run && changed.get(run.perilLocator)) ?? []
    const starts = [...covered, ...runs.map(one => laterAt.get(one.madeBy)!)]
    return starts.filter(one => one <= start).reduce(laterOf, effectiveAt)
  }
}

/** Returns the times at which cover begins again after a gap, as known before the modification. */
function gapEnds(aggregate: PolicyAggregate, modification: Modification): Instant[] {
  const line = lineUpTo(aggregate, acceptedQuote(aggregate)!, modification)
  const inForce = segmentsInForce(line.filter(one => one.modification.locator !== modification.locator))
  return inForce.filter(({ start }, at) => at > 0 && inForce[at - 1]!.end < start).map(({ start }) => start)
}

/** Adds what the policyholder pays for the span, its taxes, and its commissions. Its premium has entries of its own. */
function addTaxesAndCommissions(entries: Entries, { run, peril, amounts }: RatedSpan): void {
  const { taxes, commissions } = run.price!
  entries.add({ account: 'unbilled' }, amounts.premium.minor)
  for (const [at, { name }] of taxes.entries()) {
    const { minor } = amounts.taxes[at]!
    entries.add({ account: 'unbilled' }, minor)
    entries.add({ account: 'tax', peril, name }, -minor)
  }
  for (const [at, { recipient }] of commissions.entries())
    addCommission(entries, { peril, name: recipient }, amounts.commissions[at]!.minor)
}

function addCommission(entries: Entries, place: Pick<JournalEntry, 'peril' | 'name'>, minor: number): void {
  entries.add({ account: 'commission', ...place }, minor)
  entries.add({ account: 'commissionPayable', ...place }, -minor)
}

/** Adds a fee, or an amount that is held back. */
function addFeeOrHoldback(entries: Entries, charge: Charge): void {
  const { minor } = charge.amount
  const peril = 'perilName' in charge ? { peril: charge.perilName } : {}
  if (charge.type === 'commission') {
    addCommission(entries, { ...peril, name: charge.commissionRecipient }, minor)
    return
  }
  entries.add({ account: 'unbilled' }, minor)
  const account = charge.type === 'fee' ? 'fee' : 'holdback'
  const names = 'feeName' in charge ? { name: charge.feeName } : {}
  const taxNames = 'taxName' in charge ? { name: charge.taxName } : {}
  entries.add({ account, ...peril, ...names, ...taxNames }, -minor)
}

/** What a run costs over a span; negated for what is taken back. `peril` is its name. */
type RatedSpan = Span & { readonly run: PerilRun; readonly peril: string; readonly amounts: Amounts }

/**
 * Returns how the transaction changes the spans that are rated, and over which premium is earned. A run counts by the contiguous
 * spans in which it is in force, so a split of the policy around it changes nothing.
 */
function ratedSpans(aggregate: PolicyAggregate, modification: Modification): RatedSpan[] {
  const { kind, locator: by } = modification
  const { perils, perilRuns, policy } = aggregate
  const nameOf = ({ perilLocator }: PerilRun): string => perils.get(perilLocator)?.name ?? ''
  if (kind === 'feeUpdate' || kind === 'scheduleChange') return []
  if (kind === 'creation')
    return [...perilRuns.values()].flatMap(run => {
      if (run.madeBy !== by || !run.price) return []
      const { start, end, price } = run
      return [{ run, peril: nameOf(run), start, end, amounts: amountsOf(price) }]
    })
  const line = lineUpTo(aggregate, acceptedQuote(aggregate)!, modification)
  const step = line.find(one => one.modification.locator === by)
  if (!step) return []
  const changed = [...perilRuns.values()].filter(run => run.price && mayChangeRun(step, run))
  return changed.flatMap(run => {
    const pieces = piecesOf(run, line, policy.timeZone)
    const before = pieces.filter(
      piece => piece.madeBy !== by && (piece.replacedBy === undefined || piece.replacedBy === by),
    )
    const after = pieces.filter(piece => piece.replacedBy === undefined)
    const source = { run, peril: nameOf(run) }
    return [
      ...mergePieces(before).map(span => ({
        ...source,
        ...span,
        amounts: mapAmounts(span.amounts, negated),
      })),
      ...mergePieces(after).map(span => ({ ...source, ...span })),
    ]
  })
}

/** Merges adjoining pieces into spans. */
function mergePieces(pieces: readonly Piece[]): (Span & { amounts: Amounts })[] {
  const spans: { start: Instant; end: Instant; amounts: Amounts }[] = []
  for (const { start, end, amounts } of [...pieces].sort((a, b) => a.start - b.start)) {
    if (!amounts) continue
    const last = spans.at(-1)
    if (last && last.end === start) {
      last.end = end
      last.amounts = plusAmounts(last.amounts, amounts)
    } else spans.push({ start, end, amounts })
  }
  return spans
}

/**
 * Returns the policy segment in force at that time, after the whole line. If none is in force, as after a cancellation from the
 * start, returns the last one that was there.
 */
export function segmentAt(line: Line, at: Instant): Uuid | undefined {
  const includesTime = (span: Span): boolean => containsTime(span, at)
  const inForce = segmentsInForce(line)
  const replaced = line.flatMap(step => step.replaced)
  const found =
    inForce.find(includesTime) ??
    replaced.findLast(includesTime) ??
    nearest(inForce, at) ??
    nearest(replaced, at)
  return found?.locator
}

/** Returns the last segment that starts by that time, otherwise the first segment. */
const nearest = <S extends Span>(segments: readonly S[], at: Instant): S | undefined =>
  segments.findLast(one => one.start <= at) ?? segments[0]
