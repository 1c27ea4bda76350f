import { auditRows } from '../../access/audit/store.ts'
import { invalidParameter } from '../../kernel/errors.ts'
import { isStorable } from '../../kernel/text.ts'
import { commit, type Guard, retryOnConflict, unlessRepeated } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import { requireMatch } from '../../platform/http/entity-tags.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import type { AuxDataKeySetResponse, AuxDataResponse, AuxDataSetCreateRequest } from './contract.ts'
import { LONGEST_AUX_NAME } from './limits.ts'
import {
  type AuxRow,
  asReadGuard,
  auditDeletion,
  auditOf,
  auxDataQuery,
  auxKeysQuery,
  deleteAuxData,
  putAuxData,
  shardOfAuxData,
} from './store.ts'

/** Returns the value under the key, or `""` if there is none (brief 7). */
export async function readAuxData(
  context: RequestContext,
  locator: string,
  key: string,
): Promise<AuxDataResponse> {
  const { database } = placeOf(context, locator)
  const [rows] = await database.batch([auxDataQuery(database, locator, key)])
  return asShown(locator, key, rows[0])
}

function asShown(locator: string, key: string, row: AuxRow | undefined): AuxDataResponse {
  const { value, uiType } = row ?? { value: '', uiType: 'normal' }
  return { locator, key, value, uiType }
}

/** Returns a page of the locator's keys, counted from 0. Empty after the last page. One round trip. */
export async function readAuxKeys(
  context: RequestContext,
  locator: string,
  page: number,
): Promise<AuxDataKeySetResponse> {
  const { database } = placeOf(context, locator)
  const [keys] = await database.batch([auxKeysQuery(database, locator, page)])
  return { keys, page }
}

/** Sets the keys of the request and leaves all others unchanged. */
export async function mergeAuxData(
  context: RequestContext,
  locator: string,
  { auxData }: AuxDataSetCreateRequest,
): Promise<void> {
  if (locator.length > LONGEST_AUX_NAME || !isStorable(locator))
    throw invalidParameter(`The locator must be text of at most ${LONGEST_AUX_NAME} characters, without NUL.`)
  const changes = auxData.map(one => ({ ...one, locator }))
  await commitWrite(context, locator, keyOf(context, auxData), (database, shard) => [
    ...putAuxData(database, changes, context.now),
    ...auditRows(database, context, shard, auditOf(changes)),
  ])
}

/** The key that `If-Match` applies to. Rejects with 400 several keys with `If-Match`. */
function keyOf({ ifMatch }: RequestContext, auxData: AuxDataSetCreateRequest['auxData']): string {
  const keys = [...new Set(auxData.map(({ key }) => key))]
  if (ifMatch !== undefined && keys.length !== 1)
    throw invalidParameter(
      'If-Match is the ETag of a single key: set only that key, or send the request without If-Match.',
    )
  return keys[0] ?? ''
}

/** Deletes the value under the key, if there is one. Throws 412 if it is not the one that `If-Match` requires. */
export const removeAuxData = (context: RequestContext, locator: string, key: string): Promise<void> =>
  commitWrite(context, locator, key, (database, shard) => [
    auditDeletion(database, context, shard, locator, key),
    deleteAuxData(database, locator, key),
  ])

async function commitWrite(
  context: RequestContext,
  locator: string,
  key: string,
  facts: (database: Database, shard: number) => Query[],
): Promise<void> {
  const { database, shard } = placeOf(context, locator)
  const { ifMatch } = context
  const attempt = async () => {
    const guards: Guard[] = []
    // Reading the present value costs one more round trip.
    if (ifMatch !== undefined && ifMatch !== '*') {
      const [rows] = await database.batch([auxDataQuery(database, locator, key)])
      requireMatch(ifMatch, () => asShown(locator, key, rows[0]))
      guards.push(asReadGuard(locator, key, rows[0]))
    }
    const subject = `auxData/${locator}`
    await commit(context, database, { shard, guards, facts: facts(database, shard), subject })
  }
  await unlessRepeated(
    context,
    database,
    () => retryOnConflict(`The key '${key}'`, attempt),
    () => {},
  )
}

function placeOf({ env, tenant, calls }: RequestContext, locator: string) {
  const shard = shardOfAuxData(tenant, locator)
  return { shard, database: shardDatabase(env, tenant, shard, calls) }
}
