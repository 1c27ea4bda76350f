// Calls a function of the tenant by name: free JSON in, free JSON out (brief 5.6).
import { notFound, Refusal } from '../../kernel/errors.ts'
import { commit, isBySubject, storedAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { HOME_SHARD, shardDatabase } from '../../platform/tenancy.ts'
import { loadConfiguration, versionQuery } from '../../product/cache.ts'
import { type Configuration, hasPlugin, type ProductDefinition } from '../../product/configuration.ts'
import { basisAt } from '../../product/resources.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { OperationCalls } from './operation-calls.ts'

/** The path of the function if no product's policy.json names one (brief 5.1). */
const USUAL_PATH = 'lambda/lambda.js'

/**
 * Calls `executeLambda` of the latest configuration: the function of the first product, by name, that enables it, or else
 * scripts/lambda/lambda.js. What it writes is committed when it returns; it can only write auxiliary data of locators in shard 0,
 * such as `global`. It reads the tables in force at the time of the request, for no jurisdiction. `answerOf` makes the response
 * from the returned value.
 */
export async function executeLambda(
  context: RequestContext,
  operation: string,
  payload: unknown,
  answerOf: (value: unknown) => unknown = value => value,
): Promise<JsonText> {
  const { env, tenant, calls } = context
  const database = shardDatabase(env, tenant, HOME_SHARD, calls)
  const earlier = await storedAnswer(context, database)
  if (earlier && !isBySubject(earlier)) return jsonText(earlier)
  const [[version]] = await database.batch([versionQuery(database, undefined)])
  if (!version) throw new Refusal('noConfiguration', 'The tenant has no configuration. Deploy one first.')
  const configuration = await loadConfiguration(env, tenant, version.hash, calls)
  const product = productOf(configuration.configuration, operation)
  const plugins = new OperationCalls({ context, database, shard: HOME_SHARD })
  const tables = new RatingTables(context)
  await tables.open()
  try {
    const value = await tables.inRounds(async () => {
      const subject = {
        configuration,
        configVersion: version.version,
        product,
        tables: tables.of(configuration, product.name, basisAt(context.now)),
      }
      return await plugins.begin().call(subject, 'executeLambda', [operation, payload ?? null])
    })
    const answer = { status: 200, text: answerText(answerOf(value)) }
    const [facts, events] = [plugins.facts(), plugins.events()]
    if (facts.length === 0 && events.length === 0 && !context.idempotency) return jsonText(answer)
    const committed = await commit(context, database, {
      shard: HOME_SHARD,
      guards: [],
      facts,
      events,
      answer,
      subject: `lambda/${operation}`,
    })
    return jsonText(isBySubject(committed) ? answer : committed)
  } catch (problem) {
    if (problem instanceof Refusal) await plugins.emitFailureEvents()
    throw plugins.failed(problem)
  } finally {
    plugins.keepLogs()
  }
}

function answerText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (problem) {
    if (!(problem instanceof RangeError)) throw problem
    throw new Refusal('pluginFailed', 'Plugin executeLambda returned a value that is nested too deeply.')
  }
}

function productOf({ products, scripts }: Configuration, operation: string): ProductDefinition {
  const all = Object.values(products).sort((a, b) => (a.name < b.name ? -1 : 1))
  const named = all.find(product => hasPlugin(product, 'executeLambda'))
  if (named) return named
  if (!all[0] || !Object.hasOwn(scripts, USUAL_PATH)) throw notFound('lambda', operation)
  const executeLambda = { path: USUAL_PATH, enabled: true }
  return { ...all[0], plugins: { ...all[0].plugins, executeLambda } }
}
