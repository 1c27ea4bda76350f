// Reads a page of each kind of record from one shard.
import { readUuid } from '../../kernel/locators.ts'
import type { Line } from '../../platform/http/route.ts'
import { rowsWithinPerilLimit } from '../../policy/store/portions.ts'
import type { Policyholder } from '../../policyholders/values.ts'
import type { ExportKind } from './contract.ts'
import {
  auxDataLine,
  disbursementLine,
  eventLine,
  holderLine,
  journalLine,
  LARGEST_PAGE_BYTES,
  lengthOf,
  noteLine,
  policyLine,
  quickQuoteLine,
} from './lines.ts'
import { MOST_PERILS, MOST_POLICIES, type Place, readPolicies } from './policies.ts'
import * as store from './store.ts'
import { wrongToken } from './tokens.ts'

/** `next` is where to continue in this shard. Undefined at its end. */
export type Page = { readonly lines: readonly Line[]; readonly next: string | undefined }

export const PAGES: Readonly<
  Record<ExportKind, (place: Place, after: string, pageSize: number) => Promise<Page>>
> = {
  async policyholders({ database }, after, pageSize) {
    const [rows] = await database.batch([store.policyholdersQuery(database, locatorIn(after), pageSize)])
    const holders = rows as unknown as Policyholder[]
    return pageOf(holders, rows.length < pageSize, one => one.locator, holderLine)
  },
  async policies(place, after, pageSize) {
    const { database } = place
    const most = Math.min(pageSize, MOST_POLICIES)
    const [rows] = await database.batch([store.policyLocatorsQuery(database, numberIn(after), most)])
    const locators = rowsWithinPerilLimit(rows, MOST_PERILS).map(({ locator }) => locator)
    const { policies } = await readPolicies(place, locators)
    const lines: Line[] = []
    let bytes = 0
    for await (const policy of policies()) {
      const line = policyLine(policy)
      bytes += lengthOf(line)
      if (lines.length > 0 && bytes > LARGEST_PAGE_BYTES)
        return { lines, next: String(locators[lines.length - 1]) }
      lines.push(line)
    }
    const isEnd = rows.length < most && locators.length === rows.length
    return { lines, next: isEnd ? undefined : String(locators.at(-1)) }
  },
  async disbursements({ database }, after, pageSize) {
    const [rows] = await database.batch([store.disbursementsQuery(database, locatorIn(after), pageSize)])
    return pageOf(rows, rows.length < pageSize, one => one.locator, disbursementLine)
  },
  async auxData({ database }, after, pageSize) {
    const [result] = await database.batch([store.auxDataQuery(database, keyIn(after), pageSize)])
    const { results } = result as D1Result<store.AuxDataRow>
    return pageOf(results, results.length === 0, one => keyToken(one), auxDataLine)
  },
  async quickQuotes({ database }, after, pageSize) {
    const [result] = await database.batch([store.quickQuotesQuery(database, locatorIn(after), pageSize)])
    const { results } = result as D1Result<store.QuickQuoteRow>
    return pageOf(results, results.length === 0, one => one.locator, quickQuoteLine)
  },
  async notes({ context, database }, after, pageSize) {
    if (!context.tenant.keepsNotes) return { lines: [], next: undefined }
    const [rows] = await database.batch([store.notesQuery(database, keyIn(after), pageSize)])
    return pageOf(
      rows,
      rows.length < pageSize,
      one => keyToken({ locator: one.policyholderLocator, key: one.locator }),
      noteLine,
    )
  },
  async events({ database }, after, pageSize) {
    const [result] = await database.batch([store.eventsQuery(database, numberIn(after), pageSize)])
    const { results } = result as D1Result<store.StoredEvent>
    return pageOf(results, results.length < pageSize, one => String(one.sequence), eventLine)
  },
  async journal({ shard, database }, after, pageSize) {
    const [rows] = await database.batch([store.journalQuery(database, numberIn(after), pageSize)])
    return pageOf(
      rows,
      rows.length < pageSize,
      one => String(one.id),
      row => journalLine(shard, row),
    )
  },
}

/** Ends the page early if its lines would exceed the size limit. */
function pageOf<R>(
  rows: readonly R[],
  isLast: boolean,
  place: (row: R) => string,
  line: (row: R) => string,
): Page {
  const lines: string[] = []
  let bytes = 0
  for (const row of rows) {
    const text = line(row)
    bytes += text.length
    if (lines.length > 0 && bytes > LARGEST_PAGE_BYTES) return { lines, next: place(rows[lines.length - 1]!) }
    lines.push(text)
  }
  return { lines, next: isLast ? undefined : place(rows.at(-1)!) }
}

// A token of another kind would continue from a place that this kind does not have, and the response would look like an end. So
// the format of tokens is checked.

function numberIn(token: string): number {
  if (!/^\d{0,15}$/.test(token)) throw wrongToken('pagingToken')
  return Number(token)
}

function locatorIn(token: string): string {
  const locator = token === '' ? '' : readUuid(token)
  if (locator === undefined) throw wrongToken('pagingToken')
  return locator
}

/** Locators and keys of auxiliary data are arbitrary text. */
const keyToken = ({ locator, key }: Pick<store.AuxDataRow, 'locator' | 'key'>): string =>
  Buffer.from(JSON.stringify([locator, key])).toString('base64url')

function keyIn(token: string): readonly [string, string] {
  if (token === '') return ['', '']
  try {
    const [locator, key] = JSON.parse(Buffer.from(token, 'base64url').toString()) as unknown[]
    if (typeof locator === 'string' && typeof key === 'string') return [locator, key]
  } catch {}
  throw wrongToken('pagingToken')
}
