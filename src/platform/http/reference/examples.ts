// Examples of the document: what tests asked of each operation and were answered, and the refusals that they saw
// (examples.json, written by `npm run docs:examples`).
import type { ErrorCode } from '../../../kernel/errors.ts'
import type { Route } from '../route.ts'

export type Example = {
  /** Of the path, by their names. */
  readonly params?: Readonly<Record<string, string>>
  /** JSON as its value, a form by its parts, a file as text. */
  readonly body?: unknown
  /** JSON as its value, anything else as text; undefined without a body. */
  readonly answer?: unknown
}

/** By method and path: `post /policy`. */
export type Examples = Readonly<Record<string, Example & { readonly refusals: readonly ErrorCode[] }>>

export const exampleOf = (examples: Examples, { method, path }: Pick<Route, 'method' | 'path'>) =>
  examples[`${method} ${path}`] ?? { refusals: [] }

type Media = { example?: unknown }
type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string; example?: unknown }[]
  readonly requestBody?: { readonly content: Record<string, Media> }
  readonly responses: Record<string, { readonly content?: Record<string, Media> }>
}

/** A file is sent as a form or as it is: the example is of the one that it fits. */
function mediaOf(content: Record<string, Media>, example: unknown): Media | undefined {
  const isText = typeof example === 'string'
  const fitting = Object.entries(content).find(([name]) => isText === !/json|form-data/.test(name))
  return (fitting ?? Object.entries(content)[0])?.[1]
}

/** Puts the example into its operation. */
export function addExample(operation: Operation, { params = {}, body, answer }: Example): void {
  for (const parameter of operation.parameters ?? [])
    if (parameter.in === 'path' && params[parameter.name] !== undefined)
      parameter.example = params[parameter.name]
  const sent =
    operation.requestBody && body !== undefined ? mediaOf(operation.requestBody.content, body) : undefined
  if (sent) sent.example = body
  const good = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1].content
  const got = good && answer !== undefined ? mediaOf(good, answer) : undefined
  if (got) got.example = answer
}
