// What tests ask and are answered, for the examples of the document (`npm run docs:examples`); otherwise nothing is kept.
import { inject } from 'vitest'
import { noteStatus } from './statuses.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where exchanges are sent; undefined when none are kept. */
    exchangesUrl: string | undefined
  }
}

/** A call of a test, and the answer. */
export type Exchange = {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** JSON as its value, parts of a form by their names, anything else as text; undefined without a body. */
  readonly body: unknown
  readonly status: number
  /** JSON as its value, text as text; of other files their number of bytes. */
  readonly answer: unknown
}

const LONGEST = 60_000
const url = inject('exchangesUrl')
let noted: string[] = []

/** A form by its parts: texts, and of files their names. */
const partsOf = (form: FormData): Record<string, string> =>
  Object.fromEntries([...form].map(([name, part]) => [name, typeof part === 'string' ? part : part.name]))

/** A file is told by its beginning. */
const beginning = (answer: unknown): unknown => (typeof answer === 'string' ? answer.slice(0, 400) : answer)

const shown = (body: unknown): unknown =>
  body instanceof FormData
    ? partsOf(body)
    : body instanceof Uint8Array
      ? new TextDecoder().decode(body.subarray(0, 400))
      : body

/** Keeps the exchange, unless it is large or nobody asks; its status always. */
export function noteExchange({ body, answer, ...exchange }: Exchange): void {
  const { method, path, status } = exchange
  noteStatus(method, path, status, (answer as { code?: string } | null | undefined)?.code)
  if (url === undefined) return
  const line = JSON.stringify({ ...exchange, body: shown(body), answer: beginning(answer) })
  if (line.length <= LONGEST) noted.push(line)
}

/** Sends what was kept of a test file. */
export async function sendExchanges(): Promise<void> {
  if (url === undefined) return
  await fetch(url, { method: 'POST', body: noted.join('\n') })
  noted = []
}
