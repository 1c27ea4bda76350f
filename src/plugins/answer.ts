import type { z } from 'zod'
import { Refusal } from '../platform/errors.ts'
import type { PluginFunction } from './functions.ts'

/** Problems of an answer that are told; a plugin that is wrong in one peril is so in a thousand. */
const MOST_TOLD = 5

/** What the plugin answered, read by its contract. Refuses (422) what is not so, with where and why. */
export function readAnswer<S extends z.ZodType>(
  name: PluginFunction,
  schema: S,
  answer: unknown,
): z.output<S> {
  const { success, data, error } = schema.safeParse(answer)
  if (success) return data
  throw nonsense(
    name,
    error.issues.map(({ path, message }) =>
      path.length > 0 ? `'${path.join('.')}' ${message}` : ofTheWhole(message),
    ),
  )
}

/** What is wrong with the whole of it is put as of a request, in a sentence. */
const ofTheWhole = (message: string): string =>
  message.replace(/^The request /, 'the answer ').replace(/\.$/, '')

/** Refuses the answer for these reasons. */
export function nonsense(name: PluginFunction, problems: readonly string[]): Refusal {
  const told = problems.slice(0, MOST_TOLD).join('; ')
  const more = problems.length > MOST_TOLD ? `; and ${problems.length - MOST_TOLD} more` : ''
  return new Refusal('pluginFailed', `Plugin ${name} answered what it may not: ${told}${more}.`)
}
