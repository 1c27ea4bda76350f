// Tools that preview. They write only the preview itself, which is kept for 15 minutes.
import { z } from 'zod'
import { bodyOf, firstOf } from '../answers.ts'
import { type Asked, type Host, type Json, pathOf } from '../host.ts'
import { defineTool } from '../tool.ts'
import {
  isoOf,
  Locator,
  Money,
  MoreCount,
  money,
  msIfAny,
  msOf,
  NameIn,
  policyChanges,
  policyIn,
  Time,
  TimeIn,
  Underwriting,
  underwriting,
  withAmounts,
} from '../values.ts'

export const keptShape = {
  preview: z.string().describe('Pass this to carry_out.'),
  expires: Time.optional(),
  operation: z.string(),
}

/** Keeps the call that was previewed. */
export async function keep(host: Host, operation: string, subject: string, asked: Asked) {
  const { preview, expiresTimestamp } = await bodyOf(host.keep({ operation, subject, asked }))
  return { preview: String(preview), expires: isoOf(expiresTimestamp), operation }
}

const Bill = z.strictObject({
  type: z.string(),
  made: Time.optional(),
  due: Time.optional(),
  total: Money.optional(),
})

const Change = z.strictObject({ now: Money.optional(), change: Money.optional() })

const Preview = z.strictObject({
  ...keptShape,
  policy: z.string(),
  price: z
    .strictObject({ premium: Change, taxes: Change, fees: Change, total: Change })
    .describe('After the transaction, and by how much it changes. total is premium, taxes and fees.'),
  underwriting: Underwriting.optional().describe('Unless the decision is accept, carry_out is rejected.'),
  coverEnds: Time.optional(),
  bills: z.array(Bill).describe('Bills of the transaction, and all later planned bills.'),
  moreBills: MoreCount,
  blockedBy: z
    .array(z.strictObject({ kind: z.string(), locator: z.string(), state: z.string() }))
    .describe(
      'Pending transactions. If there are any, carry_out is rejected unless invalidateConflicts was set.',
    ),
  next: z.string(),
})

const change = (price: Json, after: string, by: string) => ({
  now: money(price, after),
  change: money(price, by),
})

const NEXT =
  'Show the price and the changes to the person you work for. If they agree, call carry_out with preview and nothing else.'

type Kind = 'issue' | 'endorsement' | 'renewal' | 'cancellation' | 'reinstatement'

/** Returns the preview of the interface, and keeps the call that issues exactly that. */
async function preview(host: Host, policy: string, kind: Kind, request: object, asked: Asked) {
  const path = pathOf`/policies/${policy}/preview`
  const shown = await bodyOf(host.call({ method: 'POST', path, body: { [kind]: request } }))
  const { price, policyWhenIssued, previewToken } = shown
  const bills = firstOf<Json>(shown.invoices, 12)
  return {
    ...(await keep(host, kind, policy, { ...asked, ifPreviewed: previewToken })),
    policy,
    price: {
      premium: change(price, 'newGrossPremium', 'grossPremiumChange'),
      taxes: change(price, 'newGrossTaxes', 'grossTaxesChange'),
      fees: change(price, 'newGrossFees', 'grossFeesChange'),
      total: change(price, 'newTotal', 'totalChange'),
    },
    underwriting: underwriting(shown.automatedUnderwritingResult),
    coverEnds: isoOf(policyWhenIssued.effectiveContractEndTimestamp),
    bills: bills.some.map(one => ({
      type: one.invoiceType,
      made: isoOf(one.issueTimestamp),
      due: isoOf(one.dueTimestamp),
      total: money(one, 'totalDue'),
    })),
    moreBills: bills.more,
    blockedBy: shown.conflicts
      .slice(0, 10)
      .map(({ kind, locator, state }: Json) => ({ kind, locator, state })),
    next: NEXT,
  }
}

const invalidateConflicts = z
  .boolean()
  .default(false)
  .describe('Whether to invalidate conflicting quoted and accepted transactions. Ask the person first.')

const conflictHandling = (invalidates: boolean) =>
  invalidates ? { conflictHandling: 'invalidate' as const } : {}

const previewIssue = defineTool({
  name: 'preview_issue',
  title: 'Preview the issue of a policy',
  about: 'Shows the price and bills of issuing a policy that was quoted and accepted (see preview_quote).',
  effect: 'makes',
  input: z.strictObject({ policy: policyIn }),
  output: Preview,
  run: ({ policy }, host) =>
    preview(host, policy, 'issue', {}, { method: 'POST', path: pathOf`/policy/${policy}/issue` }),
})

const previewEndorsement = defineTool({
  name: 'preview_endorsement',
  title: 'Preview an endorsement',
  about:
    'Shows the effect of changing a policy: new values, more or fewer exposures and perils. read_policy has their locators, read_product the names of endorsements and fields.',
  effect: 'makes',
  input: z.strictObject({
    policy: policyIn,
    endorsementName: NameIn,
    startAt: TimeIn.optional().describe('When the change takes effect. Left out: now.'),
    newPolicyEndAt: TimeIn.optional().describe('New end of the policy, if it moves.'),
    ...policyChanges,
    reprice: z.boolean().optional().describe('Only if read_product returns askForReprice true.'),
    invalidateConflicts,
  }),
  output: Preview,
  run({ policy, startAt, newPolicyEndAt, invalidateConflicts: invalidates, ...changes }, host) {
    const request = {
      ...withAmounts(changes),
      startTimestamp: msIfAny(startAt),
      newPolicyEndTimestamp: msIfAny(newPolicyEndAt),
      ...conflictHandling(invalidates),
    }
    const path = pathOf`/policies/${policy}/endorsements`
    const asked = { method: 'POST', path, body: { ...request, state: 'issued' } } as const
    return preview(host, policy, 'endorsement', request, asked)
  },
})

const previewRenewal = defineTool({
  name: 'preview_renewal',
  title: 'Preview a renewal',
  about: 'Shows the price and bills of another term of a policy. It begins when the policy ends.',
  effect: 'makes',
  input: z.strictObject({
    policy: policyIn,
    endAt: TimeIn.describe('When the new term ends.'),
    ...policyChanges,
  }),
  output: Preview,
  run({ policy, endAt, ...changes }, host) {
    const request = { ...withAmounts(changes), renewalEndTimestamp: msOf(endAt) }
    const path = pathOf`/policies/${policy}/renewals`
    const asked = { method: 'POST', path, body: { ...request, state: 'issued' } } as const
    return preview(host, policy, 'renewal', request, asked)
  },
})

const previewCancellation = defineTool({
  name: 'preview_cancellation',
  title: 'Preview a cancellation',
  about: 'Shows the effect of ending a policy before its time: what is refunded, and what is kept.',
  effect: 'makes',
  input: z.strictObject({
    policy: policyIn,
    name: NameIn.describe('Name of a cancellation of the product.'),
    effectiveAt: TimeIn,
    category: NameIn.optional().describe('Category of the reason, as listed by the product.'),
    invalidateConflicts,
  }),
  output: Preview,
  run({ policy, name, effectiveAt, category, invalidateConflicts: invalidates }, host) {
    const request = {
      name,
      effectiveTimestamp: msOf(effectiveAt),
      cancellationCategory: category,
      ...conflictHandling(invalidates),
    }
    const path = pathOf`/policies/${policy}/cancellations`
    const asked = { method: 'POST', path, body: { ...request, issue: true } } as const
    return preview(host, policy, 'cancellation', request, asked)
  },
})

const previewReinstatement = defineTool({
  name: 'preview_reinstatement',
  title: 'Preview a reinstatement',
  about: 'Shows the effect of restoring the cover of a cancelled policy.',
  effect: 'makes',
  input: z.strictObject({
    policy: policyIn,
    cancellation: Locator.describe('Locator of the cancellation to reverse, from the result of carry_out.'),
    effectiveAt: TimeIn.optional().describe('When cover resumes. Left out: without a gap.'),
  }),
  output: Preview,
  run({ policy, cancellation, effectiveAt }, host) {
    const request = { effectiveTimestamp: msIfAny(effectiveAt) }
    const path = pathOf`/cancellations/${cancellation}/reinstate`
    const asked = { method: 'PATCH', path, body: { ...request, issue: true } } as const
    return preview(host, policy, 'reinstatement', { cancellationLocator: cancellation, ...request }, asked)
  },
})

export const previewTools = [
  previewIssue,
  previewEndorsement,
  previewRenewal,
  previewCancellation,
  previewReinstatement,
]
