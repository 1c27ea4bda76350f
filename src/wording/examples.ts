// Examples of properties, from requests and answers that tests recorded for operations. The service accepted or sent each of them.
import type { Described } from './document.ts'
import type { Schema } from './words.ts'

type Media = { schema?: Schema; example?: unknown }

const LONGEST = 60

/** Text that a reader understands immediately. Tests also send unrealistic text. */
const PLAIN = /^[\p{L}\p{N} .,:/@+_-]+$/u

const isShown = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && value.length <= LONGEST && PLAIN.test(value))

const NAMED = '#/components/schemas/'

/** Gives properties without an example the first one that an operation has for them. */
export function exampleProperties({ paths, components: { schemas } }: Described): void {
  const walk = (schema: Schema | undefined, value: unknown): void => {
    if (schema === undefined || value === null || value === undefined) return
    if (schema.$ref !== undefined) {
      walk(schemas[schema.$ref.slice(NAMED.length)], value)
      return
    }
    for (const one of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])])
      walk(one, value)
    if (Array.isArray(value)) {
      for (const item of value) walk(schema.items, item)
      return
    }
    if (typeof value !== 'object') return
    const others = schema.additionalProperties
    for (const [name, item] of Object.entries(value)) {
      const property = schema.properties?.[name]
      if (property) show(property, item)
      walk(property ?? (typeof others === 'object' ? others : undefined), item)
    }
  }
  const show = (property: Schema, value: unknown): void => {
    const isSimple = property.type !== undefined && !property.enum && property.const === undefined
    if (isSimple && property.example === undefined && isShown(value)) property.example = value
  }
  for (const methods of Object.values(paths))
    for (const { requestBody, responses } of Object.values(methods))
      for (const body of [requestBody, ...Object.values(responses)])
        for (const { schema, example } of Object.values((body?.content ?? {}) as Record<string, Media>))
          walk(schema, example)
}
