// Who fills requests in: the product's plugin, and integrations of type data_autofill.
import { callIntegration, integrationFailed } from '../../extension/integrations/call/call.ts'
import { integrationsOf } from '../../extension/integrations/store.ts'
import type { AutofillInput } from '../../extension/plugins/contract.ts'
import type { PluginSession, PluginSubject } from '../../extension/plugins/session.ts'
import { nonsense, problemOf, readAnswer } from '../../extension/plugins/translation.ts'
import { invalidRequest, Refusal } from '../../kernel/errors.ts'
import { type PolicyLocator, shardOfDigits } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Words } from './words.ts'

/** Makes of what was answered what is worked with; `unfit` is the refusal of it, for these reasons. */
export type Reading<T> = (answer: Words, unfit: (problems: readonly string[]) => Refusal) => T

export type Filler = {
  /** As messages name it. */
  readonly name: string
  /** What `read` makes of its answer. Refuses (409) with its own words when it gives an `exceptionMessage`. */
  fill<T>(input: AutofillInput, read: Reading<T>): Promise<T>
}

/** The product's plugin. Refuses (422) when it fails or answers nonsense. */
export const pluginFiller = (session: PluginSession, subject: PluginSubject): Filler => ({
  name: 'plugin getDataAutofill',
  fill: async (input, read) => {
    const { AutofillResult } = await import('../../extension/plugins/contract.ts')
    const { path } = subject.product.plugins.getDataAutofill!
    const answer = (await session.call(subject, 'getDataAutofill', [input])) ?? {}
    const { exceptionMessage, ...words } = readAnswer('getDataAutofill', AutofillResult, answer, path)
    if (exceptionMessage !== undefined) throw new Refusal('pluginRefused', exceptionMessage)
    return read(words, problems => nonsense('getDataAutofill', problems, path))
  },
})

/** What services answered to a request, so that another attempt at it asks none of them again. */
const answered = new WeakMap<RequestContext, Map<string, Words>>()

/** Reasons that are told of an answer; a service that is wrong in one exposure is so in a thousand. */
const MOST_TOLD = 5

/** The integration of that name, given the plugin's input by POST. Refuses (502) when it fails or answers nonsense. */
export function serviceFiller(context: RequestContext, policy: PolicyLocator, name: string): Filler {
  const known = answered.get(context) ?? new Map<string, Words>()
  answered.set(context, known)
  return {
    name: `service '${name}'`,
    fill: async (input, read) => {
      const integration = (await integrationsOf(context)).get(name)
      if (integration?.type !== 'data_autofill') throw unknownService(name)
      const unfit = (problems: readonly string[]) => {
        const more = problems.length > MOST_TOLD ? `; and ${problems.length - MOST_TOLD} more` : ''
        const told = `${problems.slice(0, MOST_TOLD).join('; ')}${more}`
        return integrationFailed(integration, `it answered what it may not: ${told}`)
      }
      const call = `${name}\n${JSON.stringify(input)}`
      const before = known.get(call)
      if (before) return read(before, unfit)
      const { AutofillResult } = await import('../../extension/plugins/contract.ts')
      return await callIntegration(context, integration, {
        shard: shardOfDigits(policy),
        operation: `${input.operation}.${input.operationType}`,
        ...(input.policyLocator !== undefined && { policyLocator: input.policyLocator }),
        input,
        read: answer => {
          const { success, data, error } = AutofillResult.safeParse(answer ?? {})
          if (!success) throw unfit(error.issues.map(one => problemOf(one)))
          const { exceptionMessage, ...words } = data
          if (exceptionMessage !== undefined) throw new Refusal('integrationRefused', exceptionMessage)
          known.set(call, words)
          return read(words, unfit)
        },
      })
    },
  }
}

const unknownService = (name: string): Refusal =>
  invalidRequest(
    `'${name}' is to fill the request in, and there is no integration of type data_autofill with that name. GET /integrations lists them; name others in autofill, or register others with PUT /integrations/autofill.`,
  )
