import type { TimeZone } from '../../kernel/time.ts'
import type { FieldDefinition } from '../../product/configuration.ts'
import { applicability } from '../../product/fields/validate.ts'
import { readFieldValues } from '../../product/fields/values.ts'
import type { Words } from './words.ts'

type Filled = { readonly before: Words; readonly answer: Words; readonly after: Words }

/**
 * What was filled in, without the request's values of fields whose conditions held before the answer and no longer do. The request
 * could not know; what the answer itself sets stays, and is refused.
 */
export function withoutEnded(
  fields: readonly FieldDefinition[],
  { before, answer, after }: Filled,
  zone: TimeZone,
): Words {
  const answered = answer.fieldValues
  if (typeof answered !== 'object' || answered === null) return after
  const definitions = new Map(fields.map(field => [field.name, field]))
  const [was, is] = [before, after].map(({ fieldValues }) =>
    applicability(definitions, readFieldValues(fieldValues ?? {}).values, zone),
  )
  const ended = fields.filter(
    field =>
      field.conditions.length > 0 &&
      !Object.hasOwn(answered, field.name) &&
      was!.applies(field) &&
      !is!.applies(field),
  )
  const names = new Set(ended.map(({ name }) => name))
  const kept = Object.entries(after.fieldValues as object).filter(([name]) => !names.has(name))
  return names.size === 0 ? after : { ...after, fieldValues: Object.fromEntries(kept) }
}
