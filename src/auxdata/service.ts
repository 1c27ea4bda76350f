import { auditRows } from '../audit/store.ts'
import { isStorable } from '../platform/characters.ts'
import { commit, isBySubject, storedAnswer } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database, Query } from '../platform/database.ts'
import { Refusal } from '../platform/errors.ts'
import { shardDatabase } from '../platform/tenancy.ts'
import { auditOf } from './audit.ts'
import type { AuxDataKeySetResponse, AuxDataResponse, AuxDataSetCreateRequest } from './contract.ts'
import { LONGEST_AUX_NAME } from './limits.ts'
import {
  auditDeletion,
  auxDataQuery,
  auxKeysQuery,
  deleteAuxData,
  putAuxData,
  shardOfAuxData,
} from './store.ts'

/** The value under the key; `""` where there is none (brief 7). */
export async function readAuxData(
  context: RequestContext,
  locator: string,
  key: string,
): Promise<AuxDataResponse> {
  const { database } = placeOf(context, locator)
  const [rows] = await database.batch([auxDataQuery(database, locator, key)])
  const { value, uiType } = rows[0] ?? { value: '', uiType: 'normal' as const }
  return { locator, key, value, uiType }
}

export async function readAuxKeys(
  context: RequestContext,
  locator: string,
  page: number,
): Promise<AuxDataKeySetResponse> {
  const { database } = placeOf(context, locator)
  const [keys] = await database.batch([auxKeysQuery(database, locator, page)])
  return { keys, page }
}

/** Sets the keys that the request names; others of the locator stay. */
export async function mergeAuxData(
  context: RequestContext,
  locator: string,
  { auxData }: AuxDataSetCreateRequest,
): Promise<void> {
  if (locator.length > LONGEST_AUX_NAME || !isStorable(locator))
    throw new Refusal(
      'invalidParameter',
      `The locator is text of at most ${LONGEST_AUX_NAME} characters, without NUL.`,
    )
  const changes = auxData.map(one => ({ ...one, locator }))
  await written(context, locator, (database, shard) => [
    ...putAuxData(database, changes, context.now),
    ...auditRows(database, context, shard, auditOf(changes)),
  ])
}

/** Deletes the key, if it is there. */
export const removeAuxData = (context: RequestContext, locator: string, key: string): Promise<void> =>
  written(context, locator, (database, shard) => [
    auditDeletion(database, context, shard, locator, key),
    deleteAuxData(database, locator, key),
  ])

async function written(
  context: RequestContext,
  locator: string,
  facts: (database: Database, shard: number) => Query[],
): Promise<void> {
  const { database, shard } = placeOf(context, locator)
  const earlier = await storedAnswer(context, database)
  if (earlier && !isBySubject(earlier)) return
  await commit(context, database, {
    shard,
    guards: [],
    facts: facts(database, shard),
    events: [],
    answer: { status: 200, text: '' },
    subject: `auxData/${locator}`,
  })
}

function placeOf({ env, tenant, calls }: RequestContext, locator: string) {
  const shard = shardOfAuxData(tenant, locator)
  return { shard, database: shardDatabase(env, tenant, shard, calls) }
}
