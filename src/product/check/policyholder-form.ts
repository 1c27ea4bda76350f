// The policyholder form of an archive: which fields a screen shows, in which order, and which of them it requires (brief 7).
import type { PolicyholderFormField } from '../configuration.ts'
import { text } from './json/scalars.ts'

/** Reads the fields of policyholder.form.json, in order. Ignores whatever is not a field, because checks do not reject it. */
export function readPolicyholderForm(document: unknown): PolicyholderFormField[] {
  const byName = new Map<string, PolicyholderFormField>()
  for (const field of fieldsIn(document)) if (!byName.has(field.name)) byName.set(field.name, field)
  return [...byName.values()]
}

function* fieldsIn(value: unknown): Generator<PolicyholderFormField> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value))
    if (key === 'fields' && Array.isArray(child)) yield* child.flatMap(readField)
    else yield* fieldsIn(child)
}

function readField(entry: unknown): PolicyholderFormField[] {
  if (typeof entry === 'string') return [{ name: entry, isRequired: false, conditions: [] }]
  if (typeof entry !== 'object' || entry === null || !('name' in entry) || typeof entry.name !== 'string')
    return []
  const { name, prompt, required, visibleIf } = entry as { name: string } & Record<string, unknown>
  const conditions = typeof visibleIf === 'object' && visibleIf !== null ? Object.entries(visibleIf) : []
  return [
    {
      name,
      ...(typeof prompt === 'string' && prompt.trim() !== '' && { prompt: prompt.trim() }),
      isRequired: required === true,
      conditions: conditions.map(([field, values]) => ({ field, values: textsIn(values) })),
    },
  ]
}

/** Returns the one value or those of a list, without what is not a scalar. */
const textsIn = (values: unknown): string[] =>
  [values].flat().flatMap(value => {
    const read = text.safeParse(value)
    return read.success ? [read.data] : []
  })
