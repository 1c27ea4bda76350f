// Compares the records of a table at two times or in two revisions (resources brief 13.8).

import { invalidParameter, notFound, Refusal } from '../../kernel/errors.ts'
import { readUuid } from '../../kernel/locators.ts'
import { readDateTime } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { KEY_SEPARATOR } from '../../product/templates/effects.ts'
import { notInForce, selectInForce, unknownStaticName } from '../resource.ts'
import { findResource, findRevision } from '../store.ts'
import type { TableDiffQuery, TableDiffResponse } from './contract.ts'
import type { TableLayout } from './layout.ts'
import { reloadContents } from './loading.ts'
import { findTablesAndRows } from './record-store.ts'
import {
  findContents,
  findDifferences,
  type Position,
  type RowDifference,
  type TableContents,
} from './store.ts'
import { typedRow } from './values.ts'

type Side = { readonly name: string; readonly contents: TableContents }

/**
 * Returns a page of the differences, in key order. Each side is a time (the contents in force then) or the locator of present or
 * earlier contents of the table. Rejects with 400 sides with different keys.
 */
export async function tableDiff(
  name: string,
  query: TableDiffQuery,
  context: RequestContext,
): Promise<TableDiffResponse> {
  const database = homeDatabase(context)
  const [from, to] = [
    await sideOf(query.from, name, query, context, database),
    await sideOf(query.to, name, query, context, database),
  ]
  const [before, after] = [from.contents.layout, to.contents.layout]
  if (keyText(from.contents) !== keyText(to.contents))
    throw invalidParameter(
      `'${from.name}' has the keys ${keyText(from.contents)}, but '${to.name}' has ${keyText(to.contents)}; only tables with the same keys can be compared.`,
    )
  const position = positionOf(query.pagingToken, from, to)
  const differences = await findDifferences(database, from.contents, to.contents, position, query.count)
  if (!differences) throw new Refusal('overloaded', 'The contents are being removed; try again.', {}, 1)
  const page = differences.slice(0, query.count)
  const last = differences.length > query.count ? page.at(-1) : undefined
  return {
    from: shownSide(from),
    to: shownSide(to),
    listCompleted: last === undefined,
    ...(last && { pagingToken: tokenOf(last, from, to) }),
    items: page.map(row => shownDifference(row, before, after)).filter(isDifference),
  }
}

const shownSide = ({ name, contents }: Side) => ({ name, revision: contents.revision })

async function sideOf(
  text: string,
  name: string,
  { byStaticName, jurisdiction }: TableDiffQuery,
  context: RequestContext,
  database: Database,
): Promise<Side> {
  const at = readDateTime(text)
  if (at === undefined) return await revisionSide(text, name, byStaticName, context, database)
  const { candidates } = await findTablesAndRows(database, {
    kind: 'table',
    name,
    byStaticName,
    keys: [],
    bound: '',
  })
  const { tables, groups } = candidates
  if (tables.length === 0) throw byStaticName ? unknownStaticName('table', name) : notFound('table', name)
  if (!byStaticName) return tables[0]!
  const { chosen } = selectInForce(tables, groups, { at, jurisdiction })
  if (!chosen) throw notInForce(name, { at, jurisdiction })
  return chosen.resource
}

async function revisionSide(
  text: string,
  name: string,
  byStaticName: boolean,
  context: RequestContext,
  database: Database,
): Promise<Side> {
  const locator = readUuid(text)
  const revision = locator && (await findRevision(database, locator))
  const resource = revision && (await findResource(database, revision.resourceName))
  if (
    !revision ||
    resource?.type !== 'table' ||
    (byStaticName ? resource.staticName : resource.name) !== name
  )
    throw new Refusal(
      'notFound',
      `'${text}' is not a time like 2026-11-21T12:00:00Z, and '${name}' never had contents of that locator.`,
    )
  const contents =
    (await findContents(database, revision.locator)) ??
    (await reloadContents(context, database, revision, 'table'))
  return { name: resource.name, contents }
}

const keyText = ({ layout: { columns, keys }, keyTypes }: TableContents): string =>
  keys.map((at, index) => `${columns[at]!.name} (${keyTypes[index]})`).join(', ')

function shownDifference(
  { key, from, to }: RowDifference,
  before: TableLayout,
  after: TableLayout,
): TableDiffResponse['items'][number] {
  const inBoth = to === null ? 'removed' : 'changed'
  return {
    change: from === null ? 'added' : inBoth,
    key: before.keys.length === 0 ? [] : key.split(KEY_SEPARATOR),
    ...(from && { from: { ...typedRow(before, from) } }),
    ...(to && { to: { ...typedRow(after, to) } }),
  }
}

/** Different spellings of the same value, such as 1.50 and 1.5, do not count. A page may be shorter because of them. */
const isDifference = ({ change, from = {}, to = {} }: TableDiffResponse['items'][number]): boolean =>
  change !== 'changed' ||
  Object.keys(from).length !== Object.keys(to).length ||
  Object.entries(from).some(([column, value]) => to[column] !== value)

/** A token belongs to two contents and cannot continue the pages of others. */
const tokenOf = ({ key, start }: Position, from: Side, to: Side): string =>
  Buffer.from(JSON.stringify([from.contents.number, to.contents.number, key, start])).toString('base64url')

function positionOf(token: string | undefined, from: Side, to: Side): Position | undefined {
  if (token === undefined) return undefined
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'))
  } catch {
    parts = undefined
  }
  const [before, after, key, start] = Array.isArray(parts) ? parts : []
  if (
    before !== from.contents.number ||
    after !== to.contents.number ||
    typeof key !== 'string' ||
    typeof start !== 'string'
  )
    throw invalidParameter(
      "'pagingToken' does not belong to these two contents; send the token of the previous page, or none to start over.",
    )
  return { key, start }
}
