// Impacts in answers: amounts in major units, and lists instead of records.
import { type CurrencyCode, fromMinor, toNumber } from '../../kernel/money.ts'
import type * as contract from './contract.ts'
import { compareGroups } from './groups.ts'
import type { Impact } from './store.ts'
import { type Parts, quantile, type Sums, type Totals } from './totals.ts'

/** Adds the totals, with amounts in major units of `currency`. */
export const impactResponse = (impact: Impact, currency: CurrencyCode): contract.ImpactResponse => ({
  ...summaryResponse(impact),
  currency,
  totals: totalsResponse(impact.totals, currency),
})

/** `policies` counts the policies so far, including those that are skipped or not priced. */
export function summaryResponse({
  locator,
  state,
  name,
  question,
  against,
  fields,
  expected,
  totals,
  createdAt,
  updatedAt,
  username,
}: Impact): contract.ImpactSummaryResponse {
  return {
    locator,
    state,
    name,
    against,
    fields: [...fields],
    occasion: question.occasion,
    dayTimestamp: String(question.day),
    policies: totals.policies,
    expectedPolicies: expected,
    createdTimestamp: String(createdAt),
    updatedTimestamp: String(updatedAt),
    createdBy: username,
  }
}

function totalsResponse(totals: Totals, currency: CurrencyCode): contract.ImpactTotals {
  const money = (minor: number): number => toNumber(fromMinor(minor, currency))
  const parts = ({ premium, taxes, fees, total }: Parts) => ({
    premium: money(premium),
    taxes: money(taxes),
    fees: money(fees),
    total: money(total),
  })
  const sumsResponse = ({ policies, old, new: now, losers, winners }: Sums) => ({
    policies,
    old: money(old),
    new: money(now),
    losers,
    winners,
  })
  const countsResponse = (record: Readonly<Record<string, number>>) =>
    Object.entries(record)
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .map(([what, policies]) => ({ what, policies }))
  const median = quantile(totals.percents, 0.5)
  return {
    policies: totals.policies,
    ...totals.skipped,
    unpriced: totals.unpriced,
    compared: sumsResponse(totals.compared),
    old: parts(totals.old),
    new: parts(totals.new),
    ...(median !== undefined && { medianPercent: median / 10 }),
    decisions: totals.decisions,
    reasons: countsResponse(totals.reasons),
    leftOut: countsResponse(totals.leftOut),
    covers: Object.entries(totals.covers)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { policies, old, new: now }]) => ({ name, policies, old: money(old), new: money(now) })),
    groups: Object.entries(totals.groups).flatMap(([field, groups]) =>
      Object.entries(groups)
        .sort(([a], [b]) => compareGroups(a, b))
        .map(([group, one]) => ({ field, group, ...sumsResponse(one) })),
    ),
  }
}
