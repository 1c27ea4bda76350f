// Checks bodies of requests that authors write. The service ignores unknown properties, because clients of other systems send
// more. In a scenario that would hide a misspelled name.
import type { z } from 'zod'
import { didYouMean } from '../../src/kernel/text.ts'
import { TIMESTAMP } from '../../src/platform/wire.ts'
import { issuesOf } from '../../src/platform/wire-problem.ts'
import type { Path } from './format.ts'
import { TIME_FORMS } from './times.ts'

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

/** Returns the object, list or plain value inside of wrappers that only read or default it. */
export function unwrapSchema(schema: z.ZodType): z.ZodType {
  const { type, innerType, in: read, out, getter } = internals(schema)
  if (innerType) return unwrapSchema(innerType)
  if (type === 'lazy' && getter) return unwrapSchema(getter())
  if (type === 'pipe' && read && out) return unwrapSchema(internals(read).type === 'transform' ? out : read)
  return schema
}

export const shapeOf = (schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined =>
  internals(unwrapSchema(schema)).shape

export const elementOf = (schema: z.ZodType): z.ZodType | undefined => internals(unwrapSchema(schema)).element

export type BodyProblem = { readonly path: Path; readonly message: string }

/** Returns the properties that the contract does not have, each with a suggestion of the intended one. */
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
        message: `'${name}' is not a property of this request.${didYouMean(name, names)} Its properties are ${names.join(', ')}.`,
      },
    ]
  })
}

/** Returns the body as the contract reads it, or everything that is wrong with it. */
export function readBody<S extends z.ZodType>(
  schema: S,
  body: unknown,
): { readonly value: z.infer<S> } | { readonly problems: readonly BodyProblem[] } {
  const unknown = unknownProperties(schema, body)
  if (unknown.length > 0) return { problems: unknown }
  const read = schema.safeParse(body)
  if (read.success) return { value: read.data }
  const problems = issuesOf(read.error).map(({ path, message }) => ({
    path,
    // Authors write days, which the service never sees.
    message: message.replaceAll(TIMESTAMP, `must be ${TIME_FORMS}`),
  }))
  return { problems }
}
