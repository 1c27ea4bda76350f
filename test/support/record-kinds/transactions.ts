// Transactions on issued policies.
import type { CancellationLocator, EndorsementLocator, Uuid } from '../../../src/kernel/locators.ts'
import type { TransitionTable } from '../../../src/platform/events/transitions.ts'
import type {
  CancellationState,
  EndorsementState,
  ReinstatementState,
} from '../../../src/policy/records/transactions.ts'
import type { Loaded } from '../../../src/policy/surroundings.ts'
import type { Planned } from '../../../src/policy/transitions.ts'
import {
  CANCELLATION_TRANSITIONS,
  type CancellationAction,
  decideCancellation,
} from '../../../src/transactions/cancellations/decision.ts'
import { EndorsementUpdateRequest } from '../../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../../src/transactions/endorsements/kind.ts'
import {
  ENDORSEMENT_TRANSITIONS,
  type EndorsementAction,
  RENEWAL_TRANSITIONS,
} from '../../../src/transactions/endorsements/plans.ts'
import {
  decideReinstatement,
  REINSTATEMENT_TRANSITIONS,
  type ReinstatementAction,
} from '../../../src/transactions/reinstatements/decision.ts'
import {
  after,
  attempt,
  carriedOut,
  endorsing,
  halfway,
  issuedPolicy,
  muchLater,
  renewing,
} from './motor-policies.ts'
import { kind, type Situation } from './record-kind.ts'

/** A cancellation of an issued policy after the actions. */
async function cancellationAfter(...actions: ('issue' | 'rescind')[]): Promise<Situation> {
  const issued = await issuedPolicy()
  const request = {
    effectiveTimestamp: halfway(issued),
    name: 'customer_request',
    cancellationCategory: 'other',
    conflictHandling: undefined,
    issue: false,
  }
  const created = await decideCancellation(issued, { action: 'create', request }, attempt())
  const cancellation = created.cancellation!
  let loaded = after(issued, created.planned)
  for (const action of actions) loaded = after(loaded, await carriedOut(loaded, { action, cancellation }))
  return { loaded, record: cancellation }
}

const UNCHANGED = {
  effectiveTimestamp: undefined,
  name: undefined,
  conflictHandling: undefined,
  cancellationCategory: undefined,
}

const WHEN_CANCELLED = { effectiveTimestamp: undefined, reinstatementDeadlineTimestamp: undefined }

export const cancellationKind = kind<CancellationAction, CancellationState, CancellationLocator>(
  'cancellation',
  CANCELLATION_TRANSITIONS,
  {
    stateOf: ({ cancellations }, locator) => cancellations.get(locator)!.state,
    situations: {
      draft: async () => [await cancellationAfter()],
      issued: async () => [await cancellationAfter('issue')],
      rescinded: async () => [await cancellationAfter('rescind')],
    },
    act: {
      update: (loaded, cancellation) =>
        carriedOut(loaded, { action: 'update', cancellation, request: UNCHANGED }),
      rescind: (loaded, cancellation) => carriedOut(loaded, { action: 'rescind', cancellation }),
      issue: (loaded, cancellation) => carriedOut(loaded, { action: 'issue', cancellation }),
      reinstate: async (loaded, cancellation) => {
        const request = { ...WHEN_CANCELLED, issue: false }
        return (await decideReinstatement(loaded, { action: 'create', cancellation, request }, attempt()))
          .planned
      },
    },
  },
)

type EndorsementStep = 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard'

const endorsementAction =
  (action: EndorsementStep) =>
  async (loaded: Loaded, endorsement: EndorsementLocator): Promise<Planned> =>
    (await decideEndorsement(loaded, { action, endorsement }, attempt())).planned

/** A kind of endorsement or renewal. `begin` is the operation that creates one on an issued policy. */
const endorsementLike = (
  name: string,
  table: TransitionTable<EndorsementAction, EndorsementState>,
  begin: typeof endorsing,
) => {
  async function situationAfter(...actions: EndorsementStep[]): Promise<Situation> {
    const issued = await issuedPolicy()
    const created = await decideEndorsement(issued, begin(issued, 'application'), attempt())
    let loaded = after(issued, created.planned)
    for (const action of actions)
      loaded = after(loaded, await endorsementAction(action)(loaded, created.endorsement))
    return { loaded, record: created.endorsement }
  }
  return kind<EndorsementAction, EndorsementState, EndorsementLocator>(name, table, {
    stateOf: ({ endorsements }, locator) => endorsements.get(locator)!.state,
    situations: {
      application: async () => [await situationAfter()],
      quoted: async () => [await situationAfter('quote')],
      accepted: async () => [await situationAfter('quote', 'accept')],
      issued: async () => [await situationAfter('quote', 'issue')],
      invalidated: async () => [await situationAfter('quote', 'invalidate')],
      discarded: async () => [await situationAfter('discard')],
    },
    act: {
      update: async (loaded, endorsement) => {
        const update = EndorsementUpdateRequest.parse({})
        return (await decideEndorsement(loaded, { action: 'update', endorsement, update }, attempt())).planned
      },
      quote: endorsementAction('quote'),
      accept: endorsementAction('accept'),
      issue: endorsementAction('issue'),
      invalidate: endorsementAction('invalidate'),
      discard: endorsementAction('discard'),
      refer: async (loaded, endorsement) => {
        const referral = { decision: 'accept' as const, notes: ['seen'] }
        const operation = { action: 'refer' as const, endorsement, ...referral }
        return (await decideEndorsement(loaded, operation, attempt())).planned
      },
    },
  })
}

export const endorsementKind = endorsementLike('endorsement', ENDORSEMENT_TRANSITIONS, endorsing)
export const renewalKind = endorsementLike('renewal', RENEWAL_TRANSITIONS, renewing)

type ReinstatementStep = 'accept' | 'issue' | 'invalidate' | 'expire'

/** The clock's action (expire) is attempted after its deadline. */
const reinstatementAction =
  (action: ReinstatementStep) =>
  async (loaded: Loaded, reinstatement: Uuid): Promise<Planned | undefined> => {
    const when = action === 'expire' ? muchLater() : attempt()
    return (await decideReinstatement(loaded, { action, reinstatement }, when)).planned
  }

/** A reinstatement of an issued cancellation after the actions. */
async function reinstatementAfter(...actions: ReinstatementStep[]): Promise<Situation> {
  const cancelled = await cancellationAfter('issue')
  const cancellation = cancelled.record as CancellationLocator
  const request = { ...WHEN_CANCELLED, issue: false }
  const operation = { action: 'create' as const, cancellation, request }
  const { planned, reinstatement } = await decideReinstatement(cancelled.loaded, operation, attempt())
  let loaded = after(cancelled.loaded, planned)
  for (const action of actions)
    loaded = after(loaded, await reinstatementAction(action)(loaded, reinstatement))
  return { loaded, record: reinstatement }
}

export const reinstatementKind = kind<ReinstatementAction, ReinstatementState, Uuid>(
  'reinstatement',
  REINSTATEMENT_TRANSITIONS,
  {
    stateOf: ({ reinstatements }, locator) => reinstatements.get(locator)!.state,
    byClock: ['expire'],
    situations: {
      draft: async () => [await reinstatementAfter()],
      accepted: async () => [await reinstatementAfter('accept')],
      issued: async () => [await reinstatementAfter('accept', 'issue')],
      expired: async () => [await reinstatementAfter('expire')],
    },
    act: {
      update: async (loaded, reinstatement) => {
        const operation = { action: 'update' as const, reinstatement, request: WHEN_CANCELLED }
        return (await decideReinstatement(loaded, operation, attempt())).planned
      },
      accept: reinstatementAction('accept'),
      issue: reinstatementAction('issue'),
      invalidate: reinstatementAction('invalidate'),
      expire: reinstatementAction('expire'),
    },
  },
)
