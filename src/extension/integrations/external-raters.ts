import type { Refusal } from '../../kernel/errors.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { PerilRatesInput } from '../plugins/contract.ts'
import { callIntegration, integrationFailed } from './call/call.ts'
import { integrationsOf } from './store.ts'

/**
 * Finds external raters for policies of the shard by the name that a product gives. Ignores integrations of other types. A
 * change in another isolate is seen some seconds later.
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

/** A service of the tenant that rates in place of plugins and templates. */
export type ExternalRater = {
  /**
   * Calls the service and returns what `read` makes of its answer. Refuses (502) when it fails, and as `read` does; reports by
   * `warn` what was ignored.
   */
  call<T>(input: PerilRatesInput, read: (answer: unknown, warn: (warning: string) => void) => T): Promise<T>
  /** The refusal (502) of an unusable answer. */
  failed(reason: string): Refusal
}
