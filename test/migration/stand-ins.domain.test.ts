// Fields that the contract requires of a migration and that are optional here must document their default.
import { beforeAll, describe, expect, it } from 'vitest'
import { loadDocument } from '../../scripts/routes.ts'

/** By schema, the fields that the contract requires. */
const REQUIRED: Readonly<Record<string, string>> = {
  AccountMigrationRequest: 'accountData defaultCreatedBy disbursements invoices payments policies',
  MigrationRequest: 'defaultCreatedBy disbursements invoices payments policies',
  PatchAccountMigrationRequest: 'accountLocator defaultCreatedBy disbursements invoices payments policies',
  AccountMigrationData:
    'autoRenewalPlanName delinquencyPlanName excessCreditPlanName shortfallTolerancePlanName accountType billingLevel id preferences data createdAt createdBy',
  PolicyMigrationRequest:
    'productName autoRenewalPlanName delinquencyPlanName durationBasis billingLevel id preferences createdAt createdBy staticData terms',
  TermMigrationRequest: 'startTime endTime transactions',
  TransactionMigrationRequest: 'issuedTime transactionType createdAt createdBy installments',
  SegmentMigrationRequest: 'startTime rootElement segmentType',
  ElementMigrationRequest: 'elementType id data charges coverageTerms elements',
  ChargeMigrationRequest: 'chargeType rate referenceRate tag installmentItems',
  InstallmentMigrationRequest: 'startTime dueTime generateTime id invoiceId',
  InstallmentItemMigrationRequest: 'amount id installmentNumber',
  InvoiceMigrationRequest: 'startTime endTime dueTime generateTime id',
  PaymentMigrationRequest: 'id paymentTime paymentType data createdBy paymentItems',
  PaymentItemMigrationRequest: 'amount invoiceId',
  DisbursementMigrationRequest: 'disbursementTime disbursementType id data sources',
  CreditItemMigrationRequest: 'amount',
}

/** Fields without a possible default: an item without one of them is rejected. */
const NEEDED: readonly string[] = [
  'PolicyMigrationRequest.terms',
  'TermMigrationRequest.transactions',
  'PaymentMigrationRequest.paymentItems',
  'DisbursementMigrationRequest.sources',
]

type Schema = { properties: Record<string, { description?: string }>; required?: string[] }

let schemas: Readonly<Record<string, Schema>>
beforeAll(async () => {
  schemas = JSON.parse(await loadDocument()).components.schemas
}, 180_000)

const fields = Object.entries(REQUIRED).flatMap(([schema, names]) =>
  names.split(' ').map(name => ({ schema, name, path: `${schema}.${name}` })),
)
const isRequired = ({ schema, name }: { schema: string; name: string }): boolean =>
  schemas[schema]!.required?.includes(name) ?? false

describe('a field of a migration that the contract requires', () => {
  it('exists in the schema', () => {
    const missing = fields.filter(({ schema, name }) => !schemas[schema]?.properties[name])
    expect(missing).toEqual([])
  })

  it('documents its default if it is optional', () => {
    const silent = fields
      .filter(one => !isRequired(one))
      .filter(({ schema, name }) => !/[Ll]eft out/.test(schemas[schema]!.properties[name]!.description ?? ''))
    expect(silent.map(({ path }) => path)).toEqual([])
  })

  it('is required if there is no default', () => {
    const required = fields.filter(isRequired).map(({ path }) => path)
    expect(required).toEqual(expect.arrayContaining([...NEEDED]))
  })
})
