// Who fills requests in: the product's plugin, and integrations of type data_autofill.
import type { RequestContext } from '../platform/context.ts'
import { Refusal } from '../platform/errors.ts'
import { nonsense, readAnswer } from '../plugins/answer.ts'
import type { AutofillInput } from '../plugins/contract.ts'
import type { PluginSession, PluginSubject } from '../plugins/session.ts'
import type { Words } from './words.ts'

export type Filler = {
  /** As messages name it. */
  readonly name: string
  /** Its answer: a part of the update request. Refuses (409) with its own words when it gives an `exceptionMessage`. */
  fill(input: AutofillInput): Promise<Words>
  /** Refuses (422) an answer, for these reasons. */
  unfit(problems: readonly string[]): Refusal
}

export const pluginFiller = (session: PluginSession, subject: PluginSubject): Filler => ({
  name: 'plugin getDataAutofill',
  fill: async input => {
    const { AutofillResult } = await import('../plugins/contract.ts')
    const answer = (await session.call(subject, 'getDataAutofill', [input])) ?? {}
    const { exceptionMessage, ...words } = readAnswer('getDataAutofill', AutofillResult, answer)
    if (exceptionMessage !== undefined) throw new Refusal('pluginRefused', exceptionMessage)
    return words
  },
  unfit: problems => nonsense('getDataAutofill', problems),
})

export function serviceFiller(_context: RequestContext, name: string): Filler {
  throw new Refusal(
    'invalidRequest',
    `autofill names '${name}', and there is no integration of type data_autofill with that name; GET /integrations lists them.`,
  )
}
