// The input of each plugin function as a tree (extension/plugins/contract.ts has the types). Numbers and timestamps are text.
// Types of members are those of the contract; the compiler checks the names against the input types.
import type {
  AutofillInput,
  InstallmentsInput,
  PerilRatesInput,
  PluginCharge,
  PolicyInfo,
  PostIssuanceInput,
  PostPaymentReversalInput,
  PreGraceInput,
  ProrationInput,
  ProrationItem,
  UnderwritingInput,
} from '../../extension/plugins/contract.ts'
import { FutureInvoiceResponse } from '../../policy/contract/billing.ts'
import { PolicyDocumentResponse } from '../../policy/contract/documents.ts'
import { PolicyResponse } from '../../policy/contract/response.ts'
import { PolicyholderResponse } from '../../policyholders/contract.ts'
import type { PluginFunction } from '../../product/configuration.ts'
import type { DataNode } from '../../product/templates/data-tree.ts'
import { contractNode } from './contract-nodes.ts'

type MembersOf<Input> = { readonly [Name in keyof Required<Input>]: DataNode }

const text = (description: string, values?: readonly string[]): DataNode => ({
  type: 'text',
  description,
  ...(values && { values }),
})

const RATED = [
  'new_business',
  'endorsement',
  'renewal',
  'reinstatement',
] as const satisfies PerilRatesInput['operation'][]
const BILLED = [
  'newBusiness',
  'endorsement',
  'renewal',
  'cancellation',
  'reinstatement',
] as const satisfies InstallmentsInput['operation'][]

const time = (description: string): DataNode => ({ type: 'timestamp', description })
const amount = (description: string): DataNode => ({ type: 'amount', description })
const anything = (description: string): DataNode => ({ type: 'anything', description })
const maybe = (node: DataNode): DataNode => ({ ...node, isOptional: true })

/** A union of inputs has the members of all of them. */
const record = <Input>(description: string, members: MembersOf<Input>): DataNode => ({
  type: 'record',
  description,
  members,
})

const list = (description: string, items: DataNode): DataNode => ({ type: 'list', description, items })

const fieldValues = (description: string): DataNode => ({
  type: 'map',
  description,
  items: list('The values of a field.', text('One value.')),
})

const zone = (): DataNode => text('The time zone of the tenant, as config.json says it.')

const policy = (): DataNode => {
  const shown = contractNode(PolicyResponse, 'policy', 'camelCase', ['billingTrigger'])
  return {
    ...shown,
    description:
      'The policy, as GET /policy/{locator} shows it, with the transaction that is under way, its currency and its selected quote.',
    members: {
      ...shown.members,
      currency: text('The currency of the policy, ISO 4217.'),
      quoteLocator: maybe(text('Names its selected quote.')),
    },
  }
}

const policyInfo = (): DataNode =>
  record<PolicyInfo>('The policy.', {
    locator: text('Names the policy.'),
    policyholderLocator: text('Names the policyholder.'),
    productName: text('The product.'),
    originalContractStartTimestamp: time('When the first term begins.'),
    currency: text('The currency of the policy, ISO 4217.'),
    quoteLocator: maybe(text('Names its selected quote.')),
  })

const ratesInput = (): DataNode =>
  record<PerilRatesInput>('What getPerilRates is given.', {
    operation: text('What is rated.', RATED),
    policy: policy(),
    policyExposurePerils: list(
      'The characteristics to rate.',
      record<PerilRatesInput['policyExposurePerils'][number]>('A peril in one segment.', {
        policyCharacteristicsLocator: text('Names the characteristics of the policy.'),
        exposureCharacteristicsLocator: text('Names the characteristics of the exposure.'),
        perilCharacteristicsLocator: text('Names the characteristics of the peril: the key of its rate.'),
      }),
    ),
    tenantTimeZone: zone(),
    endorsementLocator: maybe(text('Names the endorsement, of an endorsement.')),
    renewalLocator: maybe(text('Names the renewal, of a renewal.')),
    reinstatementLocator: maybe(text('Names the reinstatement, of a reinstatement.')),
    quoteLocator: maybe(text('Names the quote, of new business.')),
    newPaymentScheduleName: maybe(text('The new payment schedule, if it changes.')),
  })

const underwritingInput = (): DataNode =>
  record<UnderwritingInput>('What getUnderwritingResult is given.', {
    operation: text('What is underwritten.', RATED),
    policy: policy(),
    policyholder: contractNode(PolicyholderResponse, 'policyholder', 'camelCase'),
  })

const prorationInput = (): DataNode =>
  record<ProrationInput>('What getProrationResult is given.', {
    operation: text('What splits the amounts, such as endorsement or cancellation.'),
    segmentSplitTimestamp: time('Where they are split.'),
    paymentScheduleName: text('The payment schedule after the transaction.'),
    oldPaymentScheduleName: text('The payment schedule before it.'),
    paymentPlan: text('The type of the payment schedule before it, such as monthly or total.'),
    tenantTimeZone: zone(),
    policy: policyInfo(),
    cancellationType: maybe(text('The type of a cancellation; lapse of a lapse.')),
    items: list(
      'The amounts to split.',
      record<ProrationItem>('One amount.', {
        id: text('Names the item in this call.'),
        type: text('premium, technicalPremium, tax, fee or commission.'),
        amount: amount('The amount of the whole segment.'),
        followingAmount: amount('The same of the time after the segment, if the transaction takes that too.'),
        segmentStartTimestamp: time('When the segment begins.'),
        segmentEndTimestamp: time('When the segment ends.'),
        perilCharacteristicsLocator: maybe(text('Names the characteristics of the peril.')),
        perilName: maybe(text('The peril.')),
        fieldValues: fieldValues('The values of the peril in the segment; none of a fee.'),
        taxName: maybe(text('The tax.')),
        commissionRecipient: maybe(text('Who gets the commission.')),
        feeLocator: maybe(text('Names the fee.')),
        feeName: maybe(text('The fee.')),
      }),
    ),
  })

const charge = (): DataNode =>
  record<PluginCharge>('One charge.', {
    chargeId: text('Names the charge in this call.'),
    type: text('premium, tax, fee, commission or holdback.'),
    category: text('new, or previously_invoiced: the rest of one that was invoiced in part.'),
    isNew: { type: 'flag', description: 'Whether none of it was invoiced yet.' },
    amount: amount('What is to be billed.'),
    originalAmount: amount('What the charge was.'),
    previouslyInvoicedAmount: amount('What of it is invoiced.'),
    amountCurrency: text('The currency, ISO 4217.'),
    coverageStartTimestamp: time('The begin of what it pays for.'),
    coverageEndTimestamp: time('The end of what it pays for.'),
    policyModificationLocator: text('Names the transaction.'),
    perilLocator: maybe(text('Names the peril.')),
    perilCharacteristicsLocator: maybe(
      text('Names the characteristics of the peril; of what is taken back, those that are replaced.'),
    ),
    perilName: maybe(text('The peril.')),
    feeLocator: maybe(text('Names the fee.')),
    feeName: maybe(text('The fee.')),
    taxLocator: maybe(text('Names the tax.')),
    taxName: maybe(text('The tax.')),
    commissionLocator: maybe(text('Names the commission.')),
    commissionRecipient: maybe(text('Who gets the commission.')),
  } as MembersOf<PluginCharge>)

const installmentsInput = (): DataNode =>
  record<InstallmentsInput>('What createInstallments is given.', {
    operation: text('The transaction.', BILLED),
    transactionType: text('As operation.', BILLED),
    policy: policy(),
    charges: list('All that is to be put on installments.', charge()),
    plannedInvoices: list(
      'The installments that the answer replaces.',
      contractNode(FutureInvoiceResponse, 'plannedInvoices[]', 'camelCase'),
    ),
    paymentScheduleName: text('The payment schedule.'),
    oldPaymentScheduleName: text('The payment schedule before the transaction, the same unless it changes.'),
    defaultPaymentTerms: record<InstallmentsInput['defaultPaymentTerms']>('The terms of policy.json.', {
      amount: text('How many days.'),
      unit: text('day.'),
    }),
    coverageStartTimestamp: time('The begin of what is billed.'),
    coverageEndTimestamp: time('The end of what is billed.'),
    productName: text('The product.'),
    tenantTimeZone: zone(),
  })

const preGraceInput = (): DataNode =>
  record<PreGraceInput>('What getPreGraceResult is given.', {
    invoiceLocator: text('Names the invoice that is not paid.'),
    defaultGracePeriodDays: text('The days of policy.json.'),
    policy: policyInfo(),
    tenantTimeZone: zone(),
  })

const reversalInput = (): DataNode =>
  record<PostPaymentReversalInput>('What getPostPaymentReversal is given.', {
    operationType: text('payment_reversal or payment_invalidation.'),
    paymentLocator: text('Names the payment.'),
    invoiceLocator: text('Names the invoice.'),
    invoiceAmount: amount('What the invoice asked for.'),
    invoiceDueTimestamp: time('When it was due.'),
    invoiceIssueTimestamp: time('When it was issued.'),
    gracePeriodDays: text('The days of policy.json.'),
    policy: policyInfo(),
    tenantTimeZone: zone(),
  })

const postIssuanceInput = (): DataNode =>
  record<PostIssuanceInput>('What getPostIssuanceResult is given.', {
    operation: text('The transaction.', BILLED),
    policyLocator: text('Names the policy.'),
    policy: policyInfo(),
    tenantTimeZone: zone(),
    documents: list(
      'The documents of the transaction.',
      contractNode(PolicyDocumentResponse, 'documents[]', 'camelCase', ['url', 'urlExpirationTimestamp']),
    ),
  })

const autofillInput = (): DataNode =>
  record<
    Pick<
      AutofillInput,
      | 'operation'
      | 'operationType'
      | 'productName'
      | 'policyholderLocator'
      | 'policyLocator'
      | 'endorsementLocator'
      | 'renewalLocator'
      | 'tenantTimeZone'
      | 'updates'
    >
  >('What getDataAutofill is given.', {
    operation: text('newBusiness, endorsement or renewal.'),
    operationType: text('create or update.'),
    updates: anything('The request, in the words of an update.'),
    productName: text('The product.'),
    policyholderLocator: text('Names the policyholder.'),
    policyLocator: maybe(text('Names the policy, if there is one already.')),
    endorsementLocator: maybe(text('Names the endorsement, if there is one already.')),
    renewalLocator: maybe(text('Names the renewal, if there is one already.')),
    tenantTimeZone: zone(),
  })

/** The first argument of each function. For a lambda it is the operation; its payload is any value that was sent. */
export const PLUGIN_INPUTS: Readonly<Record<PluginFunction, () => DataNode>> = {
  getPerilRates: ratesInput,
  getUnderwritingResult: underwritingInput,
  getProrationResult: prorationInput,
  createInstallments: installmentsInput,
  getPreGraceResult: preGraceInput,
  getPostPaymentReversal: reversalInput,
  getPostIssuanceResult: postIssuanceInput,
  getDataAutofill: autofillInput,
  executeLambda: () => text('The operation that is called.'),
}
