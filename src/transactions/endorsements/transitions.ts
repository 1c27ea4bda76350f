// What may be done to an endorsement or a renewal (brief 1.4). Both go the same way, with events of their own.
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { Endorsement, EndorsementState } from '../../policy/records/transactions.ts'

export type EndorsementAction = 'update' | 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard' | 'refer'

type Table = TransitionTable<EndorsementAction, EndorsementState>

const tableOf = (kind: Endorsement['kind'], legacy: 'policy.endorse' | 'policy.renew'): Table => ({
  update: { from: ['application'], to: 'application', event: `${kind}.update`, past: 'updated' },
  quote: { from: ['application'], to: 'quoted', event: `${kind}.quote`, past: 'quoted' },
  /** Of an application passes through quoting. */
  accept: { from: ['application', 'quoted'], to: 'accepted', event: `${kind}.accept`, past: 'accepted' },
  /** Passes through what is still before it: quoting, acceptance. */
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
