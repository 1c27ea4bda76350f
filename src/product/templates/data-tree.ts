// The data that templates and plugins can read, as a tree. The tree is derived from the contracts in a higher layer
// (servicing/template-data). Checks and docs/template-data.md use it.
import { memoByObject } from '../../kernel/maps.ts'
import type { FieldDefinition } from '../configuration.ts'

/** The kinds of Liquid sources that see different data. Kinds of documents are named after what the document is about. */
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

/** All kinds of documents: a snippet or a template that no kind names may be used by any of them. */
export const DOCUMENT_READERS: readonly TemplateReader[] = TEMPLATE_READERS.filter(one =>
  one.endsWith('Document'),
)

/**
 * The type of one value. An `amount` is a number in major units, a `timestamp` milliseconds (a number in templates, text in
 * plugins), and a `map` a record whose keys are data, such as locators.
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
  /** Whether it may have no value, and then reads as nothing. */
  readonly isOptional?: true
  /** The readers that see it. If absent, all that see its parent. */
  readonly readers?: readonly TemplateReader[]
  /** The readers for which it is optional. */
  readonly optionalFor?: readonly TemplateReader[]
  /** The members of a record, by the names that readers use. */
  readonly members?: Readonly<Record<string, DataNode>>
  /** Each entry of a list or map. */
  readonly items?: DataNode
  /** The only texts that it can be. */
  readonly values?: readonly string[]
  /** The fields of the product whose value it is. There are several if several exposures or perils have a field of that name. */
  readonly fields?: readonly FieldDefinition[]
  /** For a group field: the members of the group that a locator names. */
  readonly group?: DataNode
}

const asOptional = memoByObject((node: DataNode): DataNode => ({ ...node, isOptional: true }))

/** Returns a member of the node that the reader sees; undefined if there is none of that name. */
export function memberOf(node: DataNode, name: string, reader?: TemplateReader): DataNode | undefined {
  const { members } = node
  const member = members && Object.hasOwn(members, name) ? members[name] : undefined
  const isSeen = !member?.readers || reader === undefined || member.readers.includes(reader)
  if (!isSeen) return undefined
  return reader !== undefined && member?.optionalFor?.includes(reader) ? asOptional(member) : member
}

/**
 * Yields each node with its path, parents first. In `data.policy.fees[].amount`, `[]` is an entry of a list; `[key]` is one of a
 * map.
 */
export function* pathsOf(node: DataNode, path: string): Generator<readonly [path: string, node: DataNode]> {
  yield [path, node]
  for (const [name, member] of Object.entries(node.members ?? {})) yield* pathsOf(member, `${path}.${name}`)
  if (node.items) yield* pathsOf(node.items, `${path}${node.type === 'map' ? '[key]' : '[]'}`)
}
