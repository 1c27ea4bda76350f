// The queue consumer. It makes waiting documents, stores their files, and records the results. A document never delays or fails
// its transaction.

import type { PolicyLocator } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import { type Calls, hasRoomForMore, noCalls } from '../../platform/calls.ts'
import { type RequestContext, SYSTEM_CALLER } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { callForReply, dispatcherObject, type ObjectReply, policyObject } from '../../platform/objects.ts'
import { Lane } from '../../platform/seats.ts'
import { systemContext } from '../../platform/system-context.ts'
import { fileKey, shardDatabase, shardName, type Tenant, tenantFiles } from '../../platform/tenancy.ts'
import { pendingDocuments } from '../../policy/projection/records.ts'
import { documentPath, type PolicyDocument } from '../../policy/records/transactions.ts'
import { loadPolicy, productOf } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { policyholderAt, policyholderQuery, replacedVersionsQuery } from '../../policyholders/store.ts'
import { loadConfiguration } from '../../product/cache.ts'
import {
  claimJob,
  type DocumentHint,
  endIdleJob,
  MEDIA_TYPES,
  postponeJob,
  sendHints,
} from '../../transactions/documents/job-store.ts'
import type { DocumentOutcome } from '../../transactions/documents/kinds.ts'
import { TURN_MS } from '../../transactions/documents/turns.ts'
import { sendToPolicy } from '../../transactions/mechanism/message.ts'
import type { Recalled } from '../../transactions/object/memory.ts'
import { distinctMessages, followHint, isShardName } from '../events/dispatch.ts'
import { type MakingContext, makeDocument, makingContext, type Product } from './make.ts'
import { mergeSources } from './merge-sources.ts'

/** The number of a policy's documents that one message makes. The others wait for the next message. */
const MOST_DOCUMENTS = 10

/** The number of attempts that may be cut off, or whose stores may not respond, before a document is given up. */
const MOST_ATTEMPTS = 5

const FIRST_DELAY_MS = 5_000

/** One isolate may receive many messages at the same time, and a document blocks its thread for 10 ms or more. */
const lane = new Lane(30_000)

const HINTS = {
  operation: 'documents',
  consumer: 'consumeDocumentHints',
  retrySeconds: FIRST_DELAY_MS / 1_000,
}

const isHint = (body: unknown): body is DocumentHint =>
  isShardName(body) && typeof (body as Partial<DocumentHint>).policyLocator === 'number'

/**
 * Handles one policy after the other, because a document may need most of an isolate's memory. Messages come again once the batch
 * has sent as many statements as it should. Never throws.
 */
export async function consumeDocumentHints(
  batch: MessageBatch<unknown>,
  env: Env,
  sent: Calls = noCalls(),
): Promise<void> {
  let latest = sent
  for (const message of distinctMessages(batch)) {
    const hint = message.body
    if (!isHint(hint)) continue
    if (!hasRoomForMore(latest)) {
      message.retry()
      continue
    }
    const work = (tenant: Tenant, calls: Calls): Promise<void> => {
      latest = calls
      return takeTurn(env, tenant, hint, calls)
    }
    await followHint(env, message, hint, HINTS, work, latest.statements)
  }
}

/** Makes the policy's documents, unless another message is making them or the shard is at its limit. */
async function takeTurn(env: Env, tenant: Tenant, hint: DocumentHint, calls: Calls): Promise<void> {
  const { shard } = hint
  const database = shardDatabase(env, tenant, shard, calls)
  const context = systemContext({ env, tenant, calls }, shard, 'documents')
  const turn = await beginTurn(context, database, hint)
  if (!turn) return
  try {
    await makeDocuments(context, database, hint, turn.attempts)
  } finally {
    await turn.end()
  }
}

type Turn = {
  /** The number of earlier attempts, without this one. */
  readonly attempts: number
  /** Sends a hint for the next waiting policy of the shard, so that policies take turns however many documents each needs. */
  end(): Promise<void>
}

/**
 * The dispatcher gives out the first attempt. A later attempt also leases the policy's row, which counts attempts. If the
 * dispatcher is from an earlier release or cannot be reached, every attempt leases the row.
 */
async function beginTurn(
  context: RequestContext,
  database: Database,
  { shard, policyLocator, version, again = false, mayBeMore = false }: DocumentHint,
): Promise<Turn | undefined> {
  const { env, tenant, calls } = context
  const dispatcher = () => dispatcherObject(env, tenant, shard)
  const logProblem = (problem: unknown): undefined =>
    console.warn(
      JSON.stringify({ at: 'beginTurn', ...shardName(tenant, shard), problem: String(problem) }),
    ) as undefined
  const waiting = { policyLocator, ...(version !== undefined && { version }), ...(again && { again }) }
  const isGiven = await callForReply(calls, () => dispatcher().beginDocuments(waiting, mayBeMore)).catch(
    logProblem,
  )
  if (isGiven === false) return undefined
  const end = async (): Promise<void> =>
    void (await callForReply(calls, () => dispatcher().endDocuments(tenant, shard, policyLocator)).catch(
      logProblem,
    ))
  if (isGiven && !again) return { attempts: 0, end }
  const at = now()
  const job = await claimJob(database, policyLocator, at, (at + TURN_MS) as Instant)
  const next = job?.next === undefined ? [] : [{ policyLocator: job.next, again: true }]
  if (job)
    return {
      attempts: job.attempts,
      end: isGiven ? end : () => sendHints(env, shardName(tenant, shard), next, calls),
    }
  if (isGiven) await end()
  return undefined
}

/**
 * Returns what the policy's object remembers of the policy, if that is at least of this version. The object has just written the
 * change that requests the documents.
 */
async function recallPolicy(
  { env, tenant, calls }: RequestContext,
  policy: PolicyLocator,
  version: number,
): Promise<Loaded | undefined> {
  const recall = () =>
    policyObject(env, tenant, policy).recall(tenant, version) as Promise<ObjectReply<Recalled | null>>
  const memory = await callForReply(calls, recall).catch(() => null)
  if (!memory) return undefined
  const { configurationHash, ...loaded } = memory
  const configuration = await loadConfiguration(env, tenant, configurationHash, calls)
  return { ...loaded, configuration, product: productOf(configuration, loaded.aggregate.policy.productName) }
}

async function makeDocuments(
  context: RequestContext,
  database: Database,
  hint: DocumentHint,
  attempts: number,
): Promise<void> {
  const { policyLocator: policy, version, again = false } = hint
  const remembered = version === undefined ? undefined : await recallPolicy(context, policy, version)
  const loaded = remembered ?? (await loadPolicy(context, database, { locator: policy }))
  const drafts = pendingDocuments(loaded.aggregate)
  // A row with no waiting document is removed when its hint is repeated.
  if (drafts.length === 0) return again ? await endIdleJob(database, policy) : undefined
  // After a failed attempt, documents are made one by one, so that one that fails does not delay the others.
  const next = drafts.slice(0, attempts === 0 ? MOST_DOCUMENTS : 1)
  const isGivenUp = attempts >= MOST_ATTEMPTS
  const made = isGivenUp ? next.map(giveUpOutcome) : []
  if (!isGivenUp) {
    const making = await makingContext(context, loaded)
    // The policyholder changes outside of the policy's object, so the object may remember an old version of it.
    if (remembered && !(await isOfCurrentHolder(making, next, database)))
      return await makeDocuments(context, database, { ...hint, version: undefined }, attempts)
    await documentsOf(context, making, next, made, database, attempts)
    if (remembered && attempts === 0) await makeNewerDocuments(context, making, next, made, database)
  }
  if (made.length === 0) return
  const policyholderVersion = loaded.policyholder.version
  await sendToPolicy(context, {
    tenant: context.tenant,
    caller: SYSTEM_CALLER,
    requestId: context.requestId,
    locator: policy,
    operation: { kind: 'documentsMade', made, policyholderVersion },
  })
}

/**
 * Makes the documents that the policy has requested in the meantime, so that they are recorded with the others: a quote is often
 * issued immediately. The next message makes the rest.
 */
async function makeNewerDocuments(
  context: RequestContext,
  making: MakingContext,
  tried: readonly PolicyDocument[],
  made: DocumentOutcome[],
  database: Database,
): Promise<void> {
  const { aggregate, configuration, policyholder } = making.loaded
  const { locator, version } = aggregate.policy
  if (made.length < tried.length || made.length >= MOST_DOCUMENTS) return
  const newer = await recallPolicy(context, locator, version + 1)
  const isAlike =
    newer?.configuration === configuration && newer.policyholder.version === policyholder.version
  if (!newer || !isAlike) return
  const known = new Set(made.map(one => one.locator))
  const more = pendingDocuments(newer.aggregate).filter(one => !known.has(one.locator))
  const next = more.slice(0, MOST_DOCUMENTS - made.length)
  if (next.length > 0) await documentsOf(context, { ...making, loaded: newer }, next, made, database, 0)
}

/** Opens what the drafts need, and in the same round trip reads whether the remembered policyholder is current. */
async function isOfCurrentHolder(
  making: MakingContext,
  drafts: readonly PolicyDocument[],
  database: Database,
): Promise<boolean> {
  const { locator, version } = making.loaded.policyholder
  const [[rows]] = await Promise.all([
    database.sharedBatch([policyholderQuery(database, locator)]),
    openFor(making, drafts),
  ])
  return rows[0]?.version === version
}

/** Opens tables and the names of resources in one round trip. */
const openFor = ({ tables, resources }: MakingContext, drafts: readonly PolicyDocument[]) =>
  Promise.all([tables.open(), resources.expect(drafts.flatMap(({ templateName }) => templateName ?? []))])

const giveUpOutcome = ({ locator }: PolicyDocument): DocumentOutcome => ({
  locator,
  outcome: 'conversionError',
  failure: `It could not be created in ${MOST_ATTEMPTS} attempts; the log of the service says why.`,
})

/**
 * Adds the outcome of each draft to `made`. Stops before a document that must be tried again; the outcomes that were added are
 * recorded in any case.
 */
async function documentsOf(
  context: RequestContext,
  making: MakingContext,
  drafts: readonly PolicyDocument[],
  made: DocumentOutcome[],
  database: Database,
  attempts: number,
): Promise<void> {
  const { loaded } = making
  await openFor(making, drafts)
  const { policyholder } = loaded
  // A document made again shows the earlier policyholder, except for overwritten values.
  const earliest = Math.min(...drafts.map(({ createdAt }) => createdAt)) as Instant
  const [replaced] =
    earliest < policyholder.updatedAt
      ? await database.batch([replacedVersionsQuery(database, policyholder.locator, earliest)])
      : [[]]
  for (const draft of drafts) {
    try {
      const holder = policyholderAt(policyholder, replaced, draft.createdAt)
      const product = draft.sources
        ? await mergeSources(draft, made, { ...making, inLane: work => lane.run(work), context })
        : await lane.run(() =>
            makeDocument(draft, { ...making, loaded: { ...loaded, policyholder: holder } }),
          )
      // A merged document whose sources are still waiting is left for the next message.
      if (product) made.push(await storeFile(context, draft, product))
    } catch (problem) {
      console.error(
        JSON.stringify({ at: 'makeDocument', document: draft.locator, attempts, problem: String(problem) }),
      )
      if (made.length === 0)
        await postponeJob(
          database,
          loaded.aggregate.policy.locator,
          (now() + FIRST_DELAY_MS * 3 ** attempts) as Instant,
          attempts + 1,
        )
      break
    }
  }
}

/** Stores the file. Without one, deletes the old file, because a document is made again after values were overwritten. */
async function storeFile(
  { env, tenant, calls }: RequestContext,
  { locator, fileName, type }: PolicyDocument,
  product: Product,
): Promise<DocumentOutcome> {
  const key = fileKey(tenant, ...documentPath(locator))
  calls.r2 += 1
  if (product.outcome !== 'ready') {
    await tenantFiles(env, tenant).delete(key)
    return { locator, ...product }
  }
  const { outcome, bytes, type: made, warning } = product
  await tenantFiles(env, tenant).put(key, bytes, { httpMetadata: { contentType: MEDIA_TYPES[made] } })
  // A static document may have another type than the template.
  const name = made === type ? fileName : `${fileName.replace(/\.(?:pdf|html?)$/i, '')}.${made}`
  return { locator, outcome, type: made, fileName: name, warning }
}
