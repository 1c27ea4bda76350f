import { env } from 'cloudflare:workers'
import { LATEST } from '../../../src/kernel/time.ts'
import { noCalls } from '../../../src/platform/calls.ts'
import { BOOKS } from '../../../src/platform/database/migrations.ts'
import { openDatabase, type Query } from '../../../src/platform/database.ts'
import { totalOf } from '../../../src/policy/journal/entries.ts'
import { journalOf } from '../../../src/policy/journal/history.ts'
import { isBillingEntry, type JournalRow, type StoredJournalRow } from '../../../src/policy/journal/rows.ts'
import { AGGREGATE_QUERIES, aggregateQueries, readAggregates } from '../../../src/policy/store/aggregates.ts'
import { readJournalRow, rowsOfPoliciesQuery } from '../../../src/policy/store/journal.ts'
import { boundDatabase } from '../databases.ts'
import { isChecked } from './exclusions.ts'

/** Limits on the policies checked in each database: the newest ones, with at most so many perils in total. */
const MOST_POLICIES = 60
const MOST_PERILS = 6_000

/** Returns the policies whose journal differs from their records, with each difference. */
export async function journalProblems(): Promise<string[]> {
  const claimed = await env.CONTROL.prepare(`select binding from pool_database where state = 'claimed'`)
    .all<{ binding: string }>()
    .catch(() => ({ results: [] }))
  const problems = await Promise.all(claimed.results.map(({ binding }) => problemsIn(binding)))
  return problems.flat()
}

async function problemsIn(binding: string): Promise<string[]> {
  const client = boundDatabase(binding)
  const migrated = await client
    .prepare('select 1 as found from migration where name = ?')
    .bind(BOOKS)
    .first('found')
    .catch(() => null)
  if (migrated !== 1) return []
  const { results } = await client
    .prepare(
      `select locator from (
        select locator, sum(peril_count) over (order by locator desc) as perils from policy
      ) where perils <= ${MOST_PERILS} order by locator desc limit ${MOST_POLICIES}`,
    )
    .all<{ locator: number }>()
  const locators = results.map(({ locator }) => locator).filter(isChecked)
  if (locators.length === 0) return []
  const database = openDatabase(client, noCalls())
  const read = (await database.batch([
    ...aggregateQueries(database, { locators: JSON.stringify(locators) }),
    rowsOfPoliciesQuery(database, locators, LATEST),
  ] as [Query, ...Query[]])) as unknown[]
  const rows = Map.groupBy(
    (read[AGGREGATE_QUERIES] as Parameters<typeof readJournalRow>[0][]).map(readJournalRow),
    one => one.policyLocator,
  )
  return readAggregates(read.slice(0, AGGREGATE_QUERIES)).flatMap(aggregate => {
    const own = rows.get(aggregate.policy.locator) ?? []
    const [said, posted] = [sumsOf(journalOf(aggregate)), sumsOf(own)]
    const places = new Set([...said.keys(), ...posted.keys()])
    return [
      ...own.flatMap(unbalanced),
      ...[...places].flatMap(place => {
        const [one, other] = [said.get(place) ?? 0, posted.get(place) ?? 0]
        return one === other
          ? []
          : [`policy ${aggregate.policy.locator}: ${place} is ${other} and should be ${one}.`]
      }),
    ]
  })
}

const unbalanced = ({ id, kind, entries }: StoredJournalRow): string[] =>
  totalOf(entries) === 0 && (kind === 'opening' || totalOf(entries.filter(isBillingEntry)) === 0)
    ? []
    : [`journal row ${id} (${kind}) does not balance.`]

/** Sums by account and by what both opening rows and later rows state. Receivables are summed by invoice. */
function sumsOf(rows: readonly JournalRow[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { entries } of rows)
    for (const { account, minor, peril, name, start, end, invoice } of entries) {
      const place = JSON.stringify([
        account,
        peril,
        name,
        start,
        end,
        account === 'receivable' ? invoice : undefined,
      ])
      sums.set(place, (sums.get(place) ?? 0) + minor)
    }
  return sums
}
