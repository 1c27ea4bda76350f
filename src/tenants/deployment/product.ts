import { notFound, Refusal } from '../../kernel/errors.ts'
import type { RequestContext } from '../../platform/context.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { loadConfiguration, versionQuery } from '../../product/cache.ts'
import {
  type Configuration,
  type FieldDefinition,
  type LookupTable,
  type ProductDefinition,
  tableOf,
} from '../../product/configuration.ts'
import { governorOf, type Scope } from '../../product/constraint-graph.ts'
import { lookupColumn } from '../../product/fields/value-checks.ts'
import { fieldsOfForm } from './policyholder-form.ts'
import type { FieldResponse, ProductDetailResponse } from './product-contract.ts'

/** People do not choose from a list that is longer than this. */
const MOST_CHOICES = 2_000

/**
 * Returns the product with its fields, by the given version or the latest one. Throws 404 if there is none. Takes one round trip.
 */
export async function readProduct(
  context: RequestContext,
  name: string,
  version: number | undefined,
): Promise<ProductDetailResponse> {
  const { env, tenant, calls } = context
  const [[row]] = await homeDatabase(context).batch([versionQuery(homeDatabase(context), version)])
  if (!row && version !== undefined) throw notFound('configuration version', String(version))
  if (!row) throw new Refusal('noConfiguration', 'The tenant has no configuration. Deploy one first.')
  const { configuration } = await loadConfiguration(env, tenant, row.hash, calls)
  const product = Object.hasOwn(configuration.products, name) ? configuration.products[name] : undefined
  if (!product) throw notFound('product', name)
  return productDetail(product, configuration, row.version)
}

function productDetail(
  product: ProductDefinition,
  configuration: Configuration,
  configVersion: number,
): ProductDetailResponse {
  const place: Place = { configuration, tableOf: name => tableOf(configuration, product, name) }
  const shown = (scope: FieldScope): FieldResponse[] =>
    scope.fields.map(field => fieldResponse(field, scope, place))
  const policyholder: FieldScope = { kind: 'policyholder', fields: configuration.policyholderFields }
  const policy: FieldScope = { kind: 'policy', fields: product.fields, outer: policyholder }
  const { cancellationTypes = [], endorsements, exposures, fees, paymentSchedules } = product
  return {
    locator: product.locator,
    name: product.name,
    displayName: product.displayName,
    configVersion,
    fields: shown(policy),
    exposures: exposures.map(({ name, displayName, fields, perils }) => {
      const exposure: FieldScope = { kind: 'exposure', fields, outer: policy }
      return {
        name,
        displayName,
        fields: shown(exposure),
        perils: perils.map(peril => ({
          name: peril.name,
          displayName: peril.displayName,
          fields: shown({ kind: 'peril', fields: peril.fields, outer: exposure }),
          defaults: { ...peril.defaults },
        })),
      }
    }),
    ...(product.jurisdictionField !== undefined && { jurisdictionField: product.jurisdictionField }),
    paymentSchedules: paymentSchedules.map(({ name, displayName, type }) => ({ name, displayName, type })),
    endorsements: endorsements.map(({ name, displayName, reprice }) => ({ name, displayName, reprice })),
    cancellations: cancellationTypes.map(({ name, title, cancellationCategories }) => ({
      name,
      displayName: title,
      categories: cancellationCategories,
      // A type without terms for reinstatement sets no deadline for it.
      isReinstatable: true,
    })),
    fees: fees.map(({ name, displayName, proration }) => ({ name, displayName, proration })),
    policyholderFields: fieldsOfForm(shown(policyholder), configuration.policyholderForm),
    // No constraint limits the fields of a payment.
    paymentFields: shown({ kind: 'group', fields: configuration.paymentFields }),
  }
}

type FieldScope = Scope & { readonly outer?: FieldScope | undefined }

type Place = {
  readonly configuration: Configuration
  readonly tableOf: (name: string) => LookupTable | undefined
}

function constraintResponse(
  { table, column, where }: NonNullable<FieldDefinition['constraint']>,
  scope: FieldScope,
  { resources }: Configuration,
): NonNullable<FieldResponse['constraint']> {
  return {
    table,
    column,
    timeBasis: resources?.constraintTables[table]?.selectionTimeBasis ?? 'transactionEffectiveTime',
    where: where.map(({ column: at, key, values }) => {
      const governor = key === undefined ? undefined : governorOf(scope, key)
      return {
        column: at,
        ...(governor && { field: governor.field.name, of: governor.scope.kind }),
        values: [...values],
      }
    }),
  }
}

function fieldResponse(field: FieldDefinition, scope: FieldScope, place: Place): FieldResponse {
  const { name, title, type, optional, repeatable, conditions, constraint, fields } = field
  const { regex, maximumCount, minimum, maximum, decimalPlaces, precision, earliest, latest } = field
  const { earliestOffset, latestOffset } = field
  const choices = choicesOf(field, place.tableOf)
  return {
    name,
    title,
    type,
    conditions,
    isOptional: optional,
    isRepeatable: repeatable,
    isConstrained: constraint !== undefined,
    ...(constraint && { constraint: constraintResponse(constraint, scope, place.configuration) }),
    ...(regex !== undefined && { regex }),
    ...(maximumCount !== undefined && { maximumCount }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(decimalPlaces !== undefined && { decimalPlaces }),
    ...(precision !== undefined && { precision }),
    ...(earliest !== undefined && { earliest }),
    ...(latest !== undefined && { latest }),
    ...(earliestOffset && { earliestOffset: { unit: earliestOffset.unit, amount: earliestOffset.amount } }),
    ...(latestOffset && { latestOffset: { unit: latestOffset.unit, amount: latestOffset.amount } }),
    ...(choices && { choices }),
    ...(fields && {
      fields: fields.map(one => fieldResponse(one, { kind: 'group', fields, outer: scope }, place)),
    }),
  }
}

function choicesOf(
  { name, type, values, table: tableName = '' }: FieldDefinition,
  tableOf: (name: string) => LookupTable | undefined,
): FieldResponse['choices'] {
  if (type === 'select') return values?.map(value => ({ value, displayName: value }))
  const table = type === 'lookup' ? tableOf(tableName) : undefined
  if (!table || table.rows.length > MOST_CHOICES) return undefined
  const key = lookupColumn(table, name)
  // The first row of a key describes it.
  const rows = new Map(table.rows.toReversed().map(row => [row[key] ?? '', row]))
  return [...rows].reverse().map(([value, row]) => {
    const others = row.filter((cell, column) => column !== key && cell !== '')
    return { value, displayName: others.length === 0 ? value : others.join(' ') }
  })
}
