// The rows of policies. Policies are read whole in one batch; writes contain only differences.
import { asc, eq, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { invalidRequest } from '../../kernel/errors.ts'
import {
  type CancellationLocator,
  type DisplayId,
  type EndorsementLocator,
  namesPolicy,
  type PolicyLocator,
  policyOfUuid,
  type QuoteLocator,
  type Uuid,
} from '../../kernel/locators.ts'
import type { CurrencyCode } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { changeRows, deleteOfPolicy, insertRows, putRows } from '../../platform/database/rows.ts'
import type { Database, Query, Statement } from '../../platform/database.ts'
import { statement } from '../../platform/database.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { removeUnlessRecorded } from '../../platform/events/timers.ts'
import { fileKey, homeDatabase, tenantFiles } from '../../platform/tenancy.ts'
import type { FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import { valuesOf } from '../../product/fields/values.ts'
import type { Candidate } from '../../reference/data-tables/record-store.ts'
import { tableUses } from '../../reference/tables.ts'
import { type CollectionName, noRecords, type PolicyAggregate, putRecords } from '../records/aggregate.ts'
import { dataOfPayment, type Medium, mediumPath, type PolicyDocument } from '../records/transactions.ts'
import { changedRecords, fieldOwners, type Loaded, NOTHING_UNREAD, type Unread } from '../surroundings.ts'
import { invoices, payments } from '../tables/billing.ts'
import { media } from '../tables/documents.ts'
import {
  cancellations,
  endorsements,
  gracePeriods,
  hasUuid,
  lapseReinstatements,
  lapses,
  modifications,
  NAMES_NO_POLICY,
  perils,
  policies,
  quotes,
  reinstatements,
} from '../tables/policies.ts'
import { COLLECTION_NAMES, COLLECTIONS, policyRow, readPolicy } from './rows.ts'

type Choices = {
  locator: PolicyLocator
  quoteLocator: QuoteLocator
  endorsementLocator: EndorsementLocator
  renewalLocator: EndorsementLocator
  cancellationLocator: CancellationLocator
  reinstatementLocator: Uuid
  gracePeriodLocator: Uuid
  lapseLocator: Uuid
  lapseReinstatementLocator: Uuid
  invoiceLocator: Uuid
  paymentLocator: Uuid
  perilLocator: Uuid
  perilDisplayId: DisplayId
  policyholderLocator: Uuid
  /** A modification, or the record that made it: an endorsement, renewal, quote, cancellation or reinstatement. */
  transactionLocator: number | Uuid
  modificationLocator: Uuid
  /** A JSON list of policy locators. */
  locators: string
  /** A JSON list of pairs: the policy that the locator names, or null, and the locator. */
  invoiceLocators: string
}

type Choice = keyof Choices

/** Which policies to read: one choice with its value. */
export type PolicySelection = { [C in Choice]: Pick<Choices, C> }[Choice]

/** Returns queries for whole policies, to add to the caller's one batch. Pass the results to `readAggregates`. */
export const aggregateQueries = (database: Database, selection: PolicySelection): [Query, ...Query[]] =>
  chosenQueries(database, selection, POLICIES, ...ROWS)

const chosen = sql.placeholder('chosen')

/** The policy that a UUID names. Null for UUIDs of earlier releases, digits and lists. */
const namedPolicy = sql.placeholder('named')

/** Selects the policy of the row with that digit locator. */
const ownerIn = (table: SQLiteTable): SQL =>
  sql`(select policy_locator from ${table} where locator = ${chosen})`

const ownerByUuid = (table: SQLiteTable): SQL =>
  sql`(select policy_locator from ${table} where ${hasUuid(table, chosen, namedPolicy)})`

/** Conditions on a policy's locator, to append to the column. */
const CONDITIONS: Readonly<Record<Choice, SQL>> = {
  locator: sql`= ${chosen}`,
  quoteLocator: sql`= ${ownerIn(quotes)}`,
  endorsementLocator: sql`= (select policy_locator from ${endorsements} where locator = ${chosen} and kind = 'endorsement')`,
  renewalLocator: sql`= (select policy_locator from ${endorsements} where locator = ${chosen} and kind = 'renewal')`,
  cancellationLocator: sql`= ${ownerIn(cancellations)}`,
  reinstatementLocator: sql`= ${ownerByUuid(reinstatements)}`,
  gracePeriodLocator: sql`= ${ownerByUuid(gracePeriods)}`,
  lapseLocator: sql`= ${ownerByUuid(lapses)}`,
  lapseReinstatementLocator: sql`= ${ownerByUuid(lapseReinstatements)}`,
  invoiceLocator: sql`= ${ownerByUuid(invoices)}`,
  paymentLocator: sql`= ${ownerByUuid(payments)}`,
  perilLocator: sql`= ${ownerByUuid(perils)}`,
  perilDisplayId: sql`= (select policy_locator from ${perils} where display_id = ${chosen})`,
  policyholderLocator: sql`in (select locator from ${policies} where ${policies.policyholderLocator} = ${chosen})`,
  transactionLocator: sql`= coalesce(${ownerByUuid(modifications)}, ${ownerIn(endorsements)}, ${ownerIn(quotes)},
    ${ownerIn(cancellations)}, ${ownerByUuid(reinstatements)})`,
  modificationLocator: sql`= ${ownerByUuid(modifications)}`,
  locators: sql`in (select value from json_each(${chosen}))`,
  invoiceLocators: sql`in (select coalesce(value ->> 0, (
    select policy_locator from ${invoices} where locator = value ->> 1 and ${NAMES_NO_POLICY})) from json_each(${chosen}))`,
}

export type ByChoice = Readonly<Record<Choice, Statement<Query>>>

/** Makes a statement for each choice. `make` receives the condition on a policy's locator, to append to the column. */
export const statementsByChoice = (make: (build: Database['build'], condition: SQL) => Query): ByChoice =>
  Object.fromEntries(
    Object.entries(CONDITIONS).map(([choice, condition]) => [
      choice,
      statement(build => make(build, condition)),
    ]),
  ) as ByChoice

/** Binds each statement to the choice of the selection, in the given order. */
export function chosenQueries(
  database: Database,
  selection: PolicySelection,
  ...statements: [ByChoice, ...ByChoice[]]
): [Query, ...Query[]] {
  const [[choice, chosen]] = Object.entries(selection) as [[Choice, number | string]]
  const named = (typeof chosen === 'string' && policyOfUuid(chosen as Uuid)) || null
  return statements.map(one => database.bind(one[choice], { chosen, named })) as [Query, ...Query[]]
}

const POLICIES = statementsByChoice((build, condition) =>
  build.select().from(policies).where(sql`${policies.locator} ${condition}`).orderBy(policies.locator),
)

const ROWS = COLLECTION_NAMES.map(name =>
  statementsByChoice((build, condition) => {
    const { table, order } = COLLECTIONS[name]
    return build.select().from(table).where(sql`policy_locator ${condition}`).orderBy(sql.raw(order))
  }),
)

const LOCATOR = statementsByChoice((build, condition) =>
  build.select({ policy: policies.locator }).from(policies).where(sql`${policies.locator} ${condition}`),
)

/** Selects the locator of the policy as `policy`. No row if there is no such policy. */
export const policyLocatorQuery = (database: Database, selection: PolicySelection): Query =>
  chosenQueries(database, selection, LOCATOR)[0]

/** For records that have no amounts. */
const NO_CURRENCY = 'XXX' as CurrencyCode

/** Reads the documents of a policy without the rest of it, in one round trip. Undefined if there is no such policy. */
export async function readDocuments(
  database: Database,
  locator: PolicyLocator,
): Promise<PolicyDocument[] | undefined> {
  const documents = ROWS[COLLECTION_NAMES.indexOf('documents')]!
  const documentOf = COLLECTIONS.documents.fromRow
  const [found, rows] = (await database.batch(chosenQueries(database, { locator }, LOCATOR, documents))) as [
    unknown[],
    Row[],
  ]
  if (found.length === 0) return undefined
  return rows.map(row => documentOf(row as never, NO_CURRENCY) as PolicyDocument)
}

/** Number of results that `aggregateQueries` has in a batch. */
export const AGGREGATE_QUERIES = 1 + COLLECTION_NAMES.length

/** Returns the policies in the results of `aggregateQueries`, ordered by locator. Empty if none matched. */
export function readAggregates(results: readonly unknown[]): PolicyAggregate[] {
  const [policyRows, ...collectionRows] = results as [(typeof policies.$inferSelect)[], ...Row[][]]
  const aggregates = new Map(
    policyRows.map(row => [row.locator, { policy: readPolicy(row), ...noRecords() }] as const),
  )
  for (const [index, name] of COLLECTION_NAMES.entries()) {
    const { fromRow } = COLLECTIONS[name]
    const rows = collectionRows[index] ?? []
    for (const row of OWNERS[name] ? sortByCreation(rows, name, aggregates) : rows) {
      const aggregate = aggregates.get(row.policyLocator)
      if (!aggregate) continue
      const record = fromRow(row as never, aggregate.policy.currency)
      const records: Map<string | number, unknown> = aggregate[name]
      records.set(record.locator, record)
    }
  }
  return [...aggregates.values()]
}

type Row = { policyLocator: number }

type Aggregates = ReadonlyMap<number, PolicyAggregate>

/** The collection of the records to which runs belong, and the property that names them. */
const OWNERS: Partial<Record<CollectionName, readonly ['exposures' | 'perils', string]>> = {
  exposureRuns: ['exposures', 'exposureLocator'],
  perilRuns: ['perils', 'perilLocator'],
}

/**
 * Returns runs in the order in which they were made, in which amounts are shared out. Their locators rise in that order, except
 * those of earlier releases, which are random within a millisecond. Runs that one commit made then were in the order of their
 * exposures or perils.
 */
function sortByCreation(rows: readonly Row[], name: CollectionName, aggregates: Aggregates): readonly Row[] {
  const runs = rows as readonly (Row & { locator: string; createdAt: number; start: number })[]
  const isPresent = ({ locator }: { locator: string }): boolean => namesPolicy(locator)
  if (runs.every(isPresent)) return rows
  const [owners, property] = OWNERS[name]!
  const places = new Map(
    [...aggregates.values()].flatMap(aggregate => [...aggregate[owners].keys()]).map((one, at) => [one, at]),
  )
  const placeOf = (run: object): number => places.get((run as Record<string, Uuid>)[property]!) ?? 0
  const [present, older] = [runs.filter(isPresent), runs.filter(run => !isPresent(run))]
  older.sort((a, b) => a.createdAt - b.createdAt || placeOf(a) - placeOf(b) || a.start - b.start)
  return [...older, ...present]
}

/**
 * Returns the queries that make the stored policy equal to `after`. Skips records shared with `before`, so work grows with the
 * change, not with the policy. Inserts new records, so a locator already in use fails the batch instead of overwriting a record.
 */
export function differenceQueries(
  database: Database,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  unread: Unread = NOTHING_UNREAD,
): Query[] {
  const policy = [policyRow(after, unread)]
  const queries = before ? changeRows(database, policies, policy) : insertRows(database, policies, policy)
  for (const name of COLLECTION_NAMES) {
    const { table, toRow } = COLLECTIONS[name]
    const old = before?.[name] as ReadonlyMap<string | number, unknown> | undefined
    const current = after[name] as ReadonlyMap<string | number, unknown>
    if (old === current) continue
    const added: Record<string, unknown>[] = []
    const changed: Record<string, unknown>[] = []
    for (const [locator, record] of current) {
      const previous = old?.get(locator)
      if (previous === record) continue
      const rows = previous === undefined ? added : changed
      rows.push({ ...toRow(record as never), policyLocator: after.policy.locator })
    }
    const removed = old ? [...old.keys()].filter(locator => !current.has(locator)) : []
    queries.push(
      ...deleteOfPolicy(database, table, after.policy.locator, removed),
      ...insertRows(database, table, added as never),
      ...changeRows(database, table, changed as never),
    )
  }
  return queries
}

/** Selects the policy with that displayId: its own locator, or that of one of its quotes. */
export const displayIdQuery = (database: Database, displayId: number) =>
  database.build
    .select({ locator: policies.locator })
    .from(policies)
    .where(
      sql`${policies.locator} in (${displayId}, (select policy_locator from quote where locator = ${displayId}))`,
    )

// The table contents that rated a policy's transactions, so that a price can be explained years later.
/** Returns the queries that record an operation's lookups. They count for every modification that the operation priced. */
export function tableUseRows(
  database: Database,
  used: readonly Candidate[],
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  at: Instant,
): Query[] {
  if (used.length === 0) return []
  const priced = [...after.modifications.values()].filter(
    one => one.premiumChange !== undefined && one !== before?.modifications.get(one.locator),
  )
  return putRows(
    database,
    tableUses,
    priced.flatMap(({ locator: modificationLocator }) =>
      used.map(({ staticName, name, revision }) => {
        return { policyLocator: after.policy.locator, modificationLocator, staticName, name, revision, at }
      }),
    ),
  )
}

export type TableUse = typeof tableUses.$inferSelect

/** Returns the policy's table uses in the order recorded; undefined if there is no such policy. One round trip. */
export async function findTableUses(
  database: Database,
  policy: PolicyLocator,
): Promise<TableUse[] | undefined> {
  const [known, rows] = await database.batch([
    database.build.select({ locator: policies.locator }).from(policies).where(eq(policies.locator, policy)),
    database.build
      .select()
      .from(tableUses)
      .where(eq(tableUses.policyLocator, policy))
      .orderBy(asc(tableUses.at), sql`rowid`),
  ])
  return known.length === 0 ? undefined : rows
}

/** Reads media by locator. Omits media that were not uploaded. One round trip. */
export async function readMedia(context: RequestContext, locators: readonly Uuid[]): Promise<Medium[]> {
  const database = homeDatabase(context)
  const [rows] = await database.batch([
    database.build
      .select({ locator: media.locator, fileName: media.fileName, mimeType: media.mimeType })
      .from(media)
      .where(sql`locator in (select value from json_each(${JSON.stringify(locators)}))`),
  ])
  return rows as Medium[]
}

/** Adds to `after` the media that its fields name since the change. Throws 400 for media that were never uploaded. */
export async function withMedia(
  context: RequestContext,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  { product, configuration }: Pick<Loaded, 'product' | 'configuration'>,
): Promise<PolicyAggregate> {
  const wanted = newMedia(before, after, product, configuration.configuration.paymentFields)
  if (wanted.length === 0) return after
  const uploaded = await readMedia(context, wanted)
  const missing = wanted.find(locator => !uploaded.some(one => one.locator === locator))
  if (missing)
    throw invalidRequest(`There is no media file '${missing}'; upload the file with POST /media first.`)
  return { ...after, media: putRecords(after.media, uploaded) }
}

/** Deletes the file of a medium that was never recorded. */
export const deleteUnrecorded: TimerOwner = removeUnlessRecorded(media, (medium, place) =>
  deleteFile(place, medium),
)

/** Deletes a medium's file from R2. Does nothing if it does not exist. */
export function deleteFile(
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
  medium: Uuid,
): Promise<void> {
  calls.r2 += 1
  return tenantFiles(env, tenant).delete(fileKey(tenant, ...mediumPath(medium)))
}

/**
 * Returns the locators of media that fields of the policy, its exposures, perils and payments name since the change, and that the
 * policy does not have yet.
 */
function newMedia(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  product: ProductDefinition,
  paymentFields: readonly FieldDefinition[],
): Uuid[] {
  const named = new Set<Uuid>()
  const addMediaOf = (fields: readonly FieldDefinition[], data: FieldData): void => {
    for (const locator of locatorsIn(fields.filter(isMediaField), data)) named.add(locator)
  }
  for (const { record, fields } of fieldOwners(after, product, before)) addMediaOf(fields, record.data)
  for (const payment of changedRecords(after.payments, before?.payments))
    addMediaOf(paymentFields, dataOfPayment(payment))
  return [...named].filter(locator => !after.media.has(locator))
}

const isMediaField = ({ type, fields = [] }: FieldDefinition): boolean =>
  type === 'media' || fields.some(isMediaField)

/** Yields the locators of media in the field values, including those of groups. */
export function* locatorsIn(definitions: readonly FieldDefinition[], data: FieldData): Generator<Uuid> {
  for (const definition of definitions) {
    if (definition.type === 'media') yield* valuesOf(data.values, definition.name) as Uuid[]
    if (definition.type !== 'group') continue
    for (const group of data.groups)
      if (group.fieldName === definition.name)
        yield* locatorsIn(definition.fields ?? [], { values: group.values, groups: [] })
  }
}
