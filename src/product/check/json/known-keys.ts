// Which properties a schema knows at a place, so that a message can name the one that was meant.
import type { z } from 'zod'
import type { JsonPath } from './read.ts'

type Definition = {
  type: string
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  valueType?: z.ZodType
  innerType?: z.ZodType
  options?: readonly z.ZodType[]
  in?: z.ZodType
  out?: z.ZodType
}

const definitionOf = (schema: z.ZodType): Definition => schema._zod.def as unknown as Definition

/** Names of the properties that an object at the path may have; none where the schema does not say. */
export function knownKeys(schema: z.ZodType, path: JsonPath): string[] {
  const [next, ...rest] = path
  return bare(schema).flatMap(({ type, shape = {}, element, valueType }) => {
    if (next === undefined) return type === 'object' ? Object.keys(shape) : []
    const inner = type === 'object' ? shape[String(next)] : (element ?? valueType)
    return inner ? knownKeys(inner, rest) : []
  })
}

/** What is left of a schema without what only makes it optional or reads it first; of a choice, each. */
function bare(schema: z.ZodType): Definition[] {
  const definition = definitionOf(schema)
  const { innerType, options, in: input, out: output } = definition
  if (innerType) return bare(innerType)
  if (options) return options.flatMap(bare)
  if (!input || !output) return [definition]
  return bare(definitionOf(input).type === 'transform' ? output : input)
}
