// The policy as GET /policy shows it once an accepted endorsement or renewal is issued. The plan of issuing decides
// that, so nothing here repeats its rules. Nothing is stored.
import { Refusal } from '../../kernel/errors.ts'
import type { EndorsementLocator } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { PolicyResponse } from '../../policy/contract/response.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import { endorsementOf } from '../../policy/records/look-ups.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { withoutConflicts } from '../mechanism/conflicts.ts'
import { planEndorsementIssue } from './plans.ts'

/**
 * Other quoted or accepted transactions are taken back first, as a preview takes them back: otherwise nothing can be
 * issued. Refuses (409) what is not accepted, and what cannot be issued because the policy has changed since.
 */
export function policyWhenIssued(
  { aggregate, product }: Pick<Loaded, 'aggregate' | 'product'>,
  locator: EndorsementLocator,
  now: Instant,
): PolicyResponse {
  const { kind, state } = endorsementOf(aggregate, locator)
  if (state !== 'accepted')
    throw new Refusal(
      'wrongState',
      `The ${kind} ${locator} is ${state}; only an accepted one can be shown as issued.`,
    )
  const { aggregate: cleared } = withoutConflicts(aggregate, String(locator), 'invalidate', now)
  const issued = planEndorsementIssue(cleared, endorsementOf(cleared, locator), { product, now })
  return policyResponse(issued.aggregate, product, { summarizeQuotes: false })
}
