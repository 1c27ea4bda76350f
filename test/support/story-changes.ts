// The changes that a step of a story requests, picked from what the policy has at that time, in the form of the naive model and
// of a request.

import type { Instant } from '../../src/kernel/time.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'
import { COVER, type NaiveChanges, type NaivePerilTerms, type NaivePolicy } from './naive-policy.ts'
import type { NaiveData, NaiveFields } from './naive-rates.ts'
import type { ChangePick } from './story-steps.ts'

type Draft = { -readonly [K in keyof NaiveChanges]: NaiveChanges[K] }

/** Amounts of a peril. The model keeps them among its values. */
const AMOUNTS = [
  'deductible',
  'lumpSumPayment',
  'indemnityInAggregate',
  'indemnityPerEvent',
  'indemnityPerItem',
]

const texts = (wire: unknown): string[] => (Array.isArray(wire) ? wire : [wire]).map(String)

const fieldsOf = (wire: Readonly<Record<string, unknown>> = {}): NaiveFields =>
  Object.fromEntries(Object.entries(wire).map(([name, value]) => [name, texts(value)]))

type WirePart = {
  fieldValues?: Record<string, unknown>
  fieldGroups?: { fieldName: string; fieldValues: Record<string, unknown> }[]
}

/** The data of a part of a request. */
export function dataOf({ fieldValues, fieldGroups = [] }: WirePart): NaiveData {
  const groups: Record<string, NaiveFields[]> = {}
  for (const group of fieldGroups)
    groups[group.fieldName] = [...(groups[group.fieldName] ?? []), fieldsOf(group.fieldValues)]
  return { values: fieldsOf(fieldValues), groups }
}

/** A peril of a request, with the product's defaults for what the request leaves out. */
export function perilTerms(
  product: ProductDefinition,
  exposureName: string,
  peril: WirePart & { name: string },
): NaivePerilTerms {
  const { defaults } = product.exposures
    .find(exposure => exposure.name === exposureName)!
    .perils.find(one => one.name === peril.name)!
  const given = Object.entries(peril).filter(([name]) => AMOUNTS.includes(name))
  const amounts = fieldsOf({ ...defaults, ...Object.fromEntries(given) })
  const data = dataOf(peril)
  return { name: peril.name, data: { ...data, values: { ...data.values, ...amounts } } }
}

const POLICY_FIELDS: Record<string, readonly string[]> = {
  region_class: ['R1', 'R2', 'R3', 'R4', 'R5', 'R6'],
  claims_free_years: ['0', '3', '8', '12', '20', '35'],
  state: ['NY', 'NJ', 'CT', 'PA'],
  municipality: ['NY-ALB', 'NY-SAR', 'NJ-MTC', 'PA-BET', 'PA-SCR'],
}

const EXPOSURE_FIELDS: Record<string, Record<string, readonly string[]>> = {
  vehicle: {
    vehicle_value: ['500', '9999.99', '24500', '49000', '123456.78'],
    annual_mileage_km: ['0', '9001', '15001', '30000'],
    parking: ['garage', 'street'],
  },
  trailer: { trailer_value: ['0', '2400', '17777.77'] },
  driver_protection: { occupation_class: ['office', 'manual', 'driving'] },
  dwelling: { replacement_cost: ['50000', '333333', '950000'], construction: ['frame', 'masonry', 'steel'] },
  personal_property: { contents_value: ['0', '65000', '123457'] },
  household: { residents: ['1', '4', '5', '9'], dogs: ['0', '1', '3'] },
}

const PERIL_FIELDS: Record<string, Record<string, readonly string[]>> = {
  own_damage: { deductible: ['150', '300', '500', '1000'] },
  glass: { original_parts: ['no', 'yes'] },
  personal_accident: { lumpSumPayment: ['25000', '50000', '80500'] },
  water_damage: { deductible: ['500', '1000', '2500'], sewer_backup: ['no', 'yes'] },
  personal_liability: { indemnityPerEvent: ['100000', '300000', '500000', '1000000'] },
}
const OTHER_PERIL_FIELDS = { deductible: ['100', '200', '750'] }

const NEW_EXPOSURES: Record<string, WirePart> = {
  trailer: { fieldValues: { trailer_kind: 'horse', gross_weight_t: '0.75', trailer_value: '5123.45' } },
  driver_protection: { fieldValues: { occupation_class: 'driving' } },
  personal_property: { fieldValues: { contents_value: '31000' } },
  household: { fieldValues: { residents: '6', dogs: '2', pool: 'no' } },
}
const NEW_PERILS: Record<string, readonly string[]> = {
  trailer: ['trailer_liability', 'trailer_damage'],
  driver_protection: ['personal_accident'],
  personal_property: ['burglary'],
  household: ['personal_liability', 'identity_theft'],
}

const picked = <T>(list: readonly T[], which: number): T | undefined => list[which % list.length]

/** The time from which the changes apply. A renewal changes what is in force at the policy's end. */
export type ChangesFrom = { readonly time: Instant; readonly isRenewal: boolean }

/** Resolves the picks to changes. A pick that finds nothing to change has no effect. */
export function resolvedChanges(
  policy: NaivePolicy,
  product: ProductDefinition,
  picks: readonly ChangePick[],
  from: ChangesFrom,
): NaiveChanges {
  const changes: Draft = { policy: {}, addGroups: [], exposures: {}, endExposures: [], addExposures: [] }
  for (const pick of picks) apply(changes, policy, product, pick, from)
  return changes
}

function apply(
  changes: Draft,
  policy: NaivePolicy,
  product: ProductDefinition,
  { what, which, amount }: ChangePick,
  { time, isRenewal }: ChangesFrom,
): void {
  const cover = policy.items.get(COVER)!
  const covered = cover.filter(piece => (isRenewal ? piece.end === policy.end : piece.end > time))
  const holds = (piece: { start: number; end: number }): boolean =>
    covered.some(
      one => Math.max(one.start, isRenewal ? one.start : time, piece.start) < Math.min(one.end, piece.end),
    ) &&
    (!isRenewal || piece.end === policy.end)
  const exposures = [...policy.exposures].filter(
    ([key, { pieces }]) => pieces.some(holds) && !changes.endExposures.includes(key),
  )
  const perils = [...policy.perils].filter(
    ([key, { exposure }]) =>
      policy.items.get(key)!.some(holds) &&
      !changes.endExposures.includes(exposure) &&
      !changes.exposures[exposure]?.endPerils.includes(key),
  )
  const update = (key: string, more: Partial<NaiveChanges['exposures'][string]>): void => {
    const before = changes.exposures[key] ?? { values: {}, perils: {}, endPerils: [], addPerils: [] }
    changes.exposures = { ...changes.exposures, [key]: { ...before, ...more } }
  }
  const asked = (key: string) => changes.exposures[key]
  switch (what) {
    case 'policyField': {
      const names = product.fields.map(field => field.name).filter(name => POLICY_FIELDS[name])
      const name = picked(names, which)!
      changes.policy = { ...changes.policy, [name]: [picked(POLICY_FIELDS[name]!, amount)!] }
      return
    }
    case 'policyGroup': {
      const drivers = Math.max(0, ...covered.map(one => one.data.groups.named_drivers?.length ?? 0))
      if (product.name !== 'private_motor' || drivers + changes.addGroups.length > 5) return
      const fields = {
        full_name: ['Another Driver'],
        birth_date: [picked(['1970-05-05', '2003-02-28', '2004-02-29', '2005-11-30'], amount)!],
        licence_withdrawn: ['no'],
      }
      changes.addGroups = [...changes.addGroups, { name: 'named_drivers', fields }]
      return
    }
    case 'exposureField': {
      const [key, exposure] = picked(exposures, which) ?? []
      if (!key || !exposure) return
      const fields = Object.entries(EXPOSURE_FIELDS[exposure.name]!)
      const [name, options] = picked(fields, amount)!
      const value = picked(options, Math.floor(amount / fields.length))!
      update(key, { values: { ...asked(key)?.values, [name]: [value] } })
      return
    }
    case 'perilField': {
      const [key, peril] = picked(perils, which) ?? []
      if (!key || !peril) return
      const fields = Object.entries(PERIL_FIELDS[peril.name] ?? OTHER_PERIL_FIELDS)
      const [name, options] = picked(fields, amount)!
      const value = picked(options, Math.floor(amount / fields.length))!
      const before = asked(peril.exposure)?.perils ?? {}
      update(peril.exposure, { perils: { ...before, [key]: { ...before[key], [name]: [value] } } })
      return
    }
    case 'endPeril': {
      const [key, peril] = picked(perils, which) ?? []
      if (!key || !peril || asked(peril.exposure)?.perils[key]) return
      update(peril.exposure, { endPerils: [...(asked(peril.exposure)?.endPerils ?? []), key] })
      return
    }
    case 'addPeril': {
      const [key, exposure] = picked(exposures, which) ?? []
      if (!key || !exposure) return
      const has = (name: string): boolean =>
        [...policy.perils].some(
          ([peril, one]) => one.exposure === key && one.name === name && policy.items.get(peril)!.some(holds),
        ) || (asked(key)?.addPerils ?? []).some(one => one.name === name)
      const missing = product.exposures
        .find(one => one.name === exposure.name)!
        .perils.map(one => one.name)
        .filter(name => !has(name))
      const name = picked(missing, amount)
      if (!name) return
      update(key, {
        addPerils: [...(asked(key)?.addPerils ?? []), perilTerms(product, exposure.name, { name })],
      })
      return
    }
    case 'endExposure': {
      const [key] = picked(exposures, which) ?? []
      if (!key || asked(key) || exposures.length < 2) return
      changes.endExposures = [...changes.endExposures, key]
      return
    }
    case 'addExposure': {
      const name = picked(
        product.exposures.map(one => one.name).filter(one => NEW_EXPOSURES[one]),
        which,
      )!
      const perils = NEW_PERILS[name]!.slice(0, 1 + (amount % 2)).map(peril =>
        perilTerms(product, name, { name: peril }),
      )
      changes.addExposures = [...changes.addExposures, { name, data: dataOf(NEW_EXPOSURES[name]!), perils }]
      return
    }
    case 'schedule':
      changes.schedule = picked(product.paymentSchedules, which)!.name
      return
  }
}

const isAmount = ([name]: readonly [string, unknown]): boolean => AMOUNTS.includes(name)

/** The values in a request, where amounts are next to the field values. */
const wireValues = (values: NaiveFields) => ({
  ...Object.fromEntries(
    Object.entries(values)
      .filter(isAmount)
      .map(([name, [amount]]) => [name, amount]),
  ),
  fieldValues: Object.fromEntries(Object.entries(values).filter(one => !isAmount(one))),
})

const wirePeril = ({ name, data }: NaivePerilTerms) => ({ name, ...wireValues(data.values) })

/** The changes in the form of a request. */
export function wireChanges(changes: NaiveChanges, locators: ReadonlyMap<string, string>) {
  const locator = (key: string): string => locators.get(key) ?? `no locator of ${key}`
  return {
    fieldValues: changes.policy,
    addFieldGroups: changes.addGroups.map(({ name, fields }) => ({ fieldName: name, fieldValues: fields })),
    updateExposures: Object.entries(changes.exposures).map(
      ([key, { values, perils, endPerils, addPerils }]) => ({
        exposureLocator: locator(key),
        fieldValues: values,
        updatePerils: Object.entries(perils).map(([peril, more]) => ({
          perilLocator: locator(peril),
          ...wireValues(more),
        })),
        endPerils: endPerils.map(locator),
        addPerils: addPerils.map(wirePeril),
      }),
    ),
    endExposures: changes.endExposures.map(locator),
    addExposures: changes.addExposures.map(({ name, data, perils }) => ({
      exposureName: name,
      fieldValues: data.values,
      perils: perils.map(wirePeril),
    })),
    newPaymentScheduleName: changes.schedule,
  }
}
