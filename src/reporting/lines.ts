// The lines of a report, a page at a time.
import { invalidRequest } from '../kernel/errors.ts'
import type { RequestContext } from '../platform/context.ts'
import { requireBooks } from './books/service.ts'
import type { Layout } from './columns.ts'
import type * as contract from './contract.ts'
import { readPortion } from './files/portions.ts'
import { objectOf } from './files/text.ts'
import type { Cell } from './kind.ts'
import { layoutFor, reportAt } from './service.ts'

/** The maximum number of portions that one request reads to find lines of a group. */
const MOST_PORTIONS = 40

/** Returns the lines of the report so far, in their order, optionally of only one group. */
export async function readLines(
  context: RequestContext,
  text: string,
  { group, currency, pageSize, pagingToken }: contract.ReportLinesQuery,
): Promise<contract.ReportLinesResponse> {
  requireBooks(context)
  const report = await reportAt(context, text)
  const { layout, zone } = await layoutFor(context, report)
  const isChosen = lineFilter(layout, group, currency)
  const items: Record<string, Cell>[] = []
  let { portion, line } = placeOfToken(pagingToken)
  for (let read = 0; portion < report.portions && read < MOST_PORTIONS; read += 1) {
    const { lines } = await readPortion(context, report.locator, portion)
    for (; line < lines.length && items.length < pageSize; line += 1)
      if (isChosen(lines[line]!)) items.push(objectOf(lines[line]!, layout, zone))
    if (items.length >= pageSize && line < lines.length) break
    portion += 1
    line = 0
  }
  const isCompleted = portion >= report.portions
  return {
    listCompleted: isCompleted,
    items,
    ...(!isCompleted && { pagingToken: `${portion}-${line}` }),
  }
}

function placeOfToken(token: string | undefined): { portion: number; line: number } {
  if (token === undefined) return { portion: 0, line: 0 }
  const [, portion, line] = /^(\d{1,9})-(\d{1,9})$/.exec(token) ?? []
  if (portion === undefined)
    throw invalidRequest(
      `'pagingToken' was not issued by this service. Send the one from the previous response, or none to begin.`,
    )
  return { portion: Number(portion), line: Number(line) }
}

function lineFilter(
  { columns, dimensions, currency: place }: Layout,
  group: string | undefined,
  currency: string | undefined,
): (line: readonly Cell[]) => boolean {
  let wanted: Record<string, unknown> = {}
  try {
    wanted = group === undefined ? {} : (JSON.parse(group) as Record<string, unknown>)
  } catch {
    throw invalidRequest(`'group' is not JSON. Send an object such as {"product":"motor"}.`)
  }
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted))
    throw invalidRequest(`'group' is not an object. Send one such as {"product":"motor"}.`)
  const names = columns.slice(1, 1 + dimensions).map(({ name }) => name)
  const wrong = Object.keys(wanted).find(name => !names.includes(name))
  if (wrong !== undefined)
    throw invalidRequest(
      `The report is not grouped by '${wrong.slice(0, 100)}'. It is grouped by: ${names.join(', ') || 'nothing'}.`,
    )
  const tests = Object.entries(wanted).map(([name, value]) => [names.indexOf(name) + 1, value] as const)
  return line =>
    tests.every(([at, value]) => line[at] === value) && (currency === undefined || line[place] === currency)
}
