// The differences between two configurations, in the terms of their authors. Plain data: the command line prints it, and an
// endpoint can return it.
import { sameText } from './values.ts'

/** In display order. */
export const AREAS = [
  'settings',
  'product',
  'fields',
  'exposures',
  'perils',
  'rates',
  'tables',
  'underwriting',
  'fees',
  'taxes',
  'billing',
  'transactions',
  'documents',
  'plugins',
  'rules',
  'resources',
  'access',
] as const
export type Area = (typeof AREAS)[number]

/** Lines that differ between two texts, with the number of the first one on each side. `removed` comes before `added`. */
export type Hunk = {
  readonly oldLine: number
  readonly newLine: number
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** `percent` is present if both values are numbers and the first is not zero. */
export type CellChange = {
  readonly column: string
  readonly from: string
  readonly to: string
  readonly percent?: number
}

/** A changed row has the cells that differ; an added or removed row has all its cells as `row`. */
export type RowChange = { readonly key: readonly string[] } & (
  | { readonly kind: 'changed'; readonly cells: readonly CellChange[] }
  | { readonly kind: 'added' | 'removed'; readonly row: Readonly<Record<string, string>> }
)

export type Change = {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly area: Area
  /** Absent if the change concerns all products. */
  readonly product?: string
  /** The file in the archive. */
  readonly path: string
  /** What changed, such as `field 'usage' of exposure 'vehicle'`. */
  readonly subject: string
  /** How it changed, without the subject; empty if `kind` says everything. */
  readonly detail: string
  /**
   * The effect on policies in force. `breaks`: their data can no longer be read, so they stay on their version. `binds`: their
   * present data is rejected when they are next changed, renewed or upgraded.
   */
  readonly inForce?: { readonly effect: 'breaks' | 'binds'; readonly why: string }
  readonly rows?: readonly RowChange[]
  readonly hunks?: readonly Hunk[]
}

/** Counts all changes, those that policies in force cannot follow, and those that they must follow when they are next changed. */
export const countsOf = (changes: readonly Change[]) => ({
  count: changes.length,
  breaks: changes.filter(({ inForce }) => inForce?.effect === 'breaks').length,
  binds: changes.filter(({ inForce }) => inForce?.effect === 'binds').length,
})

/** The place of a change. */
export type Place = Pick<Change, 'area' | 'path' | 'subject'> & { readonly product?: string }

export const makeAddition = (place: Place, detail = ''): Change => ({ ...place, kind: 'added', detail })

export const makeRemoval = (place: Place, detail = ''): Change => ({ ...place, kind: 'removed', detail })

export const makeChange = (place: Place, detail: string): Change => ({ ...place, kind: 'changed', detail })

/** Returns no change if the values are equal, or else one that says `what: 'from' becomes 'to'`. Undefined is shown as `none`. */
export const valueChanges = (place: Place, what: string, from: unknown, to: unknown): Change[] =>
  sameText(from, to) ? [] : [makeChange(place, `${what}: ${formatValue(from)} becomes ${formatValue(to)}`)]

/** Adds the effect on policies in force. `why` is a sentence that explains it. */
export const withInForce = (change: Change, effect: 'breaks' | 'binds', why: string): Change => ({
  ...change,
  inForce: { effect, why },
})

/** Formats a value as authors write it. */
export function formatValue(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none'
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(formatValue).join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]) => `${name} ${formatValue(one)}`)
    .join(', ')
}

/** Pairs the entries of two lists by name, in the order of the old list followed by the new entries. */
export function pairByName<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
): { name: string; old: T | undefined; now: T | undefined }[] {
  const later = new Map(after.map(one => [one.name, one]))
  const known = new Set(before.map(({ name }) => name))
  return [
    ...before.map(old => ({ name: old.name, old: old as T | undefined, now: later.get(old.name) })),
    ...after
      .filter(({ name }) => !known.has(name))
      .map(now => ({ name: now.name, old: undefined, now: now as T | undefined })),
  ]
}

/** Pairs of the entries that both lists have, by name. */
export const pairsInBoth = <T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
): [T, T][] => pairByName(before, after).flatMap(({ old, now }): [T, T][] => (old && now ? [[old, now]] : []))

/** Converts a record to a list of its values with their names. */
export const withNames = <V extends object>(record: Readonly<Record<string, V>>): (V & { name: string })[] =>
  Object.entries(record).map(([name, value]) => ({ ...value, name }))
