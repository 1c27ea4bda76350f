// A second model of a policy's life, as simple as it can be: all that was ever asked for, carried out from the
// beginning on lists of pieces, each a span with its amounts (brief 1.5 to 1.7, 2.2, 3.1 to 3.3). It shares no code
// with the service's fold, so that where the two agree on a random history, both are likely right.
import Big from 'big.js'
import { type CurrencyCode, minorDigits } from '../../src/platform/money.ts'
import { add, type Instant, type Span, type TimeZone } from '../../src/platform/time.ts'

/** Amounts in major units under names of the caller's: `premium`, `technicalPremium`, `tax 0`, `fee` … */
export type NaiveAmounts = Readonly<Record<string, Big>>

export type NaivePiece = Span & { readonly amounts: NaiveAmounts }

/** What is covered or charged over time: the policy itself (no amounts), a peril, a fee. */
export type NaiveItem = {
  readonly key: string
  readonly amounts: NaiveAmounts
  /** A fee that is charged whole or not at all. */
  readonly flat?: boolean
}

/** What took effect, in that order. A cancellation's `name` is what a reinstatement refers to it by. */
export type NaiveRequest =
  | { readonly kind: 'newBusiness'; readonly span: Span; readonly items: readonly NaiveItem[] }
  | {
      readonly kind: 'cancellation'
      readonly name: string
      readonly at: Instant
      readonly by: 'months' | 'milliseconds'
    }
  /** Of the kind that is not priced anew: what is split is shared out. */
  | { readonly kind: 'endorsement'; readonly at: Instant }
  | { readonly kind: 'withdrawal' }
  | { readonly kind: 'reinstatement'; readonly of: string; readonly at: Instant }

export type NaivePolicy = {
  readonly start: Instant
  readonly end: Instant
  readonly isWithdrawn: boolean
  /** The pieces in force of each item, in the order of time. */
  readonly items: ReadonlyMap<string, readonly NaivePiece[]>
  readonly flat: ReadonlySet<string>
  /** By cancellation: when it took effect and the pieces that it removed of each item. */
  readonly removed: ReadonlyMap<string, { at: Instant; items: ReadonlyMap<string, readonly NaivePiece[]> }>
  /** Cancellations that were reinstated. */
  readonly reinstated: ReadonlySet<string>
}

/** The item whose pieces are the spans that the policy covers. */
export const COVER = 'policy'

/** Counts and rounds as the tenant does. */
export type NaiveRules = { readonly timeZone: TimeZone; readonly currency: CurrencyCode }

const NOTHING: NaivePolicy = {
  start: 0 as Instant,
  end: 0 as Instant,
  isWithdrawn: false,
  items: new Map(),
  flat: new Set(),
  removed: new Map(),
  reinstated: new Set(),
}

/** The policy that the requests make, each of which the policy before it allows. */
export const naivePolicy = (requests: readonly NaiveRequest[], rules: NaiveRules): NaivePolicy =>
  requests.reduce((policy, request) => after(policy, request, rules), NOTHING)

/** Why the request cannot take effect on the policy; undefined when it can. */
export function naiveRefusal(policy: NaivePolicy, request: NaiveRequest): string | undefined {
  if (policy.isWithdrawn) return 'withdrawn'
  switch (request.kind) {
    case 'newBusiness':
      return policy.items.size > 0 ? 'issued already' : undefined
    case 'withdrawal':
      return coveredFrom(policy, policy.start) ? undefined : 'no coverage'
    case 'endorsement':
      return (policy.items.get(COVER) ?? []).some(one => one.start <= request.at && request.at < one.end)
        ? undefined
        : 'no coverage at that time'
    case 'cancellation':
      if (request.at < policy.start || request.at >= policy.end) return 'outside the contract'
      return coveredFrom(policy, request.at) ? undefined : 'no coverage'
    case 'reinstatement': {
      const removal = policy.removed.get(request.of)
      if (!removal) return 'not cancelled'
      if (policy.reinstated.has(request.of)) return 'reinstated already'
      if (request.at < removal.at) return 'before the cancellation'
      return removal.items.get(COVER)!.some(piece => piece.end > request.at) ? undefined : 'nothing removed'
    }
  }
}

const coveredFrom = ({ items }: NaivePolicy, at: Instant): boolean =>
  (items.get(COVER) ?? []).some(piece => piece.end > at)

function after(policy: NaivePolicy, request: NaiveRequest, rules: NaiveRules): NaivePolicy {
  switch (request.kind) {
    case 'newBusiness':
      return {
        ...policy,
        ...request.span,
        items: new Map(request.items.map(({ key, amounts }) => [key, [{ ...request.span, amounts }]])),
        flat: new Set(request.items.filter(item => item.flat).map(item => item.key)),
      }
    case 'withdrawal':
      return {
        ...policy,
        end: policy.start,
        isWithdrawn: true,
        items: new Map([...policy.items.keys()].map(key => [key, []])),
      }
    case 'endorsement':
      return withSplit(policy, request.at, rules)
    case 'cancellation':
      return withoutRest(policy, request, rules)
    case 'reinstatement':
      return withRestored(policy, request, rules)
  }
}

/** What spans the time is in two pieces from now on (brief 2.2); fees are not touched (brief 3.3). */
function withSplit(policy: NaivePolicy, at: Instant, rules: NaiveRules): NaivePolicy {
  const items = [...policy.items].map(([key, pieces]): [string, readonly NaivePiece[]] => [
    key,
    pieces.flatMap(piece =>
      'fee' in piece.amounts || at <= piece.start || at >= piece.end
        ? [piece]
        : split(piece, at, 'months', rules),
    ),
  ])
  return { ...policy, items: new Map(items) }
}

/** What begins later goes; what spans the time keeps its share (brief 3.2), a flat fee all of it (brief 3.3). */
function withoutRest(
  policy: NaivePolicy,
  { name, at, by }: NaiveRequest & { kind: 'cancellation' },
  rules: NaiveRules,
): NaivePolicy {
  const items = new Map<string, NaivePiece[]>()
  const gone = new Map<string, NaivePiece[]>()
  for (const [key, pieces] of policy.items) {
    const kept: NaivePiece[] = []
    const lost: NaivePiece[] = []
    for (const piece of pieces) {
      if (piece.end <= at) kept.push(piece)
      else if (piece.start >= at) lost.push(piece)
      else if (policy.flat.has(key)) kept.push(piece)
      else {
        const [before, rest] = split(piece, at, by, rules)
        kept.push(before)
        lost.push(rest)
      }
    }
    items.set(key, kept)
    gone.set(key, lost)
  }
  return { ...policy, end: at, items, removed: new Map([...policy.removed, [name, { at, items: gone }]]) }
}

/** What was removed comes back: whole from its own time on, from later in proportion to its months (brief 1.6). */
function withRestored(
  policy: NaivePolicy,
  { of, at }: NaiveRequest & { kind: 'reinstatement' },
  rules: NaiveRules,
): NaivePolicy {
  const items = new Map(policy.items)
  let { end } = policy
  for (const [key, pieces] of policy.removed.get(of)!.items) {
    const back = pieces
      .filter(piece => piece.end > at)
      .map(piece => (at <= piece.start ? piece : lastPart(piece, at, rules)))
    items.set(
      key,
      [...items.get(key)!, ...back].sort((a, b) => a.start - b.start),
    )
    if (key === COVER) end = Math.max(end, ...back.map(piece => piece.end)) as Instant
  }
  return { ...policy, end, items, reinstated: new Set([...policy.reinstated, of]) }
}

/** A piece in two: the first by the share of its months or milliseconds, rounded; the second is what is left. */
function split(
  { start, end, amounts }: NaivePiece,
  at: Instant,
  by: 'months' | 'milliseconds',
  rules: NaiveRules,
): [NaivePiece, NaivePiece] {
  const before = by === 'months' ? monthsBetween(start, at, rules.timeZone) : new Big(at - start)
  const whole = by === 'months' ? monthsBetween(start, end, rules.timeZone) : new Big(end - start)
  const first = mapped(amounts, amount => share(amount, before, whole, rules))
  const rest = mapped(amounts, (amount, name) => amount.minus(first[name]!))
  return [
    { start, end: at, amounts: first },
    { start: at, end, amounts: rest },
  ]
}

function lastPart({ start, end, amounts }: NaivePiece, at: Instant, rules: NaiveRules): NaivePiece {
  const rest = monthsBetween(at, end, rules.timeZone)
  const whole = monthsBetween(start, end, rules.timeZone)
  return { start: at, end, amounts: mapped(amounts, amount => share(amount, rest, whole, rules)) }
}

/** `amount × part ÷ whole` in whole minor units, half-up. Spans too short to be counted in months have no share. */
const share = (amount: Big, part: Big, whole: Big, { currency }: NaiveRules): Big =>
  whole.eq(0) ? new Big(0) : amount.times(part).div(whole).round(minorDigits(currency), Big.roundHalfUp)

const mapped = (amounts: NaiveAmounts, change: (amount: Big, name: string) => Big): NaiveAmounts =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, change(amount, name)]))

const monthsKnown = new Map<string, Big>()

/** Whole months one by one, then the share of the next in milliseconds; 7 places (brief 3.1). */
function monthsBetween(from: Instant, to: Instant, zone: TimeZone): Big {
  const key = `${from} ${to} ${zone}`
  const known = monthsKnown.get(key) ?? monthsWalked(from, to, zone)
  monthsKnown.set(key, known)
  return known
}

function monthsWalked(from: Instant, to: Instant, zone: TimeZone): Big {
  let count = 0
  while (add(from, count + 1, 'month', zone) <= to) count += 1
  const reached = add(from, count, 'month', zone)
  const next = add(from, count + 1, 'month', zone)
  return new Big(to - reached)
    .div(next - reached)
    .plus(count)
    .round(7, Big.roundHalfUp)
}

/** The sum of amounts whose name satisfies `test` over the pieces in force of one item, or of several. */
export function naiveSum(
  { items }: NaivePolicy,
  keys: Iterable<string>,
  test: (name: string) => boolean,
): Big {
  let total = new Big(0)
  for (const key of keys)
    for (const piece of items.get(key) ?? [])
      for (const [name, amount] of Object.entries(piece.amounts)) if (test(name)) total = total.plus(amount)
  return total
}
