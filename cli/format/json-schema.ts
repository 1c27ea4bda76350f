// Converts the zod schemas of files to JSON Schema, for editors: what authors may write, with the meaning of each property.
import { z } from 'zod'

export type JsonSchema = {
  $schema?: string
  $id?: string
  title?: string
  type?: string | string[]
  description?: string
  default?: unknown
  examples?: unknown[]
  enum?: unknown[]
  const?: unknown
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  propertyNames?: JsonSchema
  items?: JsonSchema
  anyOf?: JsonSchema[]
}

/** Every editor understands this draft, unlike later ones. */
const DRAFT = 'http://json-schema.org/draft-07/schema#'

/** Keywords about a property other than its permitted values. */
const WORDS = new Set(['description', 'examples', 'default'])

/** Allowed in addition to the properties of the file. */
const NOTE: JsonSchema = {
  type: 'string',
  description: 'The schema that editors validate this file against. Bindery ignores it.',
}

/** Links of the documentation lead nowhere from an editor. */
const removeLinks = (text: string): string => text.replace(/\[[^\]]*\]\(([^)]+\.md)\)/g, 'docs/$1')

function completeJsonSchema(schema: z.core.$ZodType, json: JsonSchema & { keywords?: JsonSchema }): void {
  const { keywords, description, ...rest } = json
  const meta = z.globalRegistry.get(schema)
  const definition = schema._zod.def as { type: string; defaultValue?: unknown }
  if (keywords) {
    for (const key of Object.keys(rest)) if (!WORDS.has(key)) delete json[key as keyof JsonSchema]
    delete json.keywords
    Object.assign(json, keywords)
  }
  if (description !== undefined) json.description = removeLinks(description)
  if (meta?.examples) json.examples = [...(meta.examples as unknown[])]
  // Whole objects and lists contain the defaults of their parts.
  const { defaultValue } = definition
  if (definition.type === 'default' && typeof defaultValue !== 'object') json.default = defaultValue
  // The largest whole number is a limit of the language, not of the format.
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
}

/** Returns the schema of a file. `$schema` is allowed in each object that is a whole file. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => completeJsonSchema(zodSchema, jsonSchema as JsonSchema),
  }) as JsonSchema
  for (const one of json.anyOf ?? [json]) {
    if (one.type !== 'object') continue
    one.properties = { $schema: NOTE, ...one.properties }
  }
  return { $schema: DRAFT, ...json }
}
