// Unpaid invoices at the time of migration: nobody loses cover because of the move. A grace period that would already be over ends
// after the grace days of its product, counted from the move. An installment that is still to be invoiced is not due before it is
// billed.
import { expect, it } from 'vitest'
import { locatorSupply, type Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { futureInstallments } from '../../src/policy/bills/amounts-due.ts'
import { type PolicyAggregate, putRecords } from '../../src/policy/records/aggregate.ts'
import { applyPayment, invoiceStatus, reopenInvoice } from '../../src/policy/records/invoice.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import { convertAccount, digitsNeeded } from '../../src/servicing/migration/convert/account.ts'
import { readAccount } from '../../src/servicing/migration/request.ts'
import { decideLapse, type LapseOperation } from '../../src/transactions/lapses/kind.ts'
import { exampleConfiguration, newPolicyContextOf } from '../support/configurations.ts'
import { migratedAccount, migratedInvoice, migratedPolicy } from '../support/migrated.ts'
import { attemptAt } from '../support/policy-story.ts'
import '../../src/transactions/kinds.ts'

const MOVE = Date.UTC(2026, 10, 22, 11) as Instant
/** The last moments in Berlin of the day of the move, and of the day 30 days later. */
const END_OF_DAY = Date.UTC(2026, 10, 22, 23) - 1
const GRACE_OF_MOVE = (Date.UTC(2026, 11, 22, 23) - 1) as Instant

/** The policy with an invoice due at `dueTime`. `planned` changes when its second installment is generated and due. */
function migrated(
  dueTime: string,
  planned: object = {},
  policy = migratedPolicy('P1', 'I1'),
  invoices: readonly object[] = [],
): PolicyAggregate {
  Object.assign(policy.terms[0]!.transactions[0]!.installments[1]!, planned)
  const account = migratedAccount('A-1', {
    policies: [policy],
    invoices: [migratedInvoice('I1', { dueTime }), ...invoices],
    payments: [],
    disbursements: [],
    accounting: undefined,
  })
  const { request } = readAccount(account, 'A-1', true)
  const digits = Array.from({ length: digitsNeeded(request) }, (_, at) => (5_000_000 + at) * 64)
  const { policies, failures } = convertAccount(request, {
    configuration: exampleConfiguration('motor'),
    configVersion: 1,
    now: MOVE,
    shard: 0,
    supply: locatorSupply(0, digits),
    accountLocator: '5b9a3f60-0000-4000-8000-000000000000' as Uuid,
    callerLocator: '5b9a3f61-0000-4000-8000-000000000000' as Uuid,
  })
  expect(failures).toEqual([])
  return policies[0]!
}

async function after(
  aggregate: PolicyAggregate,
  operation: LapseOperation,
  now: Instant,
): Promise<PolicyAggregate> {
  const loaded = { ...newPolicyContextOf('motor', 'private_motor', {}, now), aggregate } as Loaded
  const { planned } = await decideLapse(loaded, operation, attemptAt(now))
  return planned?.aggregate ?? aggregate
}

/** The policy after the clock finds its first invoice past due, right after the move. */
const foundPastDue = (policy: PolicyAggregate): Promise<PolicyAggregate> =>
  after(policy, { action: 'pastDue', invoice: [...policy.invoices.keys()][0]! }, MOVE)

const graceOf = ({ gracePeriods }: PolicyAggregate) => [...gracePeriods.values()][0]!

it('a long past due invoice starts a grace period that ends the grace days after the move', async () => {
  const policy = await foundPastDue(migrated('2026-03-15T00:00:00+01:00'))
  const { locator, state, startAt, endAt } = graceOf(policy)
  expect([state, startAt, endAt]).toEqual(['open', Date.UTC(2026, 2, 14, 23), GRACE_OF_MOVE])
  const ended = await after(policy, { action: 'graceEnd', gracePeriod: locator }, MOVE)
  expect(ended.policy.effectiveEnd).toBe(Date.UTC(2036, 1, 29, 23))
  // If the invoice is not paid by then, the cover lapses from that time, not earlier.
  const lapsed = await after(policy, { action: 'graceEnd', gracePeriod: locator }, GRACE_OF_MOVE)
  expect([...lapsed.cancellations.values()].map(one => one.name)).toEqual(['lapse'])
  expect(lapsed.policy.effectiveEnd).toBe(GRACE_OF_MOVE)
})

it('an invoice past due for less than its grace period keeps the rest of it', async () => {
  const { endAt } = graceOf(await foundPastDue(migrated('2026-11-02T00:00:00+01:00')))
  expect(endAt).toBe(Date.UTC(2026, 11, 1, 23))
})

it('no grace period starts if the policy has ended by now, as there is no cover to lose', async () => {
  const policy = migrated('2026-03-15T00:00:00+01:00')
  const invoice = [...policy.invoices.keys()][0]!
  const ended = (at: Instant) => after(policy, { action: 'pastDue', invoice }, at)
  expect((await ended((policy.policy.effectiveEnd - 1) as Instant)).gracePeriods.size).toBe(1)
  expect((await ended(policy.policy.effectiveEnd)).gracePeriods.size).toBe(0)
})

it('a grace period whose end was not set starts however late it is found, even after the policy ended', async () => {
  const policy = migrated('2026-11-02T00:00:00+01:00')
  const invoice = [...policy.invoices.keys()][0]!
  const found = await after(policy, { action: 'pastDue', invoice }, policy.policy.effectiveEnd)
  expect(graceOf(found).endAt).toBe(Date.UTC(2026, 11, 1, 23))
})

it('an invoice that is paid after the move and then reversed gets a full grace period again', async () => {
  const policy = migrated('2026-03-15T00:00:00+01:00')
  const [invoice] = [...policy.invoices.values()]
  const day = (day: number) => Date.UTC(2026, 11, day, 11) as Instant
  const back = reopenInvoice(applyPayment(invoice!, true, day(1)), day(20), policy.policy.timeZone)
  const again = { ...policy, invoices: putRecords(policy.invoices, [back]) }
  const found = await after(again, { action: 'pastDue', invoice: back.locator }, day(21))
  expect(graceOf(found).endAt).toBe(Date.UTC(2027, 0, 19, 23) - 1)
})

it('a refund that is still open pays a past due invoice first, and only a rest starts a grace period', async () => {
  // The invoice is over 84.40: 60.42 + 11.48 + 12.50.
  const refunded = (amount: number): PolicyAggregate => {
    const policy = migratedPolicy('P1', 'I1')
    const [issuance] = policy.terms[0]!.transactions
    const startTime = '2026-06-01T00:00:00+02:00'
    const [vehicle] = issuance!.segment.rootElement.elements
    const premium = [{ id: 'refund', amount: -amount, installmentNumber: 1 }]
    const cover = {
      ...vehicle!.elements[0]!,
      charges: [{ chargeType: 'premium', installmentItems: premium }],
    }
    const rootElement = {
      ...issuance!.segment.rootElement,
      charges: [],
      elements: [{ ...vehicle!, elements: [cover] }],
    }
    const change = {
      transactionType: 'change',
      issuedTime: startTime,
      segment: { segmentType: 'coverage', startTime, rootElement },
      installments: [{ id: 'back', startTime, dueTime: startTime, generateTime: startTime, invoiceId: 'I2' }],
    }
    policy.terms[0]!.transactions.push(change as never)
    return migrated('2026-11-02T00:00:00+01:00', {}, policy, [
      migratedInvoice('I2', { startTime, dueTime: startTime }),
    ])
  }
  const settled = ({ invoices, payments }: PolicyAggregate) => ({
    invoices: [...invoices.values()].map(one => invoiceStatus(one)),
    payments: [...payments.values()].map(one => [one.source, one.amount.minor]),
  })
  const covered = await foundPastDue(refunded(90))
  expect(settled(covered)).toEqual({
    invoices: ['paid', 'unfulfilled'],
    payments: [
      ['offset', -84_40],
      ['offset', 84_40],
    ],
  })
  expect(covered.gracePeriods.size).toBe(0)
  const short = await foundPastDue(refunded(60))
  expect(settled(short)).toEqual({
    invoices: ['unfulfilled', 'paid'],
    payments: [
      ['offset', -60_00],
      ['offset', 60_00],
    ],
  })
  expect(graceOf(short).state).toBe('open')
})

it('an installment that is still to be invoiced is due at the end of the day of the move at the earliest', () => {
  const due = '2026-03-15T00:00:00+01:00'
  const dueOf = (planned: object) => futureInstallments(migrated(due, planned)).map(one => one.dueAt)
  expect(dueOf({ generateTime: '2026-09-01T00:00:00+02:00', dueTime: '2026-09-15T00:00:00+02:00' })).toEqual([
    END_OF_DAY,
  ])
  expect(dueOf({ generateTime: '2026-12-01T00:00:00+01:00', dueTime: '2026-09-15T00:00:00+02:00' })).toEqual([
    Date.UTC(2026, 11, 1, 23) - 1,
  ])
  expect(dueOf({ generateTime: '2026-09-01T00:00:00+02:00', dueTime: '2026-12-24T00:00:00+01:00' })).toEqual([
    Date.UTC(2026, 11, 23, 23),
  ])
})
