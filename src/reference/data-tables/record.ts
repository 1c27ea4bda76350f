// Records of tables (resources brief 1.4 and 1.5).
import { invalidParameter, notFound, Refusal } from '../../kernel/errors.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { KEY_SEPARATOR } from '../../product/templates/effects.ts'
import { notInForce, unknownStaticName } from '../in-force.ts'
import { selectInForce } from '../resource.ts'
import {
  type Candidate,
  type Candidates,
  type FoundRow,
  forgetTables,
  keepCandidates,
  keepRow,
  knownCandidates,
  knownRow,
} from './cache.ts'
import type { TableKind, TableLayout } from './layout.ts'
import { findRow, findTablesAndRows } from './record-store.ts'
import { canonicalDecimal, sortableDecimal, type TableRecord, TYPE_RULES, typedRow } from './values.ts'

type WantedRecord = {
  readonly kind: TableKind
  readonly name: string
  readonly byStaticName: boolean
  readonly at: Instant
  readonly jurisdiction?: string | undefined
  /** In the order in which the key columns are declared. */
  readonly keys: readonly string[]
  /** Of range tables: a plain decimal. */
  readonly bound?: string | undefined
}

/**
 * The record. One round trip; none where the isolate knows what is in force and the row. Refuses: 400 for keys that the
 * table does not have, 404 `notFound`, `resourceNotInForce` or `tableRecordNotFound`.
 */
export async function readRecord(
  context: RequestContext,
  wanted: WantedRecord,
): Promise<{ table: Candidate; record: TableRecord }> {
  const { tenant } = context
  const keys = wanted.keys.map(key => key.trim())
  const bound = wanted.kind === 'rangeTable' ? sortableBound(wanted.bound ?? '') : ''
  const nameKey = `${wanted.kind}/${wanted.byStaticName}/${wanted.name}`
  const known = knownCandidates(tenant, nameKey)
  if (known) {
    const table = chosen(known, wanted)
    const key = keyOf(table, keys)
    const { number } = table.contents
    const row =
      knownRow(tenant, number, key, bound) ?? (await findRow(homeDatabase(context), number, key, bound))
    if (row !== 'gone') {
      keepRow(tenant, number, key, bound, row)
      return { table, record: recordOf(table, row, keys, wanted, bound) }
    }
    forgetTables(tenant)
  }
  const readAt = now()
  const { candidates, rows } = await findTablesAndRows(homeDatabase(context), { ...wanted, keys, bound })
  keepCandidates(tenant, nameKey, candidates, readAt)
  const table = chosen(candidates, wanted)
  const key = keyOf(table, keys)
  const row = rows.get(table.contents.number) ?? null
  keepRow(tenant, table.contents.number, key, bound, row)
  return { table, record: recordOf(table, row, keys, wanted, bound) }
}

function sortableBound(text: string): string {
  const decimal = canonicalDecimal(text.trim())
  if (decimal === undefined) throw invalidParameter(`The boundValue '${text}' is no plain decimal number.`)
  return sortableDecimal(decimal)
}

/** The table that is meant; with several loadings of the same contents, the newest. */
function chosen({ tables, groups }: Candidates, wanted: WantedRecord): Candidate {
  const { name, byStaticName, kind } = wanted
  const what = kind === 'table' ? 'table' : 'range table'
  if (tables.length === 0) throw byStaticName ? unknownStaticName(what, name) : notFound(what, name)
  if (!byStaticName) return tables.at(-1)!
  const { chosen: selected } = selectInForce(tables, groups, wanted)
  if (!selected) throw notInForce(wanted)
  return selected.resource
}

const keyNames = ({ columns, keys }: TableLayout): string[] => keys.map(at => columns[at]!.name)

/** The keys as rows have them. Refuses too few, too many, and those that their columns do not take. */
function keyOf({ name, contents: { layout, keyTypes } }: Candidate, keys: readonly string[]): string {
  const names = keyNames(layout)
  if (keys.length !== names.length)
    throw invalidParameter(
      `The table '${name}' has ${names.length === 1 ? 'one key' : `${names.length} keys`} (${names.join(', ')}), and ${keys.length} came; repeat 'key' once for each, in this order.`,
    )
  const parts = keys.map((text, at) => {
    const { canonical, named } = TYPE_RULES[keyTypes[at]!]
    const part = canonical(text)
    if (part === undefined)
      throw invalidParameter(`The key '${names[at]}' of '${name}' is ${named}, not '${text}'.`)
    return part
  })
  return parts.join(KEY_SEPARATOR)
}

function recordOf(
  { name, contents: { layout } }: Candidate,
  row: FoundRow | null,
  keys: readonly string[],
  { bound: boundText, kind }: WantedRecord,
  bound: string,
): TableRecord {
  if (row && (row.end === null || bound <= row.end)) return typedRow(layout, row.cells)
  const named = keyNames(layout).map((column, at) => `${column} '${keys[at]}'`)
  const searched = [...named, ...(kind === 'rangeTable' ? [`bound ${boundText}`] : [])].join(', ')
  throw new Refusal('tableRecordNotFound', `The table '${name}' has no record of ${searched}.`)
}
