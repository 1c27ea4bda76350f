// Generates random policies of a product that its fields permit: terms, exposures, perils, values, groups and a policyholder.
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import {
  type Configuration,
  type ExposureDefinition,
  type ProductDefinition,
  tableOf,
} from '../../src/product/configuration.ts'
import type { PolicyCase } from '../offline/policy-file.ts'
import type { Random } from './random.ts'
import { type FieldData, type FieldValues, randomFields, type ValueContext } from './values.ts'

export type MadePeril = { name: string } & Partial<FieldData> & Record<string, unknown>
export type MadeExposure = { exposureName: string; perils: MadePeril[] } & Partial<FieldData> &
  Record<string, unknown>

/** The body of POST /policy, with lists for all that can be a list. */
export type MadePolicy = Partial<FieldData> & {
  productName: string
  policyStartTimestamp?: number
  policyEndTimestamp?: number
  paymentScheduleName?: string
  exposures: MadeExposure[]
} & Record<string, unknown>

export type MadeCase = { readonly values: FieldValues; readonly policy: MadePolicy }

/** The parts that every policy keeps: the body of POST /policy, and values of a policyholder, if they are given. */
export type Base = Pick<PolicyCase, 'policy' | 'values'> | undefined

export type Making = {
  readonly configuration: Configuration
  readonly product: ProductDefinition
  readonly now: Instant
  readonly base: Base
  unmade(field: string, why: string): void
}

const MOST_EXPOSURES = 3

export function randomCase(random: Random, { configuration, product, now, base, unmade }: Making): MadeCase {
  const { timeZone: zone, policyholderFields } = configuration
  const kept = (base?.policy ?? {}) as Partial<MadePolicy>
  const start = numberOf(kept.policyStartTimestamp) ?? startOf(now, zone, random)
  const end = numberOf(kept.policyEndTimestamp) ?? endOf(start, zone, random)
  const context: ValueContext = {
    random,
    zone,
    now,
    table: name => tableOf(configuration, product, name),
    unmade,
  }
  const holder = randomFields(policyholderFields, context, { fieldValues: listsOf(base?.values) })
  const own = randomFields(product.fields, context, dataOf(kept))
  const exposures = kept.exposures?.length
    ? kept.exposures.map(exposure => completeExposure(exposure, product, context))
    : randomExposures(product, context)
  return {
    values: holder.fieldValues,
    policy: {
      ...kept,
      productName: product.name,
      policyStartTimestamp: start,
      policyEndTimestamp: end,
      paymentScheduleName: kept.paymentScheduleName ?? random.pick(product.paymentSchedules).name,
      ...own,
      exposures,
    },
  }
}

const numberOf = (value: unknown): Instant | undefined =>
  value === undefined || value === null ? undefined : (Number(value) as Instant)

/** Today, a day within the next 90, or the same day in one of the next 14 months. */
function startOf(now: Instant, zone: TimeZone, random: Random): Instant {
  const choice = random.next()
  if (choice < 0.3) return now
  if (choice < 0.8) return add(now, random.whole(1, 90), 'day', zone)
  return add(now, random.whole(1, 14), 'month', zone)
}

const TERMS = [
  [1, 'year'],
  [1, 'year'],
  [1, 'year'],
  [6, 'month'],
  [1, 'month'],
  [2, 'year'],
  [1, 'day'],
] as const

/** Usually a year. */
function endOf(start: Instant, zone: TimeZone, random: Random): Instant {
  if (random.chance(0.15)) return add(start, random.whole(2, 700), 'day', zone)
  const [count, unit] = random.pick(TERMS)
  return add(start, count, unit, zone)
}

function randomExposures(product: ProductDefinition, context: ValueContext): MadeExposure[] {
  const { random } = context
  const rateable = product.exposures.filter(exposure => exposure.perils.length > 0)
  if (rateable.length === 0) return []
  const count = random.chance(0.6) ? 1 : random.whole(1, MOST_EXPOSURES)
  return Array.from({ length: count }, () => randomExposure(random.pick(rateable), context))
}

function randomExposure(definition: ExposureDefinition, context: ValueContext): MadeExposure {
  const { random } = context
  const share = random.pick([0.3, 0.6, 1])
  const chosen = definition.perils.filter(() => random.chance(share))
  const perils = chosen.length > 0 ? chosen : [random.pick(definition.perils)]
  return {
    exposureName: definition.name,
    ...randomFields(definition.fields, context),
    perils: perils.map(peril => ({ name: peril.name, ...randomFields(peril.fields, context) })),
  }
}

/** Keeps the given parts. Generates values that are missing, and perils only if none are named. */
function completeExposure(
  kept: MadeExposure,
  product: ProductDefinition,
  context: ValueContext,
): MadeExposure {
  const definition = product.exposures.find(exposure => exposure.name === kept.exposureName)
  if (!definition) return kept
  const made = randomExposure(definition, context)
  const perils = kept.perils?.length
    ? kept.perils.map(peril => {
        const fields = definition.perils.find(one => one.name === peril.name)?.fields ?? []
        return { ...peril, ...randomFields(fields, context, dataOf(peril)) }
      })
    : made.perils
  return { ...kept, ...randomFields(definition.fields, context, dataOf(kept)), perils }
}

const dataOf = ({ fieldValues, fieldGroups }: Partial<FieldData>): FieldData => ({
  fieldValues: listsOf(fieldValues),
  fieldGroups: (fieldGroups ?? []).map(group => ({ ...group, fieldValues: listsOf(group.fieldValues) })),
})

/** Returns values as lists of text, as the service reads them. */
const listsOf = (values: unknown): FieldValues =>
  Object.fromEntries(
    Object.entries((values ?? {}) as object).map(([name, value]) => [
      name,
      (Array.isArray(value) ? value : [value]).filter(one => one !== null && one !== undefined).map(String),
    ]),
  )
