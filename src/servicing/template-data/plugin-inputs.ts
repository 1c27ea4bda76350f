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
const optionalNode = (node: DataNode): DataNode => ({ ...node, isOptional: true })

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

const zone = (): DataNode => text('The time zone of the tenant, as in config.json.')

const policy = (): DataNode => {
  const shown = contractNode(PolicyResponse, 'policy', 'camelCase', ['billingTrigger'])
  return {
    ...shown,
    description:
      'The policy, as in GET /policy/{locator}, with the pending transaction, its currency and its selected quote.',
    members: {
      ...shown.members,
      currency: text('The currency of the policy, ISO 4217.'),
      quoteLocator: optionalNode(text('Locator of its selected quote.')),
    },
  }
}

const policyInfo = (): DataNode =>
  record<PolicyInfo>('The policy.', {
    locator: text('Locator of the policy.'),
    policyholderLocator: text('Locator of the policyholder.'),
    productName: text('The product.'),
    originalContractStartTimestamp: time('When the first term begins.'),
    currency: text('The currency of the policy, ISO 4217.'),
    quoteLocator: optionalNode(text('Locator of its selected quote.')),
  })

const ratesInput = (): DataNode =>
  record<PerilRatesInput>('The argument of getPerilRates.', {
    operation: text('The kind of transaction that is rated.', RATED),
    policy: policy(),
    policyExposurePerils: list(
      'The characteristics to rate.',
      record<PerilRatesInput['policyExposurePerils'][number]>('A peril in one segment.', {
        policyCharacteristicsLocator: text('Locator of the policy characteristics.'),
        exposureCharacteristicsLocator: text('Locator of the exposure characteristics.'),
        perilCharacteristicsLocator: text('Locator of the peril characteristics: the key of its rate.'),
      }),
    ),
    tenantTimeZone: zone(),
    endorsementLocator: optionalNode(text('For an endorsement: its locator.')),
    renewalLocator: optionalNode(text('For a renewal: its locator.')),
    reinstatementLocator: optionalNode(text('For a reinstatement: its locator.')),
    quoteLocator: optionalNode(text('For new business: the locator of the quote.')),
    newPaymentScheduleName: optionalNode(text('The new payment schedule, if it changes.')),
  })

const underwritingInput = (): DataNode =>
  record<UnderwritingInput>('The argument of getUnderwritingResult.', {
    operation: text('The kind of transaction that is underwritten.', RATED),
    policy: policy(),
    policyholder: contractNode(PolicyholderResponse, 'policyholder', 'camelCase'),
  })

const prorationInput = (): DataNode =>
  record<ProrationInput>('The argument of getProrationResult.', {
    operation: text('The transaction that splits the amounts, such as endorsement or cancellation.'),
    segmentSplitTimestamp: time('The time at which they are split.'),
    paymentScheduleName: text('The payment schedule after the transaction.'),
    oldPaymentScheduleName: text('The payment schedule before it.'),
    paymentPlan: text('The type of the payment schedule before it, such as monthly or total.'),
    tenantTimeZone: zone(),
    policy: policyInfo(),
    cancellationType: optionalNode(text('The type of a cancellation; lapse for a lapse.')),
    items: list(
      'The amounts to split.',
      record<ProrationItem>('One amount.', {
        id: text('Identifies the item in this call.'),
        type: text('premium, technicalPremium, tax, fee or commission.'),
        amount: amount('The amount of the whole segment.'),
        followingAmount: amount(
          'The amount of the time after the segment, if the transaction also covers that.',
        ),
        segmentStartTimestamp: time('When the segment begins.'),
        segmentEndTimestamp: time('When the segment ends.'),
        perilCharacteristicsLocator: optionalNode(text('Locator of the peril characteristics.')),
        perilName: optionalNode(text('The peril.')),
        fieldValues: fieldValues('The values of the peril in the segment. Empty for a fee.'),
        taxName: optionalNode(text('The tax.')),
        commissionRecipient: optionalNode(text('The recipient of the commission.')),
        feeLocator: optionalNode(text('Locator of the fee.')),
        feeName: optionalNode(text('The fee.')),
      }),
    ),
  })

const charge = (): DataNode =>
  record<PluginCharge>('One charge.', {
    chargeId: text('Identifies the charge in this call.'),
    type: text('premium, tax, fee, commission or holdback.'),
    category: text('new, or previously_invoiced: the rest of a charge that was invoiced in part.'),
    isNew: { type: 'flag', description: 'Whether none of it was invoiced yet.' },
    amount: amount('The amount to bill.'),
    originalAmount: amount('The original amount of the charge.'),
    previouslyInvoicedAmount: amount('The amount invoiced already.'),
    amountCurrency: text('The currency, ISO 4217.'),
    coverageStartTimestamp: time('The start of the period that it pays for.'),
    coverageEndTimestamp: time('The end of the period that it pays for.'),
    policyModificationLocator: text('Locator of the transaction.'),
    perilLocator: optionalNode(text('Locator of the peril.')),
    perilCharacteristicsLocator: optionalNode(
      text('Locator of the peril characteristics; for a reversed charge, of those that are replaced.'),
    ),
    perilName: optionalNode(text('The peril.')),
    feeLocator: optionalNode(text('Locator of the fee.')),
    feeName: optionalNode(text('The fee.')),
    taxLocator: optionalNode(text('Locator of the tax.')),
    taxName: optionalNode(text('The tax.')),
    commissionLocator: optionalNode(text('Locator of the commission.')),
    commissionRecipient: optionalNode(text('The recipient of the commission.')),
  } as MembersOf<PluginCharge>)

const installmentsInput = (): DataNode =>
  record<InstallmentsInput>('The argument of createInstallments.', {
    operation: text('The transaction.', BILLED),
    transactionType: text('The same as operation.', BILLED),
    policy: policy(),
    charges: list('All charges to put on installments.', charge()),
    plannedInvoices: list(
      'The installments that the result replaces.',
      contractNode(FutureInvoiceResponse, 'plannedInvoices[]', 'camelCase'),
    ),
    paymentScheduleName: text('The payment schedule.'),
    oldPaymentScheduleName: text('The payment schedule before the transaction, the same unless it changes.'),
    defaultPaymentTerms: record<InstallmentsInput['defaultPaymentTerms']>(
      'The payment terms of policy.json.',
      {
        amount: text('The number of days.'),
        unit: text('day.'),
      },
    ),
    coverageStartTimestamp: time('The start of the period that is billed.'),
    coverageEndTimestamp: time('The end of the period that is billed.'),
    productName: text('The product.'),
    tenantTimeZone: zone(),
  })

const preGraceInput = (): DataNode =>
  record<PreGraceInput>('The argument of getPreGraceResult.', {
    invoiceLocator: text('Locator of the unpaid invoice.'),
    defaultGracePeriodDays: text('The number of days in policy.json.'),
    policy: policyInfo(),
    tenantTimeZone: zone(),
  })

const reversalInput = (): DataNode =>
  record<PostPaymentReversalInput>('The argument of getPostPaymentReversal.', {
    operationType: text('payment_reversal or payment_invalidation.'),
    paymentLocator: text('Locator of the payment.'),
    invoiceLocator: text('Locator of the invoice.'),
    invoiceAmount: amount('The amount of the invoice.'),
    invoiceDueTimestamp: time('When the invoice was due.'),
    invoiceIssueTimestamp: time('When the invoice was issued.'),
    gracePeriodDays: text('The number of days in policy.json.'),
    policy: policyInfo(),
    tenantTimeZone: zone(),
  })

const postIssuanceInput = (): DataNode =>
  record<PostIssuanceInput>('The argument of getPostIssuanceResult.', {
    operation: text('The transaction.', BILLED),
    policyLocator: text('Locator of the policy.'),
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
  >('The argument of getDataAutofill.', {
    operation: text('newBusiness, endorsement or renewal.'),
    operationType: text('create or update.'),
    updates: anything('The request, in the form of an update.'),
    productName: text('The product.'),
    policyholderLocator: text('Locator of the policyholder.'),
    policyLocator: optionalNode(text('Locator of the policy, if it exists already.')),
    endorsementLocator: optionalNode(text('Locator of the endorsement, if it exists already.')),
    renewalLocator: optionalNode(text('Locator of the renewal, if it exists already.')),
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
