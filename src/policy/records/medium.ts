// Media: files that fields name by their locators. A policy keeps what it shows of those that its fields name.

import type { Uuid } from '../../kernel/locators.ts'
import type { FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import { valuesOf } from '../../product/fields/values.ts'
import type { ExposureRun, PolicyAggregate } from './aggregate.ts'
import type { Payment } from './payment.ts'

export type Medium = {
  readonly locator: Uuid
  readonly fileName: string
  readonly mimeType: string
}

/** Below the tenant's own place in R2. */
export const mediumPath = (locator: Uuid): string[] => ['media', locator]

const isMediaField = ({ type, fields = [] }: FieldDefinition): boolean =>
  type === 'media' || fields.some(isMediaField)

function* locatorsIn(definitions: readonly FieldDefinition[], data: FieldData): Generator<Uuid> {
  for (const definition of definitions) {
    if (definition.type === 'media') yield* valuesOf(data.values, definition.name) as Uuid[]
    if (definition.type !== 'group') continue
    for (const group of data.groups)
      if (group.fieldName === definition.name)
        yield* locatorsIn(definition.fields ?? [], { values: group.values, groups: [] })
  }
}

/**
 * Locators of media that fields of the policy, its exposures and perils, and of its payments name since the change, and
 * that the policy does not know yet.
 */
export function newMedia(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  product: ProductDefinition,
  paymentFields: readonly FieldDefinition[],
): Uuid[] {
  const exposures = new Map(product.exposures.map(one => [one.name, one]))
  const exposureOf = (locator: Uuid) => exposures.get(after.exposures.get(locator)?.name ?? '')
  const perilFields = (locator: Uuid): readonly FieldDefinition[] => {
    const peril = after.perils.get(locator)
    const exposure = peril && exposureOf(peril.exposureLocator)
    return exposure?.perils.find(one => one.name === peril?.name)?.fields ?? []
  }
  const named = new Set<Uuid>()
  const look = <R>(
    was: ReadonlyMap<Uuid, R> | undefined,
    is: ReadonlyMap<Uuid, R>,
    fieldsOf: (record: R) => readonly FieldDefinition[],
    dataOf: (record: R) => FieldData,
  ): void => {
    if (was === is) return
    for (const [locator, record] of is) {
      if (was?.get(locator) === record) continue
      for (const one of locatorsIn(fieldsOf(record).filter(isMediaField), dataOf(record))) named.add(one)
    }
  }
  const ownData = ({ data }: { data: FieldData }): FieldData => data
  const runFields = (run: ExposureRun) => exposureOf(run.exposureLocator)?.fields ?? []
  look(before?.segments, after.segments, () => product.fields, ownData)
  look(before?.exposureRuns, after.exposureRuns, runFields, ownData)
  look(before?.perilRuns, after.perilRuns, run => perilFields(run.perilLocator), ownData)
  look(before?.payments, after.payments, () => paymentFields, dataOfPayment)
  return [...named].filter(locator => !after.media.has(locator))
}

/** A payment has no groups (brief 6.7). */
export const dataOfPayment = ({ fieldValues }: Pick<Payment, 'fieldValues'>): FieldData => ({
  values: fieldValues,
  groups: [],
})

/** The media among the values, fields of groups included. */
export function mediaIn(data: FieldData, media: ReadonlyMap<string, Medium>): Medium[] {
  if (media.size === 0) return []
  const values = [data.values, ...data.groups.map(group => group.values)].flatMap(one =>
    Object.values(one).flat(),
  )
  return [...new Set(values)].flatMap(value => media.get(value) ?? [])
}
