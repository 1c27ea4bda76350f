// Erases a policyholder's values outside its records: logs of plugins, calls of services, stored responses, documents, and texts
// that templates printed.
//
// Logs may contain values in any form, so they are deleted, including those without a policy, which cannot be attributed.
// Documents are made again from the policy as it was and the policyholder as it is now. A document without its sources loses its
// file. Uploaded files stay, because only the uploader knows what they contain.

import { eq, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { auxData } from '../../extension/auxdata/tables.ts'
import { purgeCalls } from '../../extension/integrations/call/log.ts'
import { integrationCalls } from '../../extension/integrations/tables.ts'
import { pluginLogs } from '../../extension/plugins/tables.ts'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { Guard, NewTimer } from '../../platform/commit.ts'
import { jsonLists } from '../../platform/database/parameters.ts'
import type { Database, Query } from '../../platform/database.ts'
import { events } from '../../platform/events/tables.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { writes } from '../../platform/tables.ts'
import { removeNotes } from '../../platform/tenancy/restore-notes.ts'
import { fileKey, shardDatabase, tenantFiles } from '../../platform/tenancy.ts'
import { locatorsWithoutRows } from '../../policy/projection/locators-without-rows.ts'
import type { PerilPrice } from '../../policy/records/aggregate.ts'
import type { InstallmentFee } from '../../policy/records/invoice.ts'
import { documentPath, type UnderwritingResult } from '../../policy/records/transactions.ts'
import { aggregateQueries, readAggregates } from '../../policy/store/aggregates.ts'
import { rowsWithinPerilLimit } from '../../policy/store/portions.ts'
import { disbursements, installments, invoices, payments } from '../../policy/tables/billing.ts'
import { documentJobs, documents, policyMedia } from '../../policy/tables/documents.ts'
import {
  cancellations,
  endorsements,
  exposureRuns,
  exposures,
  fees,
  gracePeriods,
  lapseReinstatements,
  lapses,
  modifications,
  perilRuns,
  perils,
  policies,
  policySegments,
  quotes,
  reinstatements,
  type Stored,
} from '../../policy/tables/policies.ts'
import { policyholders } from '../../policyholders/tables.ts'
import { eventSchedules } from '../../transactions/custom-events/tables.ts'
import { quickQuotes } from '../quick-quotes/store.ts'
import { everyEntity, formsOf, type StoredValue } from './overwrite.ts'

/** A value that changes with every change of the policyholder's policies, and with a new policy. */
const stampOf = (locator: Uuid): SQL =>
  sql`(select coalesce(sum(version), 0) from ${policies} where policyholder_locator = ${locator})`

/** Reads the stamp for `policiesGuard`; 0 without policies. */
export const policiesStampQuery = (database: Database, locator: Uuid) =>
  database.build.all<{ stamp: number }>(sql`select ${stampOf(locator)} as stamp`)

/** Fails if a policy of the policyholder was changed or added since the stamp was read. */
export const policiesGuard = (locator: Uuid, stamp: number): Guard => ({
  name: 'guard_policy_version',
  holds: sql`${stampOf(locator)} = ${stamp}`,
})

/** Reads the policies whose documents are made again. */
const remadeQuery = (database: Database, locator: Uuid) =>
  database.build.all<{ policy: PolicyLocator }>(sql`select distinct policy_locator as policy from ${documents}
    where policy_locator in ${policiesOf(locator)} and template_name is not null`)

const ownPoliciesQuery = ({ build }: Database, locator: Uuid) =>
  build
    .select({ locator: policies.locator, perilCount: policies.perilCount })
    .from(policies)
    .where(eq(policies.policyholderLocator, locator))
    .orderBy(policies.locator)

/** What an erasure changes outside the policyholder. `texts` are in the order of `TEXT_STORES`. */
type AffectedData = {
  readonly remade: readonly PolicyLocator[]
  readonly texts: readonly (readonly TextRow[])[]
}

/** Reads what the erasure changes, in one batch. A policyholder with policies needs more batches, in proportion to these. */
export async function readAffectedData(
  database: Database,
  locator: Uuid,
  stored: readonly StoredValue[],
): Promise<AffectedData> {
  const [own, remade, ...texts] = await database.batch([
    ownPoliciesQuery(database, locator),
    remadeQuery(database, locator),
    ...textQueries(database, locator, stored),
  ])
  const withoutRows = await auxDataWithoutRows(database, own, stored)
  return {
    remade: remade.map(({ policy }) => policy),
    texts: texts.map((rows, at) => (TEXT_STORES[at] === AUX_DATA ? [...rows, ...withoutRows] : rows)),
  }
}

/** The number of perils of the policies that are read together: about 20 MB. */
const MOST_PERILS_READ = 10_000

/** The number of locators in one statement. With quotes and commas they stay below the 2 MB of a parameter. */
const MOST_LOOKED_UP = 20_000

/** Returns auxiliary data of records that have no table: characteristics, field groups, changes, taxes and commissions. */
async function auxDataWithoutRows(
  database: Database,
  own: readonly { readonly locator: number; readonly perilCount: number }[],
  stored: readonly StoredValue[],
): Promise<TextRow[]> {
  const { plain } = formsIn(stored)
  const found: TextRow[] = []
  const lookUp = async (locators: readonly string[]): Promise<void> => {
    const [rows] = await database.batch([
      database.build.all<TextRow>(sql`select json_array(locator, key) as key, value as content from ${auxData}
        where locator in (select value from json_each(${JSON.stringify(locators)})) and ${hasOneOf(sql`value`, plain)}`),
    ])
    found.push(...rows)
  }
  for (let left = own; left.length > 0; ) {
    const portion = rowsWithinPerilLimit(left, MOST_PERILS_READ)
    left = left.slice(portion.length)
    const chosen = { locators: JSON.stringify(portion.map(one => one.locator)) }
    const aggregates = readAggregates(await database.batch(aggregateQueries(database, chosen)))
    const locators = new Set<string>()
    for (const aggregate of aggregates)
      for (const one of locatorsWithoutRows(aggregate)) {
        locators.add(one)
        if (locators.size < MOST_LOOKED_UP) continue
        await lookUp([...locators])
        locators.clear()
      }
    if (locators.size > 0) await lookUp([...locators])
  }
  return found
}

const GONE =
  'Its file was deleted when values of the policyholder were overwritten, and it cannot be created again.'

/** The sources of the document do not exist any more. */
const isOrphaned = sql`sources is not null and exists (
  select 1 from json_each(sources) source where not exists (
    select 1 from ${documents} d where d.policy_locator = ${documents.policyLocator} and d.locator = source.value))`

/** Deletes or scrubs copies of the values outside the policyholder's rows, and has the documents of its policies made again. */
export function erasureQueries(
  { build }: Database,
  locator: Uuid,
  stored: readonly StoredValue[],
  { remade, texts }: AffectedData,
  scrub: Scrub,
): Query[] {
  const at = now()
  return [
    build.run(sql`delete from ${pluginLogs}
      where policy_locator in (select cast(locator as text) from ${policiesOf(locator)})`),
    ...sharedErasureQueries({ build }, stored),
    build.run(sql`update ${documents}
      set state = case when ${isOrphaned} then 'dataError' else 'draft' end,
        failure = case when ${isOrphaned} then ${GONE} end
      where policy_locator in ${policiesOf(locator)} and (template_name is not null or sources is not null)`),
    build.run(sql`insert into ${documentJobs} (policy_locator, attempts, due_at, lease_until)
      select value, 0, ${at}, 0 from json_each(${JSON.stringify(remade)}) where true
      on conflict (policy_locator) do update set attempts = 0, due_at = ${at}, lease_until = 0, retry_at = 0`),
    ...scrubQueries(build, texts, scrub),
    // The policies' objects keep old values in memory.
    build.run(sql`update ${policies} set version = version + 1 where policyholder_locator = ${locator}`),
  ]
}

/** For data of no policy, in the home shard: logs of plugins, and stored responses of plugin operations. */
export function sharedErasureQueries(
  { build }: Pick<Database, 'build'>,
  stored: readonly StoredValue[],
): [Query, Query] {
  const { plain, escaped } = formsIn(stored)
  return [
    build.run(sql`delete from ${pluginLogs} where policy_locator is null
      and (${hasOneOf(sql`lines`, escaped)} or ${hasOneOf(sql`coalesce(failure, '')`, plain)})`),
    build.run(sql`update ${writes} set answer = null
      where substr(subject, 1, 7) = 'lambda/' and ${hasOneOf(sql`coalesce(answer, '')`, escaped)}`),
  ]
}

/** The timer that deletes what is in R2. It is part of the batch that overwrites, so that a crash cannot lose it. */
export const erasureTimer = (policyholder: Uuid, at: Instant): NewTimer => ({
  dueAt: at,
  kind: 'policyholder.erasure',
  subject: policyholder,
  payload: { until: String(now()) },
})

/** The number of logged calls that one step deletes, with their bodies in R2. */
const MOST_CALLS_PURGED = 500

/** Deletes logged calls, files of documents that are not made again, and the records of restores. Idempotent. */
export const eraseRemains: TimerOwner = async ({ subject, payload }, { env, tenant, shard, calls }) => {
  const locator = subject as Uuid
  const database = shardDatabase(env, tenant, shard, calls)
  const [gone] = await database.batch([
    database.build.all<{ locator: Uuid }>(sql`select locator from ${documents}
      where policy_locator in ${policiesOf(locator)} and failure = ${GONE}`),
  ])
  if (gone.length > 0) {
    calls.r2 += 1
    await tenantFiles(env, tenant).delete(gone.map(one => fileKey(tenant, ...documentPath(one.locator))))
  }
  await removeNotes(env, tenant, calls)
  for (;;) {
    const [old] = await database.batch([
      database.build.all<{ locator: string }>(sql`select locator from ${integrationCalls}
        where at <= ${Number(payload.until)}
          and (policy_locator is null or policy_locator in (select cast(locator as text) from ${policiesOf(locator)}))
        limit ${MOST_CALLS_PURGED}`),
    ])
    if (old.length === 0) return
    await purgeCalls(env, tenant, database, old, calls)
  }
}

// Values may be common words, so only texts of the policyholder and its policies are scrubbed.
export type Scrub = (text: string) => string

type Clean = (content: string, scrub: Scrub) => string

/** JSON lists of the values: plain, and as JSON strings without quotes. */
type Forms = { readonly plain: string; readonly escaped: string }

type TextStore = {
  readonly table: SQLiteTable
  readonly keys: readonly string[]
  readonly column: string
  readonly where: (locator: Uuid, forms: Forms) => SQL
  readonly clean: Clean
}

const policiesOf = (locator: Uuid): SQL =>
  sql`(select locator from ${policies} where policyholder_locator = ${locator})`

function formsIn(stored: readonly StoredValue[]): Forms {
  const forms = formsOf(stored)
  return {
    plain: JSON.stringify(forms),
    escaped: JSON.stringify(forms.map(form => JSON.stringify(form).slice(1, -1))),
  }
}

/** Whether a text contains one of the values. The list is read once for all texts. */
const hasOneOf = (text: SQL, forms: string): SQL =>
  sql`exists (with form as materialized (select value from json_each(${forms}))
    select 1 from form where instr(${text}, form.value) > 0)`

/** Records of a policy that have their own rows, and so locators for auxiliary data. */
const RECORDS_OF_POLICIES = [
  ...[exposures, perils, quotes, modifications, endorsements, cancellations, reinstatements, fees],
  ...[policySegments, exposureRuns, perilRuns, policyMedia, eventSchedules],
  ...[gracePeriods, lapses, lapseReinstatements, invoices, installments, payments, documents],
]

/** Whether the column contains the locator, as text, of the policyholder or of one of its records. */
const isOwnRecord = (column: SQL, locator: Uuid): SQL =>
  sql.join(
    [
      sql`${column} = ${locator}`,
      sql`${column} in (select account_locator from ${policyholders} where locator = ${locator})`,
      sql`${column} in (select s.value ->> '$.locator' from ${everyEntity(locator)} e, json_each(e.entity, '$.subEntities') s)`,
      sql`${column} in (select locator from ${quickQuotes} where policyholder_locator = ${locator})`,
      sql`${column} in (select cast(locator as text) from ${policiesOf(locator)})`,
      sql`${column} in (select locator from ${disbursements} where policyholder_locator = ${locator})`,
      ...RECORDS_OF_POLICIES.map(
        table =>
          sql`${column} in (select cast(locator as text) from ${table} where policy_locator in ${policiesOf(locator)})`,
      ),
    ],
    sql` or `,
  )

/** Kept properties of events. Only messages of plugins and failures of documents can contain a value; each has its own row. */
const KEPT: ReadonlySet<string> = new Set(['policyLocator', 'policyholderLocator', 'operationFailed'])

const cleanText: Clean = (content, scrub) => scrub(content)

const cleanJson =
  <T>(clean: (value: T, scrub: Scrub) => T): Clean =>
  (content, scrub) =>
    JSON.stringify(clean(JSON.parse(content) as T, scrub))

const cleanNotes = cleanJson<UnderwritingResult>((result, scrub) => ({
  ...result,
  notes: result.notes.map(scrub),
}))

/** For a tax of a peril's price, or a fee of an installment. */
const cleanDescription = <T extends { description?: string }>(line: T, scrub: Scrub): T =>
  line.description === undefined ? line : { ...line, description: scrub(line.description) }

const cleanPrice = cleanJson<Pick<Stored<PerilPrice>, 'taxes'>>((price, scrub) => ({
  ...price,
  taxes: price.taxes.map(tax => cleanDescription(tax, scrub)),
}))

const cleanFees = cleanJson<Stored<InstallmentFee[]>>((fees, scrub) =>
  fees.map(fee => cleanDescription(fee, scrub)),
)

const cleanEvent = cleanJson<Record<string, string>>((data, scrub) =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, KEPT.has(key) ? text : scrub(text)])),
)

/** A store of texts that templates printed. Contents without the marker contain no printed text. */
const printedTextStore = (
  table: SQLiteTable,
  column: string,
  marker: string,
  clean: Clean,
  keys = ['policy_locator', 'locator'],
): TextStore => ({
  table,
  keys,
  column,
  where: locator =>
    sql`instr(${sql.identifier(column)}, ${marker}) > 0 and policy_locator in ${policiesOf(locator)}`,
  clean,
})

/** Auxiliary data of records that have rows; `auxDataWithoutRows` adds the data of the others. */
const AUX_DATA: TextStore = {
  table: auxData,
  keys: ['locator', 'key'],
  column: 'value',
  where: (locator, { plain }) =>
    sql`(${isOwnRecord(sql`locator`, locator)}) and ${hasOneOf(sql`value`, plain)}`,
  clean: cleanText,
}

const TEXT_STORES: readonly TextStore[] = [
  printedTextStore(quotes, 'underwriting', '"notes":["', cleanNotes),
  printedTextStore(modifications, 'underwriting', '"notes":["', cleanNotes),
  printedTextStore(endorsements, 'underwriting', '"notes":["', cleanNotes),
  printedTextStore(installments, 'fees', '"description":"', cleanFees),
  printedTextStore(fees, 'description', '', cleanText),
  printedTextStore(perilRuns, 'price', '"description":"', cleanPrice, [
    'policy_locator',
    'peril_locator',
    'locator',
  ]),
  {
    table: events,
    keys: ['sequence'],
    column: 'data',
    where: (locator, { escaped }) =>
      sql`(policyholder_locator = ${locator} or policy_locator in ${policiesOf(locator)})
        and (type > 'custom.' and type < 'custom/' or type = 'document.failed') and ${hasOneOf(sql`data`, escaped)}`,
    clean: cleanEvent,
  },
  AUX_DATA,
]

/** `key` is a JSON list of the values of the key columns. */
type TextRow = { readonly key: string; readonly content: string }

const columns = (names: readonly string[]): SQL => sql.join(names.map(sql.identifier), sql`, `)

const textQueries = (database: Database, locator: Uuid, stored: readonly StoredValue[]) => {
  const forms = formsIn(stored)
  return TEXT_STORES.map(({ table, keys, column, where }) =>
    database.build.all<TextRow>(sql`select json_array(${columns(keys)}) as key, ${sql.identifier(column)} as content
      from ${table} where ${where(locator, forms)}`),
  )
}

const scrubQueries = (
  build: Database['build'],
  texts: readonly (readonly TextRow[])[],
  scrub: Scrub,
): Query[] =>
  TEXT_STORES.flatMap(({ table, keys, column, clean }, at) => {
    const changed = texts[at]!.flatMap(({ key, content }) => {
      const after = clean(content, scrub)
      return after === content ? [] : [JSON.stringify([after, ...(JSON.parse(key) as unknown[])])]
    })
    // A bound number would be a float, which is a different kind of path.
    const isRow = keys.map(
      (key, index) => sql`${table}.${sql.identifier(key)} = j.value ->> ${sql.raw(String(index + 1))}`,
    )
    return jsonLists(changed).map(rows =>
      build.run(sql`update ${table} set ${sql.identifier(column)} = j.value ->> 0
        from json_each(${rows}) as j where ${sql.join(isRow, sql` and `)}`),
    )
  })
