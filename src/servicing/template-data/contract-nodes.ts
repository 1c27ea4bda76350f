// Builds nodes of the tree from the zod schemas of answers, so that the contracts stay the only source of names and types.
import type { z } from 'zod'
import { currencyNameOf } from '../../kernel/money.ts'
import type { DataNode, DataType } from '../../product/templates/data-tree.ts'
import { MONTH_RATES, snakeCase } from '../../rating/template-data.ts'
import { describeProperty } from './descriptions.ts'

type Definition = {
  type: string
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  valueType?: z.ZodType
  innerType?: z.ZodType
  options?: readonly z.ZodType[]
  entries?: Record<string, string>
  in?: z.ZodType
  out?: z.ZodType
  getter?: () => z.ZodType
}

const definitionOf = (schema: z.ZodType): Definition => schema._zod.def as unknown as Definition

/** Names as templates read them, or unchanged, as plugins read them. */
export type Naming = 'snake_case' | 'camelCase'

type Context = {
  readonly naming: Naming
  /** Properties that are left out, because others replace them. */
  readonly without: ReadonlySet<string>
  /** The schemas that contain this one. A record that contains itself ends as `anything`. */
  readonly around: readonly z.ZodType[]
}

/** Returns the node of an answer's schema. `name` is the property whose value it is. */
export function contractNode(
  schema: z.ZodType,
  name: string,
  naming: Naming,
  without: readonly string[] = [],
): DataNode {
  return nodeOf(schema, name, { naming, without: new Set(without), around: [] })
}

/** Returns the members of an object's schema, by their names in templates. */
export const contractMembers = (
  schema: z.ZodType,
  name: string,
  without: readonly string[] = [],
): Readonly<Record<string, DataNode>> => contractNode(schema, name, 'snake_case', without).members ?? {}

function nodeOf(schema: z.ZodType, name: string, context: Context, amount = false): DataNode {
  const {
    type,
    shape,
    element,
    valueType,
    innerType,
    options,
    entries,
    in: input,
    out,
    getter,
  } = definitionOf(schema)
  const description = describeProperty(name, schema.description)
  const inner = (one: z.ZodType, of = name): DataNode =>
    nodeOf(one, of, { ...context, around: [...context.around, schema] }, amount)
  if (context.around.includes(schema)) return { type: 'anything', description }
  if (innerType) {
    const node = { ...inner(innerType), description }
    return type === 'optional' || type === 'nullable' ? { ...node, isOptional: true } : node
  }
  if (getter) return { ...inner(getter()), description }
  if (input && out) return inner(definitionOf(input).type === 'transform' ? out : input)
  if (shape) return { type: 'record', description, members: membersOf(schema, shape, context) }
  if (element) return { type: 'list', description, items: inner(element, `${name}[]`) }
  if (valueType) return { type: 'map', description, items: inner(valueType, `${name}[]`) }
  if (entries) return { type: 'text', description, values: Object.values(entries) }
  if (options) return { type: 'anything', description }
  return { type: scalar(type, name, amount), description }
}

/** Properties that an answer has only on request, and that data does not have. */
const ONLY_ANSWERED: ReadonlySet<string> = new Set(['worksheet'])

function membersOf(
  schema: z.ZodType,
  shape: Record<string, z.ZodType>,
  context: Context,
): Record<string, DataNode> {
  const inside: Context = { ...context, without: new Set(), around: [...context.around, schema] }
  const members = Object.entries(shape).flatMap(([name, member]): [string, DataNode][] => {
    if (context.without.has(name) || ONLY_ANSWERED.has(name)) return []
    const isAmount = currencyNameOf(name, shape) !== undefined || MONTH_RATES.has(name)
    const shown = context.naming === 'snake_case' ? snakeCase(name) : name
    return [[shown, nodeOf(member, name, inside, isAmount)]]
  })
  return Object.fromEntries(members)
}

function scalar(type: string, name: string, isAmount: boolean): DataType {
  if (type === 'number' || type === 'int') return isAmount ? 'amount' : 'number'
  if (type === 'boolean') return 'flag'
  if (type === 'string' || type === 'literal') {
    if (/[tT]imestamp$/.test(name)) return 'timestamp'
    return isAmount ? 'amount' : 'text'
  }
  return 'anything'
}
