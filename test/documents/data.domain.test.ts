// A document about a transaction that is not issued yet shows the policy as it will be after the issue.
import { expect, it } from 'vitest'
import { add, type Instant } from '../../src/kernel/time.ts'
import { type PolicyDocument, reinstatementOf } from '../../src/policy/records/transactions.ts'
import { documentData } from '../../src/servicing/documents/data.ts'
import { CancellationCreateRequest } from '../../src/transactions/cancellations/contract.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { decideReinstatement } from '../../src/transactions/reinstatements/decision.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { ClockedPolicy } from '../support/clocked-policy.ts'

type Shown = {
  effective_contract_end_timestamp: Instant
  payment_schedule_name: string
  cancellation: { effective_timestamp: Instant } | null
}

type Subject = Pick<PolicyDocument, 'subject' | 'subjectLocator' | 'modificationLocator'>

const dataOf = ({ loaded }: ClockedPolicy, subject: Subject): Shown =>
  (documentData(loaded, subject) as { policy: Shown }).policy

const months = (policy: ClockedPolicy, count: number): Instant =>
  add(policy.loaded.aggregate.policy.originalStart, count, 'month', policy.loaded.aggregate.policy.timeZone)

/** The newest endorsement or renewal, as the owner of a document. */
function transactionIn({ loaded }: ClockedPolicy): Subject {
  const { kind, locator, modificationLocator } = [...loaded.aggregate.endorsements.values()].at(-1)!
  return { subject: kind, subjectLocator: String(locator), modificationLocator }
}

it.each(['quoted', 'accepted'] as const)(
  'a document of a %s renewal shows the end and payment schedule of the new term',
  async state => {
    const policy = await ClockedPolicy.issued('motor', 'annually')
    const request = RenewalCreateRequest.parse({
      renewalEndTimestamp: months(policy, 24),
      newPaymentScheduleName: 'quarterly',
      state,
    })
    const { planned } = await decideEndorsement(policy.loaded, { action: 'renew', request }, policy.attempt)
    await policy.record(planned!)
    const before = policy.loaded.aggregate.policy
    expect([before.effectiveEnd, before.paymentScheduleName]).toEqual([months(policy, 12), 'annually'])
    expect(dataOf(policy, transactionIn(policy))).toMatchObject({
      effective_contract_end_timestamp: months(policy, 24),
      payment_schedule_name: 'quarterly',
    })
    const bill = policy.invoices.at(-1)!
    expect(
      dataOf(policy, {
        subject: 'invoice',
        subjectLocator: bill.locator,
        modificationLocator: bill.policyModificationLocator,
      }).effective_contract_end_timestamp,
    ).toBe(months(policy, state === 'accepted' ? 24 : 12))
  },
)

it('a document of a quoted endorsement shows its new payment schedule', async () => {
  const policy = await ClockedPolicy.issued('motor', 'annually')
  const request = EndorsementCreateRequest.parse({
    endorsementName: 'change_of_contact',
    startTimestamp: months(policy, 2),
    newPaymentScheduleName: 'monthly',
    state: 'quoted',
  })
  const { planned } = await decideEndorsement(policy.loaded, { action: 'create', request }, policy.attempt)
  await policy.record(planned!)
  expect(dataOf(policy, transactionIn(policy))).toMatchObject({
    effective_contract_end_timestamp: months(policy, 12),
    payment_schedule_name: 'monthly',
  })
})

it('a document of an endorsement shows the amounts of a peril that it changes, removes and adds', async () => {
  const policy = await ClockedPolicy.issued('motor', 'annually')
  const { aggregate } = policy.loaded
  const peril = [...aggregate.perils.values()].find(one => one.name === 'own_damage')!
  const deductibleBefore = [...aggregate.perilRuns.values()].find(one => one.perilLocator === peril.locator)!
    .amounts.deductible!
  const updatePerils = [
    {
      perilLocator: peril.locator,
      deductible: 2_500,
      removeIndemnityPerEvent: true,
      indemnityInAggregate: '90000.50',
    },
  ]
  const request = EndorsementCreateRequest.parse({
    endorsementName: 'change_of_risk',
    startTimestamp: months(policy, 2),
    updateExposures: [{ exposureLocator: peril.exposureLocator, updatePerils }],
    state: 'quoted',
  })
  const { planned } = await decideEndorsement(policy.loaded, { action: 'create', request }, policy.attempt)
  await policy.record(planned!)
  const data = documentData(policy.loaded, transactionIn(policy)) as {
    endorsement: {
      policy_updates: {
        updated_exposures: { vehicle: { updated_perils: { own_damage: Record<string, unknown>[] } }[] }
      }
    }
  }
  const [changed] = data.endorsement.policy_updates.updated_exposures.vehicle[0]!.updated_perils.own_damage
  const entry = (title: string, old_value: string, new_value: string, endorsement_effect: string) => ({
    title,
    old_value,
    new_value,
    endorsement_effect,
  })
  expect(changed).toMatchObject({
    endorsement_effect: 'updated',
    updated_field_values: {},
    deductible: entry('Deductible', deductibleBefore, '2500', 'updated'),
    indemnity_per_event: entry('Indemnity per event', 'unlimited', '', 'removed'),
    indemnity_in_aggregate: entry('Indemnity in aggregate', '', '90000.50', 'added'),
  })
  expect(changed).not.toHaveProperty('lump_sum_payment')
  expect(changed).not.toHaveProperty('indemnity_per_item')
})

it('a document of an accepted reinstatement shows the restored cover and no cancellation', async () => {
  const policy = await ClockedPolicy.issued('motor', 'annually')
  const { planned: cancelled, cancellation } = await decideCancellation(
    policy.loaded,
    {
      action: 'create',
      request: CancellationCreateRequest.parse({
        name: 'customer_request',
        cancellationCategory: 'other',
        effectiveTimestamp: months(policy, 3),
        issue: true,
      }),
    },
    policy.attempt,
  )
  await policy.record(cancelled)
  const { planned: created, reinstatement } = await decideReinstatement(
    policy.loaded,
    { action: 'create', cancellation: cancellation!, request: {} as never },
    policy.attempt,
  )
  await policy.record(created!)
  const { planned: accepted } = await decideReinstatement(
    policy.loaded,
    { action: 'accept', reinstatement },
    policy.attempt,
  )
  await policy.record(accepted!)
  const { modificationLocator } = reinstatementOf(policy.loaded.aggregate, reinstatement)
  const subject: Subject = { subject: 'reinstatement', subjectLocator: reinstatement, modificationLocator }
  const shown = dataOf(policy, subject)
  expect(shown.effective_contract_end_timestamp).toBe(months(policy, 12))
  expect(shown.cancellation ?? undefined).toBeUndefined()
  expect(documentData(policy.loaded, subject)).toMatchObject({ reinstatement: { state: 'accepted' } })
})
