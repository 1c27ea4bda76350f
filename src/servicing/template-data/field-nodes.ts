// Fields of a product in the tree: one value, or a list for repeatable ones, and groups by their locators.
import type { FieldDefinition } from '../../product/configuration.ts'
import type { DataNode, DataType } from '../../product/templates/data-tree.ts'

const TYPES: Readonly<Record<FieldDefinition['type'], DataType>> = {
  string: 'text',
  number: 'number',
  date: 'timestamp',
  select: 'text',
  lookup: 'text',
  email: 'text',
  phone: 'text',
  group: 'text',
  media: 'text',
}

/** `field_values`. Without definitions, a map of whatever the product has. */
export function fieldRecord(description: string, fields: readonly FieldDefinition[] | undefined): DataNode {
  if (!fields)
    return {
      type: 'map',
      description,
      items: { type: 'anything', description: 'The value of the field; a list if it is repeatable.' },
    }
  return { type: 'record', description, members: fieldMembers(fields) }
}

/** `field_groups_by_locator`: each group has the fields of one group field. */
export function fieldGroups(description: string, fields: readonly FieldDefinition[] | undefined): DataNode {
  const own = fields?.filter(one => one.type === 'group').flatMap(one => one.fields ?? [])
  return { type: 'map', description, items: fieldRecord('The values of one field group.', own) }
}

function fieldMembers(fields: readonly FieldDefinition[]): Record<string, DataNode> {
  const byName = Map.groupBy(fields, one => one.name)
  return Object.fromEntries([...byName].map(([name, definitions]) => [name, fieldNode(definitions)]))
}

/** Definitions of one name; of several, what holds for each of them. */
function fieldNode(definitions: readonly FieldDefinition[]): DataNode {
  const [first] = definitions as readonly [FieldDefinition]
  const description = descriptionOf(first)
  const types = new Set(definitions.map(one => TYPES[one.type]))
  const type = types.size === 1 ? TYPES[first.type] : 'anything'
  const values = definitions.every(one => one.values) ? definitions.flatMap(one => one.values!) : undefined
  const scalar: DataNode = {
    type,
    description,
    ...(values && { values: [...new Set(values)] }),
    fields: definitions,
  }
  const optional = definitions.some(one => one.optional || one.conditions.length > 0)
  const shared = { ...(optional && { isOptional: true as const }), fields: definitions }
  const repeatable = definitions.filter(one => one.repeatable).length
  if (repeatable === 0) return { ...scalar, ...shared }
  if (repeatable === definitions.length) return { type: 'list', description, items: scalar, ...shared }
  return { type: 'anything', description, ...shared }
}

function descriptionOf({ type, title, table, repeatable }: FieldDefinition): string {
  if (type === 'group')
    return `${title}: ${repeatable ? 'locators' : 'the locator'} of its field groups in field_groups_by_locator.`
  if (type === 'media') return `${title}: the locator of the file, in media_by_locator.`
  if (type === 'lookup') return `${title}: a value of the first column of the table ${table}.`
  return `${title}.`
}
