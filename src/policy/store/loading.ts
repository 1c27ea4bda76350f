// What an operation on a policy needs to know, read in one batch: the policy, its policyholder, and which
// configuration its version stands for today.
import { sql } from 'drizzle-orm'
import { notFound, Refusal } from '../../kernel/errors.ts'
import { type PolicyLocator, readUuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { policyholderQuery, readPolicyholder } from '../../policyholders/store.ts'
import { policyholders } from '../../policyholders/tables.ts'
import { type LoadedConfiguration, loadConfiguration } from '../../product/cache.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { type VersionRow, versionQuery } from '../../product/store.ts'
import { configurationVersions } from '../../product/tables.ts'
import type { PolicyCreateRequest } from '../contract/requests.ts'
import type { Part } from '../part.ts'
import type { Ground, Loaded, Version } from '../surroundings.ts'
import { policies } from '../tables/policies.ts'
import {
  AGGREGATE_QUERIES,
  aggregateQueries,
  byChoice,
  chosenQueries,
  type PolicySelection,
  policyLocatorQuery,
  readAggregates,
} from './aggregates.ts'
import { CREDITS, type CreditRow, creditQuery, readCredit } from './credit.ts'
import { joinedParts, partQueries, unreadOf } from './part.ts'

/** What a create request names; refuses with 404 or 400 what is unknown. */
export async function loadGround(
  context: RequestContext,
  database: Database,
  request: PolicyCreateRequest,
): Promise<Ground> {
  const locator = readUuid(request.policyholderLocator)
  if (!locator) throw notFound('policyholder', request.policyholderLocator)
  const [holders, versions, credits] = await database.batch([
    policyholderQuery(database, locator),
    versionQuery(database, request.configVersion),
    creditQuery(database, locator),
  ])
  if (!holders[0]) throw notFound('policyholder', request.policyholderLocator)
  const { configuration, configVersion } = await versionOf(context, versions[0], request.configVersion)
  return {
    policyholder: readPolicyholder(holders[0]),
    configuration,
    configVersion,
    timeZone: configuration.configuration.timeZone,
    currency: configuration.configuration.currency,
    product: productOf(configuration, request.productName),
    credit: readCredit(credits, configuration.configuration.currency),
  }
}

/** A version of the configuration, the latest for undefined; refuses with 400 one that there is not. */
export async function loadVersion(
  context: RequestContext,
  database: Database,
  asked: number | undefined,
): Promise<Version> {
  const [versions] = await database.batch([versionQuery(database, asked)])
  return await versionOf(context, versions[0], asked)
}

async function versionOf(
  { env, tenant, calls }: RequestContext,
  version: VersionRow | undefined,
  asked: number | undefined,
): Promise<Version> {
  if (!version && asked !== undefined)
    throw new Refusal(
      'unknownConfigVersion',
      `There is no configuration version ${asked}; GET /deployments/versions lists them.`,
    )
  if (!version) throw new Refusal('noConfiguration', 'The tenant has no configuration; deploy one first.')
  const configuration = await loadConfiguration(env, tenant, version.hash, calls)
  return { configuration, configVersion: version.version }
}

/** The product of that name; refuses (400) one that the configuration does not have. */
export function productOf({ configuration }: LoadedConfiguration, name: string): ProductDefinition {
  if (Object.hasOwn(configuration.products, name)) return configuration.products[name]!
  const known = Object.keys(configuration.products)
    .map(one => `'${one}'`)
    .join(', ')
  throw new Refusal(
    'invalidRequest',
    `There is no product '${name}'; the configuration has ${known || 'none'}.`,
  )
}

/** The policy with its surroundings, of its own locator or of a quote's; 404 when the tenant has none such. */
export async function loadPolicy(
  context: RequestContext,
  database: Database,
  selection: PolicySelection,
): Promise<Loaded> {
  const results = (await database.batch([
    ...aggregateQueries(database, selection),
    ...chosenQueries(database, selection, HOLDERS, VERSIONS, CREDITS),
  ])) as unknown[]
  return await loadedFrom(
    context,
    selection,
    results.slice(0, AGGREGATE_QUERIES),
    results.slice(AGGREGATE_QUERIES),
  )
}

/** As `loadPolicy`; of a large policy only the exposures of the part, with `unread` set. */
export async function loadPart(
  context: RequestContext,
  database: Database,
  locator: PolicyLocator,
  part: Part,
): Promise<Loaded> {
  const results = (await database.batch([
    ...partQueries(database, locator, part),
    ...chosenQueries(database, { locator }, HOLDERS, VERSIONS, CREDITS),
  ])) as unknown[]
  const joined = joinedParts(results)
  const loaded = await loadedFrom(context, { locator }, joined, results.slice(-3))
  return { ...loaded, unread: unreadOf(joined, loaded.aggregate) }
}

async function loadedFrom(
  context: RequestContext,
  selection: PolicySelection,
  rows: readonly unknown[],
  surroundings: readonly unknown[],
): Promise<Loaded> {
  const [aggregate] = readAggregates(rows)
  if (!aggregate) throw notFoundAs(selection)
  const [holders, versions, credits] = surroundings as [
    (typeof policyholders.$inferSelect)[],
    { hash: string }[],
    CreditRow[],
  ]
  const configuration = await loadConfiguration(context.env, context.tenant, versions[0]!.hash, context.calls)
  return {
    aggregate,
    policyholder: readPolicyholder(holders[0]!),
    configuration,
    product: productOf(configuration, aggregate.policy.productName),
    credit: readCredit(credits, aggregate.policy.currency),
  }
}

/** 404 for what the selection names: a policy, a quote, a cancellation … */
export function notFoundAs(selection: PolicySelection): Refusal {
  const [name, locator] = Object.entries(selection)[0]!
  return notFound(name === 'locator' ? 'policy' : name.replace(/Locator$|DisplayId$/, ''), String(locator))
}

const HOLDERS = byChoice((build, condition) =>
  build
    .select()
    .from(policyholders)
    .where(
      sql`${policyholders.locator} = (select ${policies.policyholderLocator} from ${policies} where ${policies.locator} ${condition})`,
    ),
)

const VERSIONS = byChoice((build, condition) =>
  build
    .select({ hash: configurationVersions.hash })
    .from(configurationVersions)
    .where(
      sql`${configurationVersions.version} = (select ${policies.configVersion} from ${policies} where ${policies.locator} ${condition})`,
    ),
)

/** The policy that a record belongs to: one round trip; 404 when there is no such record. */
export async function policyOf(database: Database, selection: PolicySelection): Promise<PolicyLocator> {
  const [rows] = (await database.batch([policyLocatorQuery(database, selection)])) as unknown as [
    { policy: PolicyLocator }[],
  ]
  if (!rows[0]) throw notFoundAs(selection)
  return rows[0].policy
}
