// The typed client: every call of the contract, signed in, retried where possible, with error responses as exceptions.
import createApi, { type Client } from 'openapi-fetch'
import type { paths } from './contract.ts'
import { type ItemOf, itemsOf, nextQuery } from './paging.ts'
import { BinderyError } from './problem.ts'
import { DEFAULT_RETRY, isJson, isSignIn, type Retry, withRetries } from './retry.ts'
import { claimsOf, type OwnToken, ownToken, type Session, type SignIn, signedInSession } from './session.ts'

type Api = Client<paths>
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, unknown> ? P : never
}[keyof paths]
type OperationAt<M extends Method, P extends PathOf<M>> = M extends keyof paths[P] ? paths[P][M] : never

type RequiredKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? never : K }[keyof T]
type WithParams<Params> = [RequiredKeys<Params>] extends [never] ? { params?: Params } : { params: Params }
/** Bodies keep the names that the contract gives them, so that the compiler shows those names. */
type WithBody<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? { body: Content[keyof Content] }
  : Operation extends { requestBody?: { content: infer Content } | undefined }
    ? { body?: Content[keyof Content] | null }
    : { body?: never }
/** Further options of `fetch`. */
type Sending = Omit<RequestInit, 'body' | 'method' | 'headers'> & {
  readonly headers?: Readonly<Record<string, string | undefined>> | Headers
}
type InitOf<M extends Method, P extends PathOf<M>> =
  OperationAt<M, P> extends { parameters: infer Params }
    ? WithParams<Params> & WithBody<OperationAt<M, P>> & Sending
    : never
/** The second argument of a call. Optional if nothing in it is required. */
type InitArguments<Init> = [RequiredKeys<Init>] extends [never] ? [init?: Init] : [init: Init]

type Success = 200 | 201 | 202 | 204
/** JSON if the response can be JSON, otherwise the file. If you send your own Accept header, set `parseAs` too. */
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
/** How the response is read. By default its content type decides. */
type Form = keyof As | 'auto'
/** The result of a call: the parsed body of a 2xx response, or the form that `parseAs` requests. */
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
/** The path of a paged list. */
type PagedPath = {
  [P in PathOf<'get'>]: [QueryOf<P>] extends [never]
    ? never
    : Extract<keyof QueryOf<P>, 'pagingToken' | 'offset' | 'page'> extends never
      ? never
      : P
}[PathOf<'get'>]

/** One method for each HTTP method: `client.get('/policy/{policyLocator}', { params: { path: { policyLocator } } })`. */
export type BinderyClient = {
  readonly get: Call<'get'>
  readonly post: Call<'post'>
  readonly put: Call<'put'>
  readonly patch: Call<'patch'>
  readonly delete: Call<'delete'>
  /** Yields every item of a list, across all pages. The query applies to each page. */
  list<P extends PagedPath>(
    path: P,
    ...init: InitArguments<InitOf<'get', P>>
  ): AsyncGenerator<ItemOf<Answered<'get', P, 'auto'>>, void, undefined>
  /** Yields the pages, for example if you need the token of the last one. */
  pages<P extends PagedPath>(
    path: P,
    ...init: InitArguments<InitOf<'get', P>>
  ): AsyncGenerator<Answered<'get', P, 'auto'>, void, undefined>
  /** Returns the tenant that the client is signed in to, in the form used in paths. Undefined for an administration account. */
  tenantLocator(): Promise<string | undefined>
  /**
   * The same calls, returning the response in addition to the body, for its headers. They are retried and throw like the others.
   */
  readonly api: Api
}

export type ClientOptions = {
  /** Scheme and host of the service, such as `https://bindery.example.com`, and its path if a proxy serves it below one. */
  readonly baseUrl: string
  /** The account that signs in at the first call. */
  readonly signIn?: SignIn
  /** A token instead of a sign-in. */
  readonly token?: OwnToken
  readonly retry?: Partial<Retry>
  /** A replacement for the platform's `fetch`, for example that of a service binding. */
  readonly fetch?: (request: Request) => Promise<Response>
}

const isBytes = (body: unknown): body is BodyInit =>
  body instanceof Blob ||
  body instanceof FormData ||
  body instanceof ReadableStream ||
  body instanceof ArrayBuffer ||
  ArrayBuffer.isView(body)

/** An object that contains a file becomes a form, bytes are sent unchanged, and everything else is JSON. */
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
 * Creates a client of the service. Calls return the body of a 2xx response and throw a `BinderyError` for any other. If the
 * connection fails, they throw the error of `fetch`. A call's `signal` aborts it, including its waits. Every write has an
 * `Idempotency-Key` (a new one for each call unless you pass one), so the service carries it out once, no matter how often it is
 * sent.
 *
 * Throws a TypeError if `baseUrl` has another scheme than http or https, as `localhost:8787` has.
 */
export function createClient({
  baseUrl,
  signIn,
  token,
  retry,
  fetch: send = request => fetch(request),
}: ClientOptions): BinderyClient {
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(baseUrl)?.[1]
  if (scheme !== undefined && !/^https?$/i.test(scheme))
    throw new TypeError(`baseUrl must begin with 'https://' or 'http://', not '${scheme}:'.`)
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
    // The session makes sign-ins itself, and must not wait for its own.
    if (request.headers.has('authorization') || isSignIn(request)) return send(request)
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
    onRequest({ request }) {
      const { headers, method } = request
      if (method !== 'GET' && !isSignIn(request) && !headers.has('idempotency-key'))
        headers.set('idempotency-key', crypto.randomUUID())
    },
    async onResponse({ request, response }) {
      // 304 is the response to a read with If-None-Match. It is not an error and has no body.
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

/** Requests a stream, because the response is read here. Sets the content type of bytes, which would otherwise be sent as JSON. */
function asSent(init: object | undefined): object {
  const { body, headers } = (init ?? {}) as { body?: unknown; headers?: object }
  if (!isBytes(body) || body instanceof FormData) return { parseAs: 'stream', ...init }
  const type = (body instanceof Blob && body.type) || 'application/octet-stream'
  return { parseAs: 'stream', ...init, headers: { 'content-type': type, ...headers } }
}

/** Returns JSON as its value, a file as a Blob, and an empty body as undefined. */
async function parsed(response: Response): Promise<unknown> {
  if (!response.body || !response.headers.has('content-type')) return undefined
  if (!isJson(response)) return response.blob()
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

/** All calls that wait for a sign-in share it. A call that stops waiting does not end the sign-in. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason)
    signal.addEventListener('abort', aborted, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted))
  })
}
