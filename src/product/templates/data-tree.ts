// What templates and plugins can read, as a tree. The tree itself is made of the contracts, above this layer
// (servicing/template-data); checks and docs/template-data.md read it.
import { memoByObject } from '../../kernel/maps.ts'
import type { FieldDefinition } from '../configuration.ts'

/** The kinds of Liquid sources that see data of their own. Those of documents are named by what the document is about. */
export const TEMPLATE_READERS = [
  'premium',
  'tax',
  'fees',
  'underwriting',
  'policyDocument',
  'endorsementDocument',
  'renewalDocument',
  'cancellationDocument',
  'reinstatementDocument',
  'invoiceDocument',
  'gracePeriodDocument',
  'lapseDocument',
] as const
export type TemplateReader = (typeof TEMPLATE_READERS)[number]

export const DOCUMENT_READERS: readonly TemplateReader[] = TEMPLATE_READERS.filter(one =>
  one.endsWith('Document'),
)

/**
 * One value. `amount` is a number in major units, `timestamp` milliseconds (a number in templates, text in plugins),
 * `map` a record with keys that data names, such as locators.
 */
export type DataType =
  | 'text'
  | 'number'
  | 'amount'
  | 'timestamp'
  | 'flag'
  | 'record'
  | 'list'
  | 'map'
  | 'anything'

export type DataNode = {
  readonly type: DataType
  readonly description: string
  /** It may have no value, and reads as nothing then. */
  readonly isOptional?: true
  /** Who sees it; absent: all who see what it is a member of. */
  readonly readers?: readonly TemplateReader[]
  /** Those of the readers that do not always have it. */
  readonly optionalFor?: readonly TemplateReader[]
  /** Of a record, by name as it is read. */
  readonly members?: Readonly<Record<string, DataNode>>
  /** Of each entry of a list or map. */
  readonly items?: DataNode
  /** The only texts that it has. */
  readonly values?: readonly string[]
  /** The fields of the product that it is the value of; of several exposures or perils, each that has one of the name. */
  readonly fields?: readonly FieldDefinition[]
  /** Of a group field: what each group has that its locators name. */
  readonly group?: DataNode
}

const asOptional = memoByObject((node: DataNode): DataNode => ({ ...node, isOptional: true }))

/** A member of the node that the reader sees; undefined if there is none of that name. */
export function memberOf(node: DataNode, name: string, reader?: TemplateReader): DataNode | undefined {
  const { members } = node
  const member = members && Object.hasOwn(members, name) ? members[name] : undefined
  const isSeen = !member?.readers || reader === undefined || member.readers.includes(reader)
  if (!isSeen) return undefined
  return reader !== undefined && member?.optionalFor?.includes(reader) ? asOptional(member) : member
}

/** Each node with its path (`data.policy.fees[].amount`; `[]` is an entry of a list, `[key]` one of a map), parents first. */
export function* pathsOf(node: DataNode, path: string): Generator<readonly [path: string, node: DataNode]> {
  yield [path, node]
  for (const [name, member] of Object.entries(node.members ?? {})) yield* pathsOf(member, `${path}.${name}`)
  if (node.items) yield* pathsOf(node.items, `${path}${node.type === 'map' ? '[key]' : '[]'}`)
}
