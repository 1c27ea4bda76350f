import type { Refusal } from '../../kernel/errors.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { PerilRatesInput } from '../plugins/contract.ts'
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

/** A service of the tenant's that rates in the place of plugins and templates. */
export type ExternalRater = {
  /** What `read` makes of its answer. Refuses (502) when it fails, and as `read` does; tells by `warn` what was ignored. */
  call<T>(input: PerilRatesInput, read: (answer: unknown, warn: (warning: string) => void) => T): Promise<T>
  /** The refusal (502) of an answer that is none. */
  failed(reason: string): Refusal
}
