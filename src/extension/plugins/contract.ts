// Inputs and answers of plugins (brief 5.6). Numbers are sent as text and accepted as numbers or text; unknown properties are
// ignored. These schemas are not in the OpenAPI document. They are loaded at the first call of a plugin, since creating them takes
// time.
import '../../platform/wire.ts'
import { z } from 'zod'
import { type Decimal, decimal } from '../../kernel/money.ts'
import { isStorable, removeUnstorable } from '../../kernel/text.ts'
import { type Instant, instant } from '../../kernel/time.ts'
import type { FinancialTransactionResponse, FutureInvoiceResponse } from '../../policy/contract/billing.ts'
import type { PolicyDocumentResponse } from '../../policy/contract/documents.ts'
import type { PolicyResponse } from '../../policy/contract/response.ts'
import type { ChargeSource } from '../../policy/projection/billed-items.ts'
import { LARGEST_PLAN_PERIODS } from '../../policy/records/invoice.ts'
import type { PolicyholderResponse } from '../../policyholders/contract.ts'
import type { FieldValues } from '../../product/fields/values.ts'

const AMOUNT = 'must be an amount: a number or its digits, below 10^13'

/** A sum with a missing value is NaN. The message names it, because that is what authors look for. */
const notANumber = (text: string): string => (/^(NaN|-?Infinity)$/.test(text) ? `, not ${text}` : '')

/** An amount in major units as an exact decimal. `NaN` and infinities arrive as text, which is not an amount. */
const SignedAmount = z.union([z.number(), z.string()], AMOUNT).transform((wire, ctx): Decimal => {
  const text = String(wire).trim()
  if (text.length <= 400 && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(text)) {
    const amount = decimal(text.replace(/^\+/, ''))
    if (amount.abs().lt('1e13')) return amount
  }
  ctx.issues.push({ code: 'custom', message: AMOUNT + notANumber(text), input: wire })
  return z.NEVER
})

/** Holdbacks and fees. Rates may be negative, like those of templates and external raters (resources brief 6.4): discounts. */
const Amount = SignedAmount.refine(amount => amount.gte(0), 'must not be negative')

const optional = <S extends z.ZodType>(schema: S) => schema.nullish().transform(value => value ?? undefined)

/** The longest stored text, such as a note, in characters. */
const LONGEST_TEXT = 2_000

const Text = z
  .union([z.string().max(LONGEST_TEXT), z.number()], `must be text of at most ${LONGEST_TEXT} characters`)
  .transform(text => removeUnstorable(String(text)))

const INSTANT = 'must be a time in milliseconds, as a whole number or its digits'

const Timestamp = z.union([z.number(), z.string()], INSTANT).transform((wire, ctx): Instant => {
  // Scripts divide spans of time, so fractions are rounded down.
  const text = typeof wire === 'number' ? String(Math.floor(wire)) : wire.trim()
  const at = /^-?\d{1,15}$/.test(text) ? instant(Number(text)) : undefined
  if (at !== undefined) return at
  const isDate = /^\d{4}-\d\d-\d\dT/.test(text)
  const actual = isDate ? ', not a date; return its getTime()' : notANumber(text)
  ctx.issues.push({ code: 'custom', message: INSTANT + actual, input: wire })
  return z.NEVER
})

/** Empty text counts as left out, as in autofill. */
const OptionalTimestamp = z.preprocess(wire => (wire === '' ? undefined : wire), optional(Timestamp))

/** Plugins get all numbers as text (translation.ts). */
export type Textual<T> = T extends number ? string : T extends object ? { [K in keyof T]: Textual<T[K]> } : T

/** Published scripts read the currency and the selected quote from the policy, as plugins that get only `PolicyInfo` do. */
export type PluginPolicy = Textual<PolicyResponse> & { currency: string; quoteLocator?: string }

/** The common input of plugins that do not get the whole policy. */
export type PolicyInfo = {
  locator: string
  policyholderLocator: string
  productName: string
  originalContractStartTimestamp: string
  currency: string
  quoteLocator?: string
}

type PolicyExposurePeril = {
  policyCharacteristicsLocator: string
  exposureCharacteristicsLocator: string
  perilCharacteristicsLocator: string
}

export type TransactionNames = {
  endorsementLocator?: string
  renewalLocator?: string
  reinstatementLocator?: string
  quoteLocator?: string
  newPaymentScheduleName?: string
}

export type PerilRatesInput = TransactionNames & {
  operation: 'new_business' | 'endorsement' | 'renewal' | 'reinstatement'
  policy: PluginPolicy
  policyExposurePerils: PolicyExposurePeril[]
  tenantTimeZone: string
}

export type UnderwritingInput = {
  operation: PerilRatesInput['operation']
  policy: PluginPolicy
  policyholder: Textual<PolicyholderResponse>
}

export type ProrationInput = {
  operation:
    | 'creation'
    | 'endorsement'
    | 'renewal'
    | 'cancellation'
    | 'reinstatement'
    | 'withdrawal'
    | 'action'
  segmentSplitTimestamp: string
  /** The schedule after the transaction, and before it. */
  paymentScheduleName: string
  oldPaymentScheduleName: string
  /** The type of the schedule before the transaction, which older scripts read. */
  paymentPlan: string
  tenantTimeZone: string
  policy: PolicyInfo
  /** The name of a cancellation, or `lapse`. */
  cancellationType?: string
  items: ProrationItem[]
}

/** An amount to split. The plugin returns the part before the split. */
export type ProrationItem = {
  /** Unique within the call. */
  id: string
  type: 'premium' | 'technicalPremium' | 'tax' | 'fee' | 'commission'
  amount: string
  /** The amount of the time after the segment, if the transaction removes, replaces or restores that too. */
  followingAmount: string
  segmentStartTimestamp: string
  segmentEndTimestamp: string
  perilCharacteristicsLocator?: string
  perilName?: string
  /** Fields of the peril in the segment; empty for a fee. */
  fieldValues: FieldValues
  taxName?: string
  commissionRecipient?: string
  feeLocator?: string
  feeName?: string
}

/** A charge to put on installments (brief 4.3): amount + previouslyInvoicedAmount = originalAmount. */
export type PluginCharge = ChargeSource & {
  chargeId: string
  type: FinancialTransactionResponse['type']
  /** `previously_invoiced` is the rest of a charge that is partly invoiced; its `isNew` is false. */
  category: 'new' | 'previously_invoiced'
  isNew: boolean
  amount: string
  originalAmount: string
  previouslyInvoicedAmount: string
  amountCurrency: string
  /** The period that the amount pays for. */
  coverageStartTimestamp: string
  coverageEndTimestamp: string
  policyModificationLocator: string
  perilLocator?: string
}

export type InstallmentsInput = {
  operation: 'newBusiness' | 'endorsement' | 'renewal' | 'cancellation' | 'reinstatement'
  transactionType: InstallmentsInput['operation']
  policy: PluginPolicy
  charges: PluginCharge[]
  /** The installments that the answer replaces; their amounts are among the charges. */
  plannedInvoices: Textual<FutureInvoiceResponse>[]
  paymentScheduleName: string
  /** The schedule before the transaction, which is the same unless the transaction changes it. */
  oldPaymentScheduleName: string
  defaultPaymentTerms: { amount: string; unit: 'day' }
  coverageStartTimestamp: string
  coverageEndTimestamp: string
  productName: string
  tenantTimeZone: string
}

export type PreGraceInput = {
  invoiceLocator: string
  defaultGracePeriodDays: string
  policy: PolicyInfo
  tenantTimeZone: string
}

export type PostPaymentReversalInput = {
  operationType: 'payment_reversal' | 'payment_invalidation'
  paymentLocator: string
  invoiceLocator: string
  invoiceAmount: string
  invoiceDueTimestamp: string
  invoiceIssueTimestamp: string
  gracePeriodDays: string
  policy: PolicyInfo
  tenantTimeZone: string
}

export type PostIssuanceInput = {
  operation: 'newBusiness' | 'endorsement' | 'renewal' | 'cancellation' | 'reinstatement'
  policyLocator: string
  policy: PolicyInfo
  tenantTimeZone: string
  documents: Textual<Omit<PolicyDocumentResponse, 'url' | 'urlExpirationTimestamp'>>[]
}

export type AutofillInput = {
  operation: 'newBusiness' | 'endorsement' | 'renewal'
  operationType: 'create' | 'update'
  updates: { fieldValues?: FieldValues } & Record<string, unknown>
  productName: string
  policyholderLocator: string
  policyLocator?: string
  endorsementLocator?: string
  renewalLocator?: string
  tenantTimeZone: string
}

/** Older scripts write `amount` for `exactAmount`. */
const CommissionRate = z
  .object({
    recipient: z
      .string()
      .min(1)
      .max(128)
      .refine(isStorable, 'has characters that cannot be stored')
      .describe('The recipient of the commission, at most 128 characters.'),
    yearlyAmount: optional(SignedAmount).describe('The commission for a whole year.'),
    exactAmount: optional(SignedAmount).describe('The commission for the segment itself.'),
    amount: optional(SignedAmount).describe('An older name for exactAmount.'),
  })
  .transform(({ amount, exactAmount, ...rest }) => ({ ...rest, exactAmount: exactAmount ?? amount }))
  .refine(
    ({ yearlyAmount, exactAmount }) => (yearlyAmount ?? exactAmount) !== undefined,
    'needs yearlyAmount or exactAmount',
  )

/** Older scripts and older external raters write `premium` and `technicalPremium` for the exact amounts (resources brief 6.3). */
const PerilRate = z
  .object({
    yearlyPremium: optional(SignedAmount).describe(
      'The premium for a whole year. This or exactPremium is required.',
    ),
    exactPremium: optional(SignedAmount).describe(
      'The premium for the segment itself. It takes precedence over a rate.',
    ),
    premium: optional(SignedAmount).describe('An older name for exactPremium.'),
    yearlyTechnicalPremium: optional(SignedAmount).describe('The technical premium for a whole year.'),
    exactTechnicalPremium: optional(SignedAmount).describe('The technical premium for the segment itself.'),
    technicalPremium: optional(SignedAmount).describe('An older name for exactTechnicalPremium.'),
    commissions: optional(z.array(CommissionRate).max(50)).describe(
      'The commissions on the premium, at most 50.',
    ),
  })
  .transform(({ premium, technicalPremium, ...rate }) => ({
    ...rate,
    exactPremium: rate.exactPremium ?? premium,
    exactTechnicalPremium: rate.exactTechnicalPremium ?? technicalPremium,
  }))
  .refine(
    ({ yearlyPremium, exactPremium }) => (yearlyPremium ?? exactPremium) !== undefined,
    'needs yearlyPremium or exactPremium',
  )
export type PerilRate = z.output<typeof PerilRate>

/** A blank message counts as none, as for external raters: scripts begin with `exceptionMessage: ''`. */
const REFUSES = 'Rejects the request (409) with this text. A blank text does not reject it.'
const ExceptionMessage = optional(Text.transform(text => text.trim() || undefined))

export const PerilRatesResult = z.object({
  pricedPerilCharacteristics: z
    .record(z.string(), PerilRate)
    .default({})
    .describe('A rate for each of policyExposurePerils, by perilCharacteristicsLocator.'),
  exceptionMessage: ExceptionMessage.describe(REFUSES),
})

export const UnderwritingResult = z.object({
  decision: z.enum(['accept', 'reject', 'none']).describe('`none` refers the application to an underwriter.'),
  notes: z
    .array(Text)
    .max(100)
    .nullish()
    .transform(notes => notes ?? [])
    .describe('Reasons for people to read, at most 100.'),
})

const ProrationAnswer = z.object({
  id: Text.describe('The id of the item.'),
  proratedAmount: SignedAmount.describe(
    "The part of the item's amount that belongs to the time before the split.",
  ),
  holdbackAmount: optional(Amount).describe('The part of the refund that a cancellation holds back.'),
})
export type ProrationAnswer = z.output<typeof ProrationAnswer>

export const ProrationResult = z.object({
  items: z.array(ProrationAnswer).describe('Exactly one answer for each item.'),
})

export const InstallmentsResult = z.object({
  installments: z
    .array(
      z.object({
        startTimestamp: Timestamp.describe('Start of the period that the installment pays for.'),
        endTimestamp: Timestamp.describe('End of the period that the installment pays for.'),
        issueTimestamp: Timestamp.describe(
          'When the invoice of the installment is issued. If this is now or earlier: immediately.',
        ),
        dueTimestamp: Timestamp.describe('When payment is due.'),
        writeOff: optional(z.boolean()).describe(
          'Whether the invoice is written off as soon as it is issued.',
        ),
        invoiceItems: z
          .array(
            z.object({
              chargeId: z.string().max(LONGEST_TEXT).describe('The id of a charge.'),
              amount: SignedAmount.describe('The part of the charge, in whole minor units.'),
            }),
          )
          .describe(
            'The charges that the installment bills. Over all installments, the parts of a charge must total its amount.',
          ),
        installmentFees: optional(
          z
            .array(
              z.object({
                feeName: z.string().min(1).max(128).describe('A fee of fees.json.'),
                description: optional(Text).describe('What the fee is for, if its name is not sufficient.'),
                amount: Amount.describe('The amount of the fee.'),
              }),
            )
            .max(20, 'must have at most 20 fees'),
        ).describe('Fees that are billed only with this installment, at most 20.'),
      }),
    )
    .min(1, 'must have at least one installment')
    .max(LARGEST_PLAN_PERIODS, `must have at most ${LARGEST_PLAN_PERIODS} installments`)
    .describe('The plan, in chronological order.'),
})
export type InstallmentsAnswer = z.output<typeof InstallmentsResult>

export const PreGraceResult = z.object({
  gracePeriodEndTimestamp: OptionalTimestamp.describe(
    'When the grace period ends. Default: according to the days in policy.json.',
  ),
  cancelEffectiveTimestamp: OptionalTimestamp.describe(
    'When cover of the policy then ends. Default: the end of the grace period.',
  ),
})

export const PostPaymentReversalResult = z.object({
  gracePeriodEndTimestamp: OptionalTimestamp.describe(
    'The end of the grace period that begins or is already open.',
  ),
})

const DocumentName = z.string().min(1).max(200).transform(removeUnstorable)

/** The most consolidated documents of a transaction, and the most source documents of each. */
const MOST_CONSOLIDATIONS = 20
const MOST_SOURCES = 200

export const PostIssuanceResult = z.object({
  documentConsolidations: optional(
    z
      .array(
        z.object({
          displayName: DocumentName.describe('The name shown to people.'),
          fileName: DocumentName.describe('The file name for downloads.'),
          documentLocators: z
            .array(z.string())
            .max(MOST_SOURCES)
            .describe('Documents of the list, in the order of the PDF. If empty, no PDF is created.'),
          deleteSourceDocuments: optional(z.boolean()).describe(
            'Whether to delete the source documents once the PDF is created.',
          ),
        }),
      )
      .max(MOST_CONSOLIDATIONS),
  ).describe('PDFs that combine documents, at most 20.'),
})

/** A part of the update request, validated by that request's contract. */
export const AutofillResult = z.looseObject(
  { exceptionMessage: ExceptionMessage.describe(REFUSES) },
  'must be an object: a part of the update request',
)
