// Exposures and perils that a request adds to a draft or to an issued policy. The caller creates the runs, because their spans
// differ. Problems are reported, not thrown.
import type { DisplayId, QuoteLocator } from '../../kernel/locators.ts'
import { decimal, LARGEST_MINOR } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import type { ExposureDefinition, PerilDefaults, ProductDefinition } from '../../product/configuration.ts'
import { type FieldData, NO_FIELD_DATA } from '../../product/fields/groups.ts'
import type { FieldError, FieldErrorCode } from '../../product/fields/values.ts'
import { fieldError, fieldErrors, isPlainNumber, plainDecimal } from '../../product/fields/values.ts'
import type { Exposure, Peril } from '../records/aggregate.ts'
import type {
  ExposureCreate,
  PerilAmounts,
  PerilAmountsCreate,
  PerilAmountsUpdate,
  PerilCreate,
} from '../records/transactions.ts'
import { addFieldErrors, applyFieldChanges, type ChangeContext, noteName } from './changes.ts'

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

/** Returns the added exposure; undefined if the product has no such exposure. `index` is its place in the request. */
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
    locator: noteName(reported, supply.uuid(), creation),
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

/**
 * Returns the added peril; undefined if the exposure has no such peril. An exposure may have several perils of one name, from its
 * creation and from endorsements. The contract distinguishes them by locator, and each has its own limits, values and price.
 */
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
  const locator = noteName(reported, supply.uuid(), creation)
  const { amounts, problems } = createPerilAmounts(kind.defaults, creation)
  addFieldErrors(reported, locator, fieldErrors(problems))
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
  applyFieldChanges(owner, fields, NO_FIELD_DATA, { fieldValues, addFieldGroups: fieldGroups }, context) ??
  NO_FIELD_DATA

type AmountName = keyof PerilAmounts

/** For each amount: whether it may be `unlimited`, and the flag of an update that removes it. */
const AMOUNTS = {
  deductible: { unlimited: false, remove: 'removeDeductible' },
  lumpSumPayment: { unlimited: false, remove: 'removeLumpSumPayment' },
  indemnityInAggregate: { unlimited: true, remove: 'removeIndemnityInAggregate' },
  indemnityPerEvent: { unlimited: true, remove: 'removeIndemnityPerEvent' },
  indemnityPerItem: { unlimited: true, remove: 'removeIndemnityPerItem' },
} as const satisfies Record<AmountName, { unlimited: boolean; remove: string }>

const NAMES = Object.keys(AMOUNTS) as AmountName[]

/** `fieldName` of a problem is the name of the amount, such as `deductible`. */
export type PerilAmountsResult = { amounts: PerilAmounts; problems: FieldError[] }

/** Returns the amounts of a new peril. Omitted amounts come from the peril's defaults (brief 5.1). */
export function createPerilAmounts(defaults: PerilDefaults, request: PerilAmountsCreate): PerilAmountsResult {
  return changeAmounts(defaults, request, () => false)
}

/** Returns the amounts after an update. Omitted amounts stay; a remove flag takes precedence over a value (brief 6.5). */
export function updatePerilAmounts(current: PerilAmounts, update: PerilAmountsUpdate): PerilAmountsResult {
  return changeAmounts(current, update, name => update[AMOUNTS[name].remove] === true)
}

function changeAmounts(
  before: PerilAmounts,
  request: PerilAmountsCreate,
  isRemoved: (name: AmountName) => boolean,
): PerilAmountsResult {
  const amounts: PerilAmounts = {}
  const problems: FieldError[] = []
  for (const name of NAMES) {
    if (isRemoved(name)) continue
    const wire = request[name]
    const read = wire === null || wire === undefined || wire === '' ? before[name] : readAmount(name, wire)
    if (typeof read === 'string') amounts[name] = read
    else if (read) problems.push(read)
  }
  return { amounts, problems }
}

function readAmount(name: AmountName, wire: unknown): string | FieldError {
  const { unlimited } = AMOUNTS[name]
  const problem = (code: FieldErrorCode, rule: string): FieldError =>
    fieldError(name, code, unlimited ? `${rule}, or 'unlimited'` : rule)
  if (unlimited && wire === 'unlimited') return wire
  const text = typeof wire === 'number' && Number.isFinite(wire) ? decimal(wire).toFixed() : wire
  if (typeof text !== 'string' || !isPlainNumber(text))
    return problem('INVALID_TYPE', 'must be a number in plain digits without separators or exponent')
  const amount = plainDecimal(text)
  if (amount === undefined || amount.lt(0) || amount.gt(LARGEST_MINOR))
    return problem('INVALID_VALUE', `must be a number from 0 to ${LARGEST_MINOR}`)
  return text
}
