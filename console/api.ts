// Calls of the public interface, with the rights of who is signed in.
import type { ProblemBody } from './problem-body.ts'
import { beginSession, endSession, type Session, session } from './session.ts'

/** An answer that is not a 2xx, or none at all (`status` 0). */
export class Problem extends Error {
  readonly status: number
  readonly body: ProblemBody

  constructor(status: number, body: ProblemBody) {
    super(body.message ?? `The service answered ${status}.`)
    this.status = status
    this.body = body
  }
}

/** The session has ended: who was signed in is asked to sign in again, and then goes on. */
export class SignedOut extends Error {}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

/** Every number as the digits that came; where a browser does not tell them, as the shortest that mean the same. */
const digits: Reviver = (_, value, context) =>
  typeof value === 'number' ? (context?.source ?? String(value)) : value

export const parsed = (text: string): unknown => JSON.parse(text, digits as Parameters<typeof JSON.parse>[1])

/** Before the token ends in so many milliseconds, it is renewed by the way. */
const RENEW_BEFORE_MS = 10 * 60_000

let renewal: Promise<void> | undefined

/** A token that cannot be renewed any more goes on until it ends. */
function renew(): Promise<void> {
  renewal ??= send<{ authorizationToken: string }>('POST', '/account/renewAuthentication', {})
    .then(({ authorizationToken }) => void beginSession(authorizationToken))
    .catch(() => {})
    .finally(() => {
      renewal = undefined
    })
  return renewal
}

export type CallOptions = {
  readonly body?: unknown
  /** A file with what is said of it, in place of a body. */
  readonly form?: FormData | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** The answer, not read yet, if it is a 2xx; else a Problem. */
async function ask(
  method: string,
  path: string,
  { body, form, headers, signal }: CallOptions,
): Promise<Response> {
  const token = session()?.token
  const response = await fetch(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(form && { body: form }),
    ...(signal && { signal }),
    cache: 'no-store',
    credentials: 'omit',
  }).catch((failure: unknown) => {
    if (signal?.aborted) throw failure
    throw new Problem(0, { message: 'The service cannot be reached. Check the connection, and try again.' })
  })
  if (response.ok) return response
  const text = await read(response.text(), signal)
  let refusal: ProblemBody = {}
  try {
    refusal = parsed(text) as ProblemBody
  } catch {}
  throw new Problem(response.status, refusal)
}

/** What is read of an answer, which may still be lost on its way. */
const read = <Content>(content: Promise<Content>, signal: AbortSignal | undefined): Promise<Content> =>
  content.catch((failure: unknown) => {
    if (signal?.aborted) throw failure
    throw new Problem(0, { message: 'The answer was lost on its way.' })
  })

async function send<Body>(method: string, path: string, options: CallOptions): Promise<Body> {
  const text = await read((await ask(method, path, options)).text(), options.signal)
  return (text === '' ? undefined : parsed(text)) as Body
}

/** Sends with the session's token; again where it had ended and somebody signs in again. */
async function withSession<Answer>(sent: () => Promise<Answer>): Promise<Answer> {
  const now = session() ?? (await goOn())
  if (now.expiresAt - Date.now() < RENEW_BEFORE_MS) await renew()
  try {
    return await sent()
  } catch (problem) {
    if (!(problem instanceof Problem) || problem.status !== 401) throw problem
    endSession()
    await goOn()
    return await sent()
  }
}

/** A call with the session's token: the parsed answer, a Problem, or SignedOut. */
export const call = <Body>(method: string, path: string, options: CallOptions = {}): Promise<Body> =>
  withSession(() => send<Body>(method, path, options))

/** A file, as it comes. */
export const file = (path: string, signal?: AbortSignal): Promise<Blob> =>
  withSession(async () => read((await ask('GET', path, { signal })).blob(), signal))

/** Asks who was signed in to sign in again, over what was typed; false where they would rather not. */
const askers: (() => Promise<boolean>)[] = []
let asked: Promise<boolean> | undefined

/** While something typed would be lost, a session that has ended is asked for again, and the call goes on. */
export function keepTyped(ask: () => Promise<boolean>): () => void {
  askers.push(ask)
  return () => {
    askers.splice(askers.indexOf(ask), 1)
  }
}

/** The session that goes on after another sign-in; SignedOut where nobody is asked. */
async function goOn(): Promise<Session> {
  const ask = askers.at(-1)
  if (!ask) throw new SignedOut()
  asked ??= ask().finally(() => {
    asked = undefined
  })
  const now = (await asked) ? session() : undefined
  if (!now) throw new SignedOut()
  return now
}

export const get = <Body>(path: string, signal?: AbortSignal): Promise<Body> =>
  call<Body>('GET', path, { signal })

/** What is read to be changed: its tag, sent as `If-Match`, keeps the change from writing over what others did meanwhile. */
export type AsRead<Body> = { readonly body: Body; readonly tag: string }

export const getAsRead = <Body>(path: string): Promise<AsRead<Body>> =>
  withSession(async () => {
    const answer = await ask('GET', path, {})
    const body = parsed(await read(answer.text(), undefined)) as Body
    return { body, tag: answer.headers.get('etag') ?? '*' }
  })

/** A query without what is empty. */
export const queryOf = (values: Readonly<Record<string, string | number>>): string =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]])),
  ).toString()

/** The tenant's locator, where a path has it. */
export const ownTenant = (): string => encodeURIComponent(session()?.tenantLocator ?? '')

/** Signs in to the tenant that is named by its name or its host name. */
export async function signIn(tenant: string, username: string, password: string): Promise<void> {
  const where = tenant.includes('.') ? { hostName: tenant } : { tenantName: tenant }
  const body = { username, password, ...where }
  const { authorizationToken } = await send<{ authorizationToken: string }>('POST', '/account/authenticate', {
    body,
  })
  beginSession(authorizationToken)
}
