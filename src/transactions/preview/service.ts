// Previews run in the Worker: they record only the plugin log, and an answer may exceed the limit of a call to an object.
import '../kinds.ts'
import { externalRaters } from '../../extension/integrations/external-rater.ts'
import { OperationCalls } from '../../extension/plugins/operation-calls.ts'
import { type PolicyLocator, transientLocators } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import { LongAnswer } from '../../platform/http/route.ts'
import { shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import { type ExplainQuery, explainOf } from '../../policy/contract/worksheet.ts'
import type { PerilDetail } from '../../policy/projection/policy.ts'
import { loadPolicy } from '../../policy/store/loading.ts'
import type { Attempt } from '../../rating/rate.ts'
import { tableReader } from '../../reference/constraints/force.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { Autofill } from '../autofill/fill.ts'
import { digestOfPolicy, digestOfPrice, digestOfRequest, signPreview } from '../mechanism/preview-token.ts'
import { explainingOf } from '../mechanism/price-change.ts'
import type { PolicyPreview } from './contract.ts'
import { decidePreview, findPreview } from './decision.ts'

/**
 * Returns what the operation would do, and a token for `If-Previewed`. Throws the errors of the operation. Stores only plugin
 * logs.
 */
export async function previewOf(
  context: RequestContext,
  locator: PolicyLocator,
  preview: PolicyPreview,
  query: ExplainQuery & PerilDetail,
): Promise<LongAnswer> {
  const { env, tenant, calls, now } = context
  const { explain } = explainOf(query)
  const shard = shardOfPolicy(tenant, locator)
  const database = shardDatabase(env, tenant, shard, calls)
  const tables = new RatingTables(context)
  const loaded = await tables.openWith(loadPolicy(context, database, { locator }))
  const supply = transientLocators(shard)
  const pluginCalls = new OperationCalls({ context, database, shard }, locator)
  const externalRater = externalRaters(context, shard)
  const readTables = tableReader(context)
  try {
    const shown = await tables.inRounds(async () => {
      const plugins = pluginCalls.begin()
      const autofill = new Autofill(context, locator, plugins, tables)
      const request = await findPreview(preview).fill?.(preview.request, loaded, autofill)
      const filled = request ? ({ ...preview, request } as PolicyPreview) : preview
      const attempt: Attempt = {
        now,
        supply,
        digits: async () => supply,
        plugins,
        externalRater,
        tables,
        readTables,
        ...(explain && { explaining: await explainingOf(context, explain) }),
      }
      return await autofill.explaining(
        decidePreview(loaded, filled, attempt, { perilCharacteristics: query.perilCharacteristics }),
      )
    })
    const { token, expiresAt } = await signPreview(context, {
      policy: locator,
      operation: preview.kind,
      body: digestOfRequest(preview.request),
      version: loaded.aggregate.policy.version,
      state: digestOfPolicy(loaded.aggregate),
      price: digestOfPrice(shown.price),
      at: now,
    })
    return new LongAnswer({ ...shown, previewToken: token, previewTokenExpiresTimestamp: String(expiresAt) })
  } catch (problem) {
    throw pluginCalls.failed(problem)
  } finally {
    pluginCalls.keepLogs()
  }
}
