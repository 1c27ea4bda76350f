import { exports } from 'cloudflare:workers'
import { noteCall } from './emission/calls.ts'
import { noteExchange } from './exchanges/note.ts'

/** Origin of the tests' requests. Any host works, because the Worker is called without a network. */
const ORIGIN = 'http://bindery.test'

export type Call = {
  token?: string
  /** A FormData, a string or bytes are sent unchanged. Anything else is sent as JSON. */
  body?: unknown
  headers?: Record<string, string>
}

export type Answer<Body> = {
  status: number
  headers: Headers
  /** Parsed if the response is JSON, otherwise the text. */
  body: Body
}

function requestOf(method: string, path: string, call: Call): Request {
  const headers = new Headers(call.headers)
  if (call.token !== undefined && !headers.has('authorization'))
    headers.set('authorization', `Bearer ${call.token}`)
  const { body } = call
  const asIs = typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array
  if (body !== undefined && !asIs && !headers.has('content-type'))
    headers.set('content-type', 'application/json')
  const sent = body === undefined ? null : asIs ? body : JSON.stringify(body)
  return new Request(`${ORIGIN}${path}`, { method, headers, body: sent, redirect: 'manual' })
}

/** Calls the service as a client would: `callApi('GET', '/policy/123', { token })`. */
export async function callApi<Body = unknown>(
  method: string,
  path: string,
  call: Call = {},
): Promise<Answer<Body>> {
  const response = await exports.default.fetch(requestOf(method, path, call))
  noteCall(method, path, response.headers.get('x-request-id'))
  const text = new TextDecoder().decode(await response.arrayBuffer())
  const json = /[/+]json/.test(response.headers.get('content-type') ?? '')
  const body = json && text !== '' ? JSON.parse(text) : text
  noteExchange({ method, path, body: call.body, status: response.status, answer: body })
  return { status: response.status, headers: response.headers, body: body as Body }
}

/** Like `callApi`, for calls that must succeed: returns the body of a 2xx response. Any other status fails the test. */
export async function callOk<Body = unknown>(method: string, path: string, call: Call = {}): Promise<Body> {
  const { status, body } = await callApi<Body>(method, path, call)
  if (status < 200 || status > 299)
    throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body, null, 2)}`)
  return body
}
