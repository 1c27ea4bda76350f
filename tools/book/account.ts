// Generates one account of a made-up book. The result depends only on the seed and the number.
import type { Instant } from '../../src/kernel/time.ts'
import { Bills, invoiceTotals } from './bills.ts'
import { dayOf, plusDays, policyStart } from './calendar.ts'
import { moneyOf } from './payments.ts'
import { personOf } from './people.ts'
import { CADENCES, policyOf } from './policy.ts'
import { randomOf } from './random.ts'
import { riskOf } from './risk.ts'
import { type Account, wireTime } from './wire.ts'

export type BookOptions = {
  readonly seed: string
  /** The date of the book, YYYY-MM-DD. Nothing in it was issued, billed or paid later. */
  readonly asOf?: string
  /** Policies of each account, instead of one to three. */
  readonly policies?: number
}

export const AS_OF = '2026-10-01'

/** Numbers of policies of an account, one and a half on average. */
const POLICIES = [1, 1, 1, 1, 1, 1, 2, 2, 2, 3]

export function generateAccount(
  { seed, asOf = AS_OF, policies: count }: BookOptions,
  index: number,
): Account {
  const random = randomOf(`${seed} ${index}`)
  const id = `${seed}-${String(index).padStart(6, '0')}`
  const until: Instant = dayOf(asOf)
  const person = personOf(random, index)
  const bills = new Bills(until)
  const isJoint = random.chance(0.15)
  const common = { start: policyStart(random, until), cadence: random.pick(CADENCES) }
  const policies = Array.from({ length: count ?? random.pick(POLICIES) }, (_, at) =>
    policyOf(random, {
      ...(isJoint ? common : { start: policyStart(random, until), cadence: random.pick(CADENCES) }),
      accountId: id,
      id: `P${at + 1}`,
      asOf: until,
      bills,
      risk: riskOf(random, person),
      billKey: isJoint ? 'joint' : String(at),
    }),
  )
  const totals = invoiceTotals({ policies })
  const billed = bills.all.filter(one => totals.has(one.id))
  const { balances, ...money } = moneyOf(random, id, billed, totals, until)
  return {
    accountData: {
      id,
      accountType: 'consumer',
      data: person.values,
      ...(isJoint && { billingLevel: 'account' }),
      createdAt: wireTime(plusDays(common.start, -random.between(1, 900))),
    },
    defaultCreatedBy: 'bestand@insurer.example',
    policies,
    ...money,
    ...(random.chance(0.75) && { accounting: { originalAccountBalances: balances } }),
  }
}
