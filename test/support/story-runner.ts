// Carries out the steps of a policy's story through the decisions, and compares each outcome with the naive model.
import { decideInvoicing } from '../../src/billing/billing.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { add, type Instant, startOfDay } from '../../src/kernel/time.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import type { Cancellation } from '../../src/policy/records/transactions.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import {
  type CancellationOperation,
  decideCancellation,
} from '../../src/transactions/cancellations/decision.ts'
import type { PlannedChange } from '../../src/transactions/mechanism/kind.ts'
import { decideChange, recordedPriceChange } from '../../src/transactions/mechanism/price-change.ts'
import {
  decideReinstatement,
  type ReinstatementOperation,
} from '../../src/transactions/reinstatements/decision.ts'
import { type NaiveRequest, naiveRefusal } from './naive-policy.ts'
import { attemptAt, inState, naiveOf, reinstatementRequest, type Story } from './policy-story.ts'
import { continueEndorsement, endorse } from './story-endorsing.ts'
import type { Moment, Step } from './story-steps.ts'
import '../../src/transactions/kinds.ts'

/** The outcome of a step, with the price change shown before it and the one recorded by it, if there is one. */
export type StepOutcome = {
  readonly story: Story
  readonly refused?: Refusal
  readonly expectedRefusal?: string
  readonly previewed?: PolicyPriceChangeResponse
  readonly recorded?: PolicyPriceChangeResponse
}

const picked = <R>(records: readonly R[], which: number): R | undefined => records[which % records.length]

export async function carryOutSteps(start: Story, all: readonly Step[]): Promise<Story> {
  let story = start
  for (const one of all) ({ story } = await carryOutStep(story, one))
  return story
}

/** Carries out a step, one minute after the previous one. */
export async function carryOutStep(before: Story, one: Step): Promise<StepOutcome> {
  const story = { ...before, now: (before.now + 60_000) as Instant }
  switch (one.kind) {
    case 'cancel':
      return await cancel(story, one)
    case 'legacyCancel':
      return await legacyCancel(story, one)
    case 'endorse':
      return await endorse(story, one, 'endorsement')
    case 'renew':
      return await endorse(story, one, 'renewal')
    case 'continueEndorsement':
      return (
        (await continueEndorsement(story, one)) ?? (await endorse(story, { ...one, far: 1 }, 'endorsement'))
      )
    case 'withdraw':
      return await inOneStep(story, { action: 'withdraw' }, { kind: 'withdrawal' })
    case 'reinstate':
      return await reinstate(story, one)
    case 'continueReinstatement':
      return await continueReinstatement(story, one)
    case 'wait':
      return { story: await wait(story, one.days) }
  }
}

/** Ends the story with a withdrawal, or with a cancellation and its reinstatement. Undefined if that is rejected. */
export async function endStory(
  story: Story,
  one: Step,
  ending: 'withdraw' | 'cancelAndReinstate',
): Promise<Story | undefined> {
  if (ending === 'withdraw') {
    const withdrawn = await carryOutStep(story, { ...one, kind: 'withdraw' })
    return withdrawn.refused ? undefined : withdrawn.story
  }
  const cancelled = await carryOutStep(story, { ...one, kind: 'cancel', firmly: true })
  if (cancelled.refused) return undefined
  const which = inState(cancelled.story.loaded.aggregate.cancellations, 'issued').length - 1
  const back = await carryOutStep(cancelled.story, {
    ...one,
    kind: 'reinstate',
    which,
    later: 0,
    firmly: true,
  })
  if (back.refused) throw back.refused
  return back.story
}

export function momentIn({ loaded, rules }: Story, { thousandths, midnight }: Moment): Instant {
  const { originalStart, effectiveEnd } = loaded.aggregate.policy
  const at = (originalStart + Math.floor(((effectiveEnd - originalStart) * thousandths) / 1_000)) as Instant
  return midnight ? startOfDay(at, rules.timeZone) : at
}

export const withAggregate = (story: Story, aggregate: PolicyAggregate, request?: NaiveRequest): Story => ({
  ...story,
  loaded: { ...story.loaded, aggregate },
  requests: request ? [...story.requests, request] : story.requests,
})

/** Transactions that are quoted or accepted. They block others, or are taken back in favor of them (brief 2.4). */
export const blockingTransactions = ({ loaded: { aggregate } }: Story): string[] => [
  ...inState(aggregate.endorsements, 'quoted', 'accepted').map(one => String(one.locator)),
  ...inState(aggregate.reinstatements, 'accepted').map(one => one.locator),
]

/** Returns the refusal instead of throwing it. */
export async function resultOrRefusal<T>(run: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await run()
  } catch (problem) {
    if (problem instanceof Refusal) return problem
    throw problem
  }
}

/** Creates a draft, prices it, and issues it. If it cannot be issued, rescinds it. */
async function cancel(story: Story, { which, at, firmly }: Step): Promise<StepOutcome> {
  const attempt = attemptAt(story.now)
  const types = story.loaded.product.cancellationTypes ?? []
  const { name, cancellationCategories } = picked(types, which) ?? {
    name: 'lapse',
    cancellationCategories: [],
  }
  const effectiveTimestamp = momentIn(story, at)
  const decide = (loaded: Loaded, operation: CancellationOperation) =>
    resultOrRefusal(() => decideCancellation(loaded, operation, attempt))
  const request = {
    effectiveTimestamp,
    name,
    conflictHandling: firmly ? ('invalidate' as const) : ('block' as const),
    cancellationCategory: picked(cancellationCategories, which),
    issue: false,
  }
  const drafted = await decide(story.loaded, { action: 'create', request })
  const expected = (locator: string): NaiveRequest => ({
    kind: 'cancellation',
    name: locator,
    at: effectiveTimestamp,
    by: 'months',
  })
  const expectedRefusal = naiveRefusal(naiveOf(story), expected(''))
  if (drafted instanceof Refusal) return { story, refused: drafted, expectedRefusal }
  const cancellation = drafted.cancellation!
  const before = withAggregate(story, drafted.planned.aggregate)
  const blocked = !firmly && blockingTransactions(story).length > 0
  const previewed = await changeOf(before, { kind: 'cancellation', cancellation })
  const issued = await decide(before.loaded, { action: 'issue', cancellation })
  if (issued instanceof Refusal) {
    const rescinded = await decideCancellation(before.loaded, { action: 'rescind', cancellation }, attempt)
    return {
      story: withAggregate(story, rescinded.planned.aggregate),
      refused: issued,
      expectedRefusal: blocked ? 'another transaction stands in the way' : expectedRefusal,
    }
  }
  const after = withAggregate(story, issued.planned.aggregate, expected(String(cancellation)))
  return {
    story: after,
    expectedRefusal: blocked ? 'another transaction stands in the way' : expectedRefusal,
    previewed,
    recorded: await changeOf(after, { kind: 'cancellation', cancellation }),
  }
}

/** The price change as responses show it. Undefined if there is none. */
export async function changeOf(
  story: Story,
  of: PlannedChange,
): Promise<PolicyPriceChangeResponse | undefined> {
  const change = await resultOrRefusal(() => decideChange(story.loaded, of, attemptAt(story.now)))
  return change instanceof Refusal || !('totalChange' in change) ? undefined : change
}

async function legacyCancel(story: Story, one: Step): Promise<StepOutcome> {
  const at = momentIn(story, one.at)
  const by = story.loaded.product.legacyCancellationProration === 'linear' ? 'milliseconds' : 'months'
  const operation = { action: 'legacy' as const, coverageEndAt: at }
  return await inOneStep(story, operation, { kind: 'cancellation', name: '', at, by })
}

async function inOneStep(
  story: Story,
  operation: CancellationOperation,
  request: NaiveRequest & { kind: 'cancellation' | 'withdrawal' },
): Promise<StepOutcome> {
  const expectedRefusal = naiveRefusal(naiveOf(story), request)
  const coverageEndAt =
    request.kind === 'cancellation' ? request.at : story.loaded.aggregate.policy.originalStart
  const previewed =
    request.kind === 'cancellation' && expectedRefusal === undefined
      ? await changeOf(story, { kind: 'value', coverageEndAt })
      : undefined
  const decided = await resultOrRefusal(() =>
    decideCancellation(story.loaded, operation, attemptAt(story.now)),
  )
  if (decided instanceof Refusal) return { story, refused: decided, expectedRefusal }
  const { aggregate } = decided.planned
  const carriedOut = [...aggregate.modifications.values()].at(-1)!
  return {
    story: withAggregate(
      story,
      aggregate,
      request.kind === 'cancellation' ? { ...request, name: carriedOut.transactionLocator! } : request,
    ),
    expectedRefusal,
    previewed,
    recorded: recordedPriceChange(aggregate, carriedOut, story.loaded.product),
  }
}

async function reinstate(story: Story, one: Step): Promise<StepOutcome> {
  const { aggregate } = story.loaded
  const { later, firmly: issue } = one
  const cancellation = picked(inState(aggregate.cancellations, 'issued'), one.which)
  if (!cancellation) return await cancel(story, one)
  const effectiveTimestamp = later === 0 ? undefined : laterThan(story, cancellation, later)
  const decided = await resultOrRefusal(() =>
    decideReinstatement(
      story.loaded,
      {
        action: 'create',
        cancellation: cancellation.locator,
        request: { effectiveTimestamp, reinstatementDeadlineTimestamp: undefined, issue },
      },
      attemptAt(story.now),
    ),
  )
  const at = effectiveTimestamp ?? cancellation.effectiveAt
  const request: NaiveRequest = { kind: 'reinstatement', of: String(cancellation.locator), at }
  const open = [...aggregate.reinstatements.values()].some(
    reinstatement =>
      reinstatement.cancellationLocator === cancellation.locator && reinstatement.state !== 'expired',
  )
  const refusal = naiveRefusal(naiveOf(story), request)
  const blocked = blockingTransactions(story).length > 0
  const expectedRefusal = open
    ? 'has a reinstatement'
    : issue && blocked
      ? 'another transaction stands in the way'
      : issue || refusal !== 'nothing removed'
        ? refusal
        : undefined
  if (decided instanceof Refusal) return { story, refused: decided, expectedRefusal }
  return {
    story: withAggregate(story, decided.planned!.aggregate, issue ? request : undefined),
    expectedRefusal,
  }
}

function laterThan({ loaded, rules }: Story, { effectiveAt }: Cancellation, thousandths: number): Instant {
  const { originalEnd } = loaded.aggregate.policy
  const at = (effectiveAt + Math.floor(((originalEnd - effectiveAt) * thousandths) / 1_000)) as Instant
  return thousandths % 2 === 0 ? at : startOfDay(at, rules.timeZone)
}

async function continueReinstatement(story: Story, one: Step): Promise<StepOutcome> {
  const { aggregate } = story.loaded
  const record = picked(inState(aggregate.reinstatements, 'draft', 'accepted'), one.which)
  if (!record) return await reinstate(story, { ...one, firmly: false })
  const action = record.state === 'draft' ? 'accept' : one.firmly ? 'issue' : 'invalidate'
  const operation: ReinstatementOperation = { action, reinstatement: record.locator }
  const of: PlannedChange = { kind: 'reinstatement', reinstatement: record.locator }
  const request = reinstatementRequest(record)
  const previewed = action === 'invalidate' ? undefined : await changeOf(story, of)
  const decided = await resultOrRefusal(() =>
    decideReinstatement(story.loaded, operation, attemptAt(story.now)),
  )
  const blocked = action === 'accept' && blockingTransactions(story).length > 0
  const isLate = record.deadlineAt !== undefined && record.deadlineAt <= story.now
  const expectedRefusal =
    action === 'invalidate'
      ? undefined
      : isLate
        ? 'deadline'
        : blocked
          ? 'another transaction stands in the way'
          : naiveRefusal(naiveOf(story), request)
  if (decided instanceof Refusal) return { story, refused: decided, expectedRefusal }
  const after = withAggregate(story, decided.planned!.aggregate, action === 'issue' ? request : undefined)
  const recorded = action === 'invalidate' ? undefined : await changeOf(after, of)
  return { story: after, expectedRefusal, previewed, recorded }
}

/** Moves the clock: deadlines pass, and installments are invoiced. */
async function wait(story: Story, days: number): Promise<Story> {
  const now = add(story.now, days, 'day', story.rules.timeZone)
  let loaded = story.loaded
  for (const { locator } of inState(loaded.aggregate.reinstatements, 'draft', 'accepted')) {
    const operation = { action: 'expire' as const, reinstatement: locator }
    const { planned } = await decideReinstatement(loaded, operation, attemptAt(now))
    if (planned) loaded = { ...loaded, aggregate: planned.aggregate }
  }
  const invoiced = await decideInvoicing(loaded, attemptAt(now))
  return { ...story, now, loaded: invoiced ? { ...loaded, aggregate: invoiced.aggregate } : loaded }
}
