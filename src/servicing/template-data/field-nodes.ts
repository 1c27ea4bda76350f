// Fields of a product in the tree: a single value, a list for repeatable fields, and groups by their locators.
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

/**
 * The node of `field_values`. Without definitions, it is a map of any fields that the product has. `parts` is the number of
 * exposures or perils with these fields; a field that not all of them have may be absent.
 */
export function fieldRecord(
  description: string,
  fields: readonly FieldDefinition[] | undefined,
  parts = 1,
): DataNode {
  if (!fields)
    return {
      type: 'map',
      description,
      items: { type: 'anything', description: 'The value of the field; a list if it is repeatable.' },
    }
  return { type: 'record', description, members: fieldMembers(fields, parts) }
}

/** The node of `field_groups_by_locator`. Each group has the fields of one group field. */
export function fieldGroups(description: string, fields: readonly FieldDefinition[] | undefined): DataNode {
  const items = fieldRecord('The values of one field group.', fields && groupFields(fields))
  return { type: 'map', description, items }
}

const groupFields = (fields: readonly FieldDefinition[]): FieldDefinition[] =>
  fields.filter(field => field.type === 'group').flatMap(field => field.fields ?? [])

function fieldMembers(fields: readonly FieldDefinition[], parts: number): Record<string, DataNode> {
  const byName = Map.groupBy(fields, one => one.name)
  return Object.fromEntries([...byName].map(([name, definitions]) => [name, fieldNode(definitions, parts)]))
}

/** Returns the node for the definitions with one name. If there are several, it states what applies to all of them. */
function fieldNode(definitions: readonly FieldDefinition[], parts: number): DataNode {
  const [first] = definitions as readonly [FieldDefinition]
  const description = descriptionOf(first)
  const types = new Set(definitions.map(definition => TYPES[definition.type]))
  const type = types.size === 1 ? TYPES[first.type] : 'anything'
  const values = definitions.every(definition => definition.values)
    ? definitions.flatMap(definition => definition.values!)
    : undefined
  const isGroup = definitions.every(definition => definition.type === 'group')
  const group = isGroup ? fieldRecord('The values of one field group.', groupFields(definitions)) : undefined
  const scalar: DataNode = {
    type,
    description,
    ...(values && { values: [...new Set(values)] }),
    fields: definitions,
    ...(group && { group }),
  }
  const optional =
    definitions.length < parts ||
    definitions.some(definition => definition.optional || definition.conditions.length > 0)
  const shared = { ...(optional && { isOptional: true as const }), fields: definitions }
  const repeatable = definitions.filter(definition => definition.repeatable).length
  if (repeatable === 0) return { ...scalar, ...shared }
  if (repeatable === definitions.length)
    return { type: 'list', description, items: scalar, ...shared, ...(group && { group }) }
  return { type: 'anything', description, ...shared }
}

function descriptionOf({ type, title, table, repeatable }: FieldDefinition): string {
  if (type === 'group')
    return `${title}: ${repeatable ? 'locators' : 'the locator'} of its field groups in field_groups_by_locator.`
  if (type === 'media') return `${title}: the locator of the file, in media_by_locator.`
  if (type === 'lookup') return `${title}: a value of the first column of the table ${table}.`
  return `${title}.`
}
