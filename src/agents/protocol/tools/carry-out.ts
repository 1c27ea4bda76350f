// The one tool that changes records of customers. It accepts only a preview, so it can do only what was previewed.
import { z } from 'zod'
import { bodyOf } from '../answers.ts'
import type { Json, Previewed } from '../host.ts'
import { defineTool } from '../tool.ts'
import { isoOf, Money, money, Time, Underwriting, underwriting } from '../values.ts'

const Done = z.strictObject({
  operation: z.string(),
  policy: z.string().optional(),
  policyholder: z.string().optional(),
  record: z
    .string()
    .optional()
    .describe('Locator of the endorsement, renewal, cancellation or reinstatement.'),
  state: z.string(),
  issued: Time.optional(),
  premium: Money.optional(),
  underwriting: Underwriting.optional(),
  requestId: z.string().optional().describe('The request ID that the events and the audit trail have.'),
  next: z.string(),
})

const READ = 'Done. read_policy and read_bills show the policy as it is now.'

/** Returns the outcome of a new quote: it is priced and underwritten, or declined. */
function quoteOutcome(policy: Json) {
  const [made] = policy.modifications
  const result = underwriting(made?.automatedUnderwritingResult)
  const isAccepted = result?.decision === 'accept'
  return {
    policy: policy.locator,
    state: isAccepted ? 'finalized' : 'declined',
    premium: money(policy.characteristics.at(-1), 'grossPremium'),
    underwriting: result,
    next: isAccepted
      ? 'The policy is quoted and accepted, but not issued. Call preview_issue.'
      : 'Underwriting did not accept it. Show its notes to the person; only people can decide otherwise.',
  }
}

function describeResult({ operation, subject }: Previewed, body: Json) {
  if (operation === 'policyholder')
    return {
      policyholder: body.locator,
      state: 'created',
      next: 'The policyholder is created. Pass its locator to price_risk and preview_quote.',
    }
  if (operation === 'quote') return quoteOutcome(body)
  if (operation === 'issue')
    return { policy: subject, state: 'issued', issued: isoOf(body.issuedTimestamp), next: READ }
  return {
    policy: subject,
    record: body.locator,
    state: body.state,
    issued: isoOf(body.issuedTimestamp),
    next: READ,
  }
}

export const carryOut = defineTool({
  name: 'carry_out',
  title: 'Carry out a preview',
  about:
    'Does exactly what a preview showed, once, within 15 minutes, at that price. Call it only after a person has seen the preview and agreed. It is rejected if anything has changed since.',
  effect: 'carries out',
  input: z.strictObject({
    preview: z
      .string()
      .regex(/^pv_[a-z2-7]{1,40}$/)
      .describe('The `preview` from the result of a preview tool.'),
  }),
  output: Done,
  async run({ preview }, host) {
    const previewed: Previewed = await bodyOf(host.take(preview))
    await bodyOf(host.begin(preview, previewed))
    const asking = host.call(previewed.asked)
    const body = await bodyOf(asking)
    const { requestId } = await asking
    return { operation: previewed.operation, requestId, ...describeResult(previewed, body) }
  },
})
