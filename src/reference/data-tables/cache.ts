// What an isolate knows of tables: which contents are in force, trusted as long as a tenant is; and records, which never
// change, since new contents have a new number.

import { now } from '../../kernel/time.ts'
import { TENANT_TRUST_MS, type Tenant } from '../../platform/tenancy.ts'
import type { Resource, ResourceGroup } from '../resource.ts'
import type { Neighbours } from './interpolation.ts'
import type { TableContents } from './store.ts'

/** A row of a table. */
export type FoundRow = {
  readonly start: string
  readonly end: string | null
  readonly line: number
  readonly cells: readonly string[]
}

/** A table that a look-up may mean. */
export type Candidate = Resource & { readonly contents: TableContents }

export type Candidates = {
  readonly tables: readonly Candidate[]
  readonly groups: readonly ResourceGroup[]
}

const scopeOf = ({ locator, generation }: Pick<Tenant, 'locator' | 'generation'>): string =>
  `${locator}/${generation}`

const MOST_NAMES = 1_000
const candidatesByName = new Map<string, { candidates: Candidates; readAt: number }>()

export function knownCandidates(tenant: Tenant, name: string): Candidates | undefined {
  const known = candidatesByName.get(`${scopeOf(tenant)}/${name}`)
  return known && now() - known.readAt < TENANT_TRUST_MS ? known.candidates : undefined
}

/** `readAt`: before they were asked for, so that nothing is trusted for longer. */
export function keepCandidates(tenant: Tenant, name: string, candidates: Candidates, readAt: number): void {
  if (candidatesByName.size >= MOST_NAMES) candidatesByName.clear()
  candidatesByName.set(`${scopeOf(tenant)}/${name}`, { candidates, readAt })
}

/** After a change of the tenant's resources or groups; other isolates find out within seconds. */
export function forgetTables(tenant: Tenant): void {
  const prefix = `${scopeOf(tenant)}/`
  for (const key of candidatesByName.keys()) if (key.startsWith(prefix)) candidatesByName.delete(key)
}

/** Characters of records that an isolate keeps. */
const MOST_CHARACTERS = 4 * 1_048_576
const ENTRY_CHARACTERS = 100

/** A row, its absence, or the rows next to a bound. */
type Kept = FoundRow | Neighbours | null
type Entry = { readonly kept: Kept; readonly characters: number }
/** In the order of use: the first was used the longest ago. */
const entries = new Map<string, Entry>()
let characters = 0

const entryName = (
  tenant: Tenant,
  kind: 'row' | 'near',
  contents: number,
  key: string,
  bound: string,
): string => `${scopeOf(tenant)}/${kind}/${contents}/${bound}/${key}`

function known(name: string): Kept | undefined {
  const entry = entries.get(name)
  if (!entry) return undefined
  entries.delete(name)
  entries.set(name, entry)
  return entry.kept
}

function keep(name: string, kept: Kept, cells: readonly (readonly string[])[]): void {
  const length = cells.flat().reduce((sum, cell) => sum + cell.length, 0)
  const size = ENTRY_CHARACTERS + name.length + length
  characters += size - (entries.get(name)?.characters ?? 0)
  entries.delete(name)
  entries.set(name, { kept, characters: size })
  for (const [oldest, entry] of entries) {
    if (characters <= MOST_CHARACTERS) break
    entries.delete(oldest)
    characters -= entry.characters
  }
}

/** Null: it is known that there is none. */
export const knownRow = (
  tenant: Tenant,
  contents: number,
  key: string,
  bound: string,
): FoundRow | null | undefined =>
  known(entryName(tenant, 'row', contents, key, bound)) as FoundRow | null | undefined

export const keepRow = (
  tenant: Tenant,
  contents: number,
  key: string,
  bound: string,
  row: FoundRow | null,
): void => keep(entryName(tenant, 'row', contents, key, bound), row, row ? [row.cells] : [])

export const knownNeighbours = (
  tenant: Tenant,
  contents: number,
  key: string,
  bound: string,
): Neighbours | undefined => known(entryName(tenant, 'near', contents, key, bound)) as Neighbours | undefined

export const keepNeighbours = (
  tenant: Tenant,
  contents: number,
  key: string,
  bound: string,
  near: Neighbours,
): void =>
  keep(
    entryName(tenant, 'near', contents, key, bound),
    near,
    [...near.below, ...near.above].map(({ cells }) => cells),
  )
