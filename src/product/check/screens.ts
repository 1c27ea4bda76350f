import type { FieldDefinition } from '../configuration.ts'
import type { FileIndex } from './file-index.ts'
import { readJsonFile } from './json/decode.ts'
import type { JsonPath } from './json/read.ts'
import type { Report } from './report.ts'

/** Names that a card may show without a field of that name: the policyholder's locator. */
const BUILT_IN_CARD_NAMES: readonly string[] = ['policyholder_id']

/**
 * The form and the card of a policyholder bind screens only, so they are read loosely: what is checked is that
 * the fields they show are in the dictionary.
 */
export function checkScreens(files: FileIndex, fields: readonly FieldDefinition[], report: Report): void {
  const defined = fields.map(field => field.name)
  const screens = [
    ['policyholder/policyholder.form.json', new Set(defined)],
    ['policyholder/policyholder.card.json', new Set([...defined, ...BUILT_IN_CARD_NAMES])],
  ] as const
  for (const [path, names] of screens) {
    const file = files.take(path)
    const document = file && readJsonFile(file, report)
    if (document === undefined) continue
    for (const shown of shownFields(document.value, []))
      if (!names.has(shown.name))
        report.warning(
          document.place(shown.path),
          'unknownFormField',
          `'${shown.name}' is not in policyholder.dictionary.json. Define the field there or correct the name.`,
        )
  }
}

type ShownField = { name: string; path: JsonPath }

/** Names under `fields` and `visibleIf`, and those between `{{` and `}}`. */
function* shownFields(value: unknown, path: JsonPath): Generator<ShownField> {
  if (typeof value === 'string') {
    for (const match of value.matchAll(/\{\{([^{}]*)\}\}/g)) yield { name: match[1]!.trim(), path }
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(key) : key]
    if (key === 'fields' && Array.isArray(child))
      for (const [index, field] of child.entries()) {
        const name = typeof field === 'object' ? field?.name : field
        if (typeof name === 'string') yield { name, path: [...at, index] }
      }
    if (key === 'visibleIf' && typeof child === 'object' && child !== null)
      for (const name of Object.keys(child)) yield { name, path: [...at, name] }
    yield* shownFields(child, at)
  }
}
