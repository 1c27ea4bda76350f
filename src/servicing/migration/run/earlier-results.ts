// Reads what earlier migrations created for an account: ids, credit, and invoices that further items pay or add to (rule 7 of
// resources brief 9.3), with their policies.

import { desc, eq, sql } from 'drizzle-orm'
import { auxDataQuery } from '../../../extension/auxdata/store.ts'
import { type PolicyLocator, policyOfUuid, type Uuid } from '../../../kernel/locators.ts'
import type { Money } from '../../../kernel/money.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { Calls } from '../../../platform/calls.ts'
import type { Guard, NewTimer } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { changeRows, putRows } from '../../../platform/database/rows.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { systemContext } from '../../../platform/system-context.ts'
import type { RecordPlace, Tenant } from '../../../platform/tenancy.ts'
import { termQueries } from '../../../policy/list/store.ts'
import type { PolicyAggregate } from '../../../policy/records/aggregate.ts'
import {
  AGGREGATE_QUERIES,
  aggregateQueries,
  chosenQueries,
  readAggregates,
  statementsByChoice,
} from '../../../policy/store/aggregates.ts'
import { creditQuery, productOf, readCredit } from '../../../policy/store/loading.ts'
import { COLLECTION_NAMES, COLLECTIONS, policyRow } from '../../../policy/store/rows.ts'
import { NOTHING_UNREAD } from '../../../policy/surroundings.ts'
import { invoices } from '../../../policy/tables/billing.ts'
import { policies } from '../../../policy/tables/policies.ts'
import type { ReadTables } from '../../../policyholders/change.ts'
import { type LoadedConfiguration, loadConfiguration } from '../../../product/cache.ts'
import type { Configuration, ProductDefinition } from '../../../product/configuration.ts'
import { configurationVersions } from '../../../product/tables.ts'
import { coverEnds } from '../../../transactions/cancellations/cover-end.ts'
import {
  type MovedSchedule,
  movedSchedules,
  scheduleRows,
  scheduleTimers,
} from '../../../transactions/custom-events/plan.ts'
import { pastDueTimers } from '../../../transactions/lapses/grace-periods.ts'
import { Preferences } from '../contract-request.ts'
import { partNode } from '../convert/account.ts'
import {
  type AddedParts,
  type Converted,
  type EarlierInvoice,
  type EarlierPart,
  type EarlierPolicy,
  type Existing,
  ORIGIN_KEY,
  type PolicyChange,
} from '../convert/converted.ts'
import { earlierInvoiceIds, hasCreditOnlyPayment } from '../convert/invoices.ts'
import type { Sources } from '../files.ts'
import {
  type MigratedItems,
  migratedItems,
  namedItems,
  type ReadAccount,
  type SentAccount,
} from '../request.ts'
import * as store from '../store.ts'
import { migrationMappings } from '../tables.ts'

export type Known = MigratedItems & {
  readonly mappings: readonly store.MappingRow[]
  readonly credit: Money
  readonly lastInvoice: Uuid | undefined
  readonly preferences: Preferences | undefined
}

/** Reads what the shard has of the account: migrated items, credit, newest invoice and preferences. Takes one round trip. */
export async function readKnown(
  { database, configuration }: ConfiguredRunContext,
  { accountLocator, migrationLocator }: store.MigrationAccount,
): Promise<Known> {
  const [mappings, credits, last, origins] = await database.batch([
    store.mappingsOfQuery(database, accountLocator),
    creditQuery(database, accountLocator),
    lastInvoiceQuery(database, accountLocator),
    auxDataQuery(database, accountLocator, ORIGIN_KEY),
  ])
  return {
    ...migratedItems(mappings, migrationLocator),
    mappings: mappings as store.MappingRow[],
    credit: readCredit(credits, configuration.configuration.currency),
    lastInvoice: last[0]?.locator as Uuid | undefined,
    preferences: preferencesIn(origins[0]?.value),
  }
}

/** Lenient, because anyone may have changed the auxiliary data since. */
function preferencesIn(origin: string | undefined): Preferences | undefined {
  try {
    return Preferences.safeParse(JSON.parse(origin ?? '{}').preferences).data
  } catch {
    return undefined
  }
}

const lastInvoiceQuery = ({ build }: Database, holder: Uuid) =>
  build
    .select({ locator: invoices.locator })
    .from(policies)
    .innerJoin(invoices, eq(invoices.policyLocator, policies.locator))
    .where(eq(policies.policyholderLocator, holder))
    .orderBy(desc(invoices.createdAt), desc(invoices.displayId))
    .limit(1)

/** Existing records on which the account's items depend. */
export type Earlier = {
  readonly existing: Existing
  readonly known: Known
  readonly policies: ReadonlyMap<PolicyLocator, { policy: EarlierPolicy; configuration: LoadedConfiguration }>
}

/** Needs one more round trip if the request names earlier invoices or has credit that an earlier invoice holds. */
export async function readEarlierResults(
  run: ConfiguredRunContext,
  known: Known,
  request: ReadAccount,
  sent: SentAccount,
): Promise<Earlier> {
  const named = earlierInvoiceIds(request)
  const rows = known.mappings.filter(({ kind, originalId }) => kind === 'invoices' && named.has(originalId))
  const last = hasCreditOnlyPayment(request) ? known.lastInvoice : undefined
  const locators = [...rows.flatMap(partsOf), ...(last ? [last] : [])]
  const read = locators.length > 0 ? await readPolicies(run, locators) : new Map<never, never>()
  const byInvoice = new Map(
    [...read.values()].flatMap(({ policy }) =>
      [...policy.aggregate.invoices.keys()].map(invoice => [invoice, { policy, invoice }] as const),
    ),
  )
  const settled = settledBefore(sent, known.done)
  const earlier = rows.flatMap((row): [string, EarlierInvoice][] => {
    const [first, ...others] = partsOf(row).flatMap((one): EarlierPart | [] => byInvoice.get(one) ?? [])
    const isStatedSettled = settled.has(row.originalId)
    return first ? [[row.originalId, { parts: [first, ...others], isStatedSettled }]] : []
  })
  const lastInvoice = last && byInvoice.get(last)
  return {
    existing: {
      credit: known.credit,
      invoices: new Map(earlier),
      ...(known.preferences && { preferences: known.preferences }),
      ...(lastInvoice && { lastInvoice }),
    },
    known,
    policies: read,
  }
}

const partsOf = ({ locator, children }: store.MappingRow): Uuid[] =>
  [locator, ...children.map(one => one.locator)] as Uuid[]

/** Returns invoices that an earlier attempt created and that the request states as settled. */
const settledBefore = (sent: SentAccount, done: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(
    namedItems(sent, 'invoices')
      .filter(({ item }) => (item as { invoiceState?: unknown } | null)?.invoiceState === 'settled')
      .map(({ id }) => id)
      .filter(id => done.has(`invoices ${id}`)),
  )

const VERSIONS = statementsByChoice((build, condition) =>
  build
    .select({ version: configurationVersions.version, hash: configurationVersions.hash })
    .from(configurationVersions)
    .where(
      sql`${configurationVersions.version} in (select ${policies.configVersion} from ${policies} where ${policies.locator} ${condition})`,
    ),
)

async function readPolicies(
  { env, tenant, calls, database }: ConfiguredRunContext,
  invoiceLocators: readonly Uuid[],
): Promise<Earlier['policies']> {
  const selection = { invoiceLocators: JSON.stringify(invoiceLocators.map(one => [policyOfUuid(one), one])) }
  const results = (await database.batch([
    ...aggregateQueries(database, selection),
    ...chosenQueries(database, selection, VERSIONS),
  ])) as unknown[]
  const configurations = new Map<number, LoadedConfiguration>()
  for (const { version, hash } of results[AGGREGATE_QUERIES] as { version: number; hash: string }[])
    configurations.set(version, await loadConfiguration(env, tenant, hash, calls))
  return new Map(
    readAggregates(results.slice(0, AGGREGATE_QUERIES)).map(aggregate => {
      const { locator, configVersion, productName } = aggregate.policy
      const configuration = configurations.get(configVersion)!
      const policy = { aggregate, product: productOf(configuration, productName) }
      return [locator, { policy, configuration }]
    }),
  )
}

/** Returns guards that fail on any change since the read: payments, transactions, other migrations, configurations. */
export function earlierGuards(account: Uuid, { known, policies: read }: Earlier): Guard[] {
  const mappings = store.mappingsGuard(account, known.mappings.length)
  if (read.size === 0) return [mappings]
  const used = [...read.values()].map(({ policy, configuration: { hash } }) => ({
    ...policy.aggregate.policy,
    hash,
  }))
  const versions = used.map(({ locator, version }) => [locator, version])
  const hashes = new Map(used.map(({ configVersion, hash }) => [configVersion, hash]))
  const asRead = sql`not exists (select 1 from json_each(${JSON.stringify(versions)}) as one where
    (select ${policies.version} from ${policies} where ${policies.locator} = one.value ->> 0) is not one.value ->> 1)`
  const asConfigured = sql`not exists (select 1 from json_each(${JSON.stringify([...hashes])}) as one where
    (select ${configurationVersions.hash} from ${configurationVersions}
      where ${configurationVersions.version} = one.value ->> 0) is not one.value ->> 1)`
  return [
    mappings,
    { name: 'guard_policy_version', holds: asRead },
    { name: 'guard_configuration_hash', holds: asConfigured },
  ]
}

/** Returns rows and timers for changes of existing policies. */
export function changedRows(
  { database }: ConfiguredRunContext,
  { known, policies: read }: Earlier,
  { changes, added }: Pick<Converted, 'changes' | 'added'>,
  now: Instant,
): { facts: Query[]; timers: NewTimer[] } {
  const courses = changes.map(({ before, after, product, timers }) => {
    const { customEvents } = read.get(after.policy.locator)!.configuration.configuration
    const course = timersOfChange(before, after, product, customEvents, now)
    return {
      after,
      schedules: course.schedules,
      facts: termQueries(database, product, before, after),
      timers: [...timers, ...course.timers],
    }
  })
  const mappings = added.map(one => withParts(known, one))
  return {
    facts: [
      ...policyChangeRows(database, changes),
      ...courses.flatMap(({ facts }) => facts),
      ...scheduleRows(database, courses, now),
      ...putRows(database, migrationMappings, mappings),
    ],
    timers: courses.flatMap(({ timers }) => timers),
  }
}

/** Returns timers that a policy change moves: unpaid invoices, ends of cover, scheduled events. `schedules` need rows. */
export function timersOfChange(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  product: ProductDefinition,
  customEvents: Configuration['customEvents'],
  now: Instant,
): { schedules: MovedSchedule[]; timers: NewTimer[] } {
  const schedules = movedSchedules(before, after, customEvents, now)
  const unpaid = pastDueTimers(before, after, product)
  return {
    schedules,
    timers: [...scheduleTimers(after, schedules), ...unpaid, ...coverEnds(before, after, now).timers],
  }
}

/** Does what `differenceQueries` does for each policy, without deletions, because a payment removes no record. */
function policyChangeRows(database: Database, changes: readonly PolicyChange[]): Query[] {
  const rows = changes.map(({ after }) => policyRow(after, NOTHING_UNREAD))
  const collections = COLLECTION_NAMES.flatMap(name => {
    const { table, toRow } = COLLECTIONS[name]
    const changed = changes.flatMap(({ before, after }) => {
      const old = before[name] as ReadonlyMap<unknown, unknown>
      return [...(after[name] as ReadonlyMap<unknown, unknown>)]
        .filter(([locator, record]) => old.get(locator) !== record)
        .map(([, record]) => ({ ...toRow(record as never), policyLocator: after.policy.locator }))
    })
    return changeRows(database, table, changed as never)
  })
  return [...changeRows(database, policies, rows), ...collections]
}

function withParts({ mappings }: Known, { originalId, parts }: AddedParts): store.MappingRow {
  const row = mappings.find(mapping => mapping.kind === 'invoices' && mapping.originalId === originalId)!
  const from = row.children.length + 1
  const children = parts.map((locator, at) => partNode(originalId, from + at, locator))
  return { ...row, children: [...row.children, ...children] }
}

export type RunContext = RecordPlace & {
  readonly env: Env
  readonly tenant: Tenant
  readonly calls: Calls
  /** The home shard's database; identical to `database` if the migration is there. */
  readonly home: Database
  readonly migration: store.Migration
  /** Whether to begin no further account. */
  readonly isHalted: () => boolean
}

export type ConfiguredRunContext = RunContext & {
  readonly configuration: LoadedConfiguration
  readonly configVersion: number
  /** When the alarm began. This time selects constraint tables for all accounts. */
  readonly begunAt: Instant
  /** Reads constraint tables once for each alarm. */
  readonly readTables: ReadTables
  readonly sources: Sources
  /** Accounts by the ids that they own. */
  readonly claimedBy: ReadonlyMap<string, string>
}

/** Returns the context in which the service itself acts, at the tenant's time. */
export const contextOf = (run: RunContext): RequestContext => systemContext(run, run.shard, 'migration')
