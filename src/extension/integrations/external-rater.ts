// An integration that rates in place of plugins and templates (resources brief 6).
import type { Refusal } from '../../kernel/errors.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { PerilRatesInput } from '../plugins/contract.ts'
import { callIntegration, integrationFailed } from './call/call.ts'
import type { CallBodies } from './call/log.ts'
import { integrationsOf } from './store.ts'

/**
 * Returns a function that finds the external rater with a name, for policies of the shard. Ignores integrations of other types.
 * Other isolates see a change some seconds later.
 */
export const externalRaters =
  (context: RequestContext, shard: number) =>
  async (name: string, policyLocator: string): Promise<ExternalRater | undefined> => {
    const integration = (await integrationsOf(context)).get(name)
    if (integration?.type !== 'external_rater') return undefined
    return {
      call: (input, read, show) =>
        callIntegration(
          context,
          integration,
          { shard, operation: input.operation, policyLocator, input, read },
          show,
        ),
      failed: reason => integrationFailed(integration, reason),
    }
  }

/** A tenant's service that rates in place of plugins and templates. */
export type ExternalRater = {
  /**
   * Calls the service and returns what `read` makes of its answer. Rejects with 502 if the call fails, and throws what `read`
   * throws. `warn` reports ignored parts; `show` receives both bodies without secrets.
   */
  call<T>(
    input: PerilRatesInput,
    read: (answer: unknown, warn: (warning: string) => void) => T,
    show?: (bodies: CallBodies) => void,
  ): Promise<T>
  /** The error (502) for an unusable answer. */
  failed(reason: string): Refusal
}
