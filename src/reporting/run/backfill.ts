// Brings policies that are older than the journal into it. Adds what their records show and the journal lacks, with the original
// times, so that the result equals that of a journal kept from the start.

import { sql } from 'drizzle-orm'
import type { PolicyLocator } from '../../kernel/locators.ts'
import { type Instant, LATEST, now as realNow } from '../../kernel/time.ts'
import { commit, type Guard } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { BOOKS } from '../../platform/database/migrations.ts'
import type { Database } from '../../platform/database.ts'
import { Entries } from '../../policy/journal/entries.ts'
import { journalOf, openingsOf } from '../../policy/journal/history.ts'
import { isBillingEntry, type JournalRow, type StoredJournalRow } from '../../policy/journal/rows.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { AGGREGATE_QUERIES, aggregateQueries, readAggregates } from '../../policy/store/aggregates.ts'
import { journalQueries, readJournalRow, rowsOfPoliciesQuery } from '../../policy/store/journal.ts'
import { rowsWithinPerilLimit } from '../../policy/store/portions.ts'
import { books } from '../../policy/tables/journal.ts'
import { policies } from '../../policy/tables/policies.ts'

const MOST_POLICIES = 50
const MOST_PERILS = 1_000

/**
 * For this long after the tables were created, isolates may not know of them yet, and do not journal what they commit. So
 * policies that were brought in before this time has passed are gone over again.
 */
const SETTLED_MS = 10 * 60_000

/** Returns the journal rows that one policy lacks. `migratedAt` is when it came from another system. */
export function missingRows(
  aggregate: PolicyAggregate,
  posted: readonly StoredJournalRow[],
  migratedAt: Instant | undefined,
): JournalRow[] {
  if (posted.some(({ kind }) => kind === 'opening')) return []
  const history = journalOf(aggregate)
  if (migratedAt !== undefined) {
    if (posted.length > 0) return []
    const later = history.filter(({ at }) => at > migratedAt)
    const before = history.filter(({ at }) => at <= migratedAt)
    return [...openingsOf(aggregate, migratedAt, before), ...later]
  }
  return history.flatMap(row => withoutPosted(row, posted))
}

/** Returns the row without the amounts that were already posted at its time. */
function withoutPosted(row: JournalRow, posted: readonly StoredJournalRow[]): JournalRow[] {
  const own = posted.filter(({ at }) => at === row.at)
  if (own.length === 0) return [row]
  const rest = new Entries()
  for (const { minor, ...place } of row.entries) rest.add(place, minor)
  const ofTransaction = own.filter(one =>
    one.modificationLocator === undefined
      ? row.entries.some(isBillingEntry)
      : one.modificationLocator === row.modificationLocator && one.effectiveAt === row.effectiveAt,
  )
  for (const { entries } of ofTransaction) for (const { minor, ...place } of entries) rest.add(place, -minor)
  const entries = rest.list()
  return entries.length === 0 ? [] : [{ ...row, entries }]
}

/** Brings in the next policies of the shard. Returns `done` when all are brought in. */
export async function backfillPortion(
  context: RequestContext,
  database: Database,
  shard: number,
): Promise<'done' | 'more'> {
  const [states, applied] = await database.batch([
    database.build.select().from(books),
    database.rawQuery('select applied_at as appliedAt from migration where name = ?', BOOKS),
  ])
  const appliedAt = (applied as D1Result<{ appliedAt: number }>).results[0]?.appliedAt ?? 0
  const state = states[0]
  if (state?.broughtInAt != null) return 'done'
  const after = (state?.broughtInTo ?? 0) as PolicyLocator
  const next = await nextPolicies(database, after)
  if (next.length === 0) {
    const isSettled = realNow() > appliedAt + SETTLED_MS
    await record(context, database, shard, after, [], { to: 0, at: isSettled ? context.now : undefined })
    return 'done'
  }
  const locators = next.map(({ locator }) => locator)
  const results = (await database.batch([
    ...aggregateQueries(database, { locators: JSON.stringify(locators) }),
    rowsOfPoliciesQuery(database, locators, LATEST),
  ])) as unknown[]
  const posted = Map.groupBy(
    (results[AGGREGATE_QUERIES] as Parameters<typeof readJournalRow>[0][]).map(readJournalRow),
    one => one.policyLocator,
  )
  const aggregates = readAggregates(results.slice(0, AGGREGATE_QUERIES))
  const migratedAt = new Map(next.map(one => [one.locator, one.migratedAt]))
  const rows = aggregates.flatMap(aggregate => {
    const { locator } = aggregate.policy
    const migrated = migratedAt.get(locator)
    return missingRows(aggregate, posted.get(locator) ?? [], (migrated ?? undefined) as Instant | undefined)
  })
  const versions = aggregates.map(({ policy }) => [policy.locator, policy.version])
  await record(context, database, shard, after, rows, { to: locators.at(-1)! }, versions)
  return 'more'
}

const nextPolicies = async (database: Database, after: PolicyLocator) => {
  const [found] = await database.batch([
    database.build
      .select({
        locator: sql<PolicyLocator>`${policies.locator}`,
        perilCount: policies.perilCount,
        migratedAt: sql<number | null>`(select min(m.migrated_at) from migration_mapping m
          where m.account_locator = ${policies.policyholderLocator} and m.kind = 'policies' and m.locator = cast(${policies.locator} as text))`,
      })
      .from(policies)
      .where(sql`${policies.locator} > ${after}`)
      .orderBy(policies.locator)
      .limit(MOST_POLICIES),
  ])
  return rowsWithinPerilLimit(found, MOST_PERILS)
}

/** Trips if another run brought policies in meanwhile, or one of them changed. */
async function record(
  context: RequestContext,
  database: Database,
  shard: number,
  after: number,
  rows: readonly JournalRow[],
  { to, at }: { to: number; at?: Instant | undefined },
  versions: readonly (readonly number[])[] = [],
): Promise<void> {
  const isAsRead: Guard = {
    name: 'guard_migration_state',
    holds: sql`coalesce((select brought_in_to from books where id = 1), 0) = ${after}
      and coalesce((select brought_in_at from books where id = 1), 0) = 0`,
  }
  const isUnchanged: Guard = {
    name: 'guard_policy_version',
    holds: sql`not exists (select 1 from json_each(${JSON.stringify(versions)}) as one where
      (select ${policies.version} from ${policies} where ${policies.locator} = one.value ->> 0) is not one.value ->> 1)`,
  }
  await commit(context, database, {
    shard,
    subject: 'books',
    isRepeatable: true,
    guards: versions.length > 0 ? [isAsRead, isUnchanged] : [isAsRead],
    facts: [
      ...journalQueries(database, rows),
      database.rawQuery(
        `insert into books (id, closed_until, summarized_to, brought_in_to, brought_in_at) values (1, 0, 0, ?1, ?2)
          on conflict (id) do update set brought_in_to = ?1, brought_in_at = ?2`,
        to,
        at ?? null,
      ),
    ],
  })
}
