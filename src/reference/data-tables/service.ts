// Records of data tables and range tables (resources brief 1.4 and 1.5), and reading their files.
import { eq } from 'drizzle-orm'
import { invalidParameter, notFound, Refusal } from '../../kernel/errors.ts'
import { countText } from '../../kernel/text.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { tenants } from '../../platform/tenancy/control-tables.ts'
import { controlDatabase, forgetTenants, homeDatabase } from '../../platform/tenancy.ts'
import { newestConfiguration } from '../../product/cache.ts'
import { KEY_SEPARATOR } from '../../product/templates/effects.ts'
import { notInForce, selectInForce, unknownStaticName } from '../resource.ts'
import type { RangeRecordQuery, RecordQuery, TableLookupResponse } from './contract.ts'
import type { AnyDeclaration, TableKind, TableLayout } from './layout.ts'
import { abandon, loadTable, type ReadTable, unreadTimer } from './loading.ts'
import * as records from './record-store.ts'
import { loadedRows, loadingGuard } from './store.ts'
import { canonicalDecimal, sortableDecimal, type TableRecord, TYPE_RULES, typedRow } from './values.ts'

/** The table, the time and, for a range table, the bound as received. */
type Wanted = {
  readonly kind: TableKind
  readonly name: string
  readonly byStaticName: boolean
  readonly at: Instant
  readonly jurisdiction?: string | undefined
  readonly bound: string | undefined
}

/**
 * Returns a record. Takes one round trip, or none if the isolate knows the contents in force and the row. Throws 400 for keys that
 * do not fit the table, and 404 `notFound`, `resourceNotInForce` or `tableRecordNotFound`.
 */
export async function showRecord(
  kind: TableKind,
  name: string,
  query: RecordQuery | RangeRecordQuery,
  context: RequestContext,
): Promise<TableLookupResponse> {
  const { byStaticName, date, jurisdiction } = query
  const boundText = 'boundValue' in query ? query.boundValue : undefined
  const wanted = { kind, name, byStaticName, at: date ?? context.now, jurisdiction, bound: boundText }
  const { tenant } = context
  const keys = query.key.map(key => key.trim())
  const bound = kind === 'rangeTable' ? sortableBound(boundText ?? '') : ''
  const nameKey = `${kind}/${byStaticName}/${name}`
  const cached = records.knownCandidates(tenant, nameKey)
  if (cached) {
    const table = selectTable(cached, wanted)
    const key = keyOf(table, keys)
    const { number } = table.contents
    const row =
      records.knownRows.get(tenant, number, key, bound) ??
      (await records.findRow(homeDatabase(context), number, key, bound))
    if (row !== 'gone') {
      records.knownRows.keep(row, tenant, number, key, bound)
      return { value: { ...recordOf(table, row, keys, wanted, bound) } }
    }
    records.forgetTables(tenant)
  }
  const readAt = now()
  const { candidates, rows } = await records.findTablesAndRows(homeDatabase(context), {
    ...wanted,
    keys,
    bound,
  })
  records.keepCandidates(tenant, nameKey, candidates, readAt)
  const table = selectTable(candidates, wanted)
  const key = keyOf(table, keys)
  const row = rows.get(table.contents.number) ?? null
  records.knownRows.keep(row, tenant, table.contents.number, key, bound)
  return { value: { ...recordOf(table, row, keys, wanted, bound) } }
}

function sortableBound(text: string): string {
  const decimal = canonicalDecimal(text.trim())
  if (decimal === undefined) throw invalidParameter(`The boundValue '${text}' is not a plain decimal number.`)
  return sortableDecimal(decimal)
}

/** The table to read. If the same contents were loaded several times, the newest ones. */
function selectTable({ tables, groups }: records.Candidates, wanted: Wanted): records.Candidate {
  const { name, byStaticName, kind } = wanted
  const what = kind === 'table' ? 'table' : 'range table'
  if (tables.length === 0) throw byStaticName ? unknownStaticName(what, name) : notFound(what, name)
  if (!byStaticName) return tables.at(-1)!
  const { chosen: selected } = selectInForce(tables, groups, wanted)
  if (!selected) throw notInForce(name, wanted)
  return selected.resource
}

const keyNames = ({ columns, keys }: TableLayout): string[] => keys.map(at => columns[at]!.name)

/** The keys in the form of stored rows. Rejects too few or too many keys, and values that do not fit their columns. */
function keyOf({ name, contents: { layout, keyTypes } }: records.Candidate, keys: readonly string[]): string {
  const names = keyNames(layout)
  if (keys.length !== names.length)
    throw invalidParameter(
      `The table '${name}' has ${countText(names.length, 'key')} (${names.join(', ')}), but the request has ${keys.length}; send 'key' once for each, in this order.`,
    )
  const parts = keys.map((text, at) => {
    const { canonical, named } = TYPE_RULES[keyTypes[at]!]
    const part = canonical(text)
    if (part === undefined)
      throw invalidParameter(`The key '${names[at]}' of '${name}' must be ${named}, not '${text}'.`)
    return part
  })
  return parts.join(KEY_SEPARATOR)
}

function recordOf(
  { name, contents: { layout } }: records.Candidate,
  row: records.FoundRow | null,
  keys: readonly string[],
  { bound: boundText, kind }: Wanted,
  bound: string,
): TableRecord {
  if (row && (row.end === null || bound <= row.end)) return typedRow(layout, row.cells)
  const named = keyNames(layout).map((column, at) => `${column} '${keys[at]}'`)
  const searched = [...named, ...(kind === 'rangeTable' ? [`bound ${boundText}`] : [])].join(', ')
  throw new Refusal('tableRecordNotFound', `The table '${name}' has no record for ${searched}.`)
}

/** Adds the rows next to the present ones. The commit makes them the table's contents. */
export const readTable =
  (kind: TableKind): ReadTable =>
  async ({ revision, sizeBytes, staticName }, context, database) => {
    const declared = await declarationOf(kind, staticName, context)
    const file = { revision, sizeBytes, kind, declared }
    const { contents, rowCount, warnings } = await loadTable(context, database, file)
    await markHasTables(context).catch(problem => {
      abandon(context, database, contents)
      throw problem
    })
    return {
      warnings,
      guards: [loadingGuard(contents)],
      facts: loadedRows(database, contents, rowCount),
      timersAfter: before => [unreadTimer(before.revision, context.now)],
      abandon: () => abandon(context, database, contents),
    }
  }

/**
 * Makes rating read the tenant's tables from now on. Call it before the first table is recorded, or else a rating could miss that
 * table.
 */
async function markHasTables({ env, tenant, calls }: RequestContext): Promise<void> {
  if (tenant.hasTables) return
  const database = controlDatabase(env, calls)
  await database.batch([
    database.build.update(tenants).set({ hasTables: true }).where(eq(tenants.locator, tenant.locator)),
  ])
  forgetTenants()
}

/** The declaration of the static name in the newest configuration; undefined if there is none. */
async function declarationOf(
  kind: TableKind,
  staticName: string,
  context: RequestContext,
): Promise<AnyDeclaration | undefined> {
  const { tables = {}, rangeTables = {} } = (await newestConfiguration(context))?.resources ?? {}
  const declared = kind === 'table' ? tables : rangeTables
  return Object.hasOwn(declared, staticName) ? declared[staticName] : undefined
}
