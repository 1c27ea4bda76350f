// The totals of an impact. They grow with each policy, are plain JSON between portions, and do not depend on the order of policies
// (except for which groups are counted together if there are too many). Their size depends on the groups and reasons.

import type { Compared } from './comparison.ts'
import type { Price } from './price.ts'
import type { Skipped } from './risk.ts'

/** Policies with both prices. Amounts are in minor units. */
export type Sums = {
  policies: number
  old: number
  new: number
  /** The number of policies that pay more, and how much more they pay together. */
  losers: number
  more: number
  /** The number of policies that pay less, and how much less they pay together. */
  winners: number
  less: number
}

export type Parts = { premium: number; taxes: number; fees: number; total: number }

export type Totals = {
  /** All policies examined. */
  policies: number
  skipped: Record<Skipped, number>
  /** Policies without one of the prices. */
  unpriced: number
  compared: Sums
  old: Parts
  new: Parts
  /** The number of policies that the new underwriting accepts, refers (`none`) and rejects. */
  decisions: Record<'accept' | 'none' | 'reject', number>
  reasons: Record<string, number>
  /** What the new configuration does not know, and how many policies have it. */
  leftOut: Record<string, number>
  /** Policies by the change of their total: in tenths of a percent, and in money to three digits. */
  percents: Record<string, number>
  amounts: Record<string, number>
  /** By field, then by group. */
  groups: Record<string, Record<string, Sums>>
  covers: Record<string, { policies: number; old: number; new: number }>
  products: Record<string, Sums>
  /** The largest changes in each direction, largest first. */
  highest: Extreme[]
  lowest: Extreme[]
  /** The numbers of portions that were abandoned because they were too large. They have no file. */
  abandoned?: readonly number[]
}

export type Extreme = { locator: string; old: number; new: number }

/** Limit on the groups of a field and on reasons. Any beyond it are counted together. */
const MOST_ENTRIES = 200
const OTHERS = '(others)'

const EXTREMES = 10

const noSums = (): Sums => ({ policies: 0, old: 0, new: 0, losers: 0, more: 0, winners: 0, less: 0 })
const noParts = (): Parts => ({ premium: 0, taxes: 0, fees: 0, total: 0 })

/** Returns new totals of no policies, which `addToTotals` changes. */
export const noTotals = (): Totals => ({
  policies: 0,
  skipped: { notInForce: 0, cancelled: 0 },
  unpriced: 0,
  compared: noSums(),
  old: noParts(),
  new: noParts(),
  decisions: { accept: 0, none: 0, reject: 0 },
  reasons: {},
  leftOut: {},
  percents: {},
  amounts: {},
  groups: {},
  covers: {},
  products: {},
  highest: [],
  lowest: [],
})

/** Adds the policy to the totals, in place. */
export function addToTotals(totals: Totals, one: Compared | Skipped): void {
  totals.policies += 1
  if (typeof one === 'string') {
    totals.skipped[one] += 1
    return
  }
  for (const reason of one.reasons) countEntry(totals.reasons, reason)
  for (const what of one.leftOut) countEntry(totals.leftOut, what)
  if (one.decision) totals.decisions[one.decision] += 1
  const { old, new: now } = one
  if (!old || !now) {
    totals.unpriced += 1
    return
  }
  addParts(totals.old, old)
  addParts(totals.new, now)
  addSums(totals.compared, old.total, now.total)
  addSums(entry(totals.products, one.productName, noSums), old.total, now.total)
  for (const [field, group] of Object.entries(one.groups))
    addSums(
      entry(
        entry(totals.groups, field, () => ({})),
        group,
        noSums,
      ),
      old.total,
      now.total,
    )
  for (const name of new Set([...old.covers.keys(), ...now.covers.keys()])) {
    const cover = entry(totals.covers, name, () => ({ policies: 0, old: 0, new: 0 }))
    cover.policies += 1
    cover.old += old.covers.get(name) ?? 0
    cover.new += now.covers.get(name) ?? 0
  }
  const percent = percentOf(old.total, now.total)
  if (percent !== undefined) countEntry(totals.percents, String(toTenths(percent)), Number.POSITIVE_INFINITY)
  countEntry(totals.amounts, String(threeDigits(now.total - old.total)), Number.POSITIVE_INFINITY)
  const extreme = { locator: one.locator, old: old.total, new: now.total }
  keepExtreme(totals.highest, extreme, 1)
  keepExtreme(totals.lowest, extreme, -1)
}

function addParts(parts: Parts, { premium, taxes, fees, total }: Price): void {
  parts.premium += premium
  parts.taxes += taxes
  parts.fees += fees
  parts.total += total
}

function addSums(sums: Sums, old: number, now: number): void {
  sums.policies += 1
  sums.old += old
  sums.new += now
  if (now > old) {
    sums.losers += 1
    sums.more += now - old
  } else if (now < old) {
    sums.winners += 1
    sums.less += old - now
  }
}

/** Returns the entry of the name, or the entry of all others if there are too many. */
function entry<T>(record: Record<string, T>, name: string, make: () => T): T {
  const key = Object.hasOwn(record, name) || Object.keys(record).length < MOST_ENTRIES ? name : OTHERS
  if (!Object.hasOwn(record, key))
    Object.defineProperty(record, key, {
      value: make(),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  return record[key]!
}

function countEntry(record: Record<string, number>, name: string, most = MOST_ENTRIES): void {
  const key =
    most === Number.POSITIVE_INFINITY || Object.hasOwn(record, name) || Object.keys(record).length < most
      ? name
      : OTHERS
  record[key] = (Object.hasOwn(record, key) ? record[key]! : 0) + 1
}

/** Returns the change in percent, or undefined if nothing was paid before. */
export const percentOf = (old: number, now: number): number | undefined =>
  old === 0 ? undefined : ((now - old) / Math.abs(old)) * 100

/** Larger changes count as this one. */
const LARGEST_PERCENT = 1_000

const toTenths = (percent: number): number =>
  Math.round(Math.max(-LARGEST_PERCENT, Math.min(LARGEST_PERCENT, percent)) * 10)

/** Rounds to the first three digits, so that there are few different values. */
function threeDigits(minor: number): number {
  if (Math.abs(minor) < 1_000) return minor
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(minor))) - 2)
  return Math.round(minor / unit) * unit
}

function keepExtreme(list: Extreme[], one: Extreme, direction: 1 | -1): void {
  const size = ({ old, new: now }: Extreme): number => (now - old) * direction
  if (size(one) <= 0) return
  const ranksBefore = (other: Extreme): boolean =>
    size(other) > size(one) || (size(other) === size(one) && other.locator <= one.locator)
  const place = list.findIndex(other => !ranksBefore(other))
  list.splice(place < 0 ? list.length : place, 0, one)
  if (list.length > EXTREMES) list.pop()
}

/** Returns the change below which this share of the policies is, in the unit of `counts`: tenths of a percent, or minor units. */
export function quantile(counts: Readonly<Record<string, number>>, share: number): number | undefined {
  const sorted = Object.entries(counts)
    .map(([value, policies]) => [Number(value), policies] as const)
    .sort(([a], [b]) => a - b)
  const all = sorted.reduce((sum, [, policies]) => sum + policies, 0)
  let seen = 0
  for (const [value, policies] of sorted) {
    seen += policies
    if (seen >= share * all) return value
  }
  return undefined
}
