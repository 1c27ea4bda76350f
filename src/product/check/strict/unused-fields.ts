// Finds fields of a product that requests provide but nothing reads.
import type { FieldDefinition, ProductDefinition } from '../../configuration.ts'
import type { Uses } from './source.ts'

export type UnusedField = { readonly field: FieldDefinition; readonly of: string }

/** Addresses and files are meant for people. */
const FOR_PEOPLE: ReadonlySet<FieldDefinition['type']> = new Set(['email', 'phone', 'media'])

/** Whether the product itself uses the field, even if no template does. */
function isUsedOtherwise(field: FieldDefinition, product: ProductDefinition): boolean {
  const { name, type, searchable, isInformational, constraint } = field
  if (FOR_PEOPLE.has(type)) return true
  return (
    searchable || isInformational === true || constraint !== undefined || name === product.jurisdictionField
  )
}

/** Finds unused fields. `mentioned` returns whether a source that is not analysed contains the name. */
export function unusedFields(
  product: ProductDefinition,
  uses: Uses,
  mentioned: (name: string) => boolean,
): UnusedField[] {
  if (uses.isOpen || product.externalRater !== undefined) return []
  const lists: UnusedField[][] = [
    product.fields.map(field => ({ field, of: 'policy' })),
    ...product.exposures.flatMap(exposure => [
      exposure.fields.map(field => ({ field, of: `exposure '${exposure.name}'` })),
      ...exposure.perils.map(peril => peril.fields.map(field => ({ field, of: `peril '${peril.name}'` }))),
    ]),
  ]
  return lists.flatMap(list => {
    const asked = referencedFieldNames(list.map(one => one.field))
    return list.flatMap(one => unusedPartsOf(one, asked, product, uses, mentioned))
  })
}

/** Names of fields that conditions and constraints of other fields in the list refer to. */
function referencedFieldNames(fields: readonly FieldDefinition[]): ReadonlySet<string> {
  const all = fields.flatMap(one => [one, ...(one.fields ?? [])])
  return new Set(
    all.flatMap(one => [
      ...one.conditions.map(condition => condition.field),
      ...(one.constraint?.where.flatMap(where => where.key ?? []) ?? []),
    ]),
  )
}

function unusedPartsOf(
  one: UnusedField,
  asked: ReadonlySet<string>,
  product: ProductDefinition,
  uses: Uses,
  mentioned: (name: string) => boolean,
): UnusedField[] {
  const isUsed = (field: FieldDefinition): boolean =>
    uses.fields.has(field) ||
    asked.has(field.name) ||
    isUsedOtherwise(field, product) ||
    mentioned(field.name)
  const { field } = one
  // Entries of a group are read through `field_groups_by_locator`, without the name of the group.
  const isReadWithin = (field.fields ?? []).some(inner => uses.fields.has(inner))
  if (!isUsed(field) && !isReadWithin) return [one]
  if (field.type !== 'group' || field.isInformational) return []
  return (field.fields ?? [])
    .filter(inner => !isUsed(inner))
    .map(inner => ({ field: inner, of: `group '${field.name}'` }))
}
