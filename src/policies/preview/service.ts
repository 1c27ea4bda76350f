// Previews, as the Worker serves them. Nothing is recorded, so the policy's object has no part in it: an answer may
// be larger than a call to an object can carry.
import type { RequestContext } from '../../platform/context.ts'
import { type PolicyLocator, transientLocators } from '../../platform/locators.ts'
import { shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import { loadPolicy } from '../store/loading.ts'
import type { PolicyPreview, PolicyPreviewResponse } from './contract.ts'
import { decidePreview } from './decision.ts'

/** What the transaction would come to, on the policy as it is stored: one round trip. */
export async function previewOf(
  context: RequestContext,
  locator: PolicyLocator,
  preview: PolicyPreview,
): Promise<PolicyPreviewResponse> {
  const { env, tenant, calls, now } = context
  const shard = shardOfPolicy(tenant, locator)
  const loaded = await loadPolicy(context, shardDatabase(env, tenant, shard, calls), { locator })
  const supply = transientLocators(shard)
  return await decidePreview(loaded, preview, { now, supply, digits: async () => supply })
}
