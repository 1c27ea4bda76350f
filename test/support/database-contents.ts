// What the databases of a data folder hold, so that two runs can be compared: locators aside, which are random or taken from
// a sequence, and the times of the run itself. For tests of the kind `process`, on Node, of a service that does not run.
import { createHash } from 'node:crypto'
import { openStores, type Stores } from '../../scripts/databases.ts'

export type Leave = {
  /** Tables that are not compared. */
  readonly tables: ReadonlySet<string>
  /** Columns, as `table.column`. */
  readonly columns: ReadonlySet<string>
  /** Rows, as `table: column=value | …`. */
  readonly rows: RegExp
}

/** Locators: UUIDs, and digits from 100,000,000 on; times are longer, amounts shorter. */
const LOCATOR =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![0-9a-zA-Z.])\d{9,11}(?![0-9a-zA-Z])/g
const MILLISECONDS = /(?<![\d.])\d{13}(?![\d.])/g
const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

const ROUNDS = 6

/** A row as what it says beside locators, and the locators in their places; both by number. */
type Row = { readonly template: number; readonly locators: readonly number[] }

/** How often each row is there, by what it says; and the row as text. */
export type Contents = {
  readonly rows: number
  /** By text, whatever its locators are of. */
  readonly plain: ReadonlyMap<string, number>
  readonly counts: ReadonlyMap<string, number>
  text(row: string): string
}

/**
 * What the databases hold: the same for those that differ in locators and times of the run only. A locator stands as what is
 * said of it: in which places of which rows it is, with what beside it, and so on from there.
 */
export async function databaseContents(
  dataFolder: string,
  tenant: { readonly tenantLocator: string; readonly tenantName: string },
  since: number,
  leave: Leave,
): Promise<Contents> {
  const until = Date.now()
  const isNow = (ms: number): boolean => ms >= since && ms <= until
  const templates = new Numbers()
  const locators = new Numbers()
  const rows: Row[] = []
  await eachRow(dataFolder, tenant.tenantLocator, leave, text => {
    const own: number[] = []
    const template = text
      .replaceAll(tenant.tenantName, 'tenant')
      .replace(MILLISECONDS, at => (isNow(Number(at)) ? 'now' : at))
      .replace(ISO_TIME, at => (isNow(Date.parse(at)) ? 'now' : at))
      .replace(LOCATOR, locator => {
        own.push(locators.of(locator))
        return '<>'
      })
    rows.push({ template: templates.of(template), locators: own })
  })
  const hashes = templates.all.map(text => digest(text))
  let labels = new BigUint64Array(locators.all.length)
  const said = ({ template, locators: own }: Row): bigint =>
    own.reduce((hash, locator) => mixed(hash, labels[locator]!), hashes[template]!)
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = new BigUint64Array(labels.length)
    for (const row of rows) {
      const hash = said(row)
      // Added up, so that it does not matter in which order rows come.
      for (const [place, locator] of row.locators.entries())
        next[locator] = BigInt.asUintN(64, next[locator]! + mixed(hash, BigInt(place)))
    }
    labels = next
  }
  const plain = new Map<string, number>()
  const counts = new Map<string, number>()
  const examples = new Map<string, Row>()
  for (const row of rows) {
    const key = said(row).toString(16)
    const text = templates.all[row.template]!
    plain.set(text, (plain.get(text) ?? 0) + 1)
    counts.set(key, (counts.get(key) ?? 0) + 1)
    examples.set(key, row)
  }
  return { rows: rows.length, plain, counts, text: key => templates.all[examples.get(key)!.template]! }
}

/** Texts, each once, by their numbers. */
class Numbers {
  readonly all: string[] = []
  readonly #numbers = new Map<string, number>()

  of(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.all.length)
    this.all.push(text)
    return this.all.length - 1
  }
}

const digest = (text: string): bigint => createHash('sha256').update(text).digest().readBigUInt64BE()

/** Two numbers as one that tells nothing of either. */
function mixed(a: bigint, b: bigint): bigint {
  const x = BigInt.asUintN(64, (a ^ (b + 0x9e3779b97f4a7c15n)) * 0xbf58476d1ce4e5b9n)
  return BigInt.asUintN(64, (x ^ (x >> 29n)) * 0x94d049bb133111ebn)
}

/** What one has more often than the other: rows that say something else, or if there are none, that refer to something else. */
export function lacking(contents: Contents, other: Contents): string[] {
  const plain = [...contents.plain].filter(([text, count]) => count !== (other.plain.get(text) ?? 0))
  if (plain.length > 0)
    return plain.map(([text, count]) => `${count} instead of ${other.plain.get(text) ?? 0} of ${text}`)
  return [...contents.counts].flatMap(([row, count]) =>
    count > (other.counts.get(row) ?? 0) ? [contents.text(row)] : [],
  )
}

/** How many timers of the tenant are due before the time (ms), or are being fired. */
export async function timersBefore(dataFolder: string, tenant: string, at: number): Promise<number> {
  const stores = await openStores(dataFolder)
  try {
    let count = 0
    for (const database of await shardsOf(stores, tenant)) {
      const query = database.prepare('select count(*) as due from timer where due_at < ?').bind(at)
      count += (await query.first<number>('due')) ?? 0
    }
    return count
  } finally {
    await stores.close()
  }
}

async function shardsOf({ env }: Stores, tenant: string): Promise<D1Database[]> {
  const { results } = await env.CONTROL.prepare(
    'select binding from shard where tenant_locator = ? order by number',
  )
    .bind(tenant)
    .all<{ binding: string }>()
  return results.map(({ binding }) => (env as unknown as Record<string, D1Database>)[binding]!)
}

/** Every row of every database of the tenant, and the names of its files. */
async function eachRow(
  dataFolder: string,
  tenant: string,
  leave: Leave,
  take: (text: string) => void,
): Promise<void> {
  const stores = await openStores(dataFolder)
  try {
    for (const database of await shardsOf(stores, tenant)) {
      const { results: tables } = await database
        .prepare(`select name from sqlite_master where type = 'table' order by name`)
        .all<{ name: string }>()
      for (const { name: table } of tables) {
        if (leave.tables.has(table) || /^(sqlite|_cf)_/.test(table)) continue
        for (let offset = 0; ; offset += PAGE) {
          const { results } = await database
            .prepare(`select * from "${table}" limit ${PAGE} offset ${offset}`)
            .all()
          for (const row of results) {
            const kept = Object.entries(row).filter(([column]) => !leave.columns.has(`${table}.${column}`))
            const text = `${table}: ${kept.map(([column, value]) => `${column}=${String(value)}`).join(' | ')}`
            if (!leave.rows.test(text)) take(text)
          }
          if (results.length < PAGE) break
        }
      }
    }
    const { objects } = await stores.env.FILES.list()
    for (const { key } of objects) if (key.includes(tenant)) take(`file ${key}`)
  } finally {
    await stores.close()
  }
}

const PAGE = 5_000
