// Reads the log of calls, and repeats calls from it (resources brief 6.4).
import { and, eq, gte, isNotNull, isNull, lt, type SQL } from 'drizzle-orm'
import { notFound, wrongState } from '../../../kernel/errors.ts'
import { readUuid } from '../../../kernel/locators.ts'
import { withoutNulls } from '../../../kernel/maps.ts'
import { commit, storedAnswer } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { type PagedRow, pageOfShards } from '../../../platform/paging.ts'
import { shardDatabase, shardOfRecord } from '../../../platform/tenancy.ts'
import type {
  IntegrationCallBodiesResponse,
  IntegrationCallPageResponse,
  IntegrationCallResponse,
  IntegrationCallsQuery,
} from '../contract.ts'
import type { Integration } from '../integration.ts'
import { requireIntegration } from '../service.ts'
import { readIntegrations } from '../store.ts'
import { integrationCalls } from '../tables.ts'
import { makeCall, sha256 } from './call.ts'
import { type CallBodies, keepCall, readBodies } from './log.ts'

type Row = PagedRow<typeof integrationCalls>

/** Returns a page of calls, oldest first, from all shards of the tenant. Throws 404 for an unknown integration. */
export async function readCalls(
  name: string,
  { pageSize, pagingToken, ...filter }: IntegrationCallsQuery,
  context: RequestContext,
): Promise<IntegrationCallPageResponse> {
  requireIntegration(await readIntegrations(context), name)
  const fitting = [eq(integrationCalls.integrationName, name), ...conditions(filter)]
  const { rows, ...more } = await pageOfShards(context, integrationCalls, fitting, { pageSize, pagingToken })
  return { calls: rows.map(response), ...more }
}

type Filter = Omit<IntegrationCallsQuery, 'pageSize' | 'pagingToken'>

function conditions({ policyLocator, failed, startTimestamp, endTimestamp }: Filter): SQL[] {
  const all: SQL[] = []
  if (policyLocator !== undefined) all.push(eq(integrationCalls.policyLocator, policyLocator))
  if (failed !== undefined)
    all.push(failed ? isNotNull(integrationCalls.failure) : isNull(integrationCalls.failure))
  if (startTimestamp !== undefined) all.push(gte(integrationCalls.createdAt, startTimestamp))
  if (endTimestamp !== undefined) all.push(lt(integrationCalls.createdAt, endTimestamp))
  return all
}

/** Returns the call with its bodies. Throws 404 if the integration has no such call. */
export async function readCall(
  name: string,
  locator: string,
  context: RequestContext,
): Promise<IntegrationCallBodiesResponse> {
  const { row, bodies } = await loggedCall(name, locator, context)
  return withBodies(row, bodies)
}

/**
 * Sends the logged request to the integration's present address and returns the new call. It has no other effect. Rejects with 409
 * if the stored body differs from the one that was sent.
 */
export async function replayCall(
  name: string,
  locator: string,
  context: RequestContext,
): Promise<IntegrationCallBodiesResponse> {
  const { integration, row, bodies, shard } = await loggedCall(name, locator, context)
  const database = shardDatabase(context.env, context.tenant, shard, context.calls)
  const earlier = await storedAnswer(context, database)
  if (earlier) return await readCall(name, 'subject' in earlier ? earlier.subject : earlier.text, context)
  if (!bodies) throw wrongState(`The body of call '${row.locator}' is no longer stored.`)
  if (sha256(bodies.request) !== row.requestHash)
    throw wrongState(
      `The body of call '${row.locator}' contained a secret, which the log does not store, so the call cannot be repeated.`,
    )
  const newCall = await makeCall(context, integration, {
    shard,
    operation: row.operation,
    ...(row.policyLocator !== null && { policyLocator: row.policyLocator }),
    body: bodies.request,
    read: () => undefined,
    replayOf: row.locator,
  })
  await keepCall(context, shard, newCall.logged, newCall.bodies)
  if (context.idempotency)
    await commit(context, database, {
      shard,
      guards: [],
      facts: [],
      answer: { status: 200, text: newCall.logged.locator },
      subject: newCall.logged.locator,
    })
  return withBodies(newCall.logged as Row, newCall.bodies)
}

type Logged = {
  readonly integration: Integration
  readonly row: Row
  readonly bodies: CallBodies | undefined
  readonly shard: number
}

async function loggedCall(name: string, text: string, context: RequestContext): Promise<Logged> {
  const { env, tenant, calls } = context
  const integration = requireIntegration(await readIntegrations(context), name)
  const locator = readUuid(text)
  if (!locator) throw notFound('call', text)
  const shard = shardOfRecord(tenant, locator, 'call')
  const database = shardDatabase(env, tenant, shard, calls)
  const [[[row]], bodies] = await Promise.all([
    database.batch([
      database.build
        .select()
        .from(integrationCalls)
        .where(and(eq(integrationCalls.locator, locator), eq(integrationCalls.integrationName, name))),
    ]),
    readBodies(context, locator),
  ])
  if (!row) throw notFound('call', text)
  return { integration, row: row as Row, bodies, shard }
}

const withBodies = (row: Row, bodies: CallBodies | undefined): IntegrationCallBodiesResponse => ({
  ...response(row),
  request: bodies?.request,
  response: bodies?.response ?? undefined,
})

const response = ({
  locator,
  createdAt,
  at: _,
  integrationName: __,
  ...row
}: Row): IntegrationCallResponse => ({
  locator,
  timestamp: String(createdAt),
  ...withoutNulls(row),
  attempts: [...row.attempts],
  warnings: [...row.warnings],
})
