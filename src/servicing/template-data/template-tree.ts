// The `data` of templates (rating/template-data.ts) and of documents (servicing/documents/data.ts) as one tree: the properties,
// their types, and who sees them. Evaluating this module evaluates contracts, so load it only when a deploy or a document needs
// it.
import { FinancialTransactionResponse, PolicyInvoiceResponse } from '../../policy/contract/billing.ts'
import {
  ExposureCharacteristicsResponse,
  ExposureResponse,
  PerilCharacteristicsResponse,
  PerilResponse,
  PolicyCharacteristicsResponse,
  PolicyResponse,
} from '../../policy/contract/response.ts'
import type { FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import type { DataNode, TemplateReader } from '../../product/templates/data-tree.ts'
import { CancellationResponse } from '../../transactions/cancellations/contract.ts'
import { EndorsementResponse } from '../../transactions/endorsements/contract.ts'
import {
  GracePeriodResponse,
  LapseReinstatementResponse,
  LapseResponse,
} from '../../transactions/lapses/contract.ts'
import { ReinstatementResponse } from '../../transactions/reinstatements/contract.ts'
import { RenewalResponse } from '../../transactions/renewals/contract.ts'
import { contractMembers, contractNode } from './contract-nodes.ts'
import { fieldGroups, fieldRecord } from './field-nodes.ts'
import { policyUpdates } from './policy-updates.ts'

type Members = Readonly<Record<string, DataNode>>

const record = (description: string, members: Members, readers?: readonly TemplateReader[]): DataNode => ({
  type: 'record',
  description,
  members,
  ...(readers && { readers }),
})

const list = (description: string, items: DataNode): DataNode => ({ type: 'list', description, items })

const text = (description: string, values?: readonly string[]): DataNode => ({
  type: 'text',
  description,
  ...(values && { values }),
})

const time = (description: string): DataNode => ({ type: 'timestamp', description })

const amount = (description: string, more: Partial<DataNode> = {}): DataNode => ({
  type: 'amount',
  description,
  ...more,
})

/** Scripts that run once for each peril, and scripts that run once for each policy. */
const OF_PERILS: readonly TemplateReader[] = ['premium', 'tax']
const OF_POLICIES: readonly TemplateReader[] = ['fees', 'underwriting']

/** Returns the fields of all parts of one kind. A name occurs once for each definition. */
const fieldsOf = (parts: readonly { readonly fields: readonly FieldDefinition[] }[]): FieldDefinition[] =>
  parts.flatMap(part => part.fields)

/** The fields of one kind of part of a policy. `parts` is the number of exposures or perils with these fields. */
type PartFields = { readonly fields: readonly FieldDefinition[] | undefined; readonly parts: number }

type Fields = Readonly<Record<'policy' | 'exposure' | 'peril', PartFields>>

function fieldsOfProduct(product: ProductDefinition | undefined): Fields {
  if (!product) {
    const any = { fields: undefined, parts: 1 }
    return { policy: any, exposure: any, peril: any }
  }
  const perils = product.exposures.flatMap(exposure => exposure.perils)
  return {
    policy: { fields: product.fields, parts: 1 },
    exposure: { fields: fieldsOf(product.exposures), parts: product.exposures.length },
    peril: { fields: fieldsOf(perils), parts: perils.length },
  }
}

/** Describes the members with field values and field groups. `of` is a noun, such as `policy`, for their descriptions. */
export const fieldData = (of: string, { fields, parts }: PartFields): Members => ({
  field_values: fieldRecord(`The values of the fields of the ${of}.`, fields, parts),
  field_groups_by_locator: fieldGroups(
    `The field groups of the ${of}, by the locators that its group fields contain.`,
    fields,
  ),
})

const segment = (of: string, own: Members, fields: PartFields): Members => ({
  locator: text('Locator of the characteristics.'),
  ...own,
  start_timestamp: time('When the segment begins.'),
  end_timestamp: time('When the segment ends.'),
  ...fieldData(of, fields),
})

/** The parts of the peril that is rated: `policySegmentData`, `exposureRunData` and `perilRunData`. */
function ratedParts(fields: Fields): Members {
  const taxed: Partial<DataNode> = { readers: ['tax'] }
  return {
    policy_characteristics: record(
      "The policy's data in the segment that is rated.",
      segment(
        'policy',
        {
          policy_locator: text('Locator of the policy.'),
          policy_start_timestamp: time('When the original contract begins.'),
          policy_end_timestamp: time('When the original contract ends.'),
        },
        fields.policy,
      ),
      OF_PERILS,
    ),
    exposure_characteristics: record(
      "The exposure's data in the segment that is rated. A field that only other exposures have is empty.",
      segment(
        'exposure',
        {
          exposure_locator: text('Locator of the exposure.'),
          name: text('The exposure, as named in exposure.json.'),
        },
        fields.exposure,
      ),
      OF_PERILS,
    ),
    peril_characteristics: record(
      "The peril's data in the segment that is rated. A field that only other perils have is empty.",
      segment(
        'peril',
        {
          peril_locator: text('Locator of the peril.'),
          name: text('The peril, as named by its file.'),
          coverage_start_timestamp: time('When its cover begins.'),
          coverage_end_timestamp: time('When its cover ends.'),
          deductible: amount('The deductible as digits; 0 if there is none.'),
          lump_sum_payment: amount('The lump sum payment as digits; 0 if there is none.'),
          indemnity_in_aggregate: amount(
            "The aggregate limit as digits, or 'unlimited'; 0 if there is none.",
          ),
          indemnity_per_event: amount("The limit per event as digits, or 'unlimited'; 0 if there is none."),
          indemnity_per_item: amount("The limit per item as digits, or 'unlimited'; 0 if there is none."),
          premium: amount('The premium of the segment.', taxed),
          month_premium: amount('The monthly rate as digits, with up to 7 decimal places.', taxed),
          technical_premium: amount('The technical premium of the segment.', { ...taxed, isOptional: true }),
        },
        fields.peril,
      ),
      OF_PERILS,
    ),
  }
}

const OWN_FIELDS = ['fieldValues', 'fieldGroupsByLocator']

/** `data.policy`: PolicyResponse, with the fields of the product instead of lists of texts. */
function policyNode(fields: Fields, product: ProductDefinition | undefined): DataNode {
  const names = product && {
    exposures: product.exposures.map(one => one.name),
    perils: product.exposures.flatMap(one => one.perils.map(peril => peril.name)),
  }
  const characteristics = (
    of: 'policy' | 'exposure' | 'peril',
    schema: Parameters<typeof contractMembers>[0],
  ) =>
    list(
      `Every segment of the ${of}, in the order of creation; \`last\` is the newest.`,
      record(`One segment of the ${of}.`, {
        ...contractMembers(schema, 'characteristics', OWN_FIELDS),
        ...fieldData(of, fields[of]),
      }),
    )
  const perils = record('One peril.', {
    ...contractMembers(PerilResponse, 'perils', ['characteristics']),
    name: text('The peril, as named by its file.', names?.perils),
    characteristics: characteristics('peril', PerilCharacteristicsResponse),
  })
  const exposures = record('One exposure.', {
    ...contractMembers(ExposureResponse, 'exposures', ['characteristics', 'perils']),
    name: text('The exposure, as named in exposure.json.', names?.exposures),
    characteristics: characteristics('exposure', ExposureCharacteristicsResponse),
    perils: list('The perils of the exposure.', perils),
  })
  return record('The policy, as in GET /policy/{locator}, with the pending transaction.', {
    ...contractMembers(PolicyResponse, 'policy', ['characteristics', 'exposures', 'billingTrigger']),
    characteristics: characteristics('policy', PolicyCharacteristicsResponse),
    exposures: list('The exposures of the policy.', exposures),
  })
}

const policyholderNode = (fields: readonly FieldDefinition[] | undefined): DataNode =>
  record('The policyholder.', {
    id: text('Locator of the policyholder, the same as `locator`.'),
    locator: text('Locator of the policyholder.'),
    entity: record('The person or company.', {
      values: fieldRecord('The values of policyholder.dictionary.json.', fields),
    }),
  })

const members = (schema: Parameters<typeof contractMembers>[0], name: string): Members =>
  contractMembers(schema, name)

/** An endorsement or renewal: its response, and what servicing/documents/data.ts adds. */
const transactionNode = (
  kind: 'endorsement' | 'renewal',
  schema: Parameters<typeof contractMembers>[0],
  reader: TemplateReader,
): DataNode => ({
  ...record(
    `The ${kind} of the document. For fees and underwriting, the pending one, otherwise empty.`,
    {
      ...members(schema, kind),
      display_id: text(`Names the ${kind}.`),
      name: text(`The ${kind}, as named in endorsements.json.`),
      start_timestamp: time('When its changes take effect.'),
      end_timestamp: { ...time('When its changes end, if not at the end of the policy.'), isOptional: true },
      policy_updates: policyUpdates(),
    },
    [reader, ...OF_POLICIES],
  ),
  optionalFor: OF_POLICIES,
})

/** What documents see of the record that they are about. */
const documentParts = (): Members => ({
  endorsement: transactionNode('endorsement', EndorsementResponse, 'endorsementDocument'),
  renewal: transactionNode('renewal', RenewalResponse, 'renewalDocument'),
  cancellation: {
    ...record(
      'The cancellation of the document. For a lapse, present if the lapse is a cancellation.',
      { ...members(CancellationResponse, 'cancellation'), display_id: text('Names the cancellation.') },
      ['cancellationDocument', 'lapseDocument'],
    ),
    optionalFor: ['lapseDocument'],
  },
  reinstatement: record(
    'The reinstatement of the document, of a cancellation or of a legacy lapse.',
    {
      ...members(LapseReinstatementResponse, 'reinstatement'),
      ...members(ReinstatementResponse, 'reinstatement'),
      effective_timestamp: { ...time('When cover resumes.'), isOptional: true },
    },
    ['reinstatementDocument'],
  ),
  invoice: record('The invoice of the document.', members(PolicyInvoiceResponse, 'invoice'), [
    'invoiceDocument',
  ]),
  invoice_financials: record(
    'The items of the invoice of the document. More than 200 items are summed by type and name.',
    {
      display_id: text('The number of the invoice.'),
      due_timestamp: time('When it is due.'),
      start_timestamp: time('The start of the period that it bills.'),
      end_timestamp: time('The end of the period that it bills.'),
      total_due: amount('The amount due; negative: a refund.'),
      total_due_currency: text('Its currency, ISO 4217.'),
      financial_transactions: list(
        'The items of the invoice.',
        contractNode(FinancialTransactionResponse, 'financialTransactions[]', 'snake_case'),
      ),
    },
    ['invoiceDocument'],
  ),
  grace_period: record(
    'The grace period of the document.',
    {
      ...members(GracePeriodResponse, 'gracePeriod'),
      invoice: record('The unpaid invoice.', members(PolicyInvoiceResponse, 'invoice')),
    },
    ['gracePeriodDocument'],
  ),
  lapse: {
    ...record('The lapse of the document, also if it is a cancellation.', members(LapseResponse, 'lapse'), [
      'lapseDocument',
      'cancellationDocument',
    ]),
    optionalFor: ['cancellationDocument'],
  },
})

const OPERATIONS = ['new_business', 'endorsement', 'renewal', 'reinstatement']

/**
 * The variable `data` of every Liquid source and Velocity document. With a product, fields have their names, types and values;
 * without one, `field_values` are maps. Nodes that only some sources see list them in `readers`.
 */
export function templateTree(
  product?: ProductDefinition,
  policyholderFields?: readonly FieldDefinition[],
): DataNode {
  const fields = fieldsOfProduct(product)
  return record('The data of a template.', {
    ...ratedParts(fields),
    operation: {
      ...text('The kind of transaction that is rated or underwritten.', OPERATIONS),
      readers: [...OF_PERILS, ...OF_POLICIES],
    },
    policy: policyNode(fields, product),
    policyholder: policyholderNode(policyholderFields),
    ...documentParts(),
  })
}
