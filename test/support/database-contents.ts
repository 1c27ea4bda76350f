// Compares the contents of the databases of two data folders. Ignores the values of locators, which are random or come from a
// sequence, and the times of the run itself. For `process` tests, on Node, of a service that is stopped.
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

/** When the run took place. Both sides of a comparison get the same span, since their contents may also have other times. */
export type Span = { readonly since: number; readonly until: number }

/** Locators: UUIDs, and numbers from 100,000,000 on. Times have more digits, amounts fewer. */
const LOCATOR =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![0-9a-zA-Z.])\d{9,11}(?![0-9a-zA-Z])/g
const MILLISECONDS = /(?<![\d.])\d{13}(?![\d.])/g
const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

const ROUNDS = 6

/** Hashes of all rows, in the order of reading. The texts are not kept, because large databases have too many. */
export type Contents = {
  readonly rows: number
  /** Hash of the row without its locators. */
  readonly plain: BigUint64Array
  /** Hash of the row including what its locators refer to. */
  readonly whole: BigUint64Array
  /** Returns the texts of the rows with these plain hashes. Reads the databases again. */
  texts(plain: ReadonlySet<bigint>): Promise<ReadonlyMap<bigint, string>>
}

/**
 * Reads the databases. The result is the same for databases that differ only in the values of locators and in the times of the
 * run. A locator is represented by how it is used: at which positions of which rows it occurs, next to which other locators, and
 * so on (`ROUNDS` times).
 */
export async function databaseContents(
  dataFolder: string,
  tenant: { readonly tenantLocator: string; readonly tenantName: string },
  { since, until }: Span,
  leave: Leave,
): Promise<Contents> {
  const isNow = (ms: number): boolean => ms >= since && ms <= until
  /** Replaces locators and times of the run in the text. Passes each locator to `locator`. */
  const withoutLocators = (text: string, locator: (text: string) => void): string =>
    text
      .replaceAll(tenant.tenantName, 'tenant')
      .replace(MILLISECONDS, at => (isNow(Number(at)) ? 'now' : at))
      .replace(ISO_TIME, at => (isNow(Date.parse(at)) ? 'now' : at))
      .replace(LOCATOR, found => {
        locator(found)
        return '<>'
      })
  const numbers = new Map<string, number>()
  const templates: bigint[] = []
  /** `own` has the numbers of the locators of all rows; `ends` has the position in it where each row ends. */
  const own: number[] = []
  const ends: number[] = []
  await eachRow(dataFolder, tenant.tenantLocator, leave, text => {
    const template = withoutLocators(text, locator => {
      const number = numbers.get(locator) ?? numbers.size
      // A copy, because a substring keeps its whole text in memory.
      if (number === numbers.size) numbers.set(Buffer.from(locator).toString(), number)
      own.push(number)
    })
    templates.push(digest(template))
    ends.push(own.length)
  })
  const plain = BigUint64Array.from(templates)
  const whole = new BigUint64Array(plain.length)
  let labels = new BigUint64Array(numbers.size)
  for (let round = 0; round <= ROUNDS; round += 1) {
    const next = new BigUint64Array(labels.length)
    for (let row = 0, at = 0; row < whole.length; row += 1) {
      const begin = at
      let hash = plain[row]!
      for (; at < ends[row]!; at += 1) hash = mixed(hash, labels[own[at]!]!)
      whole[row] = hash
      // Summed, so that the order of rows does not matter.
      for (let place = begin; place < at; place += 1)
        next[own[place]!] = BigInt.asUintN(64, next[own[place]!]! + mixed(hash, BigInt(place - begin)))
    }
    labels = next
  }
  return {
    rows: plain.length,
    plain,
    whole,
    async texts(wanted) {
      const found = new Map<bigint, string>()
      await eachRow(dataFolder, tenant.tenantLocator, leave, text => {
        const template = withoutLocators(text, () => undefined)
        const hash = digest(template)
        if (wanted.has(hash)) found.set(hash, template)
      })
      return found
    },
  }
}

const digest = (text: string): bigint => createHash('sha256').update(text).digest().readBigUInt64BE()

/** Combines two numbers into a hash. */
function mixed(a: bigint, b: bigint): bigint {
  const x = BigInt.asUintN(64, (a ^ (b + 0x9e3779b97f4a7c15n)) * 0xbf58476d1ce4e5b9n)
  return BigInt.asUintN(64, (x ^ (x >> 29n)) * 0x94d049bb133111ebn)
}

/** Maximum number of differences to report. */
const MOST_TOLD = 20

/**
 * Returns what `contents` has more often than `other`: rows with another text, or if there are none, rows that refer to other
 * records.
 */
export async function surplusRows(contents: Contents, other: Contents): Promise<string[]> {
  const more = moreOf(contents.plain, other.plain).slice(0, MOST_TOLD)
  if (more.length > 0) {
    const texts = await contents.texts(new Set(more.map(one => one.value)))
    return more.map(({ value, count, others }) => `${count} instead of ${others} of ${texts.get(value)}`)
  }
  const wholes = new Set(
    moreOf(contents.whole, other.whole)
      .slice(0, MOST_TOLD)
      .map(one => one.value),
  )
  if (wholes.size === 0) return []
  const plain = contents.plain.filter((_, row) => wholes.has(contents.whole[row]!))
  return [...(await contents.texts(new Set(plain))).values()]
}

type More = { readonly value: bigint; readonly count: number; readonly others: number }

/** Values that occur more often in `values` than in `others`. */
function moreOf(values: BigUint64Array, others: BigUint64Array): More[] {
  const [own, theirs] = [values.toSorted(), others.toSorted()]
  const more: More[] = []
  for (let at = 0, other = 0; at < own.length; ) {
    const value = own[at]!
    const begin = at
    while (own[at] === value) at += 1
    while (other < theirs.length && theirs[other]! < value) other += 1
    const otherBegin = other
    while (theirs[other] === value) other += 1
    if (at - begin > other - otherBegin) more.push({ value, count: at - begin, others: other - otherBegin })
  }
  return more
}

/** Counts the tenant's timers that are due before the time (ms) or are being fired. */
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

/** Passes every row of every database of the tenant to `take`, and then the names of its files. */
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
        .prepare(
          `select t.name, iif(t.wr, group_concat('"' || c.name || '"', ', '), 'rowid') as key
           from pragma_table_list t join pragma_table_info(t.name) c on c.pk > 0 or not t.wr
           where t.schema = 'main' and t.type = 'table' group by t.name order by t.name`,
        )
        .all<{ name: string; key: string }>()
      for (const { name: table, key } of tables) {
        if (leave.tables.has(table) || /^(sqlite|_cf)_/.test(table)) continue
        for (let before = 0; ; before += PAGE) {
          const { results } = await database
            .prepare(`select * from "${table}" order by ${key} limit ${PAGE} offset ${before}`)
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
