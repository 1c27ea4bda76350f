// What underwriting did not accept is referred to a person, whose decision takes its place.
import { Refusal } from '../kernel/errors.ts'
import type { RequestContext } from '../platform/context.ts'
import type { UnderwritingDecisionRequest } from '../policy/contract/prices.ts'
import type { UnderwritingResult } from '../policy/records/transactions.ts'

/** What a person decided; the notes, which are kept with the decision, say who and why. */
export type Referral = Pick<UnderwritingResult, 'decision' | 'notes'>

/** The caller's decision, in the form in which it is kept. */
export const referralBy = (
  { caller }: Pick<RequestContext, 'caller'>,
  { decision, note }: UnderwritingDecisionRequest,
): Referral => ({ decision, notes: [`${caller.username}: ${decision}${note ? `, ${note}` : ''}`] })

/** Whom to ask when underwriting does not accept; nobody can be asked about a reinstatement. */
const ADVICE = {
  endorsement: 'A person may decide on its application: POST /endorsements/{locator}/underwriting.',
  renewal: 'A person may decide on its application: POST /renewals/{locator}/underwriting.',
  reinstatement: '',
} as const

/** Refuses (409), with the notes, what underwriting or a person did not accept. */
export function assertUnderwritten(
  kind: keyof typeof ADVICE,
  { decision, notes }: Pick<UnderwritingResult, 'decision' | 'notes'>,
): void {
  if (decision === 'accept') return
  const said = [`Underwriting decided '${decision}' on the ${kind}.`, ...notes, ADVICE[kind]]
  throw new Refusal('underwritingRefused', said.filter(text => text !== '').join(' '))
}
