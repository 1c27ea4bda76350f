// Grace periods, and reinstatements of legacy lapses.

import type { Uuid } from '../../../src/kernel/locators.ts'
import { add, type Instant } from '../../../src/kernel/time.ts'
import {
  type GracePeriodState,
  type LapseReinstatementState,
  reinstatementStatus,
} from '../../../src/policy/records/transactions.ts'
import type { Loaded } from '../../../src/policy/surroundings.ts'
import { decideLapse } from '../../../src/transactions/lapses/kind.ts'
import { planIssue } from '../../../src/transactions/lapses/reinstatements.ts'
import {
  GRACE_PERIOD_TRANSITIONS,
  type GracePeriodAction,
  LAPSE_REINSTATEMENT_TRANSITIONS,
  type LapseReinstatementAction,
  reinstatementInvoice,
} from '../../../src/transactions/lapses/transitions.ts'
import { decidePayment } from '../../../src/transactions/payments/kind.ts'
import { ClockedPolicy } from '../clocked-policy.ts'
import { type Example, plentyOfLocators } from '../configurations.ts'
import { attemptAt } from '../policy-story.ts'
import { kind, type Situation } from './record-kind.ts'
import '../../../src/transactions/kinds.ts'

/**
 * A policy whose first invoice is unpaid, in its grace period. In the end it is cancelled (motor) or lapses the legacy way
 * (home).
 */
async function inGrace(example: Example): Promise<ClockedPolicy> {
  const policy = await ClockedPolicy.issued(example, example === 'motor' ? 'upfront' : 'full_pay')
  await policy.advance(add(policy.now, 1, 'day', policy.loaded.aggregate.policy.timeZone))
  return policy
}

async function lapsed(example: Example): Promise<ClockedPolicy> {
  const policy = await inGrace(example)
  await policy.advance(policy.graces[0]!.endAt)
  return policy
}

const ofGrace = ({ loaded, graces }: ClockedPolicy): Situation => ({ loaded, record: graces[0]!.locator })

const endOf = ({ aggregate }: Loaded, grace: Uuid): Instant => aggregate.gracePeriods.get(grace)!.endAt

/** Just before the end of the grace period. */
const inTime = (loaded: Loaded, grace: Uuid) => attemptAt((endOf(loaded, grace) - 1) as Instant)

export const gracePeriodKind = kind<GracePeriodAction, GracePeriodState, Uuid>(
  'grace period',
  GRACE_PERIOD_TRANSITIONS,
  {
    stateOf: ({ gracePeriods }, locator) => gracePeriods.get(locator)!.state,
    byClock: ['settle', 'lapse'],
    situations: {
      open: async () => [ofGrace(await inGrace('motor')), ofGrace(await inGrace('home'))],
      settled: async () => {
        const policy = await inGrace('home')
        await policy.pay(policy.invoices[0]!)
        return [ofGrace(policy)]
      },
      lapsed: async () => [ofGrace(await lapsed('motor')), ofGrace(await lapsed('home'))],
    },
    act: {
      update: async (loaded, gracePeriod) => {
        const terms = { endAt: (endOf(loaded, gracePeriod) + 1) as Instant, resetCancelEffective: false }
        const operation = { action: 'updateGrace' as const, gracePeriod, terms }
        return (await decideLapse(loaded, operation, inTime(loaded, gracePeriod))).planned
      },
      /** Settles because a policy that ended meanwhile has nothing to lapse. */
      settle: async (loaded, gracePeriod) => {
        const { aggregate } = loaded
        const { startAt } = aggregate.gracePeriods.get(gracePeriod)!
        const ended = { ...aggregate, policy: { ...aggregate.policy, effectiveEnd: startAt } }
        const attempt = attemptAt(endOf(loaded, gracePeriod))
        const operation = { action: 'graceEnd' as const, gracePeriod }
        return (await decideLapse({ ...loaded, aggregate: ended }, operation, attempt)).planned
      },
      lapse: async (loaded, gracePeriod) => {
        const attempt = attemptAt(endOf(loaded, gracePeriod))
        return (await decideLapse(loaded, { action: 'graceEnd', gracePeriod }, attempt)).planned
      },
    },
  },
)

type Step = 'invoice' | 'pay' | 'close'

/** When the policy lapsed. Any time would do for a reinstatement. */
const lapseTime = ({ aggregate }: Loaded): Instant => [...aggregate.lapses.values()][0]!.lapsedAt

/** A reinstatement of a policy that lapsed the legacy way, after the steps. */
async function reinstatementAfter(...steps: Step[]): Promise<Situation> {
  const policy = await lapsed('home')
  const reinstatement = await policy.decide({ action: 'open' })
  for (const step of steps)
    if (step === 'pay') await policy.pay(policy.invoices.at(-1)!)
    else if (step === 'close') await policy.decide({ action: 'close', reinstatement })
    else await policy.decide({ action: 'invoice', reinstatement, effectiveAt: policy.now })
  return { loaded: policy.loaded, record: reinstatement }
}

export const lapseReinstatementKind = kind<LapseReinstatementAction, LapseReinstatementState, Uuid>(
  'reinstatement of a legacy lapse',
  LAPSE_REINSTATEMENT_TRANSITIONS,
  {
    stateOf: ({ lapseReinstatements }, locator) => reinstatementStatus(lapseReinstatements.get(locator)!),
    situations: {
      open: async () => [await reinstatementAfter()],
      invoiced: async () => [await reinstatementAfter('invoice')],
      issued: async () => [await reinstatementAfter('invoice', 'pay')],
      closed: async () => [await reinstatementAfter('close')],
    },
    act: {
      invoice: async (loaded, reinstatement) => {
        const effectiveAt = lapseTime(loaded)
        const operation = { action: 'invoice' as const, reinstatement, effectiveAt }
        return (await decideLapse(loaded, operation, attemptAt(effectiveAt))).planned
      },
      /** Checks its own guard first, then makes the payment that issues it. */
      issue: async (loaded, locator) => {
        const { aggregate, product } = loaded
        const reinstatement = aggregate.lapseReinstatements.get(locator)!
        const now = lapseTime(loaded)
        planIssue(aggregate, reinstatement, { product, now, supply: plentyOfLocators() })
        const invoice = reinstatementInvoice(aggregate, reinstatement)!.locator
        const request = { fieldValues: { method: ['card'] }, amount: undefined }
        return (await decidePayment(loaded, { action: 'pay', invoice, request }, attemptAt(now))).planned
      },
      close: async (loaded, reinstatement) => {
        const attempt = attemptAt(lapseTime(loaded))
        return (await decideLapse(loaded, { action: 'close', reinstatement }, attempt)).planned
      },
    },
  },
)
