// The typed client: every call of the contract, signed in, retried where possible, with refusals as errors.
import createApi, { type Client } from 'openapi-fetch'
import type { paths } from './contract.ts'
import { type ItemOf, itemsOf, nextQuery } from './paging.ts'
import { BinderyError } from './problem.ts'
import { DEFAULT_RETRY, isJson, type Retry, withRetries } from './retry.ts'
import { claimsOf, type OwnToken, ownToken, type Session, type SignIn, signedInSession } from './session.ts'

type Api = Client<paths>
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, unknown> ? P : never
}[keyof paths]
type OperationAt<M extends Method, P extends PathOf<M>> = M extends keyof paths[P] ? paths[P][M] : never

type RequiredKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? never : K }[keyof T]
type WithParams<Params> = [RequiredKeys<Params>] extends [never] ? { params?: Params } : { params: Params }
/** Bodies keep the names that the contract gives them, so that the compiler shows those. */
type WithBody<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? { body: Content[keyof Content] }
  : Operation extends { requestBody?: { content: infer Content } | undefined }
    ? { body?: Content[keyof Content] | null }
    : { body?: never }
/** What `fetch` takes too. */
type Sending = Omit<RequestInit, 'body' | 'method' | 'headers'> & {
  readonly headers?: Readonly<Record<string, string | undefined>> | Headers
}
type InitOf<M extends Method, P extends PathOf<M>> =
  OperationAt<M, P> extends { parameters: infer Params }
    ? WithParams<Params> & WithBody<OperationAt<M, P>> & Sending
    : never
/** The second argument; optional when nothing in it is required. */
type InitArguments<Init> = [RequiredKeys<Init>] extends [never] ? [init?: Init] : [init: Init]

type Success = 200 | 201 | 202 | 204
/**
 * JSON when the answer can be JSON, otherwise the file. A client that sends its own Accept header sets `parseAs` too.
 */
type ContentOf<Operation> = Operation extends { responses: infer Responses }
  ? Responses[Extract<keyof Responses, Success>] extends { content: infer Content }
    ? Content extends { 'application/json': infer Json }
      ? Json
      : Content[keyof Content]
    : undefined
  : never

type As = {
  json: unknown
  text: string
  blob: Blob
  arrayBuffer: ArrayBuffer
  stream: ReadableStream<Uint8Array> | null
}
/** How the answer is read: by default as its type says. */
type Form = keyof As | 'auto'
/** The result of a call: the parsed body of a 2xx answer, or what `parseAs` asks for. */
type Answered<M extends Method, P extends PathOf<M>, F extends Form> = F extends keyof As
  ? As[F]
  : ContentOf<OperationAt<M, P>>

type Call<M extends Method> = <P extends PathOf<M>, F extends Form = 'auto'>(
  path: P,
  ...init: InitArguments<InitOf<M, P> & { readonly parseAs?: F }>
) => Promise<Answered<M, P, F>>

type QueryOf<P extends PathOf<'get'>> = paths[P] extends { get: { parameters: { query?: infer Query } } }
  ? Exclude<Query, undefined>
  : never
/** A paged list. */
type PagedPath = {
  [P in PathOf<'get'>]: [QueryOf<P>] extends [never]
    ? never
    : Extract<keyof QueryOf<P>, 'pagingToken' | 'offset' | 'page'> extends never
      ? never
      : P
}[PathOf<'get'>]

/** One call for each method: `client.get('/policy/{policyLocator}', { params: { path: { policyLocator } } })`. */
export type BinderyClient = {
  readonly get: Call<'get'>
  readonly post: Call<'post'>
  readonly put: Call<'put'>
  readonly patch: Call<'patch'>
  readonly delete: Call<'delete'>
  /** Every item of a list, across all pages; the query applies to each of them. */
  list<P extends PagedPath>(
    path: P,
    ...init: InitArguments<InitOf<'get', P>>
  ): AsyncGenerator<ItemOf<Answered<'get', P, 'auto'>>, void, undefined>
  /** The pages, for example for the token of the last one. */
  pages<P extends PagedPath>(
    path: P,
    ...init: InitArguments<InitOf<'get', P>>
  ): AsyncGenerator<Answered<'get', P, 'auto'>, void, undefined>
  /** The tenant that the client is signed in to, in the form for paths; undefined for an administration account. */
  tenantLocator(): Promise<string | undefined>
  /**
   * The same calls with the response beside the body, for its headers. They are retried and throw like the others.
   */
  readonly api: Api
}

export type ClientOptions = {
  /** Scheme and host of the service: `https://bindery.example.com`. */
  readonly baseUrl: string
  /** The account that signs in at the first call. */
  readonly signIn?: SignIn
  /** A token instead of a sign-in. */
  readonly token?: OwnToken
  readonly retry?: Partial<Retry>
  /** A replacement for the platform's `fetch`, for example that of a service binding. */
  readonly fetch?: (request: Request) => Promise<Response>
}

/** Paths that take no key and no token, so that the session that calls them does not wait for itself. */
const SIGN_INS: ReadonlySet<string> = new Set(['/account/authenticate', '/account/authenticateAdmin'])

const isBytes = (body: unknown): body is BodyInit =>
  body instanceof Blob ||
  body instanceof FormData ||
  body instanceof ReadableStream ||
  body instanceof ArrayBuffer ||
  ArrayBuffer.isView(body)

/** An object with a file in it becomes a form; bytes are sent unchanged; everything else is JSON. */
function bodyOf(body: unknown): BodyInit {
  if (isBytes(body)) return body
  if (typeof body !== 'object' || body === null || !Object.values(body).some(value => value instanceof Blob))
    return JSON.stringify(body)
  const form = new FormData()
  for (const [name, value] of Object.entries(body))
    if (value instanceof Blob) form.set(name, value)
    else if (value !== undefined && value !== null) form.set(name, String(value))
  return form
}

const callOf = ({ method, url }: Request): string => `${method} ${new URL(url).pathname}`

/**
 * A client of the service. Calls return the body of a 2xx answer and throw a `BinderyError` for any other; a failed connection
 * throws what `fetch` throws. A call's `signal` aborts it, waits included. Every write has an `Idempotency-Key` (a new one for
 * each call unless you pass one), so it is carried out once however often it is sent.
 */
export function createClient({
  baseUrl,
  signIn,
  token,
  retry,
  fetch: send = request => fetch(request),
}: ClientOptions): BinderyClient {
  const rules: Retry = { ...DEFAULT_RETRY, ...retry }
  const api: Api = createApi<paths>({
    baseUrl,
    bodySerializer: bodyOf,
    fetch: request => withRetries(request, rules, signedIn),
  })
  const session: Session = signIn
    ? signedInSession(signIn, async (path, { body, token }) => {
        const { data } = await api.POST(path, {
          ...(body && { body }),
          ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
        })
        return data!.authorizationToken
      })
    : ownToken(token)

  async function signedIn(request: Request): Promise<Response> {
    if (request.headers.has('authorization') || SIGN_INS.has(new URL(request.url).pathname))
      return send(request)
    const again = request.clone()
    const first = await unlessAborted(session.token(), request.signal)
    if (first === undefined) return send(request)
    request.headers.set('authorization', `Bearer ${first}`)
    const response = await send(request)
    if (response.status !== 401 || !session.refused(first)) return response
    const second = await unlessAborted(session.token(), request.signal)
    if (second === undefined || second === first) return response
    await response.body?.cancel()
    again.headers.set('authorization', `Bearer ${second}`)
    return send(again)
  }

  api.use({
    onRequest({ request, schemaPath }) {
      const { headers, method } = request
      if (method !== 'GET' && !SIGN_INS.has(schemaPath) && !headers.has('idempotency-key'))
        headers.set('idempotency-key', crypto.randomUUID())
    },
    async onResponse({ request, response }) {
      // 304 answers a read with If-None-Match: it is no refusal and has no body.
      if (!response.ok && response.status !== 304)
        throw new BinderyError(callOf(request), response, await response.text())
    },
  })

  const call = <M extends Method>(method: M): Call<M> =>
    (async (path: never, init: object | undefined) => {
      const { data, response } = await api.request(method, path, asSent(init) as never)
      return init && 'parseAs' in init ? data : parsed(response)
    }) as unknown as Call<M>
  const get = call('get') as unknown as (path: string, init: object) => Promise<unknown>

  async function* pages(
    path: string,
    init: { params?: { query?: object } } = {},
  ): AsyncGenerator<unknown, void, undefined> {
    let query: Readonly<Record<string, unknown>> | undefined = { ...init.params?.query }
    while (query) {
      const page = await get(path, { ...init, params: { ...init.params, query } })
      yield page
      query = nextQuery(page, query)
    }
  }

  async function* list(path: string, init?: object): AsyncGenerator<unknown, void, undefined> {
    for await (const page of pages(path, init)) yield* itemsOf(page)
  }

  return {
    get: call('get'),
    post: call('post'),
    put: call('put'),
    patch: call('patch'),
    delete: call('delete'),
    list: list as unknown as BinderyClient['list'],
    pages: pages as unknown as BinderyClient['pages'],
    async tenantLocator() {
      const claims = claimsOf((await session.token()) ?? '')
      return claims?.['tenant.uuid'] as string | undefined
    },
    api,
  }
}

/** Reads the answer here. Bytes carry their own type, since the call would send JSON. */
function asSent(init: object | undefined): object {
  const { body, headers } = (init ?? {}) as { body?: unknown; headers?: object }
  if (!isBytes(body) || body instanceof FormData) return { parseAs: 'stream', ...init }
  const type = (body instanceof Blob && body.type) || 'application/octet-stream'
  return { parseAs: 'stream', ...init, headers: { 'content-type': type, ...headers } }
}

/** JSON as its value, a file as a Blob, nothing as undefined. */
async function parsed(response: Response): Promise<unknown> {
  if (!response.body || !response.headers.has('content-type')) return undefined
  if (!isJson(response)) return response.blob()
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

/** A sign-in is shared by all who wait for it: one that stops waiting does not end it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason)
    signal.addEventListener('abort', aborted, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted))
  })
}
