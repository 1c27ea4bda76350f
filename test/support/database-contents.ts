// What the databases of a data folder hold, so that two runs can be compared: locators aside, which are random or taken from
// a sequence, and the times of the run itself. For tests of the kind `process`, on Node, of a service that does not run.
import { createHash } from 'node:crypto'
import { openStores } from '../../scripts/databases.ts'

type Row = { readonly table: string; readonly cells: readonly string[] }

export type Leave = {
  /** Tables that are not compared. */
  readonly tables: ReadonlySet<string>
  /** Columns, as `table.column`. */
  readonly columns: ReadonlySet<string>
}

/** Locators: UUIDs, and digits from 100,000,000 on; times are longer, amounts shorter. */
const LOCATOR = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![\d.])\d{9,11}(?![\d.])/g
const MILLISECONDS = /(?<![\d.])\d{13}(?![\d.])/g
const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

const ROUNDS = 6

/**
 * A line for each row, sorted: the same for databases that differ in locators and times of the run only. A locator stands as
 * what is said of it: where it lies in which rows, with what beside it, and so on from there.
 */
export async function databaseContents(
  dataFolder: string,
  tenant: { readonly tenantLocator: string; readonly tenantName: string },
  since: number,
  leave: Leave,
): Promise<string[]> {
  const until = Date.now()
  const isNow = (ms: number): boolean => ms >= since && ms <= until
  const rows = await rowsOf(dataFolder, tenant.tenantLocator, leave)
  const timeless = rows.map(
    ({ table, cells }): Row => ({
      table,
      cells: cells.map(cell =>
        cell
          .replace(MILLISECONDS, text => (isNow(Number(text)) ? 'now' : text))
          .replace(ISO_TIME, text => (isNow(Date.parse(text)) ? 'now' : text)),
      ),
    }),
  )
  let labels = new Map<string, string>()
  const shown = ({ table, cells }: Row): string =>
    `${table}: ${cells.map(cell => cell.replace(LOCATOR, text => `<${labels.get(text) ?? ''}>`)).join(' | ')}`
  for (let round = 0; round < ROUNDS; round += 1) {
    const said = new Map<string, string[]>()
    for (const row of timeless) {
      const whole = shown(row)
      for (const [column, cell] of row.cells.entries())
        for (const { 0: locator, index } of cell.matchAll(LOCATOR)) {
          const before = cell.slice(0, index).replace(LOCATOR, '').length
          const list = said.get(locator) ?? []
          list.push(`${column} ${before} ${whole}`)
          said.set(locator, list)
        }
    }
    labels = new Map([...said].map(([locator, list]) => [locator, digest(list.sort().join('\n'))]))
  }
  return timeless.map(shown).sort()
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

/** Every row of every database of a tenant, and the names of its files. */
async function rowsOf(dataFolder: string, tenant: string, leave: Leave): Promise<Row[]> {
  const stores = await openStores(dataFolder)
  try {
    const { results: bound } = await stores.env.CONTROL.prepare(
      'select binding from shard where tenant_locator = ? order by number',
    )
      .bind(tenant)
      .all<{ binding: string }>()
    const rows: Row[] = []
    for (const { binding } of bound) {
      const database = (stores.env as unknown as Record<string, D1Database>)[binding]!
      const { results: tables } = await database
        .prepare(`select name from sqlite_master where type = 'table' order by name`)
        .all<{ name: string }>()
      for (const { name: table } of tables) {
        if (leave.tables.has(table) || /^(sqlite|_cf)_/.test(table)) continue
        const { results } = await database.prepare(`select * from "${table}"`).all()
        for (const row of results) {
          const kept = Object.entries(row).filter(([column]) => !leave.columns.has(`${table}.${column}`))
          rows.push({ table, cells: kept.map(([column, value]) => `${column}=${String(value)}`) })
        }
      }
    }
    const { objects } = await stores.env.FILES.list()
    const files = objects.filter(({ key }) => key.includes(tenant))
    return [...rows, ...files.map(({ key }) => ({ table: 'files', cells: [key] }))]
  } finally {
    await stores.close()
  }
}
