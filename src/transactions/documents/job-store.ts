// A row for each policy that has documents to create. The batch of the change writes it, and it is deleted when no document
// waits. The shard's dispatcher assigns the first try (turns.ts); a consumer that tries again leases the row. A lost message or a
// crash costs minutes, not a document.
import { sql } from 'drizzle-orm'
import { invalidRequest, isRefused } from '../../kernel/errors.ts'
import {
  derivedUuid,
  type PolicyLocator,
  policyOfUuid,
  readUuid,
  shardOfUuid,
  type Uuid,
  uuidOfPolicy,
} from '../../kernel/locators.ts'
import { Memo } from '../../kernel/maps.ts'
import { type Instant, isWithinLast, now } from '../../kernel/time.ts'
import type { Calls } from '../../platform/calls.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import { expectRecord, removeUnlessRecorded, type TimerOwner } from '../../platform/events/timers.ts'
import type { FilePart } from '../../platform/http/body/form.ts'
import { LINK_LIFE_MS } from '../../platform/http/file-links.ts'
import { type ReadyAnswer, textsOf } from '../../platform/http/route.ts'
import {
  fileKey,
  type ShardName,
  shardDatabase,
  shardName,
  type Tenant,
  tenantFiles,
} from '../../platform/tenancy.ts'
import type { AddDocumentForm, AddDocumentQuery, DocumentType } from '../../policy/contract/documents.ts'
import { pendingDocuments } from '../../policy/projection/records.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { documentPath, type UnplacedDocument } from '../../policy/records/transactions.ts'
import { documentJobs, documents } from '../../policy/tables/documents.ts'
import { hasUuid, policies } from '../../policy/tables/policies.ts'
import { typeOfBytes } from '../../product/templates/document-type.ts'
import { type DocumentTurns, MADE_AT_ONCE, type WaitingPolicy } from './turns.ts'
import { contradictsType, noDocument, safeFileName } from './upload.ts'

/** The dispatcher repeats hints for documents that have waited this long. */
const HINT_AGAIN_MS = 60_000

/** How the change affects the waiting documents. */
export type JobChange = 'none' | 'more' | 'progress' | 'done'

/** Returns how the write affects the documents that wait for their files. */
export function jobChange(before: PolicyAggregate | undefined, after: PolicyAggregate): JobChange {
  if (before?.documents === after.documents) return 'none'
  const [pendingBefore, pendingAfter] = [before ? pendingDocuments(before) : [], pendingDocuments(after)]
  if (pendingAfter.some(one => before?.documents.get(one.locator)?.state !== 'draft')) return 'more'
  if (pendingBefore.length === pendingAfter.length) return 'none'
  return pendingAfter.length === 0 ? 'done' : 'progress'
}

/** Queries for the batch of the change. `at` is the real time. */
export function jobQueries(
  database: Database,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  at: Instant,
): Query[] {
  const { locator: policyLocator } = after.policy
  const { build } = database
  const ofPolicy = sql`policy_locator = ${policyLocator}`
  const dueAt = (at + HINT_AGAIN_MS) as Instant
  switch (jobChange(before, after)) {
    case 'more':
      // A consumer that holds the lease keeps it: it finds the new documents when it is done.
      return [
        build
          .insert(documentJobs)
          .values({ policyLocator, attempts: 0, dueAt, leaseUntil: 0 })
          .onConflictDoUpdate({ target: documentJobs.policyLocator, set: { dueAt } }),
      ]
    case 'progress':
      return [
        build.update(documentJobs).set({ attempts: 0, dueAt, leaseUntil: 0, retryAt: 0 }).where(ofPolicy),
      ]
    case 'done':
      return [build.delete(documentJobs).where(ofPolicy)]
    case 'none':
      return []
  }
}

export type ClaimedJob = {
  /** Earlier tries, without this one. */
  readonly attempts: number
  /** A waiting policy of the shard that no other consumer hints at. */
  readonly next: PolicyLocator | undefined
}

/** Leases the policy's job until `leaseUntil`. Returns undefined when there is nothing to claim, or the shard is at its limit. */
export async function claimJob(
  database: Database,
  policy: PolicyLocator,
  at: Instant,
  leaseUntil: Instant,
): Promise<ClaimedJob | undefined> {
  const underWay = sql`(select count(*) from ${documentJobs} where lease_until > 0 and lease_until > ${at})`
  const [claimed, waiting] = await database.batch([
    database.build
      .update(documentJobs)
      .set({ attempts: sql`attempts + 1`, dueAt: leaseUntil, leaseUntil })
      .where(
        sql`policy_locator = ${policy} and lease_until <= ${at} and retry_at <= ${at} and ${underWay} < ${MADE_AT_ONCE}`,
      )
      .returning({ attempts: documentJobs.attempts }),
    // Each running job hints at a different one.
    database.build.all<{ policyLocator: PolicyLocator }>(
      sql`select policy_locator as policyLocator from ${documentJobs} where lease_until <= ${at} and retry_at <= ${at}
        order by due_at limit 1 offset ${underWay} - 1`,
    ),
  ])
  return claimed[0] && { attempts: claimed[0].attempts - 1, next: waiting[0]?.policyLocator }
}

/** Returns the lease after the given number of tries. Nobody can claim the job before `retryAt`. */
export async function postponeJob(
  database: Database,
  policy: PolicyLocator,
  retryAt: Instant,
  attempts: number,
): Promise<void> {
  const postponed = { attempts: sql`max(attempts, ${attempts})`, dueAt: retryAt, leaseUntil: 0, retryAt }
  await database.batch([
    database.build.update(documentJobs).set(postponed).where(sql`policy_locator = ${policy}`),
  ])
}

/** Checks for waiting documents in the same statement, so that a document added meanwhile keeps its job. */
export async function endIdleJob(database: Database, policy: PolicyLocator): Promise<void> {
  const isIdle = sql`not exists (select 1 from ${documents} where policy_locator = ${policy} and state = 'draft')`
  await database.batch([
    database.build.delete(documentJobs).where(sql`policy_locator = ${policy} and ${isIdle}`),
  ])
}

/** SQL. Null when there is no job. */
export const earliestJob = sql`(select min(due_at) from ${documentJobs})`

/** The most policies that one search for waiting policies without a hint finds. */
const MOST_FOUND = 100

/** Returns the policies that wait and are not leased, the longest wait first. */
export async function waitingPolicies(database: Database, at: Instant): Promise<WaitingPolicy[]> {
  const [rows] = await database.batch([
    database.build.all<{ policyLocator: PolicyLocator; attempts: number; version: number }>(
      sql`select j.policy_locator as policyLocator, j.attempts, p.version
        from ${documentJobs} j join ${policies} p on p.locator = j.policy_locator
        where j.lease_until <= ${at} and j.retry_at <= ${at} order by j.due_at limit ${MOST_FOUND}`,
    ),
  ])
  return rows.map(({ policyLocator, attempts, version }) => ({
    policyLocator,
    version,
    ...(attempts > 0 && { again: true }),
  }))
}

// A queue message is only a hint; the row decides (docs/design.md, section 5).
/** `mayBeMore`: the sender will send no further hints for now. */
export type DocumentHint = ShardName & WaitingPolicy & { readonly mayBeMore?: boolean }

/** Per shard and isolate, so that one shard does not fill the queue. The dispatcher hints at the rest, one per finished policy. */
export const MOST_HINTS_A_MINUTE = 40

const MINUTE_MS = 60_000

const hinted = new Memo<string, { readonly since: Instant; hints: number }>(1_000)

/** Counts a hint, and returns how many the isolate may still send for the shard, including this one. */
function countHint({ tenantLocator, shard }: ShardName): number {
  const key = `${tenantLocator}/${shard}`
  const known = hinted.get(key)
  const minute = known && isWithinLast(MINUTE_MS, known.since) ? known : { since: now(), hints: 0 }
  hinted.set(key, minute)
  minute.hints += 1
  return MOST_HINTS_A_MINUTE - minute.hints + 1
}

/** Sends the hint after the response. `version` is the policy's if its object remembers the version that needs the documents. */
export function hintDocuments(
  context: RequestContext,
  shard: number,
  policyLocator: PolicyLocator,
  version?: number,
): void {
  const name = shardName(context.tenant, shard)
  const left = countHint(name)
  if (left <= 0) return
  context.calls.queue += 1
  const message: DocumentHint = {
    ...name,
    policyLocator,
    ...(version !== undefined && { version }),
    ...(left === 1 && { mayBeMore: true }),
  }
  context.later(
    context.env.DOCUMENTS.send(message).catch(problem =>
      console.warn(
        JSON.stringify({ at: 'hintDocuments', requestId: context.requestId, problem: String(problem) }),
      ),
    ),
  )
}

/** Repeats due hints, longest wait first, up to `MADE_AT_ONCE`. Each is due again in a minute. Skips policies that have a turn. */
export async function hintDueDocuments(
  env: Env,
  tenant: Tenant,
  shard: number,
  calls: Calls,
  turns: DocumentTurns,
): Promise<void> {
  const database = shardDatabase(env, tenant, shard, calls)
  const at = now()
  const due = sql`select policy_locator from ${documentJobs} where due_at <= ${at} order by due_at limit ${MADE_AT_ONCE}`
  const [rows] = await database.batch([
    database.build
      .update(documentJobs)
      .set({ dueAt: (at + HINT_AGAIN_MS) as Instant })
      .where(sql`policy_locator in (${due})`)
      .returning({ policyLocator: documentJobs.policyLocator }),
  ])
  const waiting = rows
    .map(row => row.policyLocator as PolicyLocator)
    .filter(policy => !turns.isUnderWay(policy, at))
    .map(policyLocator => ({ policyLocator, again: true }))
  await sendHints(env, shardName(tenant, shard), waiting, calls)
}

/** Sends hints. A lost hint costs a minute. */
export async function sendHints(
  env: Env,
  name: ShardName,
  waiting: readonly WaitingPolicy[],
  calls: Calls,
): Promise<void> {
  if (waiting.length === 0) return
  calls.queue += 1
  try {
    await env.DOCUMENTS.sendBatch(
      waiting.map(policy => ({ body: { ...name, ...policy } satisfies DocumentHint })),
    )
  } catch (problem) {
    // The dispatcher's other work continues. It hints again in a minute.
    console.error(JSON.stringify({ at: 'hintOf', ...name, problem: String(problem) }))
  }
}

export const MEDIA_TYPES: Readonly<Record<DocumentType, string>> = {
  pdf: 'application/pdf',
  html: 'text/html; charset=utf-8',
}

/** Names come from the query or the form (brief 0.6). */
export type Upload = { query: AddDocumentQuery; form: AddDocumentForm; file: FilePart | undefined }

/**
 * Stores the file, then calls `add` to record the document. Deletes the file if `add` rejects it, or if `add` repeats the
 * response to an earlier request with the same key, which names the document stored then. Each try has its own locator, so that
 * no file overwrites another. If the outcome is unknown, or the request is cut off, the file's timer checks later.
 */
export async function withStoredFile(
  context: RequestContext,
  policy: PolicyLocator,
  upload: Upload,
  add: (document: UnplacedDocument) => Promise<ReadyAnswer>,
): Promise<ReadyAnswer> {
  const { file, type, ...words } = readUpload(upload)
  const locator = uuidOfPolicy(policy)
  const key = fileKey(context.tenant, ...documentPath(locator))
  await expectDocument(context, locator)
  context.calls.r2 += 1
  await tenantFiles(context.env, context.tenant).put(key, file.bytes, {
    httpMetadata: { contentType: MEDIA_TYPES[type] },
  })
  try {
    const answer = await add({
      locator,
      ...words,
      fileName: safeFileName(file.fileName, type),
      type,
      state: 'ready',
      createdAt: context.now,
      updatedAt: context.now,
    })
    // The response lists documents, so it names this one if it was recorded.
    if (!containsText(answer, locator)) deleteUnnamedFile(context, locator)
    return answer
  } catch (problem) {
    if (isRefused(problem)) deleteUnnamedFile(context, locator)
    throw problem
  }
}

function containsText(answer: ReadyAnswer, text: string): boolean {
  for (const json of textsOf(answer)) if (json.includes(text)) return true
  return false
}

/**
 * Calls `remove`, then deletes the file immediately, because a removed document must not be readable any more. After a crash in
 * between, the file's timer deletes it. `title` names the owner in messages.
 */
export async function withoutStoredFile(
  context: RequestContext,
  title: string,
  documentLocator: string,
  remove: (document: Uuid) => Promise<ReadyAnswer>,
): Promise<ReadyAnswer> {
  const locator = readUuid(documentLocator)
  if (!locator) throw noDocument({ title }, documentLocator)
  const answer = await remove(locator)
  deleteUnnamedFile(context, locator)
  return answer
}

/** Rejects with 400 incomplete uploads, files other than PDF or HTML, and files whose type does not match. */
function readUpload({ query, form, file }: Upload) {
  const requireParameter = (name: 'displayName' | 'documentType'): string => {
    const value = query[name] ?? form[name]
    if (value === undefined)
      throw invalidRequest(
        `The ${name} of the document is missing; send it in the query or as a part of the form.`,
      )
    return value
  }
  const [displayName, documentType] = [requireParameter('displayName'), requireParameter('documentType')]
  if (!file || file.bytes.length === 0)
    throw invalidRequest("The part 'document' is missing or empty; send the file in it.")
  const type = typeOfBytes(file.bytes)
  if (!type)
    throw invalidRequest('The file is neither a PDF nor HTML in UTF-8; no other file can be a document.')
  if (contradictsType(documentType, type))
    throw invalidRequest(`documentType is ${documentType}, but the file is ${type}; correct one of them.`)
  return { file, type, displayName, documentType }
}

// A file lives as long as its record. Documents of a discarded quote or an invalidated endorsement keep their files, because
// responses and snapshots still show them.
//
// Records are removed when an upload is removed, when an acceptance is taken back, and when a consolidated document replaces its
// sources. A timer, set in the same batch, then deletes the file. It waits until signed addresses have expired, which is also
// longer than any running job may still take to create the file. Uploads set the timer before they store the file.
const GONE_FILE_TIMER = 'document.file.gone'

const goneFileTimer = (document: Uuid, now: Instant): NewTimer & { locator: Uuid } => ({
  locator: derivedUuid(shardOfUuid(document), GONE_FILE_TIMER, document),
  dueAt: (now + LINK_LIFE_MS) as Instant,
  kind: GONE_FILE_TIMER,
  subject: document,
  payload: {},
})

/** Returns timers that delete the files of documents which the write removes. */
export function goneFileTimers(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  now: Instant,
): NewTimer[] {
  if (!before || before.documents === after.documents) return []
  return [...before.documents.keys()]
    .filter(locator => !after.documents.has(locator))
    .map(locator => goneFileTimer(locator, now))
}

const deleteFile = (
  document: Uuid,
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
) => {
  calls.r2 += 1
  return tenantFiles(env, tenant).delete(fileKey(tenant, ...documentPath(document)))
}

/** Keeps a file that a record names. Idempotent. */
export const deleteGoneFile: TimerOwner = removeUnlessRecorded(documents, deleteFile, locator =>
  hasUuid(documents, locator, policyOfUuid(locator)),
)

/** Await this before storing the file. */
export const expectDocument = (context: RequestContext, document: Uuid): Promise<void> =>
  expectRecord(context, GONE_FILE_TIMER, document)

/** Runs after the response. If it fails, the file's timer deletes the file. */
const deleteUnnamedFile = (context: RequestContext, document: Uuid): void =>
  context.later(
    deleteFile(document, context).catch(problem =>
      console.warn(JSON.stringify({ at: 'deleteUnnamedFile', document, problem: String(problem) })),
    ),
  )
