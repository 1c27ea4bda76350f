// The work of migrating a policy grows linearly with its transactions and its elements only.
import { describe, expect, it } from 'vitest'
import { locatorSupply, type Uuid } from '../../src/kernel/locators.ts'
import { runAllSteps, runInTurns } from '../../src/kernel/turns.ts'
import { AccountMigrationRequest } from '../../src/servicing/migration/contract-request.ts'
import { conversionOf, digitsNeeded } from '../../src/servicing/migration/convert/account.ts'
import { size } from '../support/sizes.ts'
import { BOOK_BEGINS, DAY, NOW, plainConfiguration, type Wire } from './made-book.ts'

type Size = { readonly transactions: number; readonly things: number }

/** A policy in which each transaction changes every exposure, so that all perils are priced again. */
function changedPolicy({ transactions, things }: Size): Wire {
  const peril = (id: string, elementType: string, at: number) => ({
    id,
    elementType,
    charges: [
      { chargeType: 'premium', installmentItems: [{ amount: at === 0 ? 100 : 1.25, installmentNumber: 1 }] },
    ],
  })
  const rootElement = (at: number) => ({
    id: 'root',
    elementType: 'plain',
    elements: Array.from({ length: things }, (_, thing) => ({
      id: `t${thing}`,
      elementType: 'thing',
      data: { yearly: 100 + at },
      elements: ['cover', 'theft'].map(type => peril(`t${thing}-${type}`, type, at)),
    })),
  })
  const start = BOOK_BEGINS
  return {
    accountData: { id: 'A1', data: { last_name: 'Even' } },
    policies: [
      {
        id: 'P0',
        productName: 'plain',
        durationBasis: 'years',
        terms: [
          {
            startTime: start,
            endTime: start + 365 * DAY,
            transactions: Array.from({ length: transactions }, (_, at) => ({
              transactionType: at === 0 ? 'issuance' : 'change',
              issuedTime: start - 60 * DAY + at * 3_600_000,
              segment: { segmentType: 'coverage', startTime: start + at * DAY, rootElement: rootElement(at) },
              installments: [{ startTime: start + at * DAY, dueTime: start + (at + 1) * DAY }],
            })),
          },
        ],
      },
    ],
  }
}

let sequence = 1

function conversion(size: Size) {
  const request = AccountMigrationRequest.parse(changedPolicy(size))
  const digits = Array.from({ length: digitsNeeded(request) }, () => sequence++ * 64)
  return conversionOf(request, {
    configuration: plainConfiguration,
    configVersion: 1,
    now: NOW,
    shard: 0,
    supply: locatorSupply(0, digits),
    accountLocator: '5b9a3f60-0000-4000-8000-000000000000' as Uuid,
    callerLocator: '5b9a3f61-0000-4000-8000-000000000000' as Uuid,
  })
}

function workOf(size: Size): number {
  let work = 0
  const { failures, policies } = runAllSteps(conversion(size), one => {
    work += one
  })
  expect(failures).toEqual([])
  expect(policies[0]!.perilRuns.size).toBe(size.transactions * size.things * 2)
  return work
}

describe('migrating a policy', () => {
  it.each<[string, (factor: number) => Size]>([
    ['transactions', factor => ({ transactions: 20 * factor, things: 3 })],
    ['elements', factor => ({ transactions: 5, things: 3 * factor })],
  ])('needs twice the work for twice the %s', (_, sized) => {
    const work = size([1, 2, 4], [1, 2, 4, 8]).map(factor => workOf(sized(factor)))
    for (const [at, one] of work.entries()) if (at > 0) expect(one).toBeLessThan(2.2 * work[at - 1]!)
  })

  it('processes for each transaction only the runs of the previous one', () => {
    const transactions = size(50, 199)
    // 91 elements, 60 new runs, and 60 runs that it ends.
    expect(workOf({ transactions, things: 30 })).toBe(transactions * (91 + 60) + (transactions - 1) * 60)
  })

  it('yields to other work after every few transactions', async () => {
    let turns = 0
    await runInTurns(conversion({ transactions: 100, things: 3 }), 50, async () => {
      turns += 1
    })
    // Each transaction counts 22 units, so that other work gets a turn after every third.
    expect(turns).toBe(33)
  })
})
