// Rows of the table `event`. Consecutive events of one commit share a row, because rows written are most of the cost. Their common
// data is stored once, and their differences are a JSON list. The row has the number of its last event. Events of earlier
// releases, and events that share nothing, have a row each. Both forms are read as one relation of events, by SQL or as lists of
// rows.
import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../../kernel/locators.ts'
import { snakeCase } from '../database/rows.ts'
import type { NewEvent } from './outbox.ts'
import { events, type StoredEvent } from './tables.ts'
import { isCustomEventType, isStreamed, newerTypeOf } from './types.ts'

/** At most 256, because the position within the row is one byte of the locator. Reading one event of a row parses all of them. */
export const MOST_IN_ROW = 64

/** Whether the data may contain values of a policyholder. An erasure overwrites these and finds them only in unshared rows. */
const hasText = (type: string): boolean => isCustomEventType(type) || type === 'document.failed'

const mayShare = (a: NewEvent, b: NewEvent): boolean =>
  !hasText(a.type) &&
  !hasText(b.type) &&
  isStreamed(a.type) === isStreamed(b.type) &&
  a.policyLocator === b.policyLocator &&
  a.policyholderLocator === b.policyholderLocator

/** Groups events into rows, keeping their order. */
export function groupIntoRows(happened: readonly NewEvent[]): NewEvent[][] {
  const rows: NewEvent[][] = []
  for (const event of happened) {
    const last = rows.at(-1)
    if (last && last.length < MOST_IN_ROW && mayShare(last[0]!, event)) last.push(event)
    else rows.push([event])
  }
  return rows
}

type Data = Readonly<Record<string, unknown>>

/** The data of a row with several events (`sharedCells`). */
type SharedData = { readonly common: Data; readonly events: readonly (readonly [number, Data])[] }

/** Returns the cells that differ between the rows of a commit: a JSON list, in the order of `INSERT` (outbox.ts). */
export function cellsOf(happened: readonly NewEvent[], locator: Uuid): unknown[] {
  const [first, ...others] = happened as readonly [NewEvent, ...NewEvent[]]
  const { policyholderLocator = null, policyLocator = null } = first
  const [type, newerType, data] =
    others.length === 0 ? [first.type, newerTypeOf(first) ?? null, first.data] : sharedCells(happened)
  return [happened.length, locator, type, newerType, data, policyholderLocator, policyLocator]
}

/**
 * Encodes the events of a shared row. The list of types is the same for all rows with these types, so a reader of one type
 * compares few lists. The newer names have the same positions. An event is the position of its type and its own data. The last
 * event, whose number the row has, comes first.
 */
function sharedCells(
  happened: readonly NewEvent[],
): [readonly string[], readonly (string | null)[], SharedData] {
  const named = happened.map(event => ({ ...event, newer: newerTypeOf(event) ?? null }))
  const nameOf = ({ type, newer }: { type: string; newer: string | null }): string => `${type} ${newer ?? ''}`
  const names = [...new Map(named.map(one => [nameOf(one), one])).values()].sort((a, b) =>
    nameOf(a) < nameOf(b) ? -1 : 1,
  )
  const places = new Map(names.map((name, place) => [nameOf(name), place]))
  const [{ data: first, policyLocator, policyholderLocator }] = named as [(typeof named)[number]]
  const ofRow: Data = { policyLocator: policyLocator && String(policyLocator), policyholderLocator }
  const common = Object.entries(first).filter(
    ([key, value]) =>
      named.every(({ data }) => data[key] === value) && (!(key in ofRow) || ofRow[key] === value),
  )
  const isCommon = new Set(common.map(([key]) => key))
  const own = (data: Data): Data =>
    Object.fromEntries(Object.entries(data).filter(([key]) => !isCommon.has(key)))
  return [
    names.map(({ type }) => type),
    names.map(({ newer }) => newer),
    {
      // A zero stands for a locator that is in a column.
      common: Object.fromEntries(common.map(([key, value]) => [key, key in ofRow ? 0 : value])),
      events: named.map(one => [places.get(nameOf(one))!, own(one.data)] as const).reverse(),
    },
  ]
}

/** Returns the events of a row in order. Pages are split here: SQL would process the row's JSON for each column of each event. */
export function eventsOfRow(row: StoredEvent): StoredEvent[] {
  if (!row.type.startsWith('[')) return [row]
  const types = JSON.parse(row.type) as string[]
  const newerTypes = JSON.parse(row.newerType!) as (string | null)[]
  const { common, events: own } = row.data as unknown as SharedData
  const inColumns: Data = {
    policyLocator: String(row.policyLocator),
    policyholderLocator: row.policyholderLocator,
  }
  const shared = Object.fromEntries(
    Object.entries(common).map(([key, value]) => [key, key in inColumns ? inColumns[key] : value]),
  )
  const [start, end] = [row.locator.slice(0, 32), row.locator.slice(34)]
  return own
    .map(
      ([type, data], place): StoredEvent => ({
        ...row,
        sequence: row.sequence - place,
        locator: `${start}${place.toString(16).padStart(2, '0')}${end}`,
        type: types[type]!,
        newerType: newerTypes[type]!,
        data: { ...shared, ...data } as StoredEvent['data'],
      }),
    )
    .reverse()
}

/** A row as stored. The SQL texts below call it `r`. */
export const storedRow = alias(events, 'r')

/** Whether a column of types is a list: a text that begins like a JSON list of texts. */
export const IS_LIST = sql.raw(`type > '["' and type < '[#'`)

/** The type of the row's first event. Streamed events never share a row with others. */
export const FIRST_TYPE = sql.raw(`iif(substr(type, 1, 1) = '[', type ->> 0, type)`)

const IS_SHARED = `substr(r.type, 1, 1) = '['`

/** The number of events of the row `r`. */
const COUNT_OF_ROW = sql.raw(`iif(${IS_SHARED}, json_array_length(r.data, '$.events'), 1)`)

type Column = keyof StoredEvent

/** The common data of the events of the row `r`. Null where it has one event. */
const COMMON = `iif(${IS_SHARED}, json_replace(r.data -> '$.common', '$.policyLocator', cast(r.policy_locator as text),
  '$.policyholderLocator', r.policyholder_locator), null)`

/** Returns the columns of the event at `place` in the row `r`, whose entry in the list is `entry`. */
const columnsAt = (place: string, entry: string): Record<Column, string> => ({
  sequence: `r.sequence - ${place}`,
  locator: `iif(${IS_SHARED}, substr(r.locator, 1, 32) || printf('%02x', ${place}) || substr(r.locator, 35), r.locator)`,
  requestId: 'r.request_id',
  type: `iif(${IS_SHARED}, r.type ->> (${entry} ->> 0), r.type)`,
  newerType: `iif(${IS_SHARED}, r.newer_type ->> (${entry} ->> 0), r.newer_type)`,
  at: 'r.at',
  data: `iif(${IS_SHARED}, json_patch(${COMMON}, ${entry} -> 1), r.data)`,
  accountLocator: 'r.account_locator',
  username: 'r.username',
  policyholderLocator: 'r.policyholder_locator',
  policyLocator: 'r.policy_locator',
})

const openingOf = (columns: Record<Column, string>): string =>
  `(select ${Object.entries(columns)
    .map(([name, text]) => `${text} as ${snakeCase(name)}`)
    .join(', ')} from `

const OPENING = openingOf(columnsAt('j.key', 'j.value'))
const CLOSING = ` as r cross join json_each(iif(${IS_SHARED}, r.data, '[0]'), iif(${IS_SHARED}, '$.events', '$')) as j)`

/**
 * SQL: the events of the rows, with the columns of the table. `rows` is a table, or a query in brackets. Put conditions on rows
 * into that query: outside it, every row would be split first.
 */
export const eachEvent = (rows: SQL): SQL => sql`${sql.raw(OPENING)}${rows}${sql.raw(CLOSING)}`

/**
 * SQL: the first of the rows, which must be in order, until they contain `most` events after the position. The position may be
 * within the first row.
 */
export const nextRows = (rows: SQL, position: SQL, most: SQL): SQL =>
  sql`(select * from (
    select *, sum(fresh) over (order by sequence) - fresh as before from (
      select *, min(${COUNT_OF_ROW}, sequence - ${position}) as fresh from ${rows} r))
    where before < ${most})`

/** The text of `eachEvent` for all rows. */
export const EVERY_EVENT = `${OPENING}event${CLOSING}`

/** SQL: whether `r` is the row with the event of that number. A number may be missing. */
export const rowOfNumber = (number: SQL): SQL =>
  sql`r.sequence = (select min(sequence) from ${events} where sequence >= ${number})
    and (r.sequence = ${number}
      or ${sql.raw(IS_SHARED)} and r.data -> ('$.events[' || (r.sequence - ${number}) || ']') is not null)`

/** Returns the columns of the event with that number in the row `r` (`storedRow`). `number` is the SQL text of a column. */
export function eventNumbered(number: string) {
  const place = `(r.sequence - ${number})`
  const columns = columnsAt(place, `(r.data -> ('$.events[' || ${place} || ']'))`)
  const column = <Name extends Column>(name: Name) =>
    sql<StoredEvent[Name]>`${sql.raw(columns[name])}`.mapWith(events[name])
  return {
    sequence: column('sequence'),
    locator: column('locator'),
    requestId: column('requestId'),
    type: column('type'),
    newerType: column('newerType'),
    at: column('at'),
    data: column('data'),
    accountLocator: column('accountLocator'),
    username: column('username'),
    policyholderLocator: column('policyholderLocator'),
    policyLocator: column('policyLocator'),
  }
}

/** Returns the locators of rows that may contain the event with this locator. */
export const rowLocators = (locator: string): string[] => [
  locator,
  `${locator.slice(0, 32)}00${locator.slice(34)}`,
]
