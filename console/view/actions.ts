// The actions on a policy, by its state and the permissions of the signed-in user.

import { type ActionButton, actionButtons } from '../action-buttons.ts'
import { get } from '../api.ts'
import { type Child, part } from '../element.ts'
import { cancellationTypes } from '../find.ts'
import { cancellationToReinstate, openReinstatement } from '../knowledge.ts'
import { readPolicy } from '../large-policies.ts'
import { desk, productOf } from '../open-desk.ts'
import type { Cancellation, Policy } from '../wire.ts'
import { DESK } from '../words.ts'
import { VIEW } from './words.ts'

export const policyActions = (policy: Policy, held: ReadonlySet<string>): Child =>
  actionButtons(deedsOf(policy), held, DESK.actions)

function deedsOf(policy: Policy): readonly ActionButton[] {
  const isIssued = policy.modifications.some(modification => modification.issuedTimestamp !== undefined)
  if (!isIssued)
    return isDiscarded(policy)
      ? []
      : [simple(policy, 'Discard', DESK.discardPolicy, ['policies.write', 'policies.discard'])]
  if (policy.cancellation) return isWithdrawn(policy) ? [] : [reinstate(policy)]
  return changes(policy)
}

const isWithdrawn = ({ modifications }: Policy): boolean =>
  modifications.some(({ name }) => name === 'modification.policy.withdraw')

/** A discarded policy has only discarded quotes. */
const isDiscarded = ({ quoteSummary }: Policy): boolean =>
  quoteSummary !== undefined && quoteSummary.notDiscarded.length === 0

const simple = (
  policy: Policy,
  name: 'Discard' | 'Withdraw',
  text: string,
  permissions: readonly string[],
): ActionButton => ({
  text,
  permissions,
  open: async close => part((await desk())[name], { policy, close }),
})

const changes = (policy: Policy): readonly ActionButton[] => {
  const form =
    (name: 'Endorse' | 'Renew' | 'Cancel' | 'ChangeFees' | 'ChangeSchedule'): ActionButton['open'] =>
    async (close, isAnew) => {
      const now = isAnew ? await readPolicy(policy.locator) : policy
      const [forms, product] = await Promise.all([desk(), productOf(now)])
      if (name === 'Cancel' && cancellationTypes(product).length === 0) throw new Error(DESK.notCancellable)
      return part(forms[name], { policy: now, product, close })
    }
  return [
    { text: DESK.endorse, permissions: ['endorsements.write'], open: form('Endorse') },
    { text: DESK.renew, permissions: ['renewals.write'], open: form('Renew') },
    { text: DESK.cancel, permissions: ['cancellations.write'], open: form('Cancel') },
    { text: DESK.changeFees, permissions: ['policies.write'], open: form('ChangeFees') },
    { text: DESK.changeSchedule, permissions: ['policies.write'], open: form('ChangeSchedule') },
    simple(policy, 'Withdraw', DESK.withdraw, ['cancellations.issue', 'cancellations.write']),
  ]
}

/** Continues a reinstatement in preparation, or begins one. */
const reinstate = (policy: Policy): ActionButton => ({
  text: DESK.reinstate,
  permissions: ['reinstatements.write'],
  open: async (close, isAnew) => {
    const path = `/policies/${encodeURIComponent(policy.locator)}/cancellations`
    const [{ Reinstate, Step }, all] = await Promise.all([desk(), get<Cancellation[]>(path)])
    const cancellation = cancellationToReinstate(all)
    if (!cancellation) throw new Error(DESK.notReinstatable)
    const open = openReinstatement(cancellation)
    if (open)
      return part(Step, {
        prepared: {
          kind: 'reinstatement',
          locator: open.locator,
          title: VIEW.reinstatement,
          state: open.state,
          decision: undefined,
        },
        policyLocator: policy.locator,
        name: open.state === 'draft' ? 'accept' : 'issue',
        close,
      })
    return part(Reinstate, {
      policy: isAnew ? await readPolicy(policy.locator) : policy,
      cancellation,
      close,
    })
  },
})
