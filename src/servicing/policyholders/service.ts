import { Refusal } from '../../kernel/errors.ts'
import { newUuid, type PolicyLocator } from '../../kernel/locators.ts'
import {
  type AnswerBySubject,
  type Commit,
  commit,
  isBySubject,
  type JsonAnswer,
  jsonAnswer,
  retryOnConflict,
  storedAnswer,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { requireMatch } from '../../platform/http/entity-tags.ts'
import { mergedPage, readPagingToken, UUID_FORM, writePagingToken } from '../../platform/paging.ts'
import { HOME_SHARD, homeDatabase, shardDatabase } from '../../platform/tenancy.ts'
import {
  constraintErrors,
  newPolicyholder,
  updatedPolicyholder,
  validationRefusal,
} from '../../policyholders/change.ts'
import type * as contract from '../../policyholders/contract.ts'
import * as store from '../../policyholders/store.ts'
import {
  type Dictionary,
  type Policyholder,
  policyholderResponse,
  searchableNames,
  searchTerms,
  validationFieldError,
} from '../../policyholders/values.ts'
import { versionQuery } from '../../product/cache.ts'
import { assertSearchable, searchOf } from '../../product/fields/values.ts'
import { tablesInForce } from '../../reference/constraints/force.ts'
import { hintDocuments } from '../../transactions/documents/job-store.ts'
import { eraseStaged } from '../migration/files.ts'
import { deleteNotesOf } from '../notes/store.ts'
import { removeQuickQuotesOf } from '../quick-quotes/store.ts'
import * as erasure from './erasure.ts'
import * as overwrite from './overwrite.ts'

/** Returns the policyholder. Throws 404 if there is none. Takes one round trip. */
export async function getPolicyholder(
  context: RequestContext,
  text: string,
): Promise<contract.PolicyholderResponse> {
  return policyholderResponse(await store.readStored(store.placeOf(context, text)))
}

/**
 * Creates a policyholder in the shard that takes new ones. Throws the errors of `newPolicyholder`, and 400 for values that
 * constraint tables do not allow.
 */
export async function createPolicyholder(
  context: RequestContext,
  request: contract.PolicyholderCreateRequest,
): Promise<JsonAnswer> {
  const { env, tenant, calls, caller, now } = context
  const shard = await store.shardForCreate(context)
  const database = shardDatabase(env, tenant, shard, calls)
  return await answerOnce(context, database, async () => {
    const [versions] = await database.batch([versionQuery(database, undefined)])
    const dictionary = await store.dictionaryOf(context, versions)
    const policyholder = newPolicyholder(
      request,
      { locator: newUuid(shard), accountLocator: caller.accountLocator },
      { dictionary, now, newLocator: () => newUuid(shard) },
    )
    await assertAllowed(context, policyholder, { sent: Object.keys(request.values) }, dictionary)
    const terms = searchTerms(dictionary, policyholder.entity.values)
    return await commit(context, database, {
      ...writeOf(policyholder, 'policyholder.create', shard),
      guards: [],
      facts: store.insertQueries(database, policyholder, terms),
    })
  })
}

/**
 * Changes a policyholder. Throws 404 if there is none, 412 if it no longer matches `If-Match`, the errors of
 * `updatedPolicyholder`, and 400 for values that constraint tables do not allow.
 */
export async function updatePolicyholder(
  context: RequestContext,
  request: contract.PolicyholderUpdateRequest,
): Promise<JsonAnswer> {
  const place = store.placeOf(context, request.locator)
  const { database, shard } = place
  return await answerOnce(context, database, async () => {
    const { policyholder, dictionary } = await store.loadPolicyholder(context, place)
    requireMatch(context.ifMatch, () => policyholderResponse(policyholder))
    const updated = updatedPolicyholder(policyholder, request, {
      dictionary,
      now: context.now,
      newLocator: () => newUuid(shard),
    })
    const change = { before: policyholder, sent: Object.keys(request.values) }
    await assertAllowed(context, updated, change, dictionary)
    const terms = searchTerms(dictionary, updated.entity.values)
    return await commit(context, database, {
      ...writeOf(updated, 'policyholder.update', shard),
      guards: [store.versionGuard(policyholder)],
      facts: store.updateQueries(database, updated, terms),
    })
  })
}

/** Rejects with 400 values that constraint tables forbid. One round trip if there are any to check. */
async function assertAllowed(
  context: RequestContext,
  policyholder: Policyholder,
  change: Parameters<typeof constraintErrors>[1],
  dictionary: Dictionary,
): Promise<void> {
  const errors = await constraintErrors(policyholder, change, dictionary, context.now, (...asked) =>
    tablesInForce(context, ...asked),
  )
  if (errors.length > 0) throw validationRefusal(errors.map(validationFieldError))
}

/** The number of characters of stored JSON on one page. A page that would be larger has fewer entries than requested. */
const LARGEST_PAGE = 8_000_000

/** Lists policyholders in the order of creation. */
export async function listPolicyholders(
  context: RequestContext,
  query: contract.PolicyholderListQuery,
): Promise<contract.PolicyholderPageResponse> {
  const { env, tenant, calls } = context
  const positions = readPagingToken(query.pagingToken, UUID_FORM)
  const search = searchOf(query)
  const results = await Promise.all(
    tenant.shards.map((_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const page = store.pageQuery(database, {
        createdAfter: query.createdAfterTimestamp,
        createdBefore: query.createdBeforeTimestamp,
        search,
        position: positions[shard],
        pageSize: query.pageSize,
        largest: LARGEST_PAGE / tenant.shards.length,
      })
      return database.batch([page, versionQuery(database, undefined)])
    }),
  )
  if (search)
    assertSearchable(search.field, searchableNames(await store.dictionaryOf(context, results[0]![1])))
  const shards = results.map(([rows]) => store.readPage(rows))
  const { rows, next } = mergedPage(shards, positions, query.pageSize)
  return {
    policyholders: rows.map(policyholderResponse),
    ...(next && { pagingToken: writePagingToken(next, UUID_FORM) }),
  }
}

/** Replaces values in every version and text. Creates a new version, so that nobody can write the old values back. */
export async function overwriteData(
  context: RequestContext,
  text: string,
  { overwrites }: contract.PolicyholderOverwriteDataRequest,
): Promise<JsonAnswer> {
  const place = store.placeOf(context, text)
  const { database, locator, shard } = place
  const replacements = overwrite.replacementsOf(overwrites)
  let remade: readonly PolicyLocator[] = []
  let erased: readonly overwrite.StoredValue[] = []
  const answer = await commitOrRepeat(context, database, async () => {
    const [rows, versions, stored, sizes, stamps] = await database.batch([
      store.policyholderQuery(database, locator),
      versionQuery(database, undefined),
      overwrite.storedValuesQuery(database, locator, Object.keys(replacements)),
      overwrite.largestAfterQuery(database, locator, replacements),
      erasure.policiesStampQuery(database, locator),
    ])
    const policyholder = store.requireRow(rows, locator)
    requireMatch(context.ifMatch, () => policyholderResponse(policyholder))
    const dictionary = await store.dictionaryOf(context, versions)
    overwrite.assertKnown(replacements, dictionary, stored)
    overwrite.assertSize(sizes[0]!.largest)
    const response: contract.PolicyholderOverwriteDataResponse = { policyholderLocator: locator }
    const reached = await erasure.readAffectedData(database, locator, stored)
    const scrub = overwrite.scrubber(stored, replacements)
    erased = stored
    remade = reached.remade
    await eraseStaged(context, database, locator, scrub)
    return await commit(context, database, {
      ...writeOf({ ...policyholder, version: policyholder.version + 1 }, 'policyholder.update', shard),
      guards: [store.versionGuard(policyholder), erasure.policiesGuard(locator, stamps[0]!.stamp)],
      facts: [
        ...overwrite.overwriteQueries(
          database,
          { locator, at: context.now },
          replacements,
          overwrite.termsAfter(policyholder, replacements, dictionary),
        ),
        ...erasure.erasureQueries(database, locator, stored, reached, scrub),
        ...removeQuickQuotesOf(database, locator),
        ...(context.tenant.keepsNotes ? [deleteNotesOf(database, locator)] : []),
      ],
      timers: [erasure.erasureTimer(locator, context.now)],
      answer: jsonAnswer(response),
    })
  })
  if (shard !== HOME_SHARD) {
    const home = homeDatabase(context)
    await home.batch(erasure.sharedErasureQueries(home, erased))
  }
  for (const policy of remade) hintDocuments(context, shard, policy)
  if (!isBySubject(answer)) return answer
  const repeated: contract.PolicyholderOverwriteDataResponse = { policyholderLocator: answer.subject }
  return { status: answer.status, text: JSON.stringify(repeated) }
}

/** Returns the write of a policyholder. Its event contains no values. */
const writeOf = (
  policyholder: Policyholder,
  type: 'policyholder.create' | 'policyholder.update',
  shard: number,
): Pick<Commit, 'shard' | 'events' | 'answer' | 'subject'> => {
  const { locator, version } = policyholder
  const data = { policyholderLocator: locator, version: String(version) }
  return {
    shard,
    events: [{ type, data, policyholderLocator: locator }],
    answer: jsonAnswer(policyholderResponse(policyholder)),
    subject: locator,
  }
}

/** Runs the attempt once. A repeated request without a stored response returns the policyholder as it is now. */
async function answerOnce(
  context: RequestContext,
  database: Database,
  attempt: () => Promise<JsonAnswer | AnswerBySubject>,
): Promise<JsonAnswer> {
  const answer = await commitOrRepeat(context, database, attempt)
  if (!isBySubject(answer)) return answer
  const policyholder = await getPolicyholder(context, answer.subject)
  return { status: answer.status, text: JSON.stringify(policyholder) }
}

/** Retries the attempt when what was read has changed. A repeated request gets its response even if it would be rejected now. */
async function commitOrRepeat(
  context: RequestContext,
  database: Database,
  attempt: () => Promise<JsonAnswer | AnswerBySubject>,
): Promise<JsonAnswer | AnswerBySubject> {
  try {
    return await retryOnConflict('The policyholder', attempt)
  } catch (problem) {
    if (problem instanceof Refusal) {
      const answer = await storedAnswer(context, database)
      if (answer) return answer
    }
    throw problem
  }
}
