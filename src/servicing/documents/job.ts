import { ConversionError } from '../../../packages/pdf/page.ts'
import { loadMerger } from '../../bundles/load.ts'
import { newUuid, type PolicyLocator, type Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { Calls } from '../../platform/calls.ts'
import { type RequestContext, SYSTEM_CALLER } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { filePlace } from '../../platform/http/body/bytes.ts'
import { about, observed } from '../../platform/observation.ts'
import { Lane } from '../../platform/seats.ts'
import {
  fileKey,
  servedTenantOfShard,
  shardDatabase,
  shardName,
  type Tenant,
  tenantFiles,
  tenantNow,
} from '../../platform/tenancy.ts'
import { waiting } from '../../policy/projection/records.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { documentPath, type PolicyDocument } from '../../policy/records/transactions.ts'
import { loadPolicy } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { policyholderAt, replacedVersionsQuery } from '../../policyholders/store.ts'
import { staticFiles } from '../../product/cache.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { documentResources } from '../../reference/templates/document-resources.ts'
import {
  claimJob,
  type DocumentHint,
  endIdleJob,
  hintOf,
  postponeJob,
} from '../../transactions/documents/job-store.ts'
import { LARGEST_UPLOAD_BYTES } from '../../transactions/documents/limits.ts'
import type { Made } from '../../transactions/documents/made.ts'
import { askPolicy } from '../../transactions/mechanism/kind.ts'
import { type MakingContext, makeDocument, type Product } from './make.ts'
import { pdfRenderer } from './pdf-renderer.ts'

// The queue's consumer: makes waiting documents, stores the files, and has the policy's object record the results. A document never
// delays or fails its transaction.

/** Documents that are made and recorded together; more of a policy wait for the next message. */
const MOST_TOGETHER = 10

/** A claim that a crash cut off ends after this time. */
const LEASE_MS = 5 * 60_000

/** Tries of a document whose making is cut off or whose stores do not answer. */
const MOST_ATTEMPTS = 5

const FIRST_DELAY_MS = 5_000

/** Many messages may come to one isolate at once, and making a document takes its thread for a hundredth of a second or more. */
const lane = new Lane(30_000)

/** Whether the message is a hint: one of another release may be anything. */
function isHint(body: unknown): body is DocumentHint {
  if (typeof body !== 'object' || body === null) return false
  const { tenantLocator, generation, shard, policyLocator } = body as Partial<
    Record<keyof DocumentHint, unknown>
  >
  return (
    typeof tenantLocator === 'string' &&
    typeof generation === 'number' &&
    typeof shard === 'number' &&
    typeof policyLocator === 'number'
  )
}

/** One policy after the other: a document may take up most of an isolate's memory. Never throws. */
export async function consumeDocumentHints(batch: MessageBatch<unknown>, env: Env): Promise<void> {
  const hints = Map.groupBy(batch.messages, ({ body }) => JSON.stringify(body))
  for (const [message] of hints.values()) {
    const hint = message?.body
    if (!isHint(hint)) continue
    try {
      await observed(env, about('documents', hint), async calls => {
        const tenant = await servedTenantOfShard(env, hint, calls)
        if (tenant) await takeTurn(env, tenant, hint, calls)
      })
    } catch (problem) {
      console.error(JSON.stringify({ at: 'consumeDocumentHints', ...hint, problem: String(problem) }))
      message?.retry({ delaySeconds: FIRST_DELAY_MS / 1_000 })
    }
  }
}

/**
 * Makes documents of the policy, unless somebody is at it or the shard has its share. Then another policy of the shard that waits
 * stands at the end of the queue, so that tenants take turns, however much each of them wants.
 */
async function takeTurn(env: Env, tenant: Tenant, hint: DocumentHint, calls: Calls): Promise<void> {
  const { shard, policyLocator } = hint
  const database = shardDatabase(env, tenant, shard, calls)
  const at = now()
  const job = await claimJob(database, policyLocator, at, (at + LEASE_MS) as Instant)
  if (!job) return
  try {
    await makeDocuments(env, tenant, database, hint, job.attempts, calls)
  } finally {
    await hintOf(env, shardName(tenant, shard), job.next === undefined ? [] : [job.next], calls)
  }
}

async function makeDocuments(
  env: Env,
  tenant: Tenant,
  database: Database,
  { shard, policyLocator: policy }: DocumentHint,
  attempts: number,
  calls: Calls,
): Promise<void> {
  const context: RequestContext = {
    env,
    tenant,
    caller: SYSTEM_CALLER,
    requestId: newUuid(shard),
    now: tenantNow(tenant),
    idempotency: undefined,
    calls,
    later: work => void work,
  }
  const loaded = await loadPolicy(context, database, { locator: policy })
  if (waiting(loaded.aggregate).length === 0) return await endIdleJob(database, policy)
  // After a failed try one by one, so that what cannot be made does not hold up the others.
  const drafts = waiting(loaded.aggregate).slice(0, attempts === 0 ? MOST_TOGETHER : 1)
  const made =
    attempts >= MOST_ATTEMPTS
      ? drafts.map((draft): Made => givenUp(draft))
      : await madeOf(context, loaded, drafts, database, attempts)
  await recordMade(context, policy, made, loaded.policyholder.version)
}

const givenUp = ({ locator }: PolicyDocument): Made => ({
  locator,
  outcome: 'conversionError',
  failure: `It could not be made in ${MOST_ATTEMPTS} tries; the service's log says why.`,
})

/** What came of the drafts; of those after one that is to be tried again, nothing. */
async function madeOf(
  context: RequestContext,
  loaded: Loaded,
  drafts: readonly PolicyDocument[],
  database: Database,
  attempts: number,
): Promise<Made[]> {
  const { env, tenant, calls } = context
  const making: MakingContext = {
    loaded,
    renderer: await pdfRenderer(env),
    files: staticFiles(context, loaded.configuration.hash, loaded.product.name),
    tables: new RatingTables(context),
    resources: documentResources(context),
  }
  await Promise.all([
    making.tables.open(),
    making.resources.expect(drafts.flatMap(({ templateName }) => templateName ?? [])),
  ])
  const made: Made[] = []
  const { policyholder } = loaded
  // What is made again shows whom it showed before, but for what was overwritten.
  const asked = Math.min(...drafts.map(({ createdAt }) => createdAt)) as Instant
  const [replaced] =
    asked < policyholder.updatedAt
      ? await database.batch([replacedVersionsQuery(database, policyholder.locator, asked)])
      : [[]]
  for (const draft of drafts) {
    try {
      const holder = policyholderAt(policyholder, replaced, draft.createdAt)
      const product = draft.sources
        ? await mergeSources(draft, loaded.aggregate, made, context)
        : await lane.run(() =>
            makeDocument(draft, { ...making, loaded: { ...loaded, policyholder: holder } }),
          )
      // Its sources are made first: they wait for the next message.
      if (!product) continue
      if (product.outcome !== 'ready') {
        // Of one that was made before, and is again because values were overwritten, the old file must not stay.
        calls.r2 += 1
        await tenantFiles(env, tenant).delete(fileKey(tenant, ...documentPath(draft.locator)))
        const { locator } = draft
        made.push(
          product.outcome === 'none'
            ? { locator, outcome: 'none' }
            : { locator, outcome: product.outcome, failure: product.failure },
        )
        continue
      }
      const { bytes, type, warning } = product
      calls.r2 += 1
      await tenantFiles(env, tenant).put(fileKey(tenant, ...documentPath(draft.locator)), bytes, {
        httpMetadata: { contentType: type === 'pdf' ? 'application/pdf' : 'text/html; charset=utf-8' },
      })
      made.push({
        locator: draft.locator,
        outcome: 'ready',
        type,
        fileName: fileNameOf(draft, type),
        warning,
      })
    } catch (problem) {
      console.error(
        JSON.stringify({ at: 'makeDocument', document: draft.locator, attempts, problem: String(problem) }),
      )
      if (made.length > 0) break
      await postponeJob(
        database,
        loaded.aggregate.policy.locator,
        (now() + FIRST_DELAY_MS * 3 ** attempts) as Instant,
      )
      break
    }
  }
  return made
}

/** A static document is a PDF, whatever the template was to make. */
const fileNameOf = ({ fileName, type }: PolicyDocument, made: PolicyDocument['type']): string =>
  type === made ? fileName : `${fileName.replace(/\.html?$/i, '')}.${made}`

async function recordMade(
  context: RequestContext,
  locator: PolicyLocator,
  made: readonly Made[],
  policyholderVersion: number,
): Promise<void> {
  if (made.length === 0) return
  await askPolicy(context, {
    tenant: context.tenant,
    caller: SYSTEM_CALLER,
    requestId: context.requestId,
    locator,
    operation: { kind: 'documentsMade', made, policyholderVersion },
  })
}

// Makes the file of a consolidated document of the files of its sources.
/** Bytes of all sources together: they are in memory at once. */
const LARGEST_SOURCES_BYTES = LARGEST_UPLOAD_BYTES

/** A source as it stands now: recorded, or made in the same round. */
type Source = { readonly name: string; readonly locator: Uuid } & (
  | { readonly state: 'ready' | 'waiting' }
  | { readonly state: 'failed'; readonly why: string }
)

/**
 * Merges the sources, by `made` for those of this round and by the policy for others. A failed source fails the document; one whose
 * template wanted none is left out; without any there is no document. Undefined while a source waits. Throws if a file cannot be
 * read now.
 */
export async function mergeSources(
  document: PolicyDocument,
  aggregate: PolicyAggregate,
  made: readonly Made[],
  context: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
): Promise<Product | undefined> {
  const sources = document.sources!.flatMap(locator => sourceOf(locator, aggregate, made) ?? [])
  if (sources.some(one => one.state === 'waiting')) return undefined
  for (const one of sources)
    if (one.state === 'failed')
      return {
        outcome: 'dataError',
        failure: `'${one.name}' is to be a part of it, and could not be made: ${one.why}`,
      }
  if (sources.length === 0) return { outcome: 'none' }
  return await merged(document, sources, context)
}

function sourceOf(locator: Uuid, { documents }: PolicyAggregate, made: readonly Made[]): Source | undefined {
  const document = documents.get(locator)
  const outcome = made.find(one => one.locator === locator)
  if (!document || outcome?.outcome === 'none') return undefined
  const own = { locator, name: outcome?.outcome === 'ready' ? outcome.fileName : document.fileName }
  const state = outcome?.outcome ?? document.state
  if (state === 'ready') return { ...own, state }
  if (state === 'draft') return { ...own, state: 'waiting' }
  const why = (outcome && 'failure' in outcome ? outcome.failure : document.failure) ?? state
  return { ...own, state: 'failed', why }
}

async function merged(
  { displayName, createdAt }: PolicyDocument,
  sources: readonly Source[],
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
): Promise<Product> {
  const place = filePlace()
  try {
    let size = 0
    const files: { name: string; bytes: Uint8Array }[] = []
    for (const { locator, name } of sources) {
      calls.r2 += 1
      const file = await tenantFiles(env, tenant).get(fileKey(tenant, ...documentPath(locator)))
      if (!file) throw new Error(`The file of document ${locator} is not there.`)
      size += file.size
      if (size > LARGEST_SOURCES_BYTES) {
        await file.body.cancel()
        return {
          outcome: 'conversionError',
          failure: `With '${name}' its parts are larger than ${LARGEST_SOURCES_BYTES} bytes, the most that can be merged.`,
        }
      }
      place.reach(size)
      files.push({ name, bytes: new Uint8Array(await file.arrayBuffer()) })
    }
    const { mergePdfs } = await loadMerger()
    return { outcome: 'ready', type: 'pdf', bytes: await mergePdfs(files, displayName, createdAt) }
  } catch (problem) {
    if (problem instanceof Error && problem.name === ConversionError.NAME)
      return { outcome: 'conversionError', failure: problem.message }
    throw problem
  } finally {
    place.leave()
  }
}
