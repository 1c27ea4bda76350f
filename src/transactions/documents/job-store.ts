// Which policies have documents to make, as rows: written with the change that wants them, claimed for a while by who
// makes them, gone when none waits. A lost message or a crash costs a minute, not a document.
import { sql } from 'drizzle-orm'
import type { PolicyLocator } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { Calls } from '../../platform/calls.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import { type ShardName, shardDatabase, shardName, type Tenant } from '../../platform/tenancy.ts'
import { waiting } from '../../policy/projection/documents.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { documentJobs, documents } from '../../policy/tables/documents.ts'

/** After this time the dispatcher hints of documents that still wait. */
export const HINT_AGAIN_MS = 60_000

/** What the change did to the documents that wait: more of them, fewer, or none is left. */
export type JobChange = 'none' | 'more' | 'progress' | 'done'

export function jobChange(before: PolicyAggregate | undefined, after: PolicyAggregate): JobChange {
  if (before?.documents === after.documents) return 'none'
  const [was, is] = [before ? waiting(before) : [], waiting(after)]
  if (is.some(one => !before?.documents.has(one.locator))) return 'more'
  if (was.length === is.length) return 'none'
  return is.length === 0 ? 'done' : 'progress'
}

/** Queries for the batch of the change. `at` is the real time. */
export function jobQueries(
  database: Database,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  at: Instant,
): Query[] {
  const { locator } = after.policy
  const { build } = database
  const mine = sql`policy_locator = ${locator}`
  const dueAt = (at + HINT_AGAIN_MS) as Instant
  switch (jobChange(before, after)) {
    case 'more':
      // Whoever makes the others meanwhile keeps its lease: it finds these when it is done.
      return [
        build
          .insert(documentJobs)
          .values({ policyLocator: locator, attempts: 0, dueAt, leaseUntil: 0 })
          .onConflictDoUpdate({ target: documentJobs.policyLocator, set: { dueAt } }),
      ]
    case 'progress':
      return [build.update(documentJobs).set({ attempts: 0, dueAt, leaseUntil: 0 }).where(mine)]
    case 'done':
      return [build.delete(documentJobs).where(mine)]
    case 'none':
      return []
  }
}

/** Claims the policy's documents until `leaseUntil`; how many tries began before, undefined when there is nothing to claim. */
export async function claimJob(
  database: Database,
  policy: PolicyLocator,
  at: Instant,
  leaseUntil: Instant,
): Promise<number | undefined> {
  const [rows] = await database.batch([
    database.build
      .update(documentJobs)
      .set({ attempts: sql`attempts + 1`, dueAt: leaseUntil, leaseUntil })
      .where(sql`policy_locator = ${policy} and lease_until <= ${at}`)
      .returning({ attempts: documentJobs.attempts }),
  ])
  return rows[0] && rows[0].attempts - 1
}

/** Gives the policy's documents back, to be tried again at `dueAt`. */
export async function postponeJob(database: Database, policy: PolicyLocator, dueAt: Instant): Promise<void> {
  await database.batch([
    database.build
      .update(documentJobs)
      .set({ dueAt, leaseUntil: dueAt })
      .where(sql`policy_locator = ${policy}`),
  ])
}

/** Ends the job of a policy none of whose documents waits. */
export async function endIdleJob(database: Database, policy: PolicyLocator): Promise<void> {
  await database.batch([
    database.build
      .delete(documentJobs)
      .where(
        sql`policy_locator = ${policy} and not exists (select 1 from ${documents} where policy_locator = ${policy} and state = 'draft')`,
      ),
  ])
}

/** Earliest time at which a job is due, as SQL for one value; null when there is none. */
export const earliestJob = sql`(select min(due_at) from ${documentJobs})`

/** Policies whose documents have waited longest, at most `most`; each is due again in a minute. */
export async function takeDueJobs(database: Database, at: Instant, most: number): Promise<PolicyLocator[]> {
  const [rows] = await database.batch([
    database.build
      .update(documentJobs)
      .set({ dueAt: (at + HINT_AGAIN_MS) as Instant })
      .where(
        sql`policy_locator in (select policy_locator from ${documentJobs} where due_at <= ${at} order by due_at limit ${most})`,
      )
      .returning({ policyLocator: documentJobs.policyLocator }),
  ])
  return rows.map(row => row.policyLocator as PolicyLocator)
}

// Queue messages that say that a policy has documents to make. Each is only a hint (docs/design.md, section 5).
export type DocumentHint = ShardName & { policyLocator: PolicyLocator }

/** Messages that a queue takes at once. */
const MOST_SENT = 100

/** Hints, after the answer, that documents of the policy wait. */
export function hintDocuments(context: RequestContext, shard: number, policy: PolicyLocator): void {
  context.calls.queue += 1
  const message: DocumentHint = { ...shardName(context.tenant, shard), policyLocator: policy }
  context.later(
    context.env.DOCUMENTS.send(message).catch(problem =>
      console.warn(
        JSON.stringify({ at: 'hintDocuments', requestId: context.requestId, problem: String(problem) }),
      ),
    ),
  )
}

/** Hints again of what has waited for a minute, or is to be tried again. */
export async function hintDueDocuments(env: Env, tenant: Tenant, shard: number, calls: Calls): Promise<void> {
  const database = shardDatabase(env, tenant, shard, calls)
  const due = await takeDueJobs(database, now(), MOST_SENT)
  if (due.length === 0) return
  calls.queue += 1
  const name = shardName(tenant, shard)
  try {
    await env.DOCUMENTS.sendBatch(
      due.map(policyLocator => ({ body: { ...name, policyLocator } satisfies DocumentHint })),
    )
  } catch (problem) {
    // Whatever else the dispatcher has to do does not wait for this; in a minute it hints again.
    console.error(JSON.stringify({ at: 'hintDueDocuments', ...name, problem: String(problem) }))
  }
}
