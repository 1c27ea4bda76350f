// Products as agents read them: the name of each field and the values it accepts.

import { wrongState } from '../kernel/errors.ts'
import type { RequestContext } from '../platform/context.ts'
import { requirePermission } from '../platform/http/permissions.ts'
import { latestVersion, loadConfiguration } from '../product/cache.ts'
import type { Configuration, FieldDefinition, ProductDefinition } from '../product/configuration.ts'

type ShownField = {
  readonly name: string
  readonly title: string
  readonly type: string
  readonly required: boolean
  readonly fields?: readonly ShownField[]
  readonly [property: string]: unknown
}

function shownField(field: FieldDefinition): ShownField {
  const { name, title, type, optional, repeatable, searchable, conditions, values, fields } = field
  return {
    name,
    title,
    type,
    required: !optional,
    ...(repeatable && { repeatable }),
    ...(searchable && { searchable }),
    ...(conditions.length > 0 && { onlyIf: conditions }),
    ...(values && { values }),
    ...(field.regex !== undefined && { pattern: field.regex }),
    ...boundsOf(field),
    ...(field.maximumCount !== undefined && { most: field.maximumCount }),
    ...(field.table !== undefined && { table: field.table }),
    ...(fields && { fields: fields.map(shownField) }),
  }
}

function boundsOf({ minimum, maximum, earliest, latest }: FieldDefinition) {
  const least = minimum ?? earliest
  const greatest = maximum ?? latest
  return {
    ...(least !== undefined && { minimum: least }),
    ...(greatest !== undefined && { maximum: greatest }),
  }
}

type Part = { name: string; displayName: string; fields: FieldDefinition[] }

const shownPart = ({ name, displayName, fields }: Part) => ({
  name,
  title: displayName,
  fields: fields.map(shownField),
})

const shownProduct = (product: ProductDefinition) => ({
  ...shownPart(product),
  exposures: product.exposures.map(exposure => ({
    ...shownPart(exposure),
    perils: exposure.perils.map(shownPart),
  })),
  paymentSchedules: product.paymentSchedules.map(({ name, displayName }) => ({ name, title: displayName })),
  endorsements: product.endorsements.map(({ name, displayName, reprice }) => ({
    name,
    title: displayName,
    askForReprice: reprice === 'input',
  })),
  cancellations: (product.cancellationTypes ?? []).map(({ name, title, cancellationCategories }) => ({
    name,
    title,
    categories: cancellationCategories,
  })),
})

const describeConfiguration = (
  { timeZone, currency, policyholderFields, products }: Configuration,
  configVersion: number,
) => ({
  timeZone,
  currency,
  configVersion,
  policyholderFields: policyholderFields.map(shownField),
  products: Object.values(products).map(shownProduct),
})

/** Returns the products of the latest configuration: one round trip. Rejects with 403 a caller who may not list products. */
export async function productFields(
  context: RequestContext,
): Promise<ReturnType<typeof describeConfiguration>> {
  const { env, tenant, caller, calls } = context
  requirePermission(caller, ['products.read', 'products.list'])
  const latest = await latestVersion(context, tenant)
  if (!latest) throw wrongState('The tenant has no configuration yet, because none was deployed.')
  const { configuration } = await loadConfiguration(env, tenant, latest.hash, calls)
  return describeConfiguration(configuration, latest.version)
}
