// Data tables and range tables as the Worker serves them.
import { eq } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import type { Upload } from '../../platform/http/body/upload.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { tenants } from '../../platform/tenancy/control-tables.ts'
import { controlDatabase, forgetTenants } from '../../platform/tenancy.ts'
import { newestConfiguration } from '../../product/cache.ts'
import type { RangeTableDeclaration, TableDeclaration } from '../../product/resources.ts'
import {
  downloadOf,
  type NewTable,
  newTable,
  type ReadTable,
  replacedTable,
  uploaded,
} from '../table-upload.ts'
import type { RangeRecordQuery, RecordQuery, TableLookupResponse } from './contract.ts'
import type { TableKind } from './layout.ts'
import { abandon, loadTable, unreadTimer } from './loading.ts'
import { readRecord } from './record.ts'
import { loadedRows, loadingGuard } from './store.ts'

/** A new table. 409 for a name that exists, or a static name of another type; 400 with the problems of the file. */
export const createTable = (
  kind: TableKind,
  table: NewTable,
  file: Upload,
  context: RequestContext,
): Promise<JsonText> => uploaded(newTable(kind, table, context), file, context, loadingOf(kind, context))

/** Other contents of the table; all else of it stays. Readers see the old ones until the new ones are whole. */
export const replaceTable = (
  kind: TableKind,
  name: string,
  file: Upload,
  context: RequestContext,
): Promise<JsonText> => uploaded(replacedTable(kind, name), file, context, loadingOf(kind, context))

export const downloadTable = (kind: TableKind, name: string, context: RequestContext): Promise<Response> =>
  downloadOf(kind, name, context)

export async function showRecord(
  kind: TableKind,
  name: string,
  query: RecordQuery | RangeRecordQuery,
  context: RequestContext,
): Promise<TableLookupResponse> {
  const { byStaticName, date, jurisdiction, key: keys } = query
  const at = date ?? context.now
  const bound = 'boundValue' in query ? query.boundValue : undefined
  const { record } = await readRecord(context, { kind, name, byStaticName, at, jurisdiction, keys, bound })
  return { value: { ...record } }
}

/** The rows go into the database beside those that are read; the commit makes them the table's. */
const loadingOf =
  (kind: TableKind, context: RequestContext) =>
  async (revision: Uuid, sizeBytes: number, staticName: string, database: Database): Promise<ReadTable> => {
    const declared = await declarationOf(kind, staticName, context)
    const { contents, rowCount, warnings } = await loadTable(context, database, {
      revision,
      sizeBytes,
      kind,
      declared,
    })
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

/** Has rating ask for the tenant's tables from now on. Comes before the first table, so that no rating misses it. */
async function markHasTables({ env, tenant, calls }: RequestContext): Promise<void> {
  if (tenant.hasTables) return
  const database = controlDatabase(env, calls)
  await database.batch([
    database.build.update(tenants).set({ hasTables: true }).where(eq(tenants.locator, tenant.locator)),
  ])
  forgetTenants()
}

/** What the newest configuration says of the static name; undefined when it, or a configuration, says nothing. */
export async function declarationOf(
  kind: TableKind,
  staticName: string,
  context: RequestContext,
): Promise<TableDeclaration | RangeTableDeclaration | undefined> {
  const { tables = {}, rangeTables = {} } = (await newestConfiguration(context))?.resources ?? {}
  const declared = kind === 'table' ? tables : rangeTables
  return Object.hasOwn(declared, staticName) ? declared[staticName] : undefined
}
