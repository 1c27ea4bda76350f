// Registers, changes and removes external services (resources brief 6.1). Every call returns the whole list.
import { type SQL, sql } from 'drizzle-orm'
import { auditRows } from '../../access/audit/store.ts'
import {
  alreadyExists,
  invalidRequest,
  notFound,
  type Refusal,
  tooLarge,
  wrongState,
} from '../../kernel/errors.ts'
import { newUuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import {
  commit,
  type Guard,
  GuardTripped,
  isBySubject,
  jsonAnswer,
  retryOnConflict,
  unlessRepeated,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { addressProblem, mayCallLocalHost } from '../../platform/outbound/address.ts'
import { MASK, maskedHeaders, maskedUrl, withParameters } from '../../platform/outbound/masking.ts'
import { HOME_SHARD, homeDatabase, shardDatabase, type Tenant } from '../../platform/tenancy.ts'
import { policies } from '../../policy/tables/policies.ts'
import { configurationVersions } from '../../product/tables.ts'
import { requireMaySend } from '../../reference/secrets/sending.ts'
import { assertNotInAutofill } from './autofill/service.ts'
import type {
  ExternalServiceIntegrationAddRequest,
  ExternalServiceIntegrationResponse,
  ExternalServiceIntegrationsResponse,
  ExternalServiceIntegrationUpdateRequest,
  SecuritySpecRequest,
} from './contract.ts'
import type { Connection, Integration, Security } from './integration.ts'
import { deleteIntegration, forgetIntegrations, putIntegration, readIntegrations } from './store.ts'
import { integrations } from './tables.ts'

/** The most integrations of a tenant. Adding more rejects with 413. */
const MOST_INTEGRATIONS = 100

/** Lists the integrations of the tenant, with masked secrets. */
export async function listIntegrations(
  context: RequestContext,
): Promise<ExternalServiceIntegrationsResponse> {
  const present = await readIntegrations(context)
  return integrationsResponse(context.tenant, present.values())
}

/** Adds an integration. Throws 400 for an address that may not be called, 409 for a name that is in use. */
export async function addIntegration(
  request: ExternalServiceIntegrationAddRequest,
  context: RequestContext,
): Promise<JsonText> {
  assertAddress(request.url, context)
  return await changeIntegrations(context, request.name, present => {
    if (present.has(request.name)) throw nameTaken(request.name)
    if (present.size >= MOST_INTEGRATIONS)
      throw tooLarge(`A tenant can have at most ${MOST_INTEGRATIONS} integrations.`)
    const { name, type } = request
    const { now } = context
    const locator = newUuid(HOME_SHARD)
    return { ...connectionOf(request, undefined), locator, name, type, createdAt: now, updatedAt: now }
  })
}

/** Replaces everything but the name and type. Values that the request leaves out are removed. */
export async function replaceIntegration(
  name: string,
  request: ExternalServiceIntegrationUpdateRequest,
  context: RequestContext,
): Promise<JsonText> {
  assertAddress(request.url, context)
  return await changeIntegrations(context, name, present => {
    const { locator, type, createdAt, ...connection } = requireIntegration(present, name)
    const updatedAt = Math.max(context.now, connection.updatedAt + 1) as Instant
    return { ...connectionOf(request, connection), locator, name, type, createdAt, updatedAt }
  })
}

/** Rejects with 409 while an autofill operation, the newest configuration, or an older one that policies still have names it. */
export async function removeIntegration(name: string, context: RequestContext): Promise<JsonText> {
  return await changeIntegrations(context, name, async present => {
    const integration = requireIntegration(present, name)
    const use = integration.type === 'external_rater' ? await useOf(context, name) : undefined
    if (use !== undefined) throw integrationInUse(name, use)
    if (integration.type === 'data_autofill') await assertNotInAutofill(context, name)
    return undefined
  })
}

type Present = ReadonlyMap<string, Integration>

/** Replaces the integration of that name with what `plan` returns (undefined removes it), and returns the list. */
async function changeIntegrations(
  context: RequestContext,
  name: string,
  plan: (present: Present) => Integration | undefined | Promise<Integration | undefined>,
): Promise<JsonText> {
  const database = homeDatabase(context)
  const attempt = () => changeOnce(context, database, name, plan)
  const work = () => retryOnConflict('The integration', attempt)
  return await unlessRepeated(context, database, work, earlier => answerOf(context, earlier))
}

async function changeOnce(
  context: RequestContext,
  database: Database,
  name: string,
  plan: (present: Present) => Integration | undefined | Promise<Integration | undefined>,
): Promise<JsonText> {
  const present = await readIntegrations(context)
  const after = new Map(present)
  const before = present.get(name)
  const planned = await plan(present)
  if (planned) {
    await requireMaySend(context, [{ before, after: planned }])
    after.set(name, planned)
  } else after.delete(name)
  const removed = planned ? undefined : before
  try {
    const answer = await commit(context, database, {
      shard: HOME_SHARD,
      guards: [
        ...(before ? [isUnchanged(before)] : []),
        ...(removed?.type === 'external_rater' ? [notNamed(name)] : []),
      ],
      facts: [
        ...(planned ? await putIntegration(context, database, planned) : []),
        ...(removed ? [deleteIntegration(database, removed.locator)] : []),
        ...auditRows(database, context, HOME_SHARD, [
          {
            action: planned ? 'integrations.write' : 'integrations.delete',
            subject: name,
            details: { type: (planned ?? removed)?.type },
          },
        ]),
      ],
      answer: jsonAnswer(integrationsResponse(context.tenant, after.values())),
      subject: `integration ${name}`,
    })
    return await answerOf(context, answer)
  } catch (problem) {
    if (problem instanceof GuardTripped && problem.guard === NOT_NAMED)
      throw integrationInUse(name, 'The newest configuration')
    throw isNameTaken(problem) ? nameTaken(name) : problem
  } finally {
    forgetIntegrations(context.tenant)
  }
}

/**
 * Holds while the integration still exists and has not changed since it was read; masked values are kept from that read. Each
 * change raises `updatedAt`.
 */
const isUnchanged = ({ locator, updatedAt }: Integration): Guard => ({
  name: 'guard_resource',
  holds: sql`(select ${integrations.updatedAt} from ${integrations} where ${integrations.locator} = ${locator}) = ${updatedAt}`,
})

const NOT_NAMED = 'guard_configuration_version'

/** A simultaneous deployment may start to name it. */
const notNamed = (name: string): Guard => ({
  name: NOT_NAMED,
  holds: sql`not ${namedByNewest(name)}`,
})

/** Returns the present list if the stored answer was too long to keep. */
async function answerOf(
  context: RequestContext,
  answer: Awaited<ReturnType<typeof commit>>,
): Promise<JsonText> {
  if (!isBySubject(answer)) return jsonText(answer)
  return jsonText({ status: answer.status, text: JSON.stringify(await listIntegrations(context)) })
}

/** Throws 404 if there is no integration of that name. */
export function requireIntegration(present: Present, name: string): Integration {
  const integration = present.get(name)
  if (!integration) throw notFound('integration', name)
  return integration
}

function assertAddress(url: string, { env }: RequestContext): void {
  const problem = addressProblem(url, mayCallLocalHost(env))
  if (problem !== undefined) throw invalidRequest(`'url' ${problem}.`)
}

const nameTaken = (name: string) =>
  alreadyExists(`There is already an integration named '${name}'; choose a different name.`)

const integrationInUse = (name: string, who: string): Refusal =>
  wrongState(
    `${who} has a product with "externalRater": "${name}"; deploy a configuration without it, or change the integration with PUT.`,
  )

/** Whether two requests created the same name simultaneously and this one lost at the unique index. */
const isNameTaken = (problem: unknown): boolean =>
  problem instanceof Error &&
  `${problem.message} ${String(problem.cause)}`.includes('UNIQUE constraint failed: integration.name')

const integrationsResponse = (
  tenant: Tenant,
  integrations: Iterable<Integration>,
): ExternalServiceIntegrationsResponse => ({
  externalServiceIntegrations: [...integrations].map(integration => integrationResponse(tenant, integration)),
})

function integrationResponse(
  { locator }: Tenant,
  { name, headers, type, url, security }: Integration,
): ExternalServiceIntegrationResponse {
  return {
    name,
    headers: maskedHeaders(headers),
    tenantLocator: locator,
    type,
    url: maskedUrl(url),
    ...(security && {
      securitySpec: {
        hmacEnabled: security.hmacEnabled,
        ...(security.secret !== undefined && { secret: MASK }),
        secureSSL: security.secureSsl,
        ...(security.tag !== undefined && { tag: security.tag }),
      },
    }),
  }
}

const naming = (name: string): SQL =>
  sql`select version, named.key as product from ${configurationVersions}, json_each(external_raters) as named where named.value = ${name}`

const newest = sql`(select max(version) from ${configurationVersions})`

const namedByNewest = (name: string): SQL =>
  sql`exists (select 1 from (${naming(name)}) where version = ${newest})`

/**
 * What still needs the integration, as the subject of a sentence: the newest configuration, or an older one that rates policies.
 */
async function useOf(context: RequestContext, name: string): Promise<string | undefined> {
  const home = homeDatabase(context)
  const [versions, [last]] = await home.batch([
    home.build.all<{ version: number; product: string }>(naming(name)),
    home.build.all<{ version: number | null }>(sql`select ${newest} as version`),
  ])
  if (versions.length === 0) return undefined
  if (versions.some(({ version }) => version === last?.version)) return 'The newest configuration'
  const { env, tenant, calls } = context
  const used = await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [rows] = await database.batch([
        database.build.all<{ version: number }>(sql`
          select value ->> 0 as version from json_each(${JSON.stringify(versions.map(({ version, product }) => [version, product]))})
          where exists (select 1 from ${policies} where config_version = value ->> 0 and product_name = value ->> 1)
          limit 1`),
      ])
      return rows[0]?.version
    }),
  )
  const version = used.find(one => one !== undefined)
  return version === undefined ? undefined : `Configuration version ${version}, which has policies,`
}

/** Removes values that are left out; `********` keeps a stored value. Rejects with 400 a mask without one. */
function connectionOf(
  { url, headers, securitySpec }: ExternalServiceIntegrationUpdateRequest,
  before: Connection | undefined,
): Connection {
  return {
    url: urlWithStoredValues(url, before?.url),
    headers: unmaskHeaders(headers, before?.headers ?? {}),
    ...(securitySpec && { security: securityOf(securitySpec, before?.security) }),
  }
}

/** Returns the 400 for a request that sends the mask where no value is stored. */
export const maskWithoutValue = (what: string): Refusal =>
  invalidRequest(`'${what}' is ${MASK}, which stands for a stored value, but there is none; send the value.`)

function unmaskHeaders(headers: Connection['headers'], before: Connection['headers']): Connection['headers'] {
  const storedHeaders = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]))
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (value !== MASK) return [name, value]
      const stored = storedHeaders.get(name.toLowerCase())
      if (stored === undefined) throw maskWithoutValue(`headers.${name}`)
      return [name, stored]
    }),
  )
}

/** Replaces masks in the address with the stored values. Rejects with 400 a mask without one. */
export function urlWithStoredValues(address: string, before: string | undefined): string {
  const stored = new Map<string, string>()
  if (before !== undefined)
    withParameters(before, (name, _value, nth, written) => void stored.set(`${nth} ${name}`, written))
  return withParameters(address, (name, value, nth) => {
    if (value !== MASK) return undefined
    const kept = stored.get(`${nth} ${name}`)
    if (kept === undefined) throw maskWithoutValue(`url?${name}`)
    return kept
  })
}

function securityOf(
  { hmacEnabled, secret: given, secureSSL, tag }: SecuritySpecRequest,
  before: Security | undefined,
): Security {
  const secret = given === MASK ? before?.secret : given
  if (given === MASK && secret === undefined) throw maskWithoutValue('securitySpec.secret')
  return {
    hmacEnabled: hmacEnabled ?? secret !== undefined,
    secureSsl: secureSSL,
    ...(secret !== undefined && { secret }),
    ...(tag !== undefined && { tag }),
  }
}
