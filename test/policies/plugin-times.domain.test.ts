// The tables that plugins outside of rating use: those in force at the time of their transaction, as for rating.
import { expect, it } from 'vitest'
import { add } from '../../src/kernel/time.ts'
import type { SelectionBasis } from '../../src/product/resources.ts'
import { type RatingTables, tablesOfConfiguration } from '../../src/reference/data-tables/rating-tables.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { ClockedPolicy } from '../support/clocked-policy.ts'
import { attemptAt } from '../support/policy-story.ts'
import '../../src/transactions/kinds.ts'

type Charges = { charges: { chargeId: string; amount: string }[]; coverageStartTimestamp: string }

const functions = {
  getProrationResult: ({ items }: { items: { id: string }[] }) => ({
    items: items.map(({ id }) => ({ id, proratedAmount: '0' })),
  }),
  createInstallments: ({ charges, coverageStartTimestamp: at }: Charges) => ({
    installments: [
      {
        startTimestamp: at,
        endTimestamp: String(Number(at) + 1_000),
        issueTimestamp: at,
        dueTimestamp: at,
        invoiceItems: charges.map(({ chargeId, amount }) => ({ chargeId, amount })),
      },
    ],
  }),
}

it('the plugins of a cancellation use the tables in force when it takes effect', async () => {
  const plugins = Object.fromEntries(
    Object.keys(functions).map(name => [name, { path: 'main/all.js', enabled: true }]),
  )
  const { loaded, now } = await ClockedPolicy.issued('motor', 'annually', { plugins }, functions)
  const { originalStart, timeZone } = loaded.aggregate.policy
  const effectiveTimestamp = add(originalStart, 100, 'day', timeZone)
  const asked: SelectionBasis[] = []
  const tables = {
    of(configuration: typeof loaded.configuration, product: string, times: SelectionBasis) {
      asked.push(times)
      return tablesOfConfiguration(configuration.lookup(product))
    },
  } as RatingTables
  await decideCancellation(
    loaded,
    {
      action: 'create',
      request: {
        name: 'customer_request',
        cancellationCategory: 'other',
        effectiveTimestamp,
        issue: true,
        conflictHandling: 'invalidate',
      },
    },
    { ...attemptAt(now, functions), tables },
  )
  // One look-up of the tables for each plugin.
  const times = {
    policyStartTime: originalStart,
    termStartTime: originalStart,
    transactionEffectiveTime: effectiveTimestamp,
    currentTime: now,
  }
  expect(asked).toEqual([times, times])
})
