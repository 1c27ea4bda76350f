// Operations on migrations: submit, pause, resume, recover. Patches also commit through here. `run/` migrates the accounts.
import { type AuditEntry, auditRows } from '../../access/audit/store.ts'
import { invalidRequest, notFound, Refusal, wrongState } from '../../kernel/errors.ts'
import { newUuid, shardOfUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import {
  type Commit,
  commit,
  type Guard,
  isBySubject,
  type JsonAnswer,
  jsonAnswer,
  type NewTimer,
  retryOnConflict,
  storedAnswer,
  unlessRepeated,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { expectRecord, type TimerOwner } from '../../platform/events/timers.ts'
import { type Upload, withContents } from '../../platform/http/body/upload.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { callObject, migrationObject } from '../../platform/objects.ts'
import { type RecordPlace, shardDatabase, shardName } from '../../platform/tenancy.ts'
import { placeOf, policyholderQuery, shardForCreate } from '../../policyholders/store.ts'
import { versionQuery } from '../../product/cache.ts'
import { storeStream } from '../../reference/stored-files.ts'
import { BODY, deletedAt, deleteSource, KEPT_DAYS, sourceKey } from './files.ts'
import { migrationPlace, migrationResponse, processedCountOf, readMigration } from './reading.ts'
import { ElementSplitter, type SubmittedAccount, submittedAccount } from './split.ts'
import * as store from './store.ts'
import { assertMigrationAllows, MIGRATION_TRANSITIONS, type MigrationAction } from './tables.ts'

/**
 * Accepts new accounts in one migration, which runs later (resources brief 9). All of them go to one shard. Throws 400 if the
 * request has no accounts, and 409 if the tenant has no configuration.
 */
export const submitAccounts = async (
  context: RequestContext,
  upload: Upload,
  validateOnly: boolean,
): Promise<JsonText> =>
  submit(context, upload, { shard: await shardForCreate(withTenantKey(context)), validateOnly })

/** Accepts further items of an existing account. Throws 404 if there is none. */
export async function submitItems(
  context: RequestContext,
  text: string,
  upload: Upload,
  validateOnly: boolean,
): Promise<JsonText> {
  const { database, locator, shard } = placeOf(context, text)
  const [holders, ids] = await database.batch([
    policyholderQuery(database, locator),
    store.originalIdQuery(database, locator),
  ])
  if (!holders[0]) throw notFound('policyholder', text)
  // An account created here has no id of another system.
  const account = { locator, originalId: ids[0]?.originalId ?? locator }
  return await submit(context, upload, { shard, validateOnly, account })
}

type Submission = {
  readonly shard: number
  readonly validateOnly: boolean
  /** The existing account that gets further items. */
  readonly account?: { readonly locator: Uuid; readonly originalId: string }
}

/** Streams the body to R2 and finds its accounts on the way. One commit then creates the migration. */
async function submit(context: RequestContext, upload: Upload, submitted: Submission): Promise<JsonText> {
  const { env, tenant, calls } = context
  const { shard, account } = submitted
  const database = shardDatabase(env, tenant, shard, calls)
  const locator = newUuid(shard)
  const sent: SubmittedAccount[] = []
  const stream = collectAccounts(upload.stream, sent, account?.originalId)
  const key = sourceKey(tenant, locator, BODY)
  await expectRecord(context, 'migration.file.unrecorded', locator)
  const { hash } = await storeStream(context, key, { stream, mediaType: 'application/json' })
  const keyed = withContents(withTenantKey(context), hash)
  let isOurs = false
  try {
    const earlier = await storedAnswer(keyed, database)
    if (earlier && !isBySubject(earlier)) return jsonText(earlier)
    const [versions] = await database.batch([versionQuery(database, undefined)])
    if (!versions[0])
      throw new Refusal('noConfiguration', 'The tenant has no configuration. Deploy one first.')
    const { migration, accounts } = newMigration(context, locator, submitted, sent)
    const counts = store.readCounts([{ state: 'pending', count: accounts.length }])
    const response = migrationResponse(migration, counts, now())
    const answer: JsonAnswer = jsonAnswer(response)
    const committed = await commit(keyed, database, {
      shard,
      answer,
      subject: locator,
      guards: [],
      facts: [
        ...store.newMigrationQueries(database, migration, accounts),
        ...auditOf(context, { database, shard, locator }, 'submit'),
      ],
      timers: [runTimer(locator, context.now)],
    })
    isOurs = committed === answer
    if (isOurs) wakeLater(context, locator)
    return jsonText(isBySubject(committed) ? answer : committed)
  } finally {
    // If this fails, the timer of `expectRecord` does it.
    if (!isOurs)
      context.later(discardUnlessRecorded(context, database, locator).catch(logProblem('warn', locator)))
  }
}

const logProblem =
  (level: 'warn' | 'error', locator: Uuid) =>
  (problem: unknown): void =>
    console[level](JSON.stringify({ at: 'migration', locator, problem: String(problem) }))

/** Passes the bytes on and collects their accounts. Rejects with 400 a request without accounts. */
async function* collectAccounts(
  pieces: Upload['stream'],
  accounts: SubmittedAccount[],
  existing: string | undefined,
): Upload['stream'] & AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const splitter = new ElementSplitter({ single: existing !== undefined })
  for await (const piece of pieces) {
    for (const one of splitter.push(piece)) accounts.push(submittedAccount(one, accounts.length, existing))
    yield piece
  }
  splitter.end()
  if (accounts.length === 0) throw invalidRequest('The request has no accounts. Send a list of at least one.')
}

/** Deletes the files unless the migration exists. After an unknown outcome it may have been committed, so this looks first. */
async function discardUnlessRecorded(
  context: RequestContext,
  database: Database,
  locator: Uuid,
): Promise<void> {
  const [rows] = await database.batch([store.migrationQuery(database, locator)])
  if (!rows[0]) await deleteSource(context, locator, BODY)
}

/** Idempotency keys of migrations belong to the tenant, not to the caller (resources brief 9.4). */
function withTenantKey(context: RequestContext): RequestContext {
  const { idempotency } = context
  if (!idempotency) return context
  const key = `migration:${idempotency.key.slice(idempotency.key.indexOf(':') + 1)}`
  return { ...context, idempotency: { ...idempotency, key } }
}

function newMigration(
  { now: at, caller }: RequestContext,
  locator: Uuid,
  { validateOnly, shard, account }: Submission,
  accounts: readonly SubmittedAccount[],
): { migration: store.Migration; accounts: store.MigrationAccount[] } {
  return {
    migration: {
      locator,
      state: 'submitted',
      type: account ? 'addAccountItems' : 'fullMigration',
      validateOnly,
      totalAccounts: accounts.length,
      createdAt: at,
      updatedAt: at,
      runningSince: null,
      doneBefore: 0,
      createdBy: caller.accountLocator,
      username: caller.username,
    },
    accounts: accounts.map((one, ordinal) => ({
      ...one,
      migrationLocator: locator,
      ordinal,
      accountLocator: account?.locator ?? newUuid(shard),
      state: 'pending',
      source: BODY,
      processedItems: 0,
      errorItems: 0,
      warnings: [],
      tries: 0,
      updatedAt: at,
    })),
  }
}

function auditOf(
  context: RequestContext,
  { database, shard, locator }: RecordPlace,
  action: string,
): Query[] {
  const entry: AuditEntry = { action: 'migration.write', subject: locator, details: { action } }
  return auditRows(database, context, shard, [entry])
}

/** Begins no further account. Returns when the current one is done. */
export async function pauseMigration(context: RequestContext, text: string): Promise<void> {
  const { locator } = await change(context, text, 'pause', place => [
    store.migrationStateQuery(place, 'paused', context.now),
  ])
  const { env, tenant, calls } = context
  await callObject(calls, () => migrationObject(env, tenant, locator).halt())
}

/** Continues a paused migration. Throws 409 if it is in another state or its files are deleted. */
export async function resumeMigration(context: RequestContext, text: string): Promise<void> {
  await change(context, text, 'resume', (place, counts) => [runningQuery(context, place, counts)])
}

/** Retries accounts that a system error stopped, but not those that failed on their data. */
export async function recoverMigration(context: RequestContext, text: string): Promise<void> {
  await change(context, text, 'recover', (place, counts) => [
    store.recoverQuery(place, context.now),
    runningQuery(context, place, { ...counts, error: 0 }),
  ])
}

/** Sets the migration to processing. Its rate is measured from now. */
export const runningQuery = (
  { now: at }: Pick<RequestContext, 'now'>,
  place: RecordPlace,
  counts: store.AccountCounts,
): Query =>
  store.migrationStateQuery(place, 'processing', at, { since: now(), done: processedCountOf(counts) })

async function change(
  context: RequestContext,
  text: string,
  action: MigrationAction,
  facts: (place: RecordPlace, counts: store.AccountCounts) => Query[],
): Promise<RecordPlace> {
  const place = migrationPlace(context, text)
  const { database, locator } = place
  const attempt = async () => {
    const { migration, counts } = await readMigration(place)
    assertMigrationAllows(locator, migration.state, action)
    assertFilesKept(migration, context.now)
    await commitChange(context, place, migration, action, { facts: facts(place, counts) })
  }
  const isDone = await unlessRepeated(
    context,
    database,
    () => retryOnConflict('The migration', attempt).then(() => true),
    () => false,
  )
  if (isDone && action !== 'pause') wakeLater(context, locator)
  return place
}

/** Actions of people, which are audited. The run performs the others. */
const AUDITED_ACTIONS: ReadonlySet<MigrationAction> = new Set(['pause', 'resume', 'recover', 'patch'])

/** Commits an action with its event, if the migration is still in the state that was read. */
export function commitChange(
  context: RequestContext,
  place: RecordPlace,
  migration: store.Migration,
  action: MigrationAction,
  change: {
    readonly facts: readonly Query[]
    readonly guards?: readonly Guard[]
    readonly data?: Record<string, string>
    readonly answer?: Commit['answer']
  },
) {
  const { database, shard, locator } = place
  const { type: migrationType, totalAccounts } = migration
  const data = {
    migrationLocator: locator,
    migrationType,
    totalAccounts: String(totalAccounts),
    ...change.data,
  }
  // A running migration gets a timer that continues it; a stopped one gets a timer that deletes its files.
  const dueAt = STOPPING_ACTIONS.has(action) ? deletedAt(context.now) : context.now
  return commit(context, database, {
    shard,
    guards: [store.migrationGuard(locator, migration.state), ...(change.guards ?? [])],
    facts: [...change.facts, ...(AUDITED_ACTIONS.has(action) ? auditOf(context, place, action) : [])],
    events: [{ type: MIGRATION_TRANSITIONS[action].event as NewEvent['type'], data }],
    timers: action === 'start' ? [] : [runTimer(locator, dueAt)],
    ...(change.answer && { answer: change.answer }),
    subject: locator,
  })
}

const STOPPING_ACTIONS: ReadonlySet<MigrationAction> = new Set(['pause', 'fail', 'stop'])

/** Rejects with 409 an attempt to continue a migration whose files are deleted. */
export function assertFilesKept({ locator, state, updatedAt }: store.Migration, at: Instant): void {
  if (state === 'processing' || state === 'submitted' || at < deletedAt(updatedAt)) return
  throw wrongState(
    `The data that was sent for migration ${locator} was deleted ${KEPT_DAYS} days after its last change. Send the remaining accounts in a new migration.`,
  )
}

/** If this call is lost, the timer of the commit makes it. */
export const wakeLater = (context: RequestContext, locator: Uuid): void =>
  context.later(wakeMigration(context, locator).catch(logProblem('error', locator)))

const runTimer = (migration: Uuid, dueAt: Instant): NewTimer => ({
  kind: 'migration.run',
  subject: migration,
  dueAt,
  payload: {},
})

async function wakeMigration(
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
  migration: Uuid,
): Promise<void> {
  const shard = shardName(tenant, shardOfUuid(migration))
  await callObject(calls, () => migrationObject(env, tenant, migration).wake(shard, migration))
}

/** Wakes the migration's object, which continues the migration, or deletes its files when they were kept long enough. */
export const migrationDue: TimerOwner = ({ subject }, place) => wakeMigration(place, subject as Uuid)
