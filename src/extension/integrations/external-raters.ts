import type { RequestContext } from '../../platform/context.ts'
import type { ExternalRater } from '../../rating/rater.ts'
import { callIntegration, integrationFailed } from './call/call.ts'
import { integrationsOf } from './store.ts'

/**
 * Finds external raters for policies of the shard by the name that a product gives. An integration of another type is
 * none. One that was registered or changed elsewhere is seen some seconds later.
 */
export const externalRaters =
  (context: RequestContext, shard: number) =>
  async (name: string, policyLocator: string): Promise<ExternalRater | undefined> => {
    const integration = (await integrationsOf(context)).get(name)
    if (integration?.type !== 'external_rater') return undefined
    return {
      call: (input, read) =>
        callIntegration(context, integration, {
          shard,
          operation: input.operation,
          policyLocator,
          input,
          read,
        }),
      failed: reason => integrationFailed(integration, reason),
    }
  }
