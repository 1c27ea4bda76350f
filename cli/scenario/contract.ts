// Bodies of requests as authors write them against the contract. The service ignores what it does not know, since clients of
// other systems send more; in a scenario that would hide a misspelled name.
import type { z } from 'zod'
import { didYouMean } from '../../src/kernel/text.ts'
import type { Path } from './format.ts'

type Internals = {
  readonly type: string
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly element?: z.ZodType
  readonly innerType?: z.ZodType
  readonly in?: z.ZodType
  readonly out?: z.ZodType
  readonly options?: readonly z.ZodType[]
  readonly getter?: () => z.ZodType
}

const internals = (schema: z.ZodType): Internals => schema.def as unknown as Internals

/** The object, list or plain value inside what only reads or defaults it. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  const { type, innerType, in: read, out, getter } = internals(schema)
  if (innerType) return unwrapped(innerType)
  if (type === 'lazy' && getter) return unwrapped(getter())
  if (type === 'pipe' && read && out) return unwrapped(internals(read).type === 'transform' ? out : read)
  return schema
}

export const shapeOf = (schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined =>
  internals(unwrapped(schema)).shape

export const elementOf = (schema: z.ZodType): z.ZodType | undefined => internals(unwrapped(schema)).element

export type BodyProblem = { readonly path: Path; readonly message: string }

/** Properties that the contract does not have, with what was probably meant. */
export function unknownProperties(schema: z.ZodType, body: unknown, path: Path = []): BodyProblem[] {
  const element = elementOf(schema)
  if (element && Array.isArray(body))
    return body.flatMap((one, at) => unknownProperties(element, one, [...path, at]))
  const shape = shapeOf(schema)
  if (!shape || typeof body !== 'object' || body === null || Array.isArray(body)) return []
  const names = Object.keys(shape)
  return Object.entries(body).flatMap(([name, value]) => {
    const own = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (own) return unknownProperties(own, value, [...path, name])
    return [
      {
        path: [...path, name],
        message: `'${name}' is no property of this request.${didYouMean(name, names)} There are ${names.join(', ')}.`,
      },
    ]
  })
}

/** What the contract makes of the body, or everything that is wrong with it. */
export function readBody<S extends z.ZodType>(
  schema: S,
  body: unknown,
): { readonly value: z.infer<S> } | { readonly problems: readonly BodyProblem[] } {
  const unknown = unknownProperties(schema, body)
  if (unknown.length > 0) return { problems: unknown }
  const read = schema.safeParse(body)
  if (read.success) return { value: read.data }
  return { problems: read.error.issues.map(({ path, message }) => ({ path, message })) }
}
