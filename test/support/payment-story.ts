// The story of a policyholder with several policies, which are billed, paid in full, in part and in excess, reversed, and changed
// in between. Every step goes through the decisions and the payment from credit, as the policy's object does it.
import '../../src/transactions/kinds.ts'
import fc from 'fast-check'
import { decideInvoicing, decideNextInvoice } from '../../src/billing/billing.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { type CurrencyCode, fromMinor, type Money, toText, zero } from '../../src/kernel/money.ts'
import { add, type Instant, startOfDay } from '../../src/kernel/time.ts'
import { futureInstallments, restDue } from '../../src/policy/bills/amounts-due.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { selectedQuote } from '../../src/policy/records/aggregate.ts'
import { isOutstanding, paymentState } from '../../src/policy/records/invoice.ts'
import type { Loaded, NewPolicyContext } from '../../src/policy/surroundings.ts'
import type { Planned } from '../../src/policy/transitions.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { openGracePeriod } from '../../src/transactions/lapses/grace-periods.ts'
import { decideLapse, type LapseOperation } from '../../src/transactions/lapses/kind.ts'
import { decideCreation, decideDiscard, decideIssue } from '../../src/transactions/new-business/decision.ts'
import { withCredit } from '../../src/transactions/payments/credit.ts'
import { decidePayment, RefusedPayOut } from '../../src/transactions/payments/kind.ts'
import { decideQuote } from '../../src/transactions/quotes/decision.ts'
import { decideReinstatement } from '../../src/transactions/reinstatements/decision.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { type Example, newPolicyContextOf, workedPolicies } from './configurations.ts'
import { attemptAt, inState, STORY_BEGINS } from './policy-story.ts'

export type Book = {
  readonly ground: NewPolicyContext
  readonly policies: readonly Loaded[]
  readonly now: Instant
  /** Carried from step to step, as in the service. */
  readonly credit: Money
  /** All money received less what was paid out and given back, according to the events. */
  readonly cash: bigint
}

export type BookStep = {
  readonly kind: keyof typeof ACTIONS | 'create' | 'wait'
  /** Picks a policy, and a record of it. */
  readonly policy: number
  readonly which: number
  /** Share of the amount due, or of the term. */
  readonly thousandths: number
  readonly firmly: boolean
  readonly days: number
}

const WEIGHTS: Record<BookStep['kind'], number> = {
  create: 4,
  issue: 6,
  pay: 10,
  payPart: 8,
  payFromCredit: 3,
  reverse: 6,
  nextInvoice: 5,
  renew: 3,
  endRenewal: 3,
  cancel: 3,
  reinstate: 4,
  endReinstatement: 3,
  withdraw: 1,
  takeQuoteBack: 1,
  discard: 1,
  lapse: 0,
  wait: 6,
}

const stepsWith = (weights: Readonly<Record<BookStep['kind'], number>>): fc.Arbitrary<BookStep[]> =>
  fc.array(
    fc.record({
      kind: fc.oneof(
        ...Object.entries(weights).map(([kind, weight]) => ({
          weight,
          arbitrary: fc.constant(kind as BookStep['kind']),
        })),
      ),
      policy: fc.nat(3),
      which: fc.nat(9),
      thousandths: fc.oneof(fc.constant(1_000), fc.integer({ min: 1, max: 2_500 })),
      firmly: fc.boolean(),
      days: fc.integer({ min: 1, max: 60 }),
    }),
    { minLength: 5, maxLength: 30, size: 'max' },
  )

export const bookSteps = stepsWith(WEIGHTS)

/** Also lets unpaid policies lapse, which writes off what they owe. */
export const lapsingSteps = stepsWith({ ...WEIGHTS, lapse: 8 })

/** A policyholder without policies. `currency` replaces that of the configuration. */
export function emptyBook(example: Example, currency?: CurrencyCode): Book {
  const { policy, policyholder } = workedPolicies(example)[0]!.request
  const ground = newPolicyContextOf(example, policy.productName, policyholder.values, STORY_BEGINS)
  const own = currency ?? ground.currency
  return {
    ground: { ...ground, currency: own },
    policies: [],
    now: STORY_BEGINS,
    credit: zero(own),
    cash: 0n,
  }
}

const picked = <R>(records: readonly R[], which: number): R | undefined => records[which % records.length]

type Act = (loaded: Loaded, step: BookStep, now: Instant) => Promise<Planned | undefined>

const fieldValues = { method: ['card'] }

const payment = async (loaded: Loaded, now: Instant, invoice: string, more: object): Promise<Planned> => {
  const request = { fieldValues, amount: undefined, source: undefined, ...more }
  return (await decidePayment(loaded, { action: 'pay', invoice: invoice as never, request }, attemptAt(now)))
    .planned
}

const outstanding = ({ aggregate }: Loaded, which: number) =>
  picked([...aggregate.invoices.values()].filter(isOutstanding), which)

/** The operations on a policy. Undefined if the policy has no record for it. */
const ACTIONS = {
  issue: (loaded, _, now) => decideIssue(loaded, attemptAt(now)),
  pay: async (loaded, { which }, now) => {
    const invoice = outstanding(loaded, which)
    return invoice && (await payment(loaded, now, invoice.locator, {}))
  },
  payPart: async (loaded, { which, thousandths }, now) => {
    const invoice = outstanding(loaded, which)
    if (!invoice) return undefined
    const { minor, currency } = restDue(loaded.aggregate, invoice)
    const share = Math.trunc((minor * thousandths) / 1_000) || Math.sign(minor)
    return await payment(loaded, now, invoice.locator, { amount: toText(fromMinor(share, currency)) })
  },
  payFromCredit: async (loaded, { which }, now) => {
    const invoice = outstanding(loaded, which)
    return invoice && (await payment(loaded, now, invoice.locator, { source: 'credit' }))
  },
  reverse: async (loaded, { which }, now) => {
    const posted = [...loaded.aggregate.payments.values()].filter(one => paymentState(one) === 'posted')
    const found = picked(posted, which)
    const operation = found && { action: 'reverse' as const, payment: found.locator }
    return operation && (await decidePayment(loaded, operation, attemptAt(now))).planned
  },
  nextInvoice: async (loaded, _, now) =>
    futureInstallments(loaded.aggregate).length === 0
      ? undefined
      : (await decideNextInvoice(loaded, attemptAt(now))).planned,
  renew: async (loaded, { firmly, days }, now) => {
    const { effectiveEnd, timeZone } = loaded.aggregate.policy
    const request = RenewalCreateRequest.parse({
      renewalEndTimestamp: add(effectiveEnd, 6 * days, 'day', timeZone),
      state: firmly ? 'issued' : 'accepted',
    })
    return (await decideEndorsement(loaded, { action: 'renew', request }, attemptAt(now))).planned
  },
  endRenewal: async (loaded, { which, firmly }, now) => {
    const found = picked(inState(loaded.aggregate.endorsements, 'accepted'), which)
    if (!found) return undefined
    const action = firmly ? ('issue' as const) : ('invalidate' as const)
    return (await decideEndorsement(loaded, { action, endorsement: found.locator }, attemptAt(now))).planned
  },
  cancel: async (loaded, { thousandths }, now) => {
    const { originalStart, effectiveEnd } = loaded.aggregate.policy
    const at = (originalStart + Math.floor(((effectiveEnd - originalStart) * thousandths) / 2_600)) as Instant
    const request = {
      effectiveTimestamp: at,
      name: 'lapse',
      conflictHandling: 'invalidate' as const,
      cancellationCategory: undefined,
      issue: true,
    }
    return (await decideCancellation(loaded, { action: 'create', request }, attemptAt(now))).planned
  },
  reinstate: async (loaded, { which, firmly }, now) => {
    const found = picked(inState(loaded.aggregate.cancellations, 'issued'), which)
    if (!found) return undefined
    const request = {
      effectiveTimestamp: undefined,
      reinstatementDeadlineTimestamp: add(now, 30, 'day', loaded.aggregate.policy.timeZone),
      issue: firmly,
    }
    const operation = { action: 'create' as const, cancellation: found.locator, request }
    const created = await decideReinstatement(loaded, operation, attemptAt(now))
    if (firmly) return created.planned
    const accepting = { action: 'accept' as const, reinstatement: created.reinstatement }
    const draft = { ...loaded, aggregate: created.planned!.aggregate }
    return (await decideReinstatement(draft, accepting, attemptAt(now))).planned
  },
  endReinstatement: async (loaded, { which, firmly }, now) => {
    const found = picked(inState(loaded.aggregate.reinstatements, 'accepted'), which)
    if (!found) return undefined
    const operation = {
      action: firmly ? ('issue' as const) : ('invalidate' as const),
      reinstatement: found.locator,
    }
    return (await decideReinstatement(loaded, operation, attemptAt(now))).planned
  },
  /** Makes an invoice past due. The next time, the policy lapses. */
  lapse: async (loaded, { which }, now) => {
    const { invoices } = loaded.aggregate
    const grace = openGracePeriod(loaded.aggregate)
    const owed = picked(
      [...invoices.values()].filter(one => isOutstanding(one) && one.dueAt <= now),
      which,
    )
    const operation: LapseOperation | undefined = grace
      ? {
          action: 'updateGrace',
          gracePeriod: grace.locator,
          terms: { endAt: now, resetCancelEffective: false },
        }
      : owed && { action: 'pastDue', invoice: owed.locator }
    return operation && (await decideLapse(loaded, operation, attemptAt(now))).planned
  },
  withdraw: async (loaded, _, now) =>
    (await decideCancellation(loaded, { action: 'withdraw' }, attemptAt(now))).planned,
  takeQuoteBack: async (loaded, _, now) => {
    const quote = selectedQuote(loaded.aggregate).locator
    return (await decideQuote(loaded, quote, { action: 'invalidate' }, attemptAt(now))).planned
  },
  discard: async (loaded, _, now) => decideDiscard(loaded, attemptAt(now)),
} satisfies Record<string, Act>

/** The step that is tried if another one is impossible, because it leads to what that one needs. */
const INSTEAD: Partial<Record<BookStep['kind'], BookStep['kind']>> = {
  reinstate: 'cancel',
  endReinstatement: 'reinstate',
  endRenewal: 'renew',
  renew: 'issue',
  cancel: 'issue',
  withdraw: 'issue',
  nextInvoice: 'issue',
  payFromCredit: 'payPart',
  reverse: 'pay',
  lapse: 'issue',
}

/** Returns the book after the step or its replacement. If both are impossible, returns the same book. */
export async function afterStep(book: Book, step: BookStep): Promise<Book> {
  const after = await attemptStep(book, step)
  const instead = INSTEAD[step.kind]
  return after === book && instead ? await afterStep(book, { ...step, kind: instead }) : after
}

async function attemptStep(book: Book, step: BookStep): Promise<Book> {
  if (step.kind === 'wait') return await afterDays(book, step.days)
  if (step.kind === 'create') return await withPolicy(book, step)
  const at = step.policy % book.policies.length
  const loaded = book.policies[at]
  if (!loaded) return await withPolicy(book, { ...step, kind: 'create' })
  const act: Act = ACTIONS[step.kind]
  return await recordDecision(book, at, credited => act(credited, step, book.now))
}

/** Adds a finalized policy of one of the worked requests. */
async function withPolicy(book: Book, { which, days, thousandths }: BookStep): Promise<Book> {
  if (book.policies.length >= 3) return book
  const { ground, now } = book
  const example = ground.configuration.hash as Example
  const requests = workedPolicies(example).filter(
    one => one.expected.decision === 'accept' && one.request.policy.productName === ground.product.name,
  )
  const schedules = ground.product.paymentSchedules
  const start = add(startOfDay(now, ground.timeZone), days - 20, 'day', ground.timeZone)
  const request = PolicyCreateRequest.parse({
    ...picked(requests, which)!.request.policy,
    policyholderLocator: ground.policyholder.locator,
    policyStartTimestamp: start,
    policyEndTimestamp: add(start, 30 + (thousandths % 700), 'day', ground.timeZone),
    paymentScheduleName: schedules[(which + days) % schedules.length]!.name,
    finalize: true,
  })
  const credited = { ...ground, credit: book.credit }
  return await recordDecision(book, book.policies.length, () =>
    decideCreation(request, credited, attemptAt(now)),
  )
}

/** Moves the clock forward: issues the invoices that are due, and lets deadlines pass. */
async function afterDays(book: Book, days: number): Promise<Book> {
  const now = add(book.now, days, 'day', book.ground.timeZone)
  let current: Book = { ...book, now }
  for (const [at, { aggregate }] of current.policies.entries()) {
    for (const { locator } of inState(aggregate.reinstatements, 'draft', 'accepted'))
      current = await recordDecision(current, at, async loaded => {
        const operation = { action: 'expire' as const, reinstatement: locator }
        return (await decideReinstatement(loaded, operation, attemptAt(now))).planned
      })
    current = await recordDecision(current, at, loaded => decideInvoicing(loaded, attemptAt(now)))
  }
  return current
}

/** Records a decision as the policy's object does. */
async function recordDecision(
  book: Book,
  at: number,
  decide: (loaded: Loaded) => Promise<Planned | undefined>,
): Promise<Book> {
  const before = book.policies[at]
  const loaded = { ...book.ground, ...before, credit: book.credit } as Loaded
  try {
    const plan = await decide(loaded).catch(planOfRefusal)
    if (!plan) return book
    const { planned, credit } = await withCredit(before?.aggregate, loaded, plan, attemptAt(book.now))
    const policies = [...book.policies]
    policies[at] = { ...loaded, aggregate: planned.aggregate }
    const cash = planned.events.reduce((sum, event) => sum + cashOf(event, credit.currency), book.cash)
    return { ...book, policies, credit, cash }
  } catch (problem) {
    if (problem instanceof Refusal) return book
    throw problem
  }
}

/** Returns the plan of a rejected call that has an effect all the same. */
function planOfRefusal(problem: unknown): Planned {
  if (problem instanceof RefusedPayOut) return problem.planned
  throw problem
}

/** The money that an event reports as received, in minor units. */
function cashOf({ type, data }: Planned['events'][number], currency: CurrencyCode): bigint {
  if (data.source !== 'received') return 0n
  const amount = minorOf(data.amount!, currency)
  return type === 'payment.pay' ? amount : -amount
}

/** Converts decimal text to minor units by its digits alone. It must have the currency's number of places. */
function minorOf(text: string, currency: CurrencyCode): bigint {
  const places = toText(zero(currency)).split('.')[1]?.length ?? 0
  const [, fraction = ''] = text.split('.')
  if (fraction.length !== places) throw new Error(`${text} is not written as an amount of ${currency}.`)
  return BigInt(text.replace('.', ''))
}
