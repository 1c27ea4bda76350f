// Fetches what plugins ask for: auxiliary data in one query a shard, records by the reads of their capabilities.
import { auxRowsQuery, shardOfAuxData } from '../auxdata/store.ts'
import { cancellationLocator, readCancellation } from '../cancellations/service.ts'
import { named, readTransaction } from '../endorsements/service.ts'
import type { RequestContext } from '../platform/context.ts'
import { Refusal } from '../platform/errors.ts'
import { shardDatabase } from '../platform/tenancy.ts'
import { policyLocator, readPolicy } from '../policies/service.ts'
import { getPolicyholder } from '../policyholders/service.ts'
import { readReinstatement, reinstatementLocator } from '../reinstatements/service.ts'
import { asPluginInput } from './input.ts'
import type { Entity } from './program.ts'
import type { Known } from './runner.ts'
import type { Fetching } from './session.ts'

/** Rows of auxiliary data of one locator that are fetched together; of one with more, only the keys asked for. */
const MOST_OF_A_LOCATOR = 200

const READERS: Record<Entity, (context: RequestContext, locator: string) => Promise<unknown>> = {
  Policy: (context, text) => readPolicy(context, policyLocator(text), { summarizeQuotes: false }),
  Policyholder: (context, text) => getPolicyholder(context, text),
  Endorsement: (context, text) => readTransaction(context, named('endorsement', text)),
  Renewal: (context, text) => readTransaction(context, named('renewal', text)),
  Cancellation: (context, text) => readCancellation(context, cancellationLocator(text)),
  Reinstatement: (context, text) => readReinstatement(context, reinstatementLocator(text)),
}

/**
 * `locators` are those of the call's input: a plugin that asks for a key of one will ask for that of the next, so the
 * key is fetched of all of them.
 */
export const fetchingFor =
  (context: RequestContext): Fetching =>
  async (missing, locators) => {
    const aux = missing.filter(one => one.kind === 'aux')
    const entities = missing.filter(one => one.kind === 'entity')
    const [found, records] = await Promise.all([
      aux.length === 0 ? { aux: [], auxLocators: [] } : auxDataOf(context, aux, locators),
      Promise.all(
        entities.map(
          async ({ entity, locator }) => [entity, locator, await recordOf(context, entity, locator)] as const,
        ),
      ),
    ])
    return { ...found, entities: records, rows: [] }
  }

/** The record as plugins see records; null where there is none. */
async function recordOf(context: RequestContext, entity: string, locator: string): Promise<unknown> {
  try {
    return asPluginInput(await READERS[entity as Entity](context, locator))
  } catch (problem) {
    if (problem instanceof Refusal && problem.code === 'notFound') return null
    throw problem
  }
}

type Asked = { readonly locator: string; readonly key: string }

async function auxDataOf(
  context: RequestContext,
  asked: readonly Asked[],
  inInput: readonly string[],
): Promise<Pick<Known, 'aux' | 'auxLocators'>> {
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
