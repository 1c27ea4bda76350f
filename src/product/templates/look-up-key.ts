// What a look-up of templates and plugins asks a table for, as one text: its keys, and the column where one is named. The
// sandbox of plugins writes the same (extension/plugins/sandbox/realm.ts).

/** Between the keys of a row in the database; no key has it. */
export const KEY_SEPARATOR = '\u001f'

/** Between the keys and the column; neither has it. */
const COLUMN_SEPARATOR = '\u001e'

export const lookUpKey = (keys: readonly string[], column: string | undefined): string =>
  keys.join(KEY_SEPARATOR) + (column === undefined ? '' : COLUMN_SEPARATOR + column)

export function readLookUpKey(text: string): {
  readonly keys: string[]
  readonly column: string | undefined
} {
  const [keys = '', column] = text.split(COLUMN_SEPARATOR)
  return { keys: keys.split(KEY_SEPARATOR), column }
}

/** For people: `CA, 1 (rate)`. */
export function shownLookUpKey(text: string): string {
  const { keys, column } = readLookUpKey(text)
  return keys.join(', ') + (column === undefined ? '' : ` (${column})`)
}
