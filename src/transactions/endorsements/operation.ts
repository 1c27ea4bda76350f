// Operations on an endorsement or a renewal: their messages, the state table (brief 1.4), and how far each reaches into its
// policy: what it rates again, and which exposures it can change.
import { invalidRequest } from '../../kernel/errors.ts'
import type { EndorsementLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import { isIssued, isListed } from '../../policy/fold/line.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type EndorsementChanges, namedExposures } from '../../policy/records/changes.ts'
import type { Endorsement, EndorsementState, UnderwritingResult } from '../../policy/records/transactions.ts'
import type { Part } from '../../policy/surroundings.ts'
import type { Planned } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { Referral } from '../../rating/rate.ts'
import type { ConflictHandling } from '../cancellations/contract.ts'
import type { RenewalCreateRequest, RenewalUpdateRequest } from '../renewals/contract.ts'
import type { Repricing } from './content.ts'
import type { EndorsementCreateRequest, EndorsementUpdateRequest } from './contract.ts'
import { endorsementEvent, withEndorsement } from './plans.ts'

/** The repricing that the type sets; with `input` the request must say it. */
export function repricingOf(
  product: ProductDefinition,
  name: string,
  changes: EndorsementChanges,
): Repricing {
  const type = product.endorsements.find(one => one.name === name)
  if (!type)
    throw invalidRequest(
      `The policy's configuration has no endorsement '${name}' any more; discard this one, and apply for another.`,
    )
  switch (type.reprice) {
    case 'all':
      return 'all'
    case 'always':
      return 'changed'
    case 'input':
      if (changes.reprice === undefined)
        throw invalidRequest(`Endorsement '${name}' needs reprice: send true or false.`)
      return changes.reprice ? 'changed' : 'never'
    default:
      return 'never'
  }
}

/**
 * The exposures that its changes name; undefined where they reach the whole policy: where its other exposures are rated
 * anew or end at another time, or what was planned to be invoiced for them moves.
 */
export function touchesOf(
  { kind, name, changes, endAt }: Pick<Endorsement, 'kind' | 'name' | 'changes' | 'endAt'>,
  product: ProductDefinition,
): readonly Uuid[] | undefined {
  if (kind === 'renewal' || endAt !== undefined || changes.newPaymentScheduleName !== undefined)
    return undefined
  const repricing = repricingOf(product, name, changes)
  if (repricing === 'all' || (repricing === 'changed' && changesPolicy(changes))) return undefined
  return namedExposures(changes) as Uuid[]
}

const changesPolicy = (changes: EndorsementChanges): boolean =>
  Object.keys(changes.fieldValues ?? {}).length > 0 ||
  [changes.addFieldGroups, changes.updateFieldGroups, changes.removeFieldGroups].some(list => list?.length)

/** The part of the policy that may be enough for the operation; undefined for renewals, which go over all of it. */
export function partOf(operation: EndorsementOperation): Part | undefined {
  switch (operation.action) {
    case 'create':
      return { exposures: namedExposures(operation.request) }
    case 'renew':
      return undefined
    case 'update':
      return { exposures: namedExposures(operation.update), endorsement: operation.endorsement }
    default:
      return { exposures: [], endorsement: operation.endorsement }
  }
}

// Endorsements and renewals have the same states, with events of their own.
export type EndorsementAction = 'update' | 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard' | 'refer'

type Table = TransitionTable<EndorsementAction, EndorsementState>

const tableOf = (kind: Endorsement['kind'], legacy: 'policy.endorse' | 'policy.renew'): Table => ({
  update: { from: ['application'], to: 'application', event: `${kind}.update`, past: 'updated' },
  quote: { from: ['application'], to: 'quoted', event: `${kind}.quote`, past: 'quoted' },
  /** Of an application passes through quoting. */
  accept: { from: ['application', 'quoted'], to: 'accepted', event: `${kind}.accept`, past: 'accepted' },
  /** Passes through the steps before it: quoting, acceptance. */
  issue: {
    from: ['application', 'quoted', 'accepted'],
    to: 'issued',
    event: [`${kind}.issue`, legacy],
    past: 'issued',
  },
  invalidate: {
    from: ['quoted', 'accepted'],
    to: 'invalidated',
    event: `${kind}.invalidate`,
    past: 'invalidated',
  },
  discard: { from: ['application'], to: 'discarded', event: `${kind}.discard`, past: 'discarded' },
  /** A person decides in underwriting's place; it is quoted, or refused, by that. */
  refer: { from: ['application'], to: 'application', event: `${kind}.update`, past: 'decided by a person' },
})

export const ENDORSEMENT_TRANSITIONS: Table = tableOf('endorsement', 'policy.endorse')
export const RENEWAL_TRANSITIONS: Table = tableOf('renewal', 'policy.renew')

export function assertEndorsementAllows(
  { kind, locator, state }: Endorsement,
  action: EndorsementAction,
): void {
  const [table, noun] =
    kind === 'renewal' ? [RENEWAL_TRANSITIONS, 'Renewal'] : [ENDORSEMENT_TRANSITIONS, 'Endorsement']
  assertAllowed(table, `${noun} ${locator}`, state, action)
}

export type EndorsementOperation =
  | { action: 'create'; request: EndorsementCreateRequest }
  | { action: 'renew'; request: RenewalCreateRequest }
  | {
      action: 'update'
      endorsement: EndorsementLocator
      update: EndorsementUpdateRequest & Pick<RenewalUpdateRequest, 'renewalEndTimestamp'>
    }
  | {
      action: 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard'
      endorsement: EndorsementLocator
      conflictHandling?: ConflictHandling
    }
  | ({ action: 'refer'; endorsement: EndorsementLocator } & Referral)

// A person's decision on an application, in the place of underwriting's (brief 1.4). It is about what the person
// saw: the application's content, on the policy as it was issued then, by the configuration of then. An update of
// the application makes it void, as does anything that is issued meanwhile and an upgrade of the policy; then
// underwriting is asked again. (Quotes have the same rule: whoever changes a decided one makes a copy, undecided.)
/**
 * How many modifications are issued: what is decided or quoted rests on that many. Changes of fees and bills alone do
 * not count: what was quoted is as true after them.
 */
export const issuedCount = ({ modifications }: PolicyAggregate): number =>
  [...modifications.values()].filter(one => isIssued(one) && isListed(one)).length

/** The valid decision on an application; undefined when underwriting must be asked. */
export const personsDecision = (
  aggregate: PolicyAggregate,
  { state, underwriting, basedOn }: Endorsement,
): UnderwritingResult | undefined =>
  state === 'application' && basedOn === issuedCount(aggregate) ? underwriting : undefined

/** The application without a person's decision. */
export const undecided = (application: Endorsement): Endorsement => ({
  ...application,
  underwriting: undefined,
  basedOn: undefined,
})

/** Stores the decision on the application; its notes follow those of `earlier`, which it overrides. */
export function planReferral(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { decision, notes }: Referral,
  earlier: UnderwritingResult,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'refer')
  const referred: Endorsement = {
    ...endorsement,
    underwriting: { decision, notes: [...earlier.notes, ...notes], at: now },
    basedOn: issuedCount(before),
    updatedAt: now,
  }
  const aggregate = withEndorsement(before, referred)
  const newerType =
    endorsement.kind === 'renewal' ? 'policy.renewal.manualUnderwrite' : 'policy.change.manualUnderwrite'
  return {
    aggregate,
    events: [{ ...endorsementEvent(aggregate, 'update', referred, { decision }), newerType }],
  }
}
