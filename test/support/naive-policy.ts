// A second model of a policy's life, as simple as possible: it carries out all requests from the beginning, on lists of pieces,
// each a span with its data and amounts (brief 1.4 to 1.7, 2.2, 2.5, 3.1 to 3.3). It shares no code with the service's fold,
// rating or templates. If both agree on a random history, both are likely right.
import Big from 'big.js'
import type { Instant, Span } from '../../src/kernel/time.ts'
import {
  halfUp,
  type NaiveAmounts,
  type NaiveData,
  type NaiveFields,
  type NaiveOperation,
  type NaiveRules,
  naiveFees,
  naivePrice,
} from './naive-rates.ts'
import { monthsBetween } from './naive-time.ts'

export type NaivePiece = Span & { readonly data: NaiveData; readonly amounts: NaiveAmounts }

export type NaivePerilTerms = { readonly name: string; readonly data: NaiveData }

export type NaiveExposureTerms = {
  readonly name: string
  readonly data: NaiveData
  readonly perils: readonly NaivePerilTerms[]
}

/** The changes of an endorsement or a renewal. Exposures and perils are named by the model's keys. */
export type NaiveChanges = {
  readonly policy: NaiveFields
  readonly addGroups: readonly { readonly name: string; readonly fields: NaiveFields }[]
  readonly exposures: Readonly<
    Record<
      string,
      {
        readonly values: NaiveFields
        readonly perils: Readonly<Record<string, NaiveFields>>
        readonly endPerils: readonly string[]
        readonly addPerils: readonly NaivePerilTerms[]
      }
    >
  >
  readonly endExposures: readonly string[]
  readonly addExposures: readonly NaiveExposureTerms[]
  readonly schedule?: string
}

/** A request that took effect. A reinstatement refers to a cancellation by its `name`. */
export type NaiveRequest =
  | {
      readonly kind: 'newBusiness'
      readonly span: Span
      readonly data: NaiveData
      readonly exposures: readonly NaiveExposureTerms[]
      readonly schedule: string
    }
  | {
      readonly kind: 'cancellation'
      readonly name: string
      readonly at: Instant
      readonly by: 'months' | 'milliseconds'
    }
  | {
      readonly kind: 'endorsement'
      readonly at: Instant
      readonly reprice: 'never' | 'changed' | 'all'
      readonly changes: NaiveChanges
    }
  | {
      readonly kind: 'renewal'
      readonly start: Instant
      readonly end: Instant
      readonly changes: NaiveChanges
    }
  | { readonly kind: 'withdrawal' }
  | { readonly kind: 'reinstatement'; readonly of: string; readonly at: Instant }

type NaivePeril = {
  readonly exposure: string
  readonly name: string
  /** The key of the first in a chain of perils that renew each other. */
  readonly group: string
  readonly term: number
}

export type NaivePolicy = {
  readonly start: Instant
  readonly end: Instant
  readonly isWithdrawn: boolean
  readonly schedule: string
  /** Number of renewals so far. */
  readonly term: number
  /** The pieces in force of the cover itself, of each peril and of each fee, in the order of time. */
  readonly items: ReadonlyMap<string, readonly NaivePiece[]>
  readonly perils: ReadonlyMap<string, NaivePeril>
  readonly fees: ReadonlyMap<string, { readonly name: string; readonly flat: boolean }>
  /** The data of each exposure over time. A cancellation does not change it. */
  readonly exposures: ReadonlyMap<string, { readonly name: string; readonly pieces: readonly NaivePiece[] }>
  /** By cancellation: when it took effect, and the pieces of each item that it removed. */
  readonly removed: ReadonlyMap<string, { at: Instant; items: ReadonlyMap<string, readonly NaivePiece[]> }>
  /** Cancellations that were reinstated. */
  readonly reinstated: ReadonlySet<string>
}

/** The item whose pieces are the spans that the policy covers, with the policy's own data. */
export const COVER = 'policy'

const NOTHING: NaivePolicy = {
  start: 0 as Instant,
  end: 0 as Instant,
  isWithdrawn: false,
  schedule: '',
  term: 0,
  items: new Map(),
  perils: new Map(),
  fees: new Map(),
  exposures: new Map(),
  removed: new Map(),
  reinstated: new Set(),
}

export const NO_CHANGES: NaiveChanges = {
  policy: {},
  addGroups: [],
  exposures: {},
  endExposures: [],
  addExposures: [],
}

/** The policy that results from the requests. Each request must be allowed by the policy before it. */
export const naivePolicy = (requests: readonly NaiveRequest[], rules: NaiveRules): NaivePolicy =>
  requests.reduce((policy, request) => applyRequest(policy, request, rules), NOTHING)

/** Why the request cannot take effect on the policy. Undefined if it can. */
export function naiveRefusal(policy: NaivePolicy, request: NaiveRequest): string | undefined {
  if (policy.isWithdrawn) return 'withdrawn'
  switch (request.kind) {
    case 'newBusiness':
      return policy.items.size > 0 ? 'issued already' : undefined
    // A withdrawal of a policy that is cancelled from its start takes back what is left. The policy is then withdrawn and cannot
    // be reinstated.
    case 'withdrawal':
      return undefined
    case 'endorsement':
      if (!coverFrom(policy, request.at).some(piece => piece.start <= request.at))
        return 'no coverage at that time'
      return coverageProblem(policy, request.changes, pieces => pieces.some(piece => piece.end > request.at))
    case 'renewal':
      if ([...policy.removed.keys()].some(name => !policy.reinstated.has(name))) return 'cancelled'
      if (request.start !== policy.end) return 'the policy ends at another time'
      return coverageProblem(policy, request.changes, pieces =>
        pieces.some(piece => piece.end === policy.end),
      )
    case 'cancellation':
      if (request.at < policy.start || request.at >= policy.end) return 'outside the contract'
      return coverFrom(policy, request.at).length > 0 ? undefined : 'no coverage'
    case 'reinstatement': {
      const removal = policy.removed.get(request.of)
      if (!removal) return 'not cancelled'
      if (policy.reinstated.has(request.of)) return 'reinstated already'
      const cancelled = [...policy.removed.keys()]
      const later = cancelled.slice(cancelled.indexOf(request.of) + 1)
      if (later.some(name => !policy.reinstated.has(name))) return 'cancelled again since'
      if (request.at < removal.at) return 'before the cancellation'
      const removed = removal.items.get(COVER)!
      if (removed.length === 0) return 'nothing removed'
      return removed.some(piece => piece.end > request.at) ? undefined : 'after what was removed'
    }
  }
}

const coverFrom = ({ items }: NaivePolicy, at: Instant): NaivePiece[] =>
  (items.get(COVER) ?? []).filter(piece => piece.end > at)

/** Returns a problem if the changes name an exposure or a peril that is not covered at that time. */
function coverageProblem(
  policy: NaivePolicy,
  { exposures, endExposures }: NaiveChanges,
  isThere: (pieces: readonly NaivePiece[]) => boolean,
): string | undefined {
  const cover = policy.items.get(COVER)!
  for (const key of [...Object.keys(exposures), ...endExposures]) {
    const covered = policy.exposures.get(key)!.pieces.flatMap(piece => inside(piece, cover))
    if (!isThere(covered)) return `exposure ${key} is not covered`
  }
  for (const { perils, endPerils } of Object.values(exposures))
    for (const key of [...Object.keys(perils), ...endPerils])
      if (!isThere(policy.items.get(key)!)) return `peril ${key} is not covered`
  return undefined
}

/** The parts of a piece that are within the cover. */
const inside = (piece: NaivePiece, cover: readonly NaivePiece[]): NaivePiece[] =>
  cover.flatMap(({ start, end }) => {
    const span = {
      start: Math.max(start, piece.start) as Instant,
      end: Math.min(end, piece.end) as Instant,
    }
    return span.start < span.end ? [{ ...piece, ...span }] : []
  })

function applyRequest(policy: NaivePolicy, request: NaiveRequest, rules: NaiveRules): NaivePolicy {
  switch (request.kind) {
    case 'newBusiness': {
      const { span, data, exposures, schedule } = request
      const begun = {
        ...NOTHING,
        ...span,
        schedule,
        items: new Map([[COVER, [{ ...span, data, amounts: {} }]]]),
      }
      return withFees(withExposures(begun, exposures, span.start, 'new_business', rules), span, rules)
    }
    case 'withdrawal':
      return {
        ...policy,
        end: policy.start,
        isWithdrawn: true,
        items: new Map([...policy.items.keys()].map(key => [key, []])),
      }
    case 'endorsement':
      return applyEndorsement(policy, request, rules)
    case 'renewal':
      return applyRenewal(policy, request, rules)
    case 'cancellation':
      return applyCancellation(policy, request, rules)
    case 'reinstatement':
      return applyReinstatement(policy, request, rules)
  }
}

const NO_DATA: NaiveData = { values: {}, groups: {} }

/** The data with changed values and additional groups. */
function changed(
  { values, groups }: NaiveData,
  more: NaiveFields,
  addGroups: NaiveChanges['addGroups'] = [],
): NaiveData {
  const all: Record<string, readonly NaiveFields[]> = { ...groups }
  for (const { name, fields } of addGroups) all[name] = [...(all[name] ?? []), fields]
  return { values: { ...values, ...more }, groups: all }
}

const differs = (a: NaiveData, b: NaiveData): boolean =>
  JSON.stringify(sorted(a.values)) !== JSON.stringify(sorted(b.values)) ||
  JSON.stringify(a.groups) !== JSON.stringify(b.groups)

const sorted = (values: NaiveFields) => Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))

const at = (pieces: readonly NaivePiece[], time: Instant): NaivePiece | undefined =>
  pieces.find(piece => piece.start <= time && time < piece.end)

/** The peril's piece for the span, priced from the data of policy and exposure at its start. */
const priced = (
  policy: NaivePolicy,
  { exposure, name }: Pick<NaivePeril, 'exposure' | 'name'>,
  data: NaiveData,
  span: Span,
  operation: NaiveOperation,
  rules: NaiveRules,
): NaivePiece => ({
  start: span.start,
  end: span.end,
  data,
  amounts: naivePrice(
    {
      name,
      policy: at(policy.items.get(COVER)!, span.start)!.data,
      exposure: at(policy.exposures.get(exposure)!.pieces, span.start)!.data,
      peril: data,
    },
    span,
    operation,
    rules,
  ),
})

/** Adds exposures with their perils wherever there is cover from that time on. A peril has the spans of its exposure. */
function withExposures(
  policy: NaivePolicy,
  added: readonly NaiveExposureTerms[],
  from: Instant,
  operation: NaiveOperation,
  rules: NaiveRules,
): NaivePolicy {
  let result = policy
  for (const { name, data, perils } of added) {
    const key = `e${result.exposures.size}`
    const pieces = coverFrom(result, from).map(({ start, end }) => ({ start, end, data, amounts: {} }))
    result = { ...result, exposures: new Map([...result.exposures, [key, { name, pieces }]]) }
    for (const peril of perils) result = withPeril(result, key, peril, from, operation, rules)
  }
  return result
}

function withPeril(
  policy: NaivePolicy,
  exposure: string,
  { name, data }: NaivePerilTerms,
  from: Instant,
  operation: NaiveOperation,
  rules: NaiveRules,
  renews?: string,
): NaivePolicy {
  const same = [...policy.perils.values()].filter(one => one.exposure === exposure && one.name === name)
  const key = `${exposure} ${name} ${same.length}`
  const peril: NaivePeril = { exposure, name, term: policy.term, group: renews ?? key }
  const pieces = coverFrom(policy, from)
    .filter(({ start }) => at(policy.exposures.get(exposure)!.pieces, start))
    .map(span => priced(policy, peril, data, span, operation, rules))
  return {
    ...policy,
    perils: new Map([...policy.perils, [key, peril]]),
    items: new Map([...policy.items, [key, pieces]]),
  }
}

/** Adds the standard fees of a term, by the policy's data in that term (brief 3.3). */
function withFees(policy: NaivePolicy, span: Span, rules: NaiveRules): NaivePolicy {
  const fees = naiveFees(at(policy.items.get(COVER)!, span.start)!.data, policy.schedule, rules).map(
    ({ name, amount, flat }) => ({ key: `fee ${policy.term} ${name}`, name, amount, flat }),
  )
  return {
    ...policy,
    fees: new Map([...policy.fees, ...fees.map(({ key, name, flat }) => [key, { name, flat }] as const)]),
    items: new Map([
      ...policy.items,
      ...fees.map(
        ({ key, amount }) =>
          [key, [{ start: span.start, end: span.end, data: NO_DATA, amounts: { fee: amount } }]] as const,
      ),
    ]),
  }
}

/**
 * Splits the pieces that span the time. Pieces in force after it change, are rated again as the type of endorsement says, or end
 * (brief 2.2, 2.5). What a cancellation removed is unchanged, for its reinstatement. So are fees (brief 3.3).
 */
function applyEndorsement(
  policy: NaivePolicy,
  { at: from, reprice, changes }: NaiveRequest & { kind: 'endorsement' },
  rules: NaiveRules,
): NaivePolicy {
  const items = new Map(
    [...policy.items].map(([key, pieces]): [string, readonly NaivePiece[]] => [
      key,
      policy.fees.has(key) ? pieces : pieces.flatMap(piece => splitIfWithin(piece, from, rules)),
    ]),
  )
  const cover = items.get(COVER)!
  const changedCover = cover.map(piece =>
    piece.start < from ? piece : { ...piece, data: changed(piece.data, changes.policy, changes.addGroups) },
  )
  const isPolicyChanged = changedCover.some((piece, index) => differs(piece.data, cover[index]!.data))
  items.set(COVER, changedCover)

  const exposures = new Map(policy.exposures)
  const changedExposures = new Set<string>()
  for (const [key, { name, pieces }] of policy.exposures) {
    const asked = changes.exposures[key]
    const isEnded = changes.endExposures.includes(key)
    if (!asked && !isEnded) continue
    const boundaries = [from, ...changedCover.flatMap(piece => [piece.start, piece.end])]
    exposures.set(key, {
      name,
      pieces: boundaries
        .reduce<NaivePiece[]>((parts, time) => parts.flatMap(part => cutAt(part, time)), [...pieces])
        .flatMap(part => {
          if (part.start < from || inside(part, changedCover).length === 0) return [part]
          if (isEnded) return []
          const data = changed(part.data, asked!.values)
          if (differs(data, part.data)) changedExposures.add(key)
          return [{ ...part, data }]
        }),
    })
  }

  let result: NaivePolicy = { ...policy, items, exposures, schedule: changes.schedule ?? policy.schedule }
  for (const [key, peril] of policy.perils) {
    const own = askedOf(policy, key, changes)
    items.set(
      key,
      items.get(key)!.flatMap(piece => {
        if (piece.start < from) return [piece]
        if (own === 'ended') return []
        const data = changed(piece.data, own)
        const isChanged = isPolicyChanged || changedExposures.has(peril.exposure) || differs(data, piece.data)
        return reprice === 'all' || (reprice === 'changed' && isChanged)
          ? [priced(result, peril, data, piece, 'endorsement', rules)]
          : [{ ...piece, data }]
      }),
    )
  }
  for (const [key, { addPerils }] of Object.entries(changes.exposures))
    for (const peril of addPerils) result = withPeril(result, key, peril, from, 'endorsement', rules)
  return withExposures(result, changes.addExposures, from, 'endorsement', rules)
}

/** The changes requested for a peril. Without any, those requested for the nearest peril that it renews. */
function askedOf(
  policy: NaivePolicy,
  key: string,
  { exposures, endExposures }: NaiveChanges,
): NaiveFields | 'ended' {
  const peril = policy.perils.get(key)!
  if (endExposures.includes(peril.exposure)) return 'ended'
  const { perils = {}, endPerils = [] } = exposures[peril.exposure] ?? {}
  const named = [...policy.perils.keys()].filter(
    other =>
      policy.perils.get(other)!.group === peril.group &&
      policy.perils.get(other)!.term <= peril.term &&
      (perils[other] !== undefined || endPerils.includes(other)),
  )
  const nearest = named.at(-1)
  if (nearest === undefined) return {}
  return endPerils.includes(nearest) ? 'ended' : perils[nearest]!
}

/** Adds a term from the policy's end: what is covered then continues, with new perils at the rates of the renewal. */
function applyRenewal(
  policy: NaivePolicy,
  { start, end, changes }: NaiveRequest & { kind: 'renewal' },
  rules: NaiveRules,
): NaivePolicy {
  const holds = (pieces: readonly NaivePiece[]): NaivePiece | undefined =>
    pieces.find(piece => piece.end === start)
  const span = { start, end, amounts: {} }
  const last = holds(policy.items.get(COVER)!)!
  let result: NaivePolicy = {
    ...policy,
    end,
    term: policy.term + 1,
    schedule: changes.schedule ?? policy.schedule,
    items: new Map([
      ...policy.items,
      [
        COVER,
        [
          ...policy.items.get(COVER)!,
          { ...span, data: changed(last.data, changes.policy, changes.addGroups) },
        ],
      ],
    ]),
    exposures: new Map(
      [...policy.exposures].map(([key, { name, pieces }]) => {
        const piece = holds(pieces)
        if (!piece || changes.endExposures.includes(key)) return [key, { name, pieces }]
        const data = changed(piece.data, changes.exposures[key]?.values ?? {})
        return [key, { name, pieces: [...pieces, { ...span, data }] }]
      }),
    ),
  }
  for (const [key, peril] of policy.perils) {
    const piece = holds(policy.items.get(key)!)
    const own = askedOf(policy, key, changes)
    if (!piece || own === 'ended') continue
    const terms = { name: peril.name, data: changed(piece.data, own) }
    result = withPeril(result, peril.exposure, terms, start, 'renewal', rules, peril.group)
  }
  for (const [key, { addPerils }] of Object.entries(changes.exposures))
    for (const peril of addPerils) result = withPeril(result, key, peril, start, 'renewal', rules)
  return withFees(withExposures(result, changes.addExposures, start, 'renewal', rules), span, rules)
}

/**
 * Removes pieces that begin later. A piece that spans the time keeps its share (brief 3.2), and a flat fee all of its amount
 * (brief 3.3).
 */
function applyCancellation(
  policy: NaivePolicy,
  { name, at: from, by }: NaiveRequest & { kind: 'cancellation' },
  rules: NaiveRules,
): NaivePolicy {
  const items = new Map<string, NaivePiece[]>()
  const gone = new Map<string, NaivePiece[]>()
  for (const [key, pieces] of policy.items) {
    const kept: NaivePiece[] = []
    const lost: NaivePiece[] = []
    for (const piece of pieces) {
      if (piece.end <= from) kept.push(piece)
      else if (piece.start >= from) lost.push(piece)
      else if (policy.fees.get(key)?.flat) kept.push(piece)
      else {
        const [before, rest] = split(piece, from, by, rules)
        kept.push(before)
        lost.push(rest)
      }
    }
    items.set(key, kept)
    gone.set(key, lost)
  }
  const removed = new Map([...policy.removed, [name, { at: from, items: gone }] as const])
  return { ...policy, end: items.get(COVER)!.at(-1)?.end ?? from, items, removed }
}

/**
 * Restores what was removed: whole if it begins at or after that time, otherwise in proportion to the months that remain (brief
 * 1.6). A flat fee comes back whole. A fee that is charged without a gap becomes one piece again.
 */
function applyReinstatement(
  policy: NaivePolicy,
  { of, at: from }: NaiveRequest & { kind: 'reinstatement' },
  rules: NaiveRules,
): NaivePolicy {
  const items = new Map(policy.items)
  let { end } = policy
  for (const [key, pieces] of policy.removed.get(of)!.items) {
    const fee = policy.fees.get(key)
    const back = fee?.flat
      ? pieces
      : pieces
          .filter(piece => piece.end > from)
          .map(piece => (from <= piece.start ? piece : lastPart(piece, from, rules)))
    const all = [...items.get(key)!, ...back].sort((a, b) => a.start - b.start)
    items.set(key, fee ? joinAdjoining(all) : all)
    if (key === COVER) end = Math.max(end, ...back.map(piece => piece.end)) as Instant
  }
  return { ...policy, end, items, reinstated: new Set([...policy.reinstated, of]) }
}

/** Joins adjoining pieces of a fee. */
function joinAdjoining(pieces: readonly NaivePiece[]): NaivePiece[] {
  const whole: NaivePiece[] = []
  for (const piece of pieces) {
    const last = whole.at(-1)
    if (last?.end === piece.start) {
      const amounts = mapped(last.amounts, (amount, name) => amount.plus(piece.amounts[name]!))
      whole[whole.length - 1] = { ...last, end: piece.end, amounts }
    } else whole.push(piece)
  }
  return whole
}

const splitIfWithin = (piece: NaivePiece, time: Instant, rules: NaiveRules): NaivePiece[] =>
  time <= piece.start || time >= piece.end ? [piece] : split(piece, time, 'months', rules)

/** Splits a piece without amounts. */
const cutAt = (piece: NaivePiece, time: Instant): NaivePiece[] =>
  time <= piece.start || time >= piece.end
    ? [piece]
    : [
        { ...piece, end: time },
        { ...piece, start: time },
      ]

/** Splits a piece: the first part gets the share of its months or milliseconds, rounded, and the second part the rest. */
function split(
  piece: NaivePiece,
  time: Instant,
  by: 'months' | 'milliseconds',
  rules: NaiveRules,
): [NaivePiece, NaivePiece] {
  const { start, end, amounts } = piece
  const before = by === 'months' ? monthsBetween(start, time, rules.timeZone) : new Big(time - start)
  const whole = by === 'months' ? monthsBetween(start, end, rules.timeZone) : new Big(end - start)
  const first = mapped(amounts, amount => share(amount, before, whole, rules))
  const rest = mapped(amounts, (amount, name) => amount.minus(first[name]!))
  return [
    { ...piece, end: time, amounts: first },
    { ...piece, start: time, amounts: rest },
  ]
}

function lastPart(piece: NaivePiece, from: Instant, rules: NaiveRules): NaivePiece {
  const rest = monthsBetween(from, piece.end, rules.timeZone)
  const whole = monthsBetween(piece.start, piece.end, rules.timeZone)
  return {
    ...piece,
    start: from,
    amounts: mapped(piece.amounts, amount => share(amount, rest, whole, rules)),
  }
}

/** `amount × part ÷ whole` in whole minor units, rounded half-up. Spans too short to have months have no share. */
const share = (amount: Big, part: Big, whole: Big, rules: NaiveRules): Big =>
  whole.eq(0) ? new Big(0) : halfUp(amount.times(part).div(whole), rules)

const mapped = (amounts: NaiveAmounts, change: (amount: Big, name: string) => Big): NaiveAmounts =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, change(amount, name)]))

/** Sums the amounts whose name satisfies `test` over the pieces in force of the items. */
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
