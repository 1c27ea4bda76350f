// Makes a policy smaller while it shows the same problem: removes unnecessary parts, and replaces values by plain ones.
import type { Instant } from '../../src/kernel/time.ts'
import { add } from '../../src/kernel/time.ts'
import {
  type Configuration,
  type ExposureDefinition,
  type FieldDefinition,
  type ProductDefinition,
  tableOf,
} from '../../src/product/configuration.ts'
import { yieldToSignals } from '../terminal.ts'
import type { Base, MadeCase, MadeExposure, MadePolicy } from './policies.ts'
import { type FieldGroup, type FieldValues, simplestValues } from './values.ts'

/** The maximum number of policies to try for one problem. */
const MOST_TRIED = 600

type Surroundings = {
  readonly configuration: Configuration
  readonly product: ProductDefinition
  readonly now: Instant
  /** Its parts are kept. */
  readonly base: Base
  readonly interrupted: AbortSignal
}

export async function smallestCase(
  first: MadeCase,
  shows: (one: MadeCase) => Promise<boolean>,
  surroundings: Surroundings,
): Promise<MadeCase> {
  let smallest = first
  let tried = 0
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const smaller of smallerCases(smallest, surroundings)) {
      if (tried >= MOST_TRIED || surroundings.interrupted.aborted) return smallest
      tried += 1
      await yieldToSignals()
      if (sizeOf(smaller) >= sizeOf(smallest) || !(await shows(smaller))) continue
      smallest = smaller
      isSmaller = true
      break
    }
  }
  return smallest
}

/** Fewer parts count first, then shorter values, then smaller and earlier ones. */
function sizeOf(one: MadeCase): string {
  const text = JSON.stringify(one)
  const parts = text.match(/[:[,]/g)?.length ?? 0
  return `${String(parts).padStart(8, '0')} ${String(text.length).padStart(10, '0')} ${text}`
}

/** Yields the largest steps first. */
function* smallerCases(one: MadeCase, context: Surroundings): Generator<MadeCase> {
  const { values, policy } = one
  const { configuration, base } = context
  for (const changed of withFewerParts(policy, context)) yield { values, policy: changed }
  if (Object.keys(values).length > 0 && base?.values === undefined) yield { values: {}, policy }
  for (const changed of smallerValues(values, configuration.policyholderFields, context, base?.values))
    yield { values: changed, policy }
  for (const changed of withUsualTerms(policy, context)) yield { values, policy: changed }
  for (const changed of withSmallerData(policy, context)) yield { values, policy: changed }
}

const keptPolicy = ({ base }: Surroundings): Partial<MadePolicy> => base?.policy ?? {}

const changedPolicy = (policy: MadePolicy, changes: Partial<MadePolicy>): MadePolicy =>
  withoutEmpty({ ...policy, ...changes })

function* withFewerParts(policy: MadePolicy, context: Surroundings): Generator<MadePolicy> {
  if (keptPolicy(context).exposures?.length) return
  const { exposures } = policy
  if (exposures.length > 1)
    for (const at of exposures.keys()) yield changedPolicy(policy, { exposures: exposures.toSpliced(at, 1) })
  for (const [at, exposure] of exposures.entries()) {
    if (exposure.perils.length === 1) continue
    for (const peril of exposure.perils.keys()) {
      const fewer = { ...exposure, perils: exposure.perils.toSpliced(peril, 1) }
      yield changedPolicy(policy, { exposures: exposures.with(at, fewer) })
    }
  }
}

/** Yields policies without a payment schedule, and for a year from now. */
function* withUsualTerms(policy: MadePolicy, context: Surroundings): Generator<MadePolicy> {
  const kept = keptPolicy(context)
  if (policy.paymentScheduleName !== undefined && kept.paymentScheduleName === undefined)
    yield changedPolicy(policy, { paymentScheduleName: undefined })
  if (kept.policyStartTimestamp !== undefined || kept.policyEndTimestamp !== undefined) return
  const { now: start, configuration } = context
  const end = add(start, 1, 'year', configuration.timeZone)
  if (policy.policyStartTimestamp !== start || policy.policyEndTimestamp !== end)
    yield changedPolicy(policy, { policyStartTimestamp: start, policyEndTimestamp: end })
}

function* withSmallerData(policy: MadePolicy, context: Surroundings): Generator<MadePolicy> {
  const { product } = context
  const kept = keptPolicy(context)
  for (const changed of smallerData(policy, product.fields, context, kept))
    yield changedPolicy(policy, changed)
  for (const [at, exposure] of policy.exposures.entries()) {
    const definition = product.exposures.find(one => one.name === exposure.exposureName)
    for (const changed of smallerExposures(exposure, definition, context, kept.exposures?.[at]))
      yield changedPolicy(policy, { exposures: policy.exposures.with(at, changed) })
  }
}

function* smallerExposures(
  exposure: MadeExposure,
  definition: ExposureDefinition | undefined,
  context: Surroundings,
  kept: MadeExposure | undefined,
): Generator<MadeExposure> {
  for (const changed of smallerData(exposure, definition?.fields ?? [], context, kept))
    yield withoutEmpty({ ...exposure, ...changed })
  for (const [at, peril] of exposure.perils.entries()) {
    const fields = definition?.perils.find(one => one.name === peril.name)?.fields ?? []
    for (const changed of smallerData(peril, fields, context, kept?.perils?.[at]))
      yield withoutEmpty({
        ...exposure,
        perils: exposure.perils.with(at, withoutEmpty({ ...peril, ...changed })),
      })
  }
}

type Data = { readonly fieldValues?: FieldValues; readonly fieldGroups?: FieldGroup[] }

function* smallerData(
  { fieldValues = {}, fieldGroups = [] }: Data,
  fields: readonly FieldDefinition[],
  context: Surroundings,
  kept: Data | undefined,
): Generator<Data> {
  const keptGroups = kept?.fieldGroups ?? []
  for (const [at, group] of fieldGroups.entries())
    if (!keptGroups.some(one => one.fieldName === group.fieldName))
      yield { fieldGroups: fieldGroups.toSpliced(at, 1) }
  for (const changed of smallerValues(fieldValues, fields, context, kept?.fieldValues))
    yield { fieldValues: changed }
  for (const [at, group] of fieldGroups.entries()) {
    if (keptGroups.some(one => one.fieldName === group.fieldName)) continue
    const inside = fields.find(field => field.name === group.fieldName)?.fields ?? []
    for (const changed of smallerValues(group.fieldValues, inside, context, undefined))
      yield { fieldGroups: fieldGroups.with(at, { ...group, fieldValues: changed }) }
  }
}

function* smallerValues(
  values: FieldValues,
  fields: readonly FieldDefinition[],
  { configuration, product, now }: Surroundings,
  kept: unknown,
): Generator<FieldValues> {
  const own = (kept ?? {}) as object
  const names = Object.keys(values).filter(name => !Object.hasOwn(own, name))
  for (const name of names) yield without(values, name)
  for (const name of names) {
    const present = values[name]!
    if (present.length > 1)
      for (const at of present.keys()) yield { ...values, [name]: present.toSpliced(at, 1) }
    const definition = fields.find(field => field.name === name)
    if (!definition || present.length !== 1) continue
    const context = {
      now,
      zone: configuration.timeZone,
      table: (table: string) => tableOf(configuration, product, table),
    }
    for (const value of simplestValues(definition, context))
      if (value !== present[0]) yield { ...values, [name]: [value] }
  }
}

const without = (values: FieldValues, name: string): FieldValues =>
  Object.fromEntries(Object.entries(values).filter(([other]) => other !== name))

/** Omits empty parts. */
function withoutEmpty<T extends object>(part: T): T {
  return Object.fromEntries(
    Object.entries(part).filter(
      ([name, value]) =>
        value !== undefined &&
        !(name === 'fieldGroups' && (value as unknown[]).length === 0) &&
        !(name === 'fieldValues' && Object.keys(value as object).length === 0),
    ),
  ) as T
}
