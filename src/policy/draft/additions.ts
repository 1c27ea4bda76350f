// Exposures and perils that a request adds, to a draft or to an issued policy. The runs are the caller's to make:
// over which spans they hold is what the two differ in. Nothing here refuses; problems are reported.
import type { DisplayId, QuoteLocator } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { ExposureDefinition, ProductDefinition } from '../../product/configuration.ts'
import { type FieldData, NO_FIELD_DATA } from '../../product/fields/groups.ts'
import { fieldErrors } from '../../product/fields/values.ts'
import type { Exposure, Peril } from '../records/aggregate.ts'
import type { ExposureCreate, PerilAmounts, PerilCreate } from '../records/changes.ts'
import { type ChangeContext, changedData, report } from './changes.ts'
import { createPerilAmounts } from './peril-amounts.ts'

export type AddedPeril = {
  readonly peril: Peril
  readonly data: FieldData
  readonly amounts: PerilAmounts
}

export type AddedExposure = {
  readonly exposure: Exposure
  readonly data: FieldData
  readonly perils: readonly AddedPeril[]
}

export type AdditionContext = ChangeContext & {
  readonly product: ProductDefinition
  readonly now: Instant
  readonly quoteLocator: QuoteLocator
}

/** The exposure and its perils; undefined when the product has none of that name. `index`: its place in the request. */
export function addedExposure(
  creation: ExposureCreate,
  index: number,
  context: AdditionContext,
): AddedExposure | undefined {
  const { product, now, supply, quoteLocator, reported } = context
  const definition = product.exposures.find(one => one.name === creation.exposureName)
  if (!definition) {
    const known = product.exposures.map(one => `'${one.name}'`).join(', ')
    reported.strays.push({
      exposureName: creation.exposureName,
      index,
      message: `Product '${product.name}' has no exposure '${creation.exposureName}'; it has ${known || 'none'}.`,
    })
    return undefined
  }
  const exposure: Exposure = {
    locator: supply.uuid(),
    displayId: supply.digits() as DisplayId,
    quoteLocator,
    name: definition.name,
    createdAt: now,
    updatedAt: now,
  }
  reported.added.set(exposure.locator, index)
  return {
    exposure,
    data: createdData(exposure.locator, definition.fields, creation, context),
    perils: (creation.perils ?? []).flatMap(
      peril => addedPeril(exposure, definition, peril, index, context) ?? [],
    ),
  }
}

/** The peril; undefined when the exposure has none of that name. */
export function addedPeril(
  exposure: Exposure,
  definition: ExposureDefinition,
  creation: PerilCreate,
  index: number,
  context: AdditionContext,
): AddedPeril | undefined {
  const { now, supply, reported } = context
  const kind = definition.perils.find(one => one.name === creation.name)
  if (!kind) {
    const known = definition.perils.map(one => `'${one.name}'`).join(', ')
    reported.strays.push({
      exposureName: exposure.name,
      exposureLocator: exposure.locator,
      index,
      perilName: creation.name,
      message: `Exposure '${exposure.name}' has no peril '${creation.name}'; it has ${known || 'none'}.`,
    })
    return undefined
  }
  const locator = supply.uuid()
  const { amounts, problems } = createPerilAmounts(kind.defaults, creation)
  report(reported, locator, fieldErrors(problems))
  return {
    peril: {
      locator,
      displayId: supply.digits() as DisplayId,
      exposureLocator: exposure.locator,
      name: kind.name,
      renewalGroup: locator,
      createdAt: now,
      updatedAt: now,
    },
    data: createdData(locator, kind.fields, creation, context),
    amounts,
  }
}

const createdData = (
  owner: string,
  fields: ProductDefinition['fields'],
  { fieldValues, fieldGroups }: Pick<PerilCreate, 'fieldValues' | 'fieldGroups'>,
  context: ChangeContext,
): FieldData =>
  changedData(owner, fields, NO_FIELD_DATA, { fieldValues, addFieldGroups: fieldGroups }, context) ??
  NO_FIELD_DATA
