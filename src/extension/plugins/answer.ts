import type { z } from 'zod'
import { Refusal } from '../../kernel/errors.ts'
import { pathText } from '../../platform/wire-problem.ts'
import type { PluginFunction } from '../../product/plugins.ts'

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
    error.issues.map(one => problemOf(one)),
    path,
  )
}

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string }

/** What is wrong with an answer, or with the part of it that is at `within`: the place, once, and the reason. */
export function problemOf({ path, message }: Issue, ...within: string[]): string {
  // Contracts without words of their own tell the place themselves, and of a whole value as of a request.
  const own = path.length > 0 ? `'${pathText(path)}' ` : 'The request '
  const reason = (message.startsWith(own) ? message.slice(own.length) : message).replace(/\.$/, '')
  const place = [...within, ...path.map(String)].join('.')
  if (place !== '') return `'${place}' ${reason}`
  return reason === message ? reason : `the answer ${reason}`
}

/** Refuses the answer of the function of that file for these reasons. */
export function nonsense(name: PluginFunction, problems: readonly string[], path: string): Refusal {
  const told = problems.slice(0, MOST_TOLD).join('; ')
  const more = problems.length > MOST_TOLD ? `; and ${problems.length - MOST_TOLD} more` : ''
  return new Refusal('pluginFailed', `Plugin ${name} (${path}) answered what it may not: ${told}${more}.`)
}
