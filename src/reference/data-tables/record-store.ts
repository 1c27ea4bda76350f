// Look-ups: their queries (the candidate tables and the row in one round trip), and the isolate's cache of their results.
import { and, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import { BoundedCache } from '../../kernel/maps.ts'
import { isWithinLast } from '../../kernel/time.ts'
import { type Database, statement } from '../../platform/database.ts'
import { scope, TENANT_TRUST_MS, type Tenant } from '../../platform/tenancy.ts'
import { COLUMN_TYPES } from '../../product/resources.ts'
import { KEY_SEPARATOR } from '../../product/templates/effects.ts'
import type { Resource, ResourceGroup } from '../resource.ts'
import { candidateQueries, candidatesOf } from '../store.ts'
import { resourceGroupMembers, resourceGroups, resources, tableContents, tableRows } from '../tables.ts'
import type { Neighbour, Neighbours } from './interpolation.ts'
import type { TableKind } from './layout.ts'
import type { TableContents } from './store.ts'
import { TYPE_RULES } from './values.ts'

export type FoundRow = {
  readonly start: string
  readonly end: string | null
  readonly line: number
  readonly cells: readonly string[]
}

/** A table that a look-up may refer to. */
export type Candidate = Resource & { readonly contents: TableContents }

export type Candidates = {
  readonly tables: readonly Candidate[]
  readonly groups: readonly ResourceGroup[]
}

/** A request for rows in the tables of a kind with this name or static name. */
type WantedRows = {
  readonly kind: TableKind
  readonly name: string
  readonly byStaticName: boolean
  /** Key values in order, as received. */
  readonly keys: readonly string[]
  /** The sortable bound for a range table; otherwise empty. */
  readonly bound: string
}

type Row = { contents: number; start: string; end: string | null; line: number; cells: string }

const foundRow = ({ start, end, line, cells }: Row): FoundRow => ({
  start,
  end,
  line,
  cells: JSON.parse(cells) as string[],
})

const contentsInForce = ({ build }: Database, which: SQL | undefined) =>
  build
    .select()
    .from(tableContents)
    .where(
      and(
        inArray(
          tableContents.revision,
          build.select({ revision: resources.revision }).from(resources).where(which),
        ),
        eq(tableContents.state, 'loaded'),
      ),
    )

/**
 * Returns all tables of the name with their groups, and from each the row with the keys; in a range table, the row with the
 * greatest start up to the bound. Only the database knows the types of the key columns before the query, so it gets every form of
 * each value.
 */
export async function findTablesAndRows(
  database: Database,
  { kind, name, byStaticName, keys, bound }: WantedRows,
): Promise<{ candidates: Candidates; rows: ReadonlyMap<number, FoundRow> }> {
  const selection = and(
    eq(byStaticName ? resources.staticName : resources.name, name),
    eq(resources.type, kind),
  )
  const forms = JSON.stringify(
    keys.map(text => Object.fromEntries(COLUMN_TYPES.map(type => [type, TYPE_RULES[type].canonical(text)]))),
  )
  const separator = KEY_SEPARATOR.charCodeAt(0)
  const [, groups, members, found, contents, rows] = await database.batch([
    ...candidateQueries(database, byStaticName ? [name] : []),
    database.build.select().from(resources).where(selection),
    contentsInForce(database, selection),
    database.build.all<Row>(sql`
      with wanted as (
        select ${tableContents.number} as number, coalesce((
          select group_concat(json_extract(${forms}, '$[' || part.key || '].' || part.value), char(${separator}) order by part.key)
          from json_each(${tableContents.keyTypes}) as part), '') as key
        from ${resources}
        join ${tableContents} on ${tableContents.revision} = ${resources.revision} and ${tableContents.state} = 'loaded'
        where ${selection})
      select found.contents as "contents", found."start" as "start", found."end" as "end", found.line as "line", found.cells as "cells"
      from wanted join ${tableRows} as found
        on found.contents = wanted.number and found."key" = wanted.key and found."start" = (
          select max("start") from ${tableRows} where contents = wanted.number and "key" = wanted.key and "start" <= ${bound})`),
  ])
  const tables = withContents(found as Resource[], contents)
  return {
    candidates: { tables, groups: candidatesOf([[], groups, members]).groups },
    rows: new Map((rows as unknown as Row[]).map(row => [row.contents, foundRow(row)])),
  }
}

function withContents(
  found: readonly Resource[],
  contents: readonly (typeof tableContents.$inferSelect)[],
): Candidate[] {
  const byRevision = new Map(contents.map(content => [content.revision, content as unknown as TableContents]))
  return found.flatMap(one => {
    const own = byRevision.get(one.revision)
    return own ? [{ ...one, contents: own }] : []
  })
}

const LOADED = statement(build =>
  build
    .select({ number: tableContents.number })
    .from(tableContents)
    .where(and(eq(tableContents.number, sql.placeholder('contents')), eq(tableContents.state, 'loaded'))),
)

const ROW = statement(build =>
  build.all<Row>(sql`
    select contents as "contents", "start", "end", line as "line", cells as "cells" from ${tableRows}
    where contents = ${sql.placeholder('contents')} and "key" = ${sql.placeholder('key')}
      and "start" <= ${sql.placeholder('bound')} order by "start" desc limit 1`),
)

/** Returns a row of known contents; 'gone' if the contents are no longer loaded. */
export async function findRow(
  database: Database,
  contents: number,
  key: string,
  bound: string,
): Promise<FoundRow | null | 'gone'> {
  const [loaded, rows] = await database.batch([
    database.bind(LOADED, { contents }),
    database.bind(ROW, { contents, key, bound }),
  ])
  if (loaded.length === 0) return 'gone'
  const [row] = rows as unknown as Row[]
  return row ? foundRow(row) : null
}

/** Returns all data tables and range tables of the tenant, with every group that contains one, in one round trip. */
export async function findAllTables(database: Database): Promise<Candidates> {
  const isTable = inArray(resources.type, ['table', 'rangeTable'])
  const [found, contents, groups, members] = await database.sharedBatch([
    database.build.select().from(resources).where(isTable),
    contentsInForce(database, isTable),
    database.build.select().from(resourceGroups).where(eq(resourceGroups.retired, false)),
    database.build
      .select(getTableColumns(resourceGroupMembers))
      .from(resourceGroupMembers)
      .innerJoin(resources, eq(resources.name, resourceGroupMembers.resourceName))
      .where(isTable),
  ])
  return {
    tables: withContents(found as Resource[], contents),
    groups: candidatesOf([[], groups, members]).groups,
  }
}

/** Returns the existing rows of data tables by `contents/key`, in one round trip. */
export async function findRows(
  database: Database,
  wanted: readonly { readonly contents: number; readonly key: string }[],
): Promise<ReadonlyMap<string, FoundRow>> {
  const json = JSON.stringify(wanted.map(({ contents, key }) => [contents, key]))
  const [rows] = await database.batch([
    database.build.all<Row & { key: string }>(sql`
      select found.contents as "contents", found."key" as "key", found."start" as "start", found."end" as "end",
        found.line as "line", found.cells as "cells"
      from json_each(${json}) as wanted cross join ${tableRows} as found
        on found.contents = wanted.value ->> 0 and found."key" = wanted.value ->> 1 and found."start" = ''`),
  ])
  return new Map(
    (rows as unknown as (Row & { key: string })[]).map(row => [`${row.contents}/${row.key}`, foundRow(row)]),
  )
}

export type WantedNeighbours = {
  readonly contents: number
  readonly key: string
  readonly bound: string
}

/** Returns the key under which `findNeighbours` returns the result. */
export const neighboursKey = ({ contents, key, bound }: WantedNeighbours): string =>
  `${contents}/${bound}/${key}`

/** Returns for each bound the two rows with the nearest starts up to it, and the two from it on, in one round trip. */
export async function findNeighbours(
  database: Database,
  wanted: readonly WantedNeighbours[],
): Promise<ReadonlyMap<string, Neighbours>> {
  const json = JSON.stringify(wanted.map(({ contents, key, bound }) => [contents, key, bound]))
  const side = (comparison: SQL, order: SQL): SQL => sql`
    select wanted.key as "at", found."start" as "start", found."end" as "end", found.cells as "cells"
    from json_each(${json}) as wanted cross join ${tableRows} as found on found.rowid in (
      select near.rowid from ${tableRows} as near
      where near.contents = wanted.value ->> 0 and near."key" = wanted.value ->> 1
        and near."start" ${comparison} wanted.value ->> 2
      order by near."start" ${order} limit 2)
    order by 1, found."start" ${order}`
  type Near = { at: number; start: string; end: string | null; cells: string }
  const [below, above] = await database.batch([
    database.build.all<Near>(side(sql`<=`, sql`desc`)),
    database.build.all<Near>(side(sql`>=`, sql`asc`)),
  ])
  const of = (rows: unknown, at: number, bound: string): Neighbour[] =>
    (rows as Near[])
      .filter(row => row.at === at)
      .map(({ end, cells }) => ({
        cells: JSON.parse(cells) as string[],
        holds: end === null || bound <= end,
      }))
  return new Map(
    wanted.map((one, at) => [
      neighboursKey(one),
      { below: of(below, at, one.bound), above: of(above, at, one.bound) },
    ]),
  )
}

// The isolate's cache: the contents in force, which are trusted as long as a tenant record, and table records. These never change,
// because new contents get a new number.

type ReadCandidates = { readonly candidates: Candidates; readonly readAt: number }
const candidatesByName = new BoundedCache<ReadCandidates>(1_000)

/** Returns the tables of that name if this isolate read them in the last 5 s, otherwise undefined. */
export function knownCandidates(tenant: Tenant, name: string): Candidates | undefined {
  const entry = candidatesByName.get(`${scope(tenant)}/${name}`)
  return entry && isWithinLast(TENANT_TRUST_MS, entry.readAt) ? entry.candidates : undefined
}

/** `readAt` is the time before the query, so that nothing is trusted for too long. */
export function keepCandidates(tenant: Tenant, name: string, candidates: Candidates, readAt: number): void {
  candidatesByName.set(`${scope(tenant)}/${name}`, { candidates, readAt })
}

/**
 * Makes this isolate read the tables again. Call it after a change of the tenant's resources or groups; other isolates see the
 * change within seconds.
 */
export function forgetTables(tenant: Tenant): void {
  const prefix = `${scope(tenant)}/`
  for (const key of [...candidatesByName.keys()]) if (key.startsWith(prefix)) candidatesByName.delete(key)
}

/** The characters of an entry in addition to its name and cells. */
const ENTRY_CHARACTERS = 100

/** Identifies a looked-up record: a key and, in a range table, a sortable bound. */
type RecordName = readonly [tenant: Tenant, contents: number, key: string, bound: string]

/** A cache for results of look-ups, sized by their characters. */
function foundCache<Found>(
  mostCharacters: number,
  cellsOf: (found: Found) => readonly (readonly string[])[],
) {
  const cache = new BoundedCache<Found>(mostCharacters)
  const nameOf = ([tenant, contents, key, bound]: RecordName): string =>
    `${scope(tenant)}/${contents}/${bound}/${key}`
  return {
    get: (...name: RecordName) => cache.get(nameOf(name)),
    keep(found: Found, ...record: RecordName): void {
      const name = nameOf(record)
      const cells = cellsOf(found).flat()
      cache.set(
        name,
        found,
        cells.reduce((sum, cell) => sum + cell.length, ENTRY_CHARACTERS + name.length),
      )
    },
  }
}

/** The row of the key; in a range table, the row with the greatest start up to the bound. Null if there is none. */
export const knownRows = foundCache<FoundRow | null>(3 * 1_048_576, row => (row ? [row.cells] : []))

export const knownNeighbours = foundCache<Neighbours>(1_048_576, ({ below, above }) =>
  [...below, ...above].map(({ cells }) => cells),
)
