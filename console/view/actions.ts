// What can be done to the policy, by its state and the rights of who is signed in.
import { get } from '../api.ts'
import { type DeedButton, deedButtons } from '../deed-buttons.ts'
import { type Child, part } from '../element.ts'
import { desk, productOf } from '../open-desk.ts'
import type { Cancellation, Policy } from '../wire.ts'
import { DESK } from '../words.ts'

export function policyActions(policy: Policy, held: ReadonlySet<string>): Child {
  const isIssued = policy.modifications.some(one => one.issuedTimestamp !== undefined)
  if (!isIssued) return undefined
  return deedButtons(policy.cancellation ? [reinstate(policy)] : changes(policy), held, DESK.actions)
}

const changes = (policy: Policy): readonly DeedButton[] => {
  const form =
    (name: 'Endorse' | 'Renew' | 'Cancel'): DeedButton['open'] =>
    async close => {
      const [forms, product] = await Promise.all([desk(), productOf(policy)])
      return part(forms[name], { policy, product, close })
    }
  return [
    { text: DESK.endorse, permissions: ['endorsements.write'], open: form('Endorse') },
    { text: DESK.renew, permissions: ['renewals.write'], open: form('Renew') },
    { text: DESK.cancel, permissions: ['cancellations.write'], open: form('Cancel') },
  ]
}

const reinstate = (policy: Policy): DeedButton => ({
  text: DESK.reinstate,
  permissions: ['reinstatements.write'],
  open: async close => {
    const path = `/policies/${encodeURIComponent(policy.locator)}/cancellations`
    const [{ Reinstate }, all] = await Promise.all([desk(), get<Cancellation[]>(path)])
    const cancellation = all.findLast(
      ({ state, reinstatements = [] }) =>
        state === 'issued' && reinstatements.every(one => one.state !== 'issued'),
    )
    if (!cancellation) throw new Error(DESK.notReinstatable)
    return part(Reinstate, { policy, cancellation, close })
  },
})
