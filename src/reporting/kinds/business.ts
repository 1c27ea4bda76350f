// Terms and whether they were renewed, and quotes and whether they became business.
import { DAY_MS, type Instant, type Span } from '../../kernel/time.ts'
import { contractEndAfter, type Line, lineOf, standingEndings } from '../../policy/fold/line.ts'
import { piecesInForce, piecesOf } from '../../policy/fold/pieces.ts'
import { segmentAt } from '../../policy/journal/transaction.ts'
import { boundQuote, type PolicyAggregate, type Quote } from '../../policy/records/aggregate.ts'
import { LAPSE } from '../../transactions/cancellations/decision.ts'
import type { Column, ReportKind } from '../kind.ts'
import { isWithin } from './premiums.ts'

const count = (name: string, about: string): Column => ({ name, type: 'integer', about, isMeasure: true })

type Term = {
  readonly start: Instant
  readonly end: Instant
  readonly outcome: 'renewed' | 'cancelled' | 'lapsed' | 'withdrawn' | 'expired' | 'inForce'
  /** In minor units, as in force at that time. */
  readonly premium: number
}

const ENDING = { cancellation: 'cancelled', lapse: 'lapsed', withdrawal: 'withdrawn' } as const

/**
 * Returns what ended the policy. Of several cancellations that are not reinstated, the last one counts; when it is reinstated, the
 * one before it ends the policy again. A renewal lets a policy that lapsed go on, and a cancelled policy cannot be renewed.
 */
function endingOf(aggregate: PolicyAggregate) {
  const last = standingEndings(aggregate).at(-1)
  if (!last) return undefined
  // A product with cancellation types lapses by a cancellation of that name.
  const kind = last.cancellationName === LAPSE ? 'lapse' : (last.kind as keyof typeof ENDING)
  return { by: ENDING[kind], at: last.effectiveAt }
}

/**
 * Returns the terms of an issued policy, as known at that time. An endorsement may move the end of the last one. A term whose
 * renewal was issued does not count if the policy ended before it began.
 */
function termsOf(aggregate: PolicyAggregate, line: Line, knownAt: Instant): Term[] {
  const quote = boundQuote(aggregate)
  const terms: { start: Instant; end: Instant }[] = [{ start: quote.contractStart, end: quote.contractEnd }]
  let coverEnd = quote.contractEnd
  for (const { modification } of line) {
    const { kind, effectiveAt, policyEnd } = modification
    if (kind === 'renewal') terms.push({ start: effectiveAt, end: policyEnd })
    // If an endorsement does not move the end, its own is that of the cover, which a cancellation may have ended.
    if (kind === 'endorsement' && policyEnd !== coverEnd) terms.at(-1)!.end = policyEnd
    coverEnd = contractEndAfter([modification], coverEnd)
  }
  const ended = endingOf(aggregate)
  const begun = terms.filter(({ start }, at) => at === 0 || ended === undefined || start <= ended.at)
  const premiums = premiumsOf(aggregate, line, begun)
  return begun.map(({ start, end }, at): Term => {
    const isLast = at === begun.length - 1
    const own = isLast ? (ended?.by ?? (end <= knownAt ? 'expired' : 'inForce')) : 'renewed'
    return { start, end, outcome: own, premium: premiums[at]! }
  })
}

/** Returns the premium in force of each term, in minor units. A transaction of one term may change the premium of later ones. */
function premiumsOf({ perilRuns, policy }: PolicyAggregate, line: Line, terms: readonly Span[]): number[] {
  const premiums = terms.map(() => 0)
  for (const run of perilRuns.values())
    for (const { start, amounts } of piecesInForce(piecesOf(run, line, policy.timeZone))) {
      const term = Math.max(
        0,
        terms.findLastIndex(one => one.start <= start),
      )
      premiums[term] = premiums[term]! + (amounts?.premium.minor ?? 0)
    }
  return premiums
}

export const retention: ReportKind = {
  name: 'retention',
  title: 'Retention and lapses',
  about: 'Terms whose agreed end is in the period, and what happened to them.',
  takes: ['period'],
  dimensions: ['outcome', 'month'],
  usual: ['product', 'outcome'],
  needs: () => ({ records: true }),
  columns: () => [
    { name: 'termStart', type: 'time', about: 'The start of the term.' },
    { name: 'termEnd', type: 'time', about: 'The agreed end of the term.' },
    count('terms', 'Terms that end in the period.'),
    count('renewed', 'Terms followed by another term.'),
    count('cancelled', 'Terms ended early by a cancellation that was not reversed.'),
    count('lapsed', 'Terms ended early for non-payment.'),
    count('notRenewed', 'Terms that ended and were not followed by another.'),
    { name: 'premium', type: 'amount', about: 'Premium of the term.', isMeasure: true },
    { name: 'renewedPremium', type: 'amount', about: 'Premium of terms that were renewed.', isMeasure: true },
  ],
  *lines({ policy, records }, parameters, { knownAt }) {
    if (!policy || records?.policy.issuedAt === undefined) return
    const line = lineOf(records, boundQuote(records))
    for (const { start, end, outcome, premium } of termsOf(records, line, knownAt)) {
      if (!isWithin(parameters, end)) continue
      const is = (...outcomes: string[]): number => (outcomes.includes(outcome) ? 1 : 0)
      yield {
        currency: policy.currency,
        cells: [
          start,
          end,
          1,
          is('renewed'),
          is('cancelled', 'withdrawn'),
          is('lapsed'),
          is('expired'),
          premium,
          outcome === 'renewed' ? premium : 0,
        ],
        booked: end,
        own: { outcome },
        ...dataAt(records, line, start),
      }
    }
  },
}

/** Returns the policy data in force at that time. If there was no cover, returns the data that was replaced last. */
function dataAt(records: PolicyAggregate, line: Line, at: Instant) {
  const locator = segmentAt(line, at)
  const segment = locator && records.segments.get(locator)
  return segment ? { data: segment.data } : {}
}

export const conversion: ReportKind = {
  name: 'conversion',
  title: 'Quotes and their conversion',
  about: 'Quotes that were created in the period, and what happened to them.',
  takes: ['period'],
  dimensions: ['state', 'month', 'day'],
  usual: ['product', 'state'],
  needs: () => ({ records: true }),
  columns: () => [
    { name: 'quoteLocator', type: 'text', about: 'The quote.' },
    { name: 'createdAt', type: 'time', about: 'The time when the quote was created.' },
    { name: 'issuedAt', type: 'time', about: 'The time when its policy was issued.' },
    { name: 'daysToIssue', type: 'integer', about: 'Whole days from creation to issue.' },
    count('quotes', 'Quotes.'),
    count('priced', 'Quotes that have a price.'),
    count('declined', 'Quotes that underwriting rejected or referred.'),
    count('accepted', 'Quotes that were accepted.'),
    count('issued', 'Quotes that were issued.'),
    { name: 'premium', type: 'amount', about: 'Premium of the quotes that have a price.', isMeasure: true },
    {
      name: 'issuedPremium',
      type: 'amount',
      about: 'Premium of the quotes that were issued.',
      isMeasure: true,
    },
  ],
  *lines({ policy, records }, parameters) {
    if (!policy || !records) return
    for (const quote of records.quotes.values()) {
      if (!isWithin(parameters, quote.createdAt)) continue
      const { state, issuedAt, createdAt, locator } = quote
      const minor = premiumOf(records, quote)
      const is = (test: boolean): number => (test ? 1 : 0)
      const segment = [...records.segments.values()].find(one => one.quoteLocator === locator)
      yield {
        currency: policy.currency,
        cells: [
          String(locator),
          createdAt,
          issuedAt ?? null,
          issuedAt === undefined ? null : Math.floor((issuedAt - createdAt) / DAY_MS),
          1,
          is(minor !== undefined),
          is(state === 'declined'),
          is(state === 'accepted'),
          is(issuedAt !== undefined),
          minor ?? 0,
          issuedAt === undefined ? 0 : (minor ?? 0),
        ],
        booked: createdAt,
        own: { state: issuedAt === undefined ? state : 'issued' },
        ...(segment && { data: segment.data }),
      }
    }
  },
}

const premiumOf = ({ modifications }: PolicyAggregate, { locator }: Quote): number | undefined =>
  [...modifications.values()].find(modification => modification.quoteLocator === locator)?.premiumChange
    ?.minor
