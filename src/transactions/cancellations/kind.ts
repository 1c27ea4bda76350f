// Cancellations, withdrawals and reinstatements as kinds of operations, and the timer for the end of cover.

import { notFound } from '../../kernel/errors.ts'
import {
  type CancellationLocator,
  derivedUuid,
  readDigits,
  shardOfDigits,
  type Uuid,
} from '../../kernel/locators.ts'
import { type Instant, later } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { standingCancellations } from '../../policy/fold/line.ts'
import type { Modification, PolicyAggregate } from '../../policy/records/aggregate.ts'
import { cancellationOf, reinstatementOf } from '../../policy/records/transactions.ts'
import { assertPolicyAllows, type Planned, policyEvent } from '../../policy/transitions.ts'
import { defineKind, pluginRecord, showNothing, showRecord } from '../mechanism/kind.ts'
import { priceChangeOf } from '../mechanism/price-change.ts'
import { planWithProration } from '../mechanism/prorating.ts'
import type { ReinstatementPreviewRequest } from '../reinstatements/contract.ts'
import {
  decideReinstatement,
  planReinstatementInvalidation,
  previewReinstatement,
  type ReinstatementOperation,
  orderOf as reinstatementOrder,
} from '../reinstatements/decision.ts'
import { applyReinstatement } from '../reinstatements/effect.ts'
import { REINSTATEMENTS } from '../reinstatements/projection.ts'
import type { CancellationCreateRequest } from './contract.ts'
import {
  billedByProduct,
  type CancellationOperation,
  decideCancellation,
  orderOf,
  planCancelled,
  previewCancellation,
} from './decision.ts'
import { applyCancellation } from './effect.ts'
import { CANCELLATIONS, cancellationValue } from './projection.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** Also cancels or withdraws in one step. */
    cancellation: { operation: CancellationOperation }
    /** From a timer: the cancellation becomes effective. */
    coverEnd: { modification: Uuid }
    reinstatement: { operation: ReinstatementOperation }
  }
  interface PlannedChanges {
    cancellation: { cancellation: CancellationLocator }
    reinstatement: { reinstatement: Uuid }
    /** A legacy cancellation at that time. Default: now. */
    value: { coverageEndAt?: Instant }
  }
  interface Previews {
    cancellation: CancellationCreateRequest
    reinstatement: ReinstatementPreviewRequest
  }
}

export const cancellationKind = defineKind<'cancellation'>({
  name: 'cancellation',
  record: ({ operation }) =>
    'cancellation' in operation ? showRecord(CANCELLATIONS, operation.cancellation) : undefined,
  async decide(loaded, { operation }, { attempt }) {
    const { planned, cancellation } = await decideCancellation(loaded, operation, attempt)
    if (cancellation === undefined) return { planned }
    return { planned, response: showRecord(CANCELLATIONS, cancellation), subject: String(cancellation) }
  },
  changes: {
    cancellation: {
      async decide(loaded, { cancellation: locator }, attempt) {
        const cancellation = cancellationOf(loaded.aggregate, locator)
        const carryOut = () =>
          planWithProration(loaded, attempt, { digits: 1 }, context =>
            applyCancellation(loaded.aggregate, orderOf(cancellation), context),
          )
        return await priceChangeOf(loaded, cancellation, carryOut, attempt)
      },
    },
    value: {
      async decide(loaded, { coverageEndAt }, attempt) {
        const { aggregate, product } = loaded
        assertPolicyAllows(aggregate, 'cancel')
        const order = {
          kind: 'cancellation' as const,
          name: 'modification.policy.cancel',
          effectiveAt: later(coverageEndAt ?? attempt.now, aggregate.policy.originalStart),
          proration: product.legacyCancellationProration,
          mayBeEmpty: true,
        }
        const needs = { ...billedByProduct(loaded, attempt), holdsNothingBack: true }
        const billed = await planWithProration(loaded, attempt, needs, context =>
          planCancelled(aggregate, context, order),
        )
        return cancellationValue(aggregate, billed, product)
      },
    },
  },
  previews: {
    cancellation: {
      async carryOut(loaded, request, attempt) {
        const { planned, cancellation } = await previewCancellation(loaded, request, attempt)
        const { modificationLocator } = cancellationOf(planned.aggregate, cancellation)
        return { planned, modificationLocator: modificationLocator! }
      },
      issuedBy: asked =>
        asked.kind === 'cancellation' && asked.operation.action === 'create' && asked.operation.request.issue
          ? { request: asked.operation.request, at: () => asked }
          : undefined,
    },
  },
  pluginRecords: { Cancellation: pluginRecord(CANCELLATIONS) },
})

// Compares the policy before and after every write, so that no transaction that ends cover can miss it (brief 9).
/** The kind of the timer, and of its event. */
const CANCELLATION_EFFECTIVE = 'cancellation.effective'

const endsCover = ({ kind, issuedAt, invalidatedAt }: Modification): boolean =>
  (kind === 'cancellation' || kind === 'withdrawal') && issuedAt !== undefined && invalidatedAt === undefined

/**
 * Returns, for the cancellations of one write, an event if their time has come, and otherwise a timer. Derived from the policy
 * before and after, so that every kind of write is covered.
 */
export function coverEnds(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  now: Instant,
): { events: NewEvent[]; timers: NewTimer[] } {
  if (before?.modifications === after.modifications) return { events: [], timers: [] }
  const isNew = (one: Modification): boolean =>
    one.issuedAt !== undefined && before?.modifications.get(one.locator)?.issuedAt === undefined
  const all = [...after.modifications.values()]
  const issued = all.filter(one => endsCover(one) && isNew(one))
  const again = coverEndingCancellation(after)
  const isTold = again && lateReinstatements(after, again).some(isNew)
  const ended = issued.filter(one => one.effectiveAt <= now)
  return {
    events: [...ended, ...(isTold ? [again] : [])].map(one => effectiveEvent(after, one)),
    timers: issued.filter(one => one.effectiveAt > now).map(one => coverEndTimer(after, one)),
  }
}

/** Returns the cancellation or withdrawal at whose time the policy's cover ends. Undefined if it ends for another reason. */
function coverEndingCancellation(aggregate: PolicyAggregate): Modification | undefined {
  const last = standingCancellations(aggregate).filter(endsCover).at(-1)
  return last?.policyEnd === aggregate.policy.effectiveEnd ? last : undefined
}

/**
 * Returns the reinstatements that revive the cancellation after its time. Another cancellation had ended cover earlier when that
 * time came, so no event was sent then. Once the other one is reinstated, this cancellation ends the policy again, in the past.
 */
const lateReinstatements = (
  { modifications }: PolicyAggregate,
  { number, effectiveAt }: Modification,
): Modification[] =>
  [...modifications.values()].filter(({ undoes, issuedAt }) => {
    const undone = modifications.get(undoes!)
    if (!undone || undone.number < number || issuedAt === undefined) return false
    return undone.issuedAt! <= effectiveAt && effectiveAt <= issuedAt
  })

const coverEndTimer = ({ policy }: PolicyAggregate, { locator, effectiveAt }: Modification): NewTimer => ({
  locator: derivedUuid(shardOfDigits(policy.locator), CANCELLATION_EFFECTIVE, locator),
  dueAt: effectiveAt,
  kind: CANCELLATION_EFFECTIVE,
  subject: String(policy.locator),
  payload: { modificationLocator: locator },
})

/**
 * Handles the timer. Returns undefined when the policy does not end by that modification, since it was reinstated or the policy
 * was cancelled for an earlier time. Also returns undefined when the policy ends by it again and the event was already sent.
 */
function planCoverEnd(aggregate: PolicyAggregate, modification: Uuid): Planned | undefined {
  const last = coverEndingCancellation(aggregate)
  if (last?.locator !== modification || lateReinstatements(aggregate, last).length > 0) return undefined
  return { aggregate, events: [effectiveEvent(aggregate, last)] }
}

function effectiveEvent(aggregate: PolicyAggregate, { locator, name, effectiveAt }: Modification): NewEvent {
  const cancellation = [...aggregate.cancellations.values()].find(one => one.modificationLocator === locator)
  return policyEvent(aggregate, CANCELLATION_EFFECTIVE, {
    ...(cancellation && {
      cancellationLocator: String(cancellation.locator),
      cancellationName: cancellation.name,
    }),
    effectiveTimestamp: String(effectiveAt),
    modificationLocator: locator,
    modificationName: name,
  })
}

export const coverEndKind = defineKind<'coverEnd'>({
  name: 'coverEnd',
  decide({ aggregate }, { modification }) {
    const planned = planCoverEnd(aggregate, modification)
    return planned && { planned, response: showNothing }
  },
})

export const reinstatementKind = defineKind<'reinstatement'>({
  name: 'reinstatement',
  record: ({ operation }) =>
    operation.action === 'create'
      ? showRecord(CANCELLATIONS, operation.cancellation)
      : showRecord(REINSTATEMENTS, operation.reinstatement),
  async decide(loaded, { operation }, { attempt }) {
    const { planned, reinstatement } = await decideReinstatement(loaded, operation, attempt)
    return planned && { planned, response: showRecord(REINSTATEMENTS, reinstatement), subject: reinstatement }
  },
  pending: ({ reinstatements }) =>
    [...reinstatements.values()]
      .filter(one => one.state === 'accepted')
      .map(({ locator, createdAt }) => ({
        kind: 'reinstatement',
        locator,
        state: 'accepted',
        createdAt,
        takeBack: (from, now) => planReinstatementInvalidation(from, from.reinstatements.get(locator)!, now),
      })),
  changes: {
    reinstatement: {
      async decide(loaded, { reinstatement: locator }, attempt) {
        const { aggregate } = loaded
        const reinstatement = reinstatementOf(aggregate, locator)
        const carryOut = () =>
          planWithProration(loaded, attempt, { digits: 1 }, context =>
            applyReinstatement(aggregate, reinstatementOrder(aggregate, reinstatement), context),
          )
        return await priceChangeOf(loaded, reinstatement, carryOut, attempt)
      },
    },
  },
  previews: {
    reinstatement: {
      async carryOut(loaded, { cancellationLocator: text, ...request }, attempt) {
        const cancellation = readDigits(text)
        if (cancellation === undefined) throw notFound('cancellation', text)
        const of = cancellation as CancellationLocator
        const { planned, reinstatement } = await previewReinstatement(loaded, of, request, attempt)
        const { modificationLocator } = reinstatementOf(planned.aggregate, reinstatement)
        return { planned, modificationLocator: modificationLocator! }
      },
      issuedBy(asked) {
        if (asked.kind !== 'reinstatement' || asked.operation.action !== 'create') return undefined
        const { cancellation, request } = asked.operation
        if (!request.issue) return undefined
        return { request: { cancellationLocator: String(cancellation), ...request }, at: () => asked }
      },
    },
  },
  pluginRecords: { Reinstatement: pluginRecord(REINSTATEMENTS) },
})
