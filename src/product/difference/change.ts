// What differs between two configurations, in the words of their authors. Plain data: the command line prints it, and an endpoint
// can answer with it.
import { sameText } from './values.ts'

/** In the order in which they are shown. */
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

/** Lines of two texts that differ, with the number of the first one on each side; `removed` comes before `added`. */
export type Hunk = {
  readonly oldLine: number
  readonly newLine: number
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** `percent` is there where both are numbers and the first is not zero. */
export type CellChange = {
  readonly column: string
  readonly from: string
  readonly to: string
  readonly percent?: number
}

/** A changed row has the cells that differ, an added or a removed one all of its cells as `row`. */
export type RowChange = { readonly key: readonly string[] } & (
  | { readonly kind: 'changed'; readonly cells: readonly CellChange[] }
  | { readonly kind: 'added' | 'removed'; readonly row: Readonly<Record<string, string>> }
)

export type Change = {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly area: Area
  /** Absent where it concerns all products. */
  readonly product?: string
  /** The file of the archive to look at. */
  readonly path: string
  /** What it is about, such as `field 'usage' of exposure 'vehicle'`. */
  readonly subject: string
  /** What is different, without the subject; empty where `kind` says it all. */
  readonly detail: string
  /**
   * What it means for policies in force. `breaks`: what they have cannot be read any more, so they stay on their version.
   * `binds`: their data is refused as it is when it is next changed, renewed or upgraded.
   */
  readonly inForce?: { readonly effect: 'breaks' | 'binds'; readonly why: string }
  readonly rows?: readonly RowChange[]
  readonly hunks?: readonly Hunk[]
}

/** All changes, and those of them that policies in force cannot follow, or follow when they are next changed. */
export const countsOf = (changes: readonly Change[]) => ({
  count: changes.length,
  breaks: changes.filter(({ inForce }) => inForce?.effect === 'breaks').length,
  binds: changes.filter(({ inForce }) => inForce?.effect === 'binds').length,
})

/** Where a change is, without what it is. */
export type Place = Pick<Change, 'area' | 'path' | 'subject'> & { readonly product?: string }

export const added = (place: Place, detail = ''): Change => ({ ...place, kind: 'added', detail })

export const removed = (place: Place, detail = ''): Change => ({ ...place, kind: 'removed', detail })

export const changed = (place: Place, detail: string): Change => ({ ...place, kind: 'changed', detail })

/** No change, or one that says `what: 'from' becomes 'to'`. Undefined is shown as `none`. */
export const valueChanges = (place: Place, what: string, from: unknown, to: unknown): Change[] =>
  sameText(from, to) ? [] : [changed(place, `${what}: ${shown(from)} becomes ${shown(to)}`)]

export const withInForce = (change: Change, effect: 'breaks' | 'binds', why: string): Change => ({
  ...change,
  inForce: { effect, why },
})

/** A value as authors write it. */
export function shown(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none'
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(shown).join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]) => `${name} ${shown(one)}`)
    .join(', ')
}

/** Pairs what both lists have by name; the order is that of the old list, then of what is new. */
export function paired<T extends { readonly name: string }>(
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

/** What both lists have by name. */
export const bothOf = <T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
): [T, T][] => paired(before, after).flatMap(({ old, now }): [T, T][] => (old && now ? [[old, now]] : []))

/** A record as a list, each entry under its name. */
export const named = <V extends object>(record: Readonly<Record<string, V>>): (V & { name: string })[] =>
  Object.entries(record).map(([name, value]) => ({ ...value, name }))
