// Reads everything that an operation needs in one batch: the policy, its policyholder and the configuration of its version. The
// guards fail the batch of a write that relies on what has changed since (docs/design.md, section 5).
import { type SQL, sql } from 'drizzle-orm'
import { invalidRequest, notFound, Refusal } from '../../kernel/errors.ts'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, fromMinor, type Money } from '../../kernel/money.ts'
import type { Guard } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { type Database, type Query, statement } from '../../platform/database.ts'
import type { Position } from '../../platform/paging.ts'
import { policyholderQuery, readLocator } from '../../policyholders/store.ts'
import { policyholders } from '../../policyholders/tables.ts'
import type { Policyholder } from '../../policyholders/values.ts'
import type { LoadedConfiguration, VersionRow } from '../../product/cache.ts'
import { loadConfiguration, versionQuery } from '../../product/cache.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { configurationVersions } from '../../product/tables.ts'
import type { PolicyCreateRequest } from '../contract/requests.ts'
import type { CollectionName, PolicyAggregate } from '../records/aggregate.ts'
import type { Loaded, NeededCredit, NewPolicyContext, Part, Unread, Version } from '../surroundings.ts'
import { READ_WHOLE_PERILS } from '../surroundings.ts'
import { disbursements, MOVES_CREDIT, payments } from '../tables/billing.ts'
import { endorsements, perils, policies } from '../tables/policies.ts'
import {
  AGGREGATE_QUERIES,
  aggregateQueries,
  chosenQueries,
  type PolicySelection,
  policyLocatorQuery,
  readAggregates,
  statementsByChoice,
} from './aggregates.ts'
import { COLLECTION_NAMES, COLLECTIONS } from './rows.ts'

/** Loads the records that a create request names. Throws 404 or 400 for unknown ones, and 400 for another currency. */
export async function loadNewPolicyContext(
  context: RequestContext,
  database: Database,
  request: PolicyCreateRequest,
): Promise<NewPolicyContext> {
  const locator = readLocator(request.policyholderLocator)
  const [holders, versions, credits] = await database.sharedBatch([
    policyholderQuery(database, locator),
    versionQuery(database, request.configVersion),
    creditQuery(database, locator),
  ])
  if (!holders[0]) throw notFound('policyholder', request.policyholderLocator)
  const { configuration, configVersion } = await versionOf(context, versions[0], request.configVersion)
  const { currency } = configuration.configuration
  // Ignoring it would price a policy in another currency than the client expects.
  if (request.currency !== undefined && request.currency.toUpperCase() !== currency)
    throw invalidRequest(`'currency' must be ${currency}, the currency of the configuration.`)
  return {
    policyholder: holders[0],
    configuration,
    configVersion,
    timeZone: configuration.configuration.timeZone,
    currency,
    product: productOf(configuration, request.productName),
    credit: readCredit(credits, currency),
  }
}

/** Loads a version of the configuration, by default the latest. Throws 400 if it is unknown, 409 if there is none. */
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
      `There is no configuration version ${asked}. GET /deployments/versions lists all versions.`,
    )
  if (!version) throw new Refusal('noConfiguration', 'The tenant has no configuration. Deploy one first.')
  const configuration = await loadConfiguration(env, tenant, version.hash, calls)
  return { configuration, configVersion: version.version }
}

/** Throws 400 if the configuration does not have the product. */
export function productOf({ configuration }: LoadedConfiguration, name: string): ProductDefinition {
  if (Object.hasOwn(configuration.products, name)) return configuration.products[name]!
  const known = Object.keys(configuration.products)
    .map(one => `'${one}'`)
    .join(', ')
  throw invalidRequest(`There is no product '${name}'; the configuration has ${known || 'none'}.`)
}

/** Loads the policy with its surroundings, by its own locator or that of one of its records. Throws 404 if it does not exist. */
export async function loadPolicy(
  context: RequestContext,
  database: Database,
  selection: PolicySelection,
): Promise<Loaded> {
  const results = (await database.sharedBatch([
    ...aggregateQueries(database, selection),
    ...chosenQueries(database, selection, HOLDERS, VERSIONS, CREDITS),
  ])) as unknown[]
  return await loadedFrom(context, selection, results)
}

/** Like `loadPolicy`, but of a large policy reads only the exposures of the part, and sets `unread`. */
export async function loadPart(
  context: RequestContext,
  database: Database,
  locator: PolicyLocator,
  part: Part,
): Promise<Loaded> {
  const results = (await database.sharedBatch([
    ...partQueries(database, locator, part),
    ...chosenQueries(database, { locator }, HOLDERS, VERSIONS, CREDITS),
  ])) as unknown[]
  const joined = joinedParts(results)
  const loaded = await loadedFrom(context, { locator }, joined, results.slice(-3))
  return { ...loaded, unread: unreadOf(joined, loaded.aggregate) }
}

/** The results of `HOLDERS`, `VERSIONS` and `CREDITS` are the last of `rows`, or are passed as `surroundings`. */
async function loadedFrom(
  context: RequestContext,
  selection: PolicySelection,
  rows: readonly unknown[],
  surroundings = rows.slice(-3),
): Promise<Loaded> {
  const [aggregate] = readAggregates(rows)
  if (!aggregate) throw selectionNotFound(selection)
  const [holders, versions, credits] = surroundings as [
    (typeof policyholders.$inferSelect)[],
    { hash: string }[],
    CreditRow[],
  ]
  const configuration = await loadConfiguration(context.env, context.tenant, versions[0]!.hash, context.calls)
  return {
    aggregate,
    policyholder: holders[0]!,
    configuration,
    product: productOf(configuration, aggregate.policy.productName),
    credit: readCredit(credits, aggregate.policy.currency),
  }
}

/** Returns the 404 for what the selection names: a policy, a quote, a cancellation, … */
function selectionNotFound(selection: PolicySelection): Refusal {
  const [name, locator] = Object.entries(selection)[0]!
  return notFound(name === 'locator' ? 'policy' : name.replace(/Locator$|DisplayId$/, ''), String(locator))
}

const HOLDERS = statementsByChoice((build, condition) =>
  build
    .select()
    .from(policyholders)
    .where(
      sql`${policyholders.locator} = (select ${policies.policyholderLocator} from ${policies} where ${policies.locator} ${condition})`,
    ),
)

const VERSIONS = statementsByChoice((build, condition) =>
  build
    .select({ hash: configurationVersions.hash })
    .from(configurationVersions)
    .where(
      sql`${configurationVersions.version} = (select ${policies.configVersion} from ${policies} where ${policies.locator} ${condition})`,
    ),
)

/** Finds the policy of a record in one round trip. Throws 404 if there is no such record. */
export async function policyOf(database: Database, selection: PolicySelection): Promise<PolicyLocator> {
  const [rows] = (await database.batch([policyLocatorQuery(database, selection)])) as unknown as [
    { policy: PolicyLocator }[],
  ]
  if (!rows[0]) throw selectionNotFound(selection)
  return rows[0].policy
}

// A part of a large policy: only the exposures that an operation touches, found by index, so the number of rows read does not grow
// with the policy.
const policy = sql.placeholder('policy')
const endorsement = sql.placeholder('endorsement')

/** The exposures of the part: those that it names and those that its endorsement touches. */
const named = sql`(select value from json_each(${sql.placeholder('exposures')})
  union select value from ${endorsements}, json_each(${endorsements.touches})
    where ${endorsements.locator} = ${endorsement})`

/** A small policy is read whole, and so is one that the endorsement touches entirely. */
const isReadWhole = sql`(${policies.perilCount} <= ${READ_WHOLE_PERILS} or exists (
  select 1 from ${endorsements} where ${endorsements.locator} = ${endorsement} and ${endorsements.touches} is null))`

/** The policy's locator if it is read whole (`whole`) or in part (`large`); otherwise null, which matches no row. */
const whole = sql`(select ${policies.locator} from ${policies} where ${policies.locator} = ${policy} and ${isReadWhole})`
const large = sql`(select ${policies.locator} from ${policies} where ${policies.locator} = ${policy} and not ${isReadWhole})`

/** Collections that a part restricts, with the condition on their rows. */
const PART_CONDITIONS: readonly (readonly [CollectionName, SQL])[] = [
  ['exposures', sql`policy_locator = ${large} and locator in ${named}`],
  ['exposureRuns', sql`policy_locator = ${large} and exposure_locator in ${named}`],
  ['perils', sql`policy_locator = ${large} and exposure_locator in ${named}`],
  [
    'perilRuns',
    sql`policy_locator = ${large} and peril_locator in (
      select locator from ${perils} where policy_locator = ${large} and exposure_locator in ${named})`,
  ],
]

const ROWS = PART_CONDITIONS.map(([name, ofPart]) => {
  const { table, order } = COLLECTIONS[name]
  const rowsWhere = (condition: SQL) =>
    statement(build => build.select().from(table).where(condition).orderBy(sql.raw(order)))
  return {
    at: 1 + COLLECTION_NAMES.indexOf(name),
    all: rowsWhere(sql`policy_locator = ${whole}`),
    part: rowsWhere(ofPart),
  }
})

/** Returns the queries of `aggregateQueries` for one policy, then queries for the part. Pass the results to `joinedParts`. */
function partQueries(
  database: Database,
  locator: PolicyLocator,
  { exposures, endorsement }: Part,
): [Query, ...Query[]] {
  const values = {
    policy: locator,
    exposures: JSON.stringify(exposures),
    endorsement: endorsement ?? null,
  }
  const queries = aggregateQueries(database, { locator })
  for (const { at, all } of ROWS) queries[at] = database.bind(all, values)
  return [...queries, ...ROWS.map(({ part }) => database.bind(part, values))]
}

/** Turns results of `partQueries` into results of `aggregateQueries`. A collection is read whole or in part, never both. */
function joinedParts(results: readonly unknown[]): unknown[] {
  const joined = results.slice(0, AGGREGATE_QUERIES)
  const parts = results.slice(AGGREGATE_QUERIES) as object[][]
  for (const [index, { at }] of ROWS.entries()) joined[at] = [...(joined[at] as object[]), ...parts[index]!]
  return joined
}

/** Returns how much of the policy was not read; undefined if all of it was read. */
function unreadOf(results: readonly unknown[], { exposures, perils }: PolicyAggregate): Unread | undefined {
  const [{ exposureCount, perilCount }] = results[0] as [typeof policies.$inferSelect]
  if (exposureCount === exposures.size) return undefined
  return { exposures: exposureCount - exposures.size, perils: perilCount - perils.size }
}

// How a payment changes its policyholder's credit. The condition is that of the index payment_of_credit.
const CHANGE = sql<number>`case ${payments.source} when 'credit' then -${payments.amount} else ${payments.credited} end`

const movesCreditOf = (holder: SQL | Uuid): SQL =>
  sql`${payments.policyholderLocator} = ${holder} and (${MOVES_CREDIT}) and ${payments.reversedAt} is null`

export type CreditRow = { currency: string; minor: number }

/** Changes of the credit: payments that made or used it, and disbursements from it. */
const changes = (holder: SQL | Uuid): SQL => sql`(
  select ${payments.currency} as currency, ${CHANGE} as change from ${payments} where ${movesCreditOf(holder)}
  union all
  select ${disbursements.currency}, -${disbursements.amount} from ${disbursements}
  where ${disbursements.policyholderLocator} = ${holder}) as credit_change`

const balances = (build: Database['build'], holder: SQL | Uuid) =>
  build
    .select({ currency: sql<string>`currency`, minor: sql<number>`sum(change)` })
    .from(changes(holder))
    .groupBy(sql`currency`)

const CREDIT_OF_HOLDER = statement(build => balances(build, sql`${sql.placeholder('holder')}`))

/** Selects the policyholder's credit by currency. Pass the rows to `readCredit`. */
export const creditQuery = (database: Database, holder: Uuid) => database.bind(CREDIT_OF_HOLDER, { holder })

/** Like `creditQuery`, for the policyholder of a policy. */
const CREDITS = statementsByChoice((build, condition) =>
  balances(
    build,
    sql`(select ${policies.policyholderLocator} from ${policies} where ${policies.locator} ${condition})`,
  ),
)

/** Returns the credit in that currency. Zero if there is none. */
export const readCredit = (rows: readonly CreditRow[], currency: CurrencyCode): Money =>
  fromMinor(rows.find(row => row.currency === currency)?.minor ?? 0, currency)

const CREDIT = sql`coalesce((
  select sum(change) from ${changes(sql`${sql.placeholder('holder')}`)}
  where currency = ${sql.placeholder('currency')}), 0)`
const CREDIT_IS_UNCHANGED = sql`${CREDIT} = ${sql.placeholder('minor')}`
const CREDIT_IS_ENOUGH = sql`${CREDIT} >= ${sql.placeholder('minor')}`
const CREDIT_HAS_ROOM = sql`${CREDIT} <= ${sql.placeholder('minor')}`

/**
 * Fails the batch unless the credit is as needed. Otherwise two simultaneous requests could spend the same credit, or together
 * exceed the largest credit that can be kept.
 */
export function creditGuard(holder: Uuid, needed: NeededCredit): Guard {
  const { holds, credit } = conditionOn(needed)
  const { minor, currency } = credit
  return { name: 'guard_policyholder_credit', holds, values: { holder, currency, minor } }
}

function conditionOn(needed: NeededCredit): { holds: SQL; credit: Money } {
  if ('exactly' in needed) return { holds: CREDIT_IS_UNCHANGED, credit: needed.exactly }
  if ('atLeast' in needed) return { holds: CREDIT_IS_ENOUGH, credit: needed.atLeast }
  return { holds: CREDIT_HAS_ROOM, credit: needed.atMost }
}

const locatorParameter = sql.placeholder('locator')
const versionParameter = sql.placeholder('version')
const storedPolicy = sql`(select ${policies.version} from ${policies} where ${policies.locator} = ${locatorParameter})`
const POLICY_IS_NEW = sql`${storedPolicy} is null`
const POLICY_IS_UNCHANGED = sql`${storedPolicy} = ${versionParameter}`
const CONFIGURATION_IS_UNCHANGED = sql`(select ${configurationVersions.hash} from ${configurationVersions}
  where ${configurationVersions.version} = ${versionParameter}) = ${sql.placeholder('hash')}`
const POLICYHOLDER_IS_UNCHANGED = sql`(select ${policyholders.version} from ${policyholders}
  where ${policyholders.locator} = ${locatorParameter}) = ${versionParameter}`

/** Fails the batch if the policy has changed since it was read, or if another request created it first. */
export function policyGuard(
  before: PolicyAggregate | undefined,
  { policy: { locator } }: PolicyAggregate,
): Guard {
  const name = 'guard_policy_version'
  if (!before) return { name, holds: POLICY_IS_NEW, values: { locator } }
  return { name, holds: POLICY_IS_UNCHANGED, values: { locator, version: before.policy.version } }
}

/** Fails the batch unless the version still has the configuration that the plan used. */
export const configurationGuard = (version: number, hash: string): Guard => ({
  name: 'guard_configuration_hash',
  holds: CONFIGURATION_IS_UNCHANGED,
  values: { version, hash },
})

/** Fails the batch if the policyholder has changed since the price used it. */
export const policyholderGuard = ({ locator, version }: Policyholder): Guard => ({
  name: 'guard_policyholder_version',
  holds: POLICYHOLDER_IS_UNCHANGED,
  values: { locator, version },
})

/** Selects a page of payments that made or used credit, including reversed ones, oldest first, and one more than the page size. */
export const movementsQuery = (
  database: Database,
  holder: Uuid,
  position: Position<Uuid> | undefined,
  pageSize: number,
) =>
  database.build
    .select()
    .from(payments)
    .where(
      sql`${payments.policyholderLocator} = ${holder} and (${MOVES_CREDIT})
        and (${payments.postedAt}, ${payments.locator}) > (${position?.createdAt ?? 0}, ${position?.locator ?? ''})`,
    )
    .orderBy(payments.postedAt, payments.locator)
    .limit(pageSize + 1)
