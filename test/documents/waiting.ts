// Documents are generated after the response, so tests poll until they are there.
import { exports } from 'cloudflare:workers'
import { inject } from 'vitest'
import type { PolicyDocumentResponse } from '../../src/policy/contract/documents.ts'
import { noteExchange } from '../support/exchanges/note.ts'

/** Milliseconds. Documents without a message are found within a minute. */
const MOST_WAIT_MS = 90_000
const BETWEEN_MS = 100

/** Returns the value of `read` once none of its documents is a draft. */
export async function whenMade<T>(
  read: () => Promise<T>,
  documents: (value: T) => readonly PolicyDocumentResponse[],
): Promise<T> {
  for (let waited = 0; ; waited += BETWEEN_MS) {
    const value = await read()
    const waiting = documents(value).filter(one => one.state === 'draft')
    if (documents(value).length > 0 && waiting.length === 0) return value
    if (waited >= MOST_WAIT_MS)
      throw new Error(`Not made in time: ${JSON.stringify(documents(value), null, 2)}`)
    await new Promise(resolve => setTimeout(resolve, BETWEEN_MS))
  }
}

/** The response at a file's URL. */
export async function fileAt(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; bytes: Uint8Array }> {
  const response = await exports.default.fetch(new Request(url, { headers }))
  const { pathname } = new URL(url)
  noteExchange({ method: 'GET', path: pathname, body: undefined, status: response.status, answer: 'a file' })
  return {
    status: response.status,
    headers: response.headers,
    bytes: new Uint8Array(await response.arrayBuffer()),
  }
}

/** The text of the PDF at the URL, line by line; undefined if the tool is missing. */
export async function pdfTextAt(url: string): Promise<string | undefined> {
  const { bytes } = await fileAt(url)
  const answer = await fetch(`http://127.0.0.1:${inject('pdfReaderPort')}/`, { method: 'POST', body: bytes })
  if (answer.status === 501) return undefined
  return (await answer.text())
    .split(/[\n\f]/)
    .map(line => line.replace(/\s+/g, ' ').trim())
    .filter(line => line !== '')
    .join('\n')
}
