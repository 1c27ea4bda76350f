// Fetches what plugins ask for: auxiliary data in one query per shard, records through the readers of their capabilities.
import { eq } from 'drizzle-orm'
import { notFound, Refusal } from '../../kernel/errors.ts'
import {
  type PolicyLocator,
  readDigits,
  readUuid,
  shardOfDigits,
  shardOfUuid,
  type Uuid,
} from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import { loadPolicy } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { invoices } from '../../policy/tables/billing.ts'
import { policyholderResponse } from '../../policyholders/projection.ts'
import { policyholderQuery, readPolicyholder } from '../../policyholders/store.ts'
import { secretsForPlugin } from '../../reference/secrets/sending.ts'
import { auxPairsQuery, auxRowsQuery, shardOfAuxData } from '../auxdata/store.ts'
import { asPluginInput } from './input.ts'
import type { Known } from './runner.ts'
import type { Fetching } from './session.ts'
import { type PluginRecord, transactionRecords } from './transaction-records.ts'

/** How many rows of auxiliary data of one locator are fetched together; beyond that, only the requested keys. */
const MOST_OF_A_LOCATOR = 200

/** The stored record, as its own answer shows it; a text that no locator of its kind can be is none. */
type Reader = (context: RequestContext, text: string) => Promise<unknown>

const byUuid =
  (read: (context: RequestContext, database: Database, locator: Uuid) => Promise<unknown>): Reader =>
  async (context, text) => {
    const locator = readUuid(text)
    if (!locator) return null
    const database = databaseOf(context, shardOfUuid(locator))
    return database && (await read(context, database, locator))
  }

const readerOf =
  (record: PluginRecord): Reader =>
  async (context, text) => {
    if (record.form === 'uuid')
      return await byUuid(async (_, database, locator) =>
        record.show(locator)(await loadPolicy(context, database, record.select(locator))),
      )(context, text)
    const digits = readDigits(text)
    if (digits === undefined) return null
    const database = databaseOf(context, shardOfDigits(digits))
    return database && record.show(digits)(await loadPolicy(context, database, record.select(digits)))
  }

const databaseOf = ({ env, tenant, calls }: RequestContext, shard: number): Database | null =>
  shard < tenant.shards.length ? shardDatabase(env, tenant, shard, calls) : null

const wholePolicy = ({ aggregate, product }: Loaded) =>
  policyResponse(aggregate, product, { summarizeQuotes: false })

const READERS: Readonly<Record<string, Reader>> = {
  Policy: readerOf({
    form: 'digits',
    select: digits => ({ locator: digits as PolicyLocator }),
    show: () => wholePolicy,
  }),
  Policyholder: byUuid(async (_context, database, locator) => {
    const [rows] = await database.batch([policyholderQuery(database, locator)])
    return rows[0] ? policyholderResponse(readPolicyholder(rows[0])) : null
  }),
  Invoice: byUuid(async (context, database, locator) => {
    const [rows] = await database.batch([
      database.build.select().from(invoices).where(eq(invoices.locator, locator)),
    ])
    if (!rows[0]) throw notFound('invoice', locator)
    const loaded = await loadPolicy(context, database, { locator: rows[0].policyLocator as PolicyLocator })
    return wholePolicy(loaded).invoices.find(one => one.locator === locator) ?? null
  }),
}

/**
 * `locators` are those in the call's input: a plugin that asks for a key of one will ask for that of the next, so the key is
 * fetched for all of them.
 */
export const fetchingFor =
  (context: RequestContext): Fetching =>
  async (missing, locators, plugin) => {
    const aux = missing.filter(one => one.kind === 'aux')
    const entities = missing.filter(one => one.kind === 'entity')
    const secrets = missing.filter(one => one.kind === 'secret')
    const [found, records, items] = await Promise.all([
      auxDataOf(context, aux, locators),
      Promise.all(
        entities.map(
          async ({ entity, locator }) => [entity, locator, await recordOf(context, entity, locator)] as const,
        ),
      ),
      secrets.length === 0 ? [] : secretsForPlugin(context, secrets, plugin),
    ])
    return { ...found, entities: records, rows: [], secrets: items }
  }

async function readerNamed(entity: string): Promise<Reader> {
  const reader = READERS[entity]
  return reader ?? readerOf((await transactionRecords())[entity]!)
}

/** The record in the form for plugins; null for none. */
async function recordOf(context: RequestContext, entity: string, locator: string): Promise<unknown> {
  try {
    return asPluginInput(await (await readerNamed(entity))(context, locator))
  } catch (problem) {
    if (problem instanceof Refusal && problem.code === 'notFound') return null
    throw problem
  }
}

type Asked = { readonly locator: string; readonly key: string }

/** Only these: all data of many locators could be of any size. */
async function gatheredAuxData(
  { env, tenant, calls }: RequestContext,
  asked: readonly Asked[],
): Promise<Pick<Known, 'aux' | 'auxLocators'>> {
  const byShard = Map.groupBy(asked, ({ locator }) => shardOfAuxData(tenant, locator))
  const found = await Promise.all(
    [...byShard].map(async ([shard, pairs]) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [rows] = await database.batch([auxPairsQuery(database, pairs)])
      return rows
    }),
  )
  const values = new Map(found.flat().map(row => [JSON.stringify([row.locator, row.key]), row.value]))
  const aux = asked.map(
    ({ locator, key }) => [locator, key, values.get(JSON.stringify([locator, key])) ?? ''] as const,
  )
  return { aux, auxLocators: [] }
}

async function auxDataOf(
  context: RequestContext,
  asked: readonly Asked[],
  inInput: readonly string[],
): Promise<Pick<Known, 'aux' | 'auxLocators'>> {
  if (asked.length !== 1) return await gatheredAuxData(context, asked)
  const { env, tenant, calls } = context
  const whole = new Set(asked.map(one => one.locator))
  const keys = [...new Set(asked.map(one => one.key))]
  const beside = inInput.filter(one => !whole.has(one))
  const byShard = Map.groupBy([...whole, ...beside], locator => shardOfAuxData(tenant, locator))
  const known: Pick<Known, 'aux' | 'auxLocators'> = { aux: [], auxLocators: [] }
  await Promise.all(
    [...byShard].map(async ([shard, locators]) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const wanted = locators.filter(one => whole.has(one))
      const most = MOST_OF_A_LOCATOR * Math.max(1, wanted.length)
      const [all, named] = await database.batch([
        auxRowsQuery(database, wanted, undefined, most + 1),
        auxRowsQuery(database, locators, keys, locators.length * keys.length),
      ])
      const values = new Map(named.map(row => [JSON.stringify([row.locator, row.key]), row.value]))
      for (const locator of locators)
        for (const key of keys)
          known.aux.push([locator, key, values.get(JSON.stringify([locator, key])) ?? ''])
      if (all.length > most) return
      known.aux.push(...all.map(row => [row.locator, row.key, row.value] as const))
      known.auxLocators.push(...wanted)
    }),
  )
  return known
}
