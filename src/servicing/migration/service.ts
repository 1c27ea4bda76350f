// What is done to migrations: sent, paused, resumed, recovered, patched. An account at a time is migrated by `run/`.
import { type AuditEntry, auditRows } from '../../access/audit/store.ts'
import { notFound, Refusal } from '../../kernel/errors.ts'
import { newUuid, shardOfUuid, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import {
  type Commit,
  commit,
  type Guard,
  isBySubject,
  type JsonAnswer,
  type NewTimer,
  retryOnConflict,
  storedAnswer,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { expectRecord } from '../../platform/events/timers.ts'
import { type Upload, withContents } from '../../platform/http/body/upload.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { callObject, migrationObject } from '../../platform/objects.ts'
import { type RecordPlace, recordPlace, shardDatabase, shardName } from '../../platform/tenancy.ts'
import { placeOf, policyholderQuery, shardForCreate } from '../../policyholders/store.ts'
import { versionQuery } from '../../product/cache.ts'
import { storeStream } from '../../reference/stored-files.ts'
import { BODY, deletedAt, deleteSource, KEPT_DAYS, sourceKey } from './files.ts'
import { doneOf, migrationResponse } from './projection.ts'
import { ElementSplitter, Submission, type SubmittedAccount } from './split.ts'
import * as store from './store.ts'
import { assertMigrationAllows, MIGRATION_TRANSITIONS, type MigrationAction } from './tables.ts'

/** Where the migration lies; 404 for text that no migration's locator can be. */
export const migrationPlace = (context: RequestContext, text: string): RecordPlace =>
  recordPlace(context, text, 'migration')

/** The migration and how far it is: one round trip. 404 where there is none. */
export async function readMigration({
  database,
  locator,
}: RecordPlace): Promise<{ migration: store.Migration; counts: store.AccountCounts }> {
  const [rows, counts] = await database.batch([
    store.migrationQuery(database, locator),
    store.countsQuery(database, locator),
  ])
  if (!rows[0]) throw notFound('migration', locator)
  return { migration: rows[0] as store.Migration, counts: store.readCounts(counts) }
}

/** Takes accounts with all that is theirs. */
export const submitAccounts = async (
  context: RequestContext,
  upload: Upload,
  validateOnly: boolean,
): Promise<JsonText> =>
  submit(context, upload, {
    shard: await shardForCreate(ofTenant(context)),
    type: 'fullMigration',
    validateOnly,
  })

/** Takes further items of an account that exists: 404 where it does not. */
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
  // One that was made here has no other id.
  const account = { locator, originalId: ids[0]?.originalId ?? locator }
  return await submit(context, upload, { shard, type: 'addAccountItems', validateOnly, account })
}

type Asked = Pick<store.Migration, 'type' | 'validateOnly'> & {
  readonly shard: number
  readonly account?: { readonly locator: Uuid; readonly originalId: string }
}

/** The body goes to R2 as it comes, cut into its accounts on the way; one commit makes it a migration. */
async function submit(context: RequestContext, upload: Upload, asked: Asked): Promise<JsonText> {
  const { env, tenant, calls } = context
  const { shard, account } = asked
  const database = shardDatabase(env, tenant, shard, calls)
  const locator = newUuid(shard)
  const submission = new Submission(account?.originalId)
  const stream = splitting(upload.stream, new ElementSplitter({ single: account !== undefined }), submission)
  const key = sourceKey(tenant, locator, BODY)
  await expectRecord(context, 'migration.file.unrecorded', locator)
  const { hash } = await storeStream(context, key, { stream, mediaType: 'application/json' })
  const keyed = withContents(ofTenant(context), hash)
  let isOurs = false
  try {
    const earlier = await storedAnswer(keyed, database)
    if (earlier && !isBySubject(earlier)) return jsonText(earlier)
    const [versions] = await database.batch([versionQuery(database, undefined)])
    if (!versions[0])
      throw new Refusal('noConfiguration', 'The tenant has no configuration; deploy one first.')
    const { migration, accounts } = newMigration(context, locator, asked, submission.end())
    const answer: JsonAnswer = {
      status: 200,
      text: JSON.stringify(migrationResponse(migration, { ...NONE, pending: accounts.length }, now())),
    }
    const committed = await commit(keyed, database, {
      shard,
      guards: [],
      facts: [
        ...store.newMigrationQueries(database, migration, accounts),
        ...auditOf(context, database, shard, 'submit', locator),
      ],
      events: [],
      timers: [runTimer(locator, context.now)],
      answer,
      subject: locator,
    })
    isOurs = committed === answer
    if (isOurs) wakeLater(context, locator)
    return jsonText(isBySubject(committed) ? answer : committed)
  } finally {
    if (!isOurs)
      context.later(
        // Its timer does it where this fails.
        discardUnlessRecorded(context, database, locator).catch(problem =>
          console.warn(JSON.stringify({ at: 'migration', locator, problem: String(problem) })),
        ),
      )
  }
}

const NONE: store.AccountCounts = { pending: 0, processing: 0, completed: 0, failed: 0, error: 0 }

/** Passes the bytes on, and what it finds in them to the submission. */
async function* splitting(
  pieces: Upload['stream'],
  splitter: ElementSplitter,
  submission: Submission,
): Upload['stream'] & AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const piece of pieces) {
    for (const element of splitter.push(piece)) submission.add(element)
    yield piece
  }
  splitter.end()
  submission.end()
}

/** An outcome that is not known may be that it is recorded after all. */
async function discardUnlessRecorded(
  context: RequestContext,
  database: Database,
  locator: Uuid,
): Promise<void> {
  const [rows] = await database.batch([store.migrationQuery(database, locator)])
  if (!rows[0]) await deleteSource(context, locator, BODY)
}

/** Keys of migrations are the tenant's, whoever sends them (resources brief 9.4). */
function ofTenant(context: RequestContext): RequestContext {
  const { idempotency } = context
  if (!idempotency) return context
  const key = `migration:${idempotency.key.slice(idempotency.key.indexOf(':') + 1)}`
  return { ...context, idempotency: { ...idempotency, key } }
}

function newMigration(
  { now: at, caller }: RequestContext,
  locator: Uuid,
  { type, validateOnly, shard, account }: Asked,
  submitted: readonly SubmittedAccount[],
): { migration: store.Migration; accounts: store.MigrationAccount[] } {
  return {
    migration: {
      locator,
      state: 'submitted',
      type,
      validateOnly,
      totalAccounts: submitted.length,
      createdAt: at,
      createdBy: caller.accountLocator,
      username: caller.username,
      updatedAt: at,
      runningSince: null,
      doneBefore: 0,
    },
    accounts: submitted.map((one, ordinal) => ({
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

/** The data of every event of a migration. */
export const migrationEvent = (
  type: NewEvent['type'],
  { locator, type: migrationType, totalAccounts }: store.Migration,
  more: Record<string, string> = {},
): NewEvent => ({
  type,
  data: { migrationLocator: locator, migrationType, totalAccounts: String(totalAccounts), ...more },
})

export function auditOf(
  context: RequestContext,
  database: Database,
  shard: number,
  action: string,
  locator: Uuid,
): Query[] {
  const entry: AuditEntry = { action: 'migration.write', subject: locator, details: { action } }
  return auditRows(database, context, shard, [entry])
}

/** No account is begun any more; answers when the one that is under way is done with. */
export async function pauseMigration(context: RequestContext, text: string): Promise<void> {
  const place = migrationPlace(context, text)
  await changed(context, place, 'pause', ({ database }) => [
    store.migrationStateQuery(database, place.locator, 'paused', context.now),
  ])
  await haltMigration(context, place.locator)
}

export async function resumeMigration(context: RequestContext, text: string): Promise<void> {
  const place = migrationPlace(context, text)
  await changed(context, place, 'resume', ({ database }, counts) => [
    runningQuery(context, database, place.locator, counts),
  ])
}

/** Accounts that a fault of the system stopped are tried again; those that failed on their data are not. */
export async function recoverMigration(context: RequestContext, text: string): Promise<void> {
  const place = migrationPlace(context, text)
  await changed(context, place, 'recover', ({ database }, counts) => [
    store.recoverQuery(database, place.locator, context.now),
    runningQuery(context, database, place.locator, { ...counts, error: 0 }),
  ])
}

/** It goes on: its rate is counted from now. */
export const runningQuery = (
  { now: at }: Pick<RequestContext, 'now'>,
  database: Database,
  locator: Uuid,
  counts: store.AccountCounts,
): Query =>
  store.migrationStateQuery(database, locator, 'processing', at, { since: now(), done: doneOf(counts) })

async function changed(
  context: RequestContext,
  place: RecordPlace,
  action: MigrationAction,
  facts: (place: RecordPlace, counts: store.AccountCounts) => Query[],
): Promise<void> {
  const { database, locator } = place
  if (await storedAnswer(context, database)) return
  await retryOnConflict('The migration', async () => {
    const { migration, counts } = await readMigration(place)
    assertMigrationAllows(locator, migration.state, action)
    assertKept(migration, context.now)
    await commitChange(context, place, migration, action, { facts: facts(place, counts) })
  })
  if (action !== 'pause') wakeLater(context, locator)
}

/** What people do; the rest is the run's. */
const ASKED_FOR: ReadonlySet<MigrationAction> = new Set(['pause', 'resume', 'recover', 'patch'])

/** One commit: what is done to the migration with its event, in the state in which it was read. */
export const commitChange = (
  context: RequestContext,
  { database, shard, locator }: RecordPlace,
  migration: store.Migration,
  action: MigrationAction,
  change: {
    readonly facts: readonly Query[]
    readonly guards?: readonly Guard[]
    readonly data?: Record<string, string>
    readonly answer?: Commit['answer']
  },
) =>
  commit(context, database, {
    shard,
    guards: [store.migrationGuard(locator, migration.state), ...(change.guards ?? [])],
    facts: [
      ...change.facts,
      ...(ASKED_FOR.has(action) ? auditOf(context, database, shard, action, locator) : []),
    ],
    events: [migrationEvent(MIGRATION_TRANSITIONS[action].event as NewEvent['type'], migration, change.data)],
    timers: timersOf(action, locator, context.now),
    answer: change.answer ?? { status: 200, text: '' },
    subject: locator,
  })

/** Of what goes on, one that makes it go on; of what rests or has ended, one that deletes what was sent. */
function timersOf(action: MigrationAction, locator: Uuid, at: Instant): NewTimer[] {
  if (action === 'start') return []
  return [runTimer(locator, RESTING.has(action) ? deletedAt(at) : at)]
}

const RESTING: ReadonlySet<MigrationAction> = new Set(['pause', 'fail', 'stop'])

/** Refuses (409) to go on with what is not there any more. */
export function assertKept({ locator, state, updatedAt }: store.Migration, at: Instant): void {
  if (state === 'processing' || state === 'submitted' || at < deletedAt(updatedAt)) return
  throw new Refusal(
    'wrongState',
    `What was sent of migration ${locator} was deleted ${KEPT_DAYS} days after it last changed: send what is left in another one.`,
  )
}

/** The timer of the commit does it too, should the call be lost. */
export const wakeLater = (context: RequestContext, locator: Uuid): void =>
  context.later(
    wakeMigration(context, locator).catch(problem =>
      console.error(JSON.stringify({ at: 'migration', locator, problem: String(problem) })),
    ),
  )

// Who works on a migration is its object; here it is told that there is something to do.
/** For the batch that gives the migration something to do: should the call be lost, the timer makes it again. */
export const runTimer = (migration: Uuid, dueAt: Instant): NewTimer => ({
  kind: 'migration.run',
  subject: migration,
  dueAt,
  payload: {},
})

type WakeContext = Pick<RequestContext, 'env' | 'tenant' | 'calls'>

export async function wakeMigration({ env, tenant, calls }: WakeContext, migration: Uuid): Promise<void> {
  const shard = shardName(tenant, shardOfUuid(migration))
  await callObject(calls, () => migrationObject(env, tenant, migration).wake(shard, migration))
}

/** Lets the account that is under way be done with; answers when it is. */
export async function haltMigration({ env, tenant, calls }: WakeContext, migration: Uuid): Promise<void> {
  await callObject(calls, () => migrationObject(env, tenant, migration).halt())
}

/** When the timer is due. */
export const migrationDue: TimerOwner = ({ subject }, place) => wakeMigration(place, subject as Uuid)
