// The meaning of a file's columns, by the declaration of the static name or else by the names in the header (resources brief 1.2).
import type { ColumnType, RangeTableDeclaration, TableDeclaration } from '../../product/resources.ts'
import type { Notes } from './notes.ts'

export type TableKind = 'table' | 'rangeTable'

export type AnyDeclaration = TableDeclaration | RangeTableDeclaration

export type Column = { readonly name: string; readonly type: ColumnType }

/** How the rows of one file are read. It is stored with the file, and a later declaration does not change it. */
export type TableLayout = {
  /** In the order of the file and of the cells in each row. */
  readonly columns: readonly Column[]
  /** Indexes of the key columns, in the order of the values in look-ups. */
  readonly keys: readonly number[]
  /** Indexes of the bounds. Without an end, a row applies until the next start. */
  readonly range?: { readonly start: number; readonly end?: number }
}

export type ReadLayout = {
  readonly layout: TableLayout
  /** Whether a repeated key is a problem. If false, the first row with a key counts. */
  readonly isKeyUnique: boolean
}

const UNDECLARED_BOUNDS = { rangeStart: 'rangeStart', rangeEnd: 'rangeEnd' } as const

/** Returns the layout of a header at `line`; undefined if it has problems, which are noted. */
export function layoutOf(
  header: readonly string[],
  line: number,
  kind: TableKind,
  declared: AnyDeclaration | undefined,
  notes: Notes,
): ReadLayout | undefined {
  const before = notes.problems.length
  const known = declared?.columns.map(({ name }) => name) ?? undeclaredNames(header, kind)
  const names = spellAsDeclared(header, known, line, notes)
  const unnamed = names.indexOf('')
  if (unnamed >= 0) notes.problem(line, `Column ${unnamed + 1} of the header has no name; name it.`)
  const repeated = names.find((name, at) => name !== '' && names.indexOf(name) !== at)
  if (repeated !== undefined)
    notes.problem(line, `The header contains the column '${repeated}' twice; rename one of them.`)
  for (const name of declared ? known : [])
    if (!names.includes(name)) notes.problem(line, `The declared column '${name}' is missing; add it.`)
  const { rangeStart, rangeEnd } = (declared as RangeTableDeclaration | undefined) ?? UNDECLARED_BOUNDS
  const range = kind === 'rangeTable' ? boundsOf(names, rangeStart, rangeEnd) : undefined
  if (kind === 'rangeTable' && !declared && !range)
    notes.problem(
      line,
      `A range table needs a column '${rangeStart}'; add it, or declare the table in config.json.`,
    )
  if (notes.problems.length > before) return undefined
  const typeOf = (name: string): ColumnType =>
    declared?.columns.find(column => column.name === name)?.dataType ?? 'string'
  const bounds = [range?.start, range?.end]
  const columns = names.map((name, at) => ({
    name,
    type: bounds.includes(at) && typeOf(name) === 'string' ? ('decimal' as const) : typeOf(name),
  }))
  const declaredKeys = declared?.columns.filter(({ isKey }) => isKey).map(({ name }) => names.indexOf(name))
  const isDeclared = declaredKeys !== undefined && (declaredKeys.length > 0 || kind === 'rangeTable')
  return {
    layout: {
      columns,
      keys: isDeclared ? declaredKeys.filter(at => !bounds.includes(at)) : guessKeys(names, bounds),
      ...(range && { range }),
    },
    isKeyUnique: isDeclared,
  }
}

/** Names that are accepted in any case even if nothing is declared, as in `Key,Value`. */
function undeclaredNames(header: readonly string[], kind: TableKind): string[] {
  if (kind === 'rangeTable') return Object.values(UNDECLARED_BOUNDS)
  const lower = header.map(name => name.toLowerCase())
  return lower.length === 2 && lower.includes('key') && lower.includes('value') ? ['key', 'value'] : []
}

/** Replaces names that differ only in case from declared ones with their declared spelling. */
function spellAsDeclared(
  header: readonly string[],
  known: readonly string[],
  line: number,
  notes: Notes,
): string[] {
  return header.map(name => {
    if (known.includes(name)) return name
    const match = known.find(one => one.toLowerCase() === name.toLowerCase() && !header.includes(one))
    if (match === undefined) return name
    notes.warn(line, `The column '${name}' is read as '${match}'; write it that way.`)
    return match
  })
}

function boundsOf(
  names: readonly string[],
  rangeStart: string,
  rangeEnd: string | undefined,
): TableLayout['range'] | undefined {
  const start = names.indexOf(rangeStart)
  if (start < 0) return undefined
  const end = rangeEnd === undefined ? -1 : names.indexOf(rangeEnd)
  return end < 0 ? { start } : { start, end }
}

/**
 * Returns the keys of an undeclared table: all columns but `value`, or the first one if there is no `value`. Bounds are never keys,
 * so a range table may have no key.
 */
function guessKeys(names: readonly string[], bounds: readonly (number | undefined)[]): number[] {
  const places = [...names.keys()]
  if (names.includes('value')) return places.filter(at => names[at] !== 'value' && !bounds.includes(at))
  return bounds.includes(0) ? [] : [0]
}

/** Returns a declaration with which the file is read in the same way again. */
export function declarationFor({ columns, keys, range }: TableLayout): AnyDeclaration {
  const rest = [...columns.keys()].filter(at => !keys.includes(at))
  const nameOf = (at: number): string => columns[at]!.name
  return {
    columns: [...keys, ...rest].map(at => ({
      name: nameOf(at),
      dataType: columns[at]!.type,
      isKey: keys.includes(at),
    })),
    selectionTimeBasis: 'currentTime',
    ...(range && {
      rangeStart: nameOf(range.start),
      ...(range.end !== undefined && { rangeEnd: nameOf(range.end) }),
    }),
  }
}

/** Limits of a table (resources brief 1.2). */
export const LARGEST_TABLE_BYTES = 100 * 1_048_576
export const MOST_ROWS = 1_000_000
