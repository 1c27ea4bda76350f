// The rows of whole policies: as `differenceQueries` writes one, but of all policies together, so that the statements of a
// batch are as many for many policies as for one.
import { INVOICE_TIMER } from '../../../billing/invoicing.ts'
import { derivedUuid, shardOfDigits } from '../../../kernel/locators.ts'
import { type Instant, later } from '../../../kernel/time.ts'
import type { NewTimer } from '../../../platform/commit.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { termChange } from '../../../policy/list/terms.ts'
import type { PolicyAggregate } from '../../../policy/records/aggregate.ts'
import { COLLECTION_NAMES, COLLECTIONS, policyRow } from '../../../policy/store/rows.ts'
import { NOTHING_UNREAD } from '../../../policy/surroundings.ts'
import { policies, policyTerms } from '../../../policy/tables/policies.ts'
import { policyState } from '../../../policy/transitions.ts'
import type { Configuration } from '../../../product/configuration.ts'
import { coverEnds } from '../../../transactions/cancellations/effective.ts'
import { scheduleChanges } from '../../../transactions/custom-events/plan.ts'
import { pastDueTimers } from '../../../transactions/lapses/timers.ts'
import { endsNaturally, termEndTimers } from '../../../transactions/term-end.ts'
import type { TableRows } from './table-rows.ts'

/** Adds the policies with everything in them, and what they are found by. */
export function addPolicies(
  rows: TableRows,
  { products }: Configuration,
  aggregates: readonly PolicyAggregate[],
): void {
  rows.add(
    policies,
    aggregates.map(one => policyRow(one, NOTHING_UNREAD)),
  )
  for (const aggregate of aggregates) {
    const { policy } = aggregate
    const ofPolicy = <R extends object>(row: R) => ({ ...row, policyLocator: policy.locator })
    for (const name of COLLECTION_NAMES) {
      const { table, toRow } = COLLECTIONS[name]
      const records = [...(aggregate[name] as ReadonlyMap<unknown, unknown>).values()]
      rows.add(table, records.map(record => ofPolicy(toRow(record as never))) as never)
    }
    rows.add(policyTerms, termChange(products[policy.productName]!, undefined, aggregate).added.map(ofPolicy))
  }
}

/** What goes on by the clock from the policies' last state: bills, what is unpaid, the end, schedules of events. */
export function courseOfPolicies(
  database: Database,
  { products, customEvents }: Configuration,
  aggregates: readonly PolicyAggregate[],
  now: Instant,
): { facts: Query[]; timers: NewTimer[] } {
  const scheduled = aggregates.map(one => scheduleChanges(database, undefined, one, customEvents, now))
  const timers = aggregates.flatMap(aggregate => {
    const product = products[aggregate.policy.productName]!
    return [
      ...billingTimers(aggregate, now),
      ...pastDueTimers(undefined, aggregate, product),
      ...coverEnds(undefined, aggregate, now).timers,
      ...(policyState(aggregate) === 'issued' && endsNaturally(aggregate)
        ? termEndTimers(aggregate.policy, product, now)
        : []),
    ]
  })
  return {
    facts: scheduled.flatMap(({ facts }) => facts),
    timers: [...timers, ...scheduled.flatMap(one => one.timers)],
  }
}

/** One for each time at which planned installments are to be invoiced; for those whose time has passed, now. */
function billingTimers({ policy, installments, invoices }: PolicyAggregate, now: Instant): NewTimer[] {
  const invoiced = new Set(
    [...invoices.values()].map(one => `${one.policyModificationLocator} ${one.installmentNumber}`),
  )
  const planned = [...installments.values()].filter(
    one => one.absorbedBy.length === 0 && !invoiced.has(`${one.modificationLocator} ${one.number}`),
  )
  return [...new Set(planned.map(({ issueAt }) => later(issueAt, now)))].map(dueAt => ({
    locator: derivedUuid(shardOfDigits(policy.locator), INVOICE_TIMER, String(policy.locator), String(dueAt)),
    dueAt,
    kind: INVOICE_TIMER,
    subject: String(policy.locator),
    payload: {},
  }))
}
