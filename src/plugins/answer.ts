import type { z } from 'zod'
import { Refusal } from '../platform/errors.ts'
import type { PluginFunction } from './functions.ts'

/** Problems of an answer that are told; a plugin that is wrong in one peril is so in a thousand. */
const MOST_TOLD = 5

/** What the plugin answered, read by its contract. Refuses (422) what is not so, with where and why; `path` is its file. */
export function readAnswer<S extends z.ZodType>(
  name: PluginFunction,
  schema: S,
  answer: unknown,
  path: string,
): z.output<S> {
  const { success, data, error } = schema.safeParse(answer)
  if (success) return data
  throw nonsense(
    name,
    error.issues.map(({ path: at, message }) =>
      at.length > 0 ? `'${at.join('.')}' ${message}` : ofWhole(message),
    ),
    path,
  )
}

/** Contracts say what is wrong with a whole value as of a request. */
const ofWhole = (message: string): string =>
  message.replace(/^The request /, 'the answer ').replace(/\.$/, '')

/** Refuses the answer of the function of that file for these reasons. */
export function nonsense(name: PluginFunction, problems: readonly string[], path: string): Refusal {
  const told = problems.slice(0, MOST_TOLD).join('; ')
  const more = problems.length > MOST_TOLD ? `; and ${problems.length - MOST_TOLD} more` : ''
  return new Refusal('pluginFailed', `Plugin ${name} (${path}) answered what it may not: ${told}${more}.`)
}
