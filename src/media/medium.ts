// Media: files that fields name by their locators. A policy keeps what it shows of those that its fields name.
import type { FieldDefinition, ProductDefinition } from '../configuration/configuration.ts'
import type { FieldData } from '../platform/fields/groups.ts'
import { valuesOf } from '../platform/fields/values.ts'
import type { Uuid } from '../platform/locators.ts'
import type { PolicyAggregate } from '../policies/aggregate.ts'

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

/** Locators of media that fields name since the change and that the policy does not know yet. */
export function newMedia(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  product: ProductDefinition,
): Uuid[] {
  const exposures = new Map(product.exposures.map(one => [one.name, one]))
  const exposureOf = (locator: Uuid) => exposures.get(after.exposures.get(locator)?.name ?? '')
  const perilFields = (locator: Uuid): readonly FieldDefinition[] => {
    const peril = after.perils.get(locator)
    const exposure = peril && exposureOf(peril.exposureLocator)
    return exposure?.perils.find(one => one.name === peril?.name)?.fields ?? []
  }
  const named = new Set<Uuid>()
  const look = <R extends { readonly data: FieldData }>(
    was: ReadonlyMap<Uuid, R> | undefined,
    is: ReadonlyMap<Uuid, R>,
    fieldsOf: (record: R) => readonly FieldDefinition[],
  ): void => {
    if (was === is) return
    for (const [locator, record] of is) {
      if (was?.get(locator) === record) continue
      for (const one of locatorsIn(fieldsOf(record).filter(isMediaField), record.data)) named.add(one)
    }
  }
  look(before?.segments, after.segments, () => product.fields)
  look(before?.exposureRuns, after.exposureRuns, run => exposureOf(run.exposureLocator)?.fields ?? [])
  look(before?.perilRuns, after.perilRuns, run => perilFields(run.perilLocator))
  return [...named].filter(locator => !after.media.has(locator))
}

/** The media among the values, fields of groups included. */
export function mediaIn(data: FieldData, media: ReadonlyMap<string, Medium>): Medium[] {
  if (media.size === 0) return []
  const values = [data.values, ...data.groups.map(group => group.values)].flatMap(one =>
    Object.values(one).flat(),
  )
  return [...new Set(values)].flatMap(value => media.get(value) ?? [])
}
