// What an isolate knows of tables: which contents are in force, trusted as long as a tenant is; and records, which never
// change, since new contents have a new number.

import { BoundedCache } from '../../kernel/maps.ts'
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

type ReadCandidates = { readonly candidates: Candidates; readonly readAt: number }
const candidatesByName = new BoundedCache<ReadCandidates>(1_000)

export function knownCandidates(tenant: Tenant, name: string): Candidates | undefined {
  const known = candidatesByName.get(`${scopeOf(tenant)}/${name}`)
  return known && now() - known.readAt < TENANT_TRUST_MS ? known.candidates : undefined
}

/** `readAt`: the time before they were asked for, so that nothing is trusted for longer. */
export function keepCandidates(tenant: Tenant, name: string, candidates: Candidates, readAt: number): void {
  candidatesByName.set(`${scopeOf(tenant)}/${name}`, { candidates, readAt })
}

/** After a change of the tenant's resources or groups; other isolates find out within seconds. */
export function forgetTables(tenant: Tenant): void {
  const prefix = `${scopeOf(tenant)}/`
  for (const key of [...candidatesByName.keys()]) if (key.startsWith(prefix)) candidatesByName.delete(key)
}

/** Characters of an entry beside its name and cells. */
const ENTRY_CHARACTERS = 100

/** Sized by their characters. Null means that there is no such row. */
const rows = new BoundedCache<FoundRow | null>(3 * 1_048_576)
const neighbours = new BoundedCache<Neighbours>(1_048_576)

/** The row that has the key, and in a range table the greatest start up to the bound. */
type RowName = readonly [tenant: Tenant, contents: number, key: string, bound: string]

const nameOf = ([tenant, contents, key, bound]: RowName): string =>
  `${scopeOf(tenant)}/${contents}/${bound}/${key}`

const sizeOf = (name: string, cells: readonly (readonly string[])[]): number =>
  cells.flat().reduce((sum, cell) => sum + cell.length, ENTRY_CHARACTERS + name.length)

export const knownRow = (...name: RowName): FoundRow | null | undefined => rows.get(nameOf(name))

export function keepRow(...[tenant, contents, key, bound, row]: [...RowName, row: FoundRow | null]): void {
  const name = nameOf([tenant, contents, key, bound])
  rows.set(name, row, sizeOf(name, row ? [row.cells] : []))
}

export const knownNeighbours = (...name: RowName): Neighbours | undefined => neighbours.get(nameOf(name))

export function keepNeighbours(
  ...[tenant, contents, key, bound, near]: [...RowName, near: Neighbours]
): void {
  const name = nameOf([tenant, contents, key, bound])
  neighbours.set(
    name,
    near,
    sizeOf(
      name,
      [...near.below, ...near.above].map(({ cells }) => cells),
    ),
  )
}
