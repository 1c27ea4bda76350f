// Notes the requests of tests and their responses, for the examples in the OpenAPI document (`npm run docs:examples`). Otherwise
// keeps nothing.
import { inject } from 'vitest'
import { noteStatus } from './statuses.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where exchanges are sent. Undefined if none are kept. */
    exchangesUrl: string | undefined
  }
}

/** A request of a test, and the response. */
export type Exchange = {
  readonly method: string
  /** Including the query. */
  readonly path: string
  /** JSON as its value, a form as its parts by name, anything else as text. Undefined without a body. */
  readonly body: unknown
  readonly status: number
  /** JSON as its value, text as text, and for other files the number of bytes. */
  readonly answer: unknown
}

const LONGEST = 60_000
const url = inject('exchangesUrl')
let noted: string[] = []

/** The parts of a form by name: texts, and for files their file names. */
const partsOf = (form: FormData): Record<string, string> =>
  Object.fromEntries([...form].map(([name, part]) => [name, typeof part === 'string' ? part : part.name]))

/** Shortens a text, such as a file, to its beginning. */
const beginning = (answer: unknown): unknown => (typeof answer === 'string' ? answer.slice(0, 400) : answer)

const readableBody = (body: unknown): unknown =>
  body instanceof FormData
    ? partsOf(body)
    : body instanceof Uint8Array
      ? new TextDecoder().decode(body.subarray(0, 400))
      : body

/** Notes the exchange if exchanges are kept and it is not too large. Always notes its status. */
export function noteExchange({ body, answer, ...exchange }: Exchange): void {
  const { method, path, status } = exchange
  noteStatus(method, path, status, (answer as { code?: string } | null | undefined)?.code)
  if (url === undefined) return
  const line = JSON.stringify({ ...exchange, body: readableBody(body), answer: beginning(answer) })
  if (line.length <= LONGEST) noted.push(line)
}

/** Sends the exchanges of a test file. */
export async function sendExchanges(): Promise<void> {
  if (url === undefined) return
  await fetch(url, { method: 'POST', body: noted.join('\n') })
  noted = []
}
