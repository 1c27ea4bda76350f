// Calls of the public interface with the rights of the signed-in user.
import { readableTimes } from './format.ts'
import type { ProblemBody } from './problem-body.ts'
import { beginSession, endSession, type Session, session } from './session.ts'
import { FAILURES } from './words.ts'

/** A response that is not a 2xx, or a missing response (`status` 0). */
export class Problem extends Error {
  readonly status: number
  readonly body: ProblemBody

  constructor(status: number, body: ProblemBody) {
    super(body.message === undefined ? FAILURES.status(status) : readableTimes(body.message))
    this.status = status
    this.body = body
  }
}

/** The session has ended. The user is asked to sign in again and then continues. */
export class SignedOut extends Error {}

/** A part of the console could not be loaded. Browsers remember this until the page is loaded again. */
export class NotLoaded extends Error {
  constructor() {
    super(FAILURES.notLoaded)
  }
}

/** Loads a part by a dynamic import. Throws NotLoaded without a connection, or if a newer release has replaced the part. */
export const loadPart = <Part>(load: () => Promise<Part>): Promise<Part> =>
  load().catch(() => {
    throw new NotLoaded()
  })

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

/**
 * Keeps every number as the digits that were received. A browser that does not report them gives the shortest digits of the same
 * value.
 */
const digits: Reviver = (_, value, context) =>
  typeof value === 'number' ? (context?.source ?? String(value)) : value

export const parseJson = (text: string): unknown =>
  JSON.parse(text, digits as Parameters<typeof JSON.parse>[1])

/** A call renews the token when it expires in less than this many milliseconds. */
const RENEW_BEFORE_MS = 10 * 60_000

let renewal: Promise<void> | undefined

/** Renews the token. Ignores a failure: the token stays valid until it expires. */
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
  /** A file with its properties, sent instead of a body. */
  readonly form?: FormData | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** Returns a 2xx response, not read yet. Throws a Problem for any other. */
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
    throw new Problem(0, { message: FAILURES.unreachable })
  })
  if (response.ok) return response
  const text = await read(response.text(), signal)
  let refusal: ProblemBody = {}
  try {
    refusal = parseJson(text) as ProblemBody
  } catch {}
  throw new Problem(response.status, refusal)
}

/** Reads the content of a response, which can still fail if the connection breaks. */
const read = <Content>(content: Promise<Content>, signal: AbortSignal | undefined): Promise<Content> =>
  content.catch((failure: unknown) => {
    if (signal?.aborted) throw failure
    throw new Problem(0, { message: FAILURES.lost })
  })

async function send<Body>(method: string, path: string, options: CallOptions): Promise<Body> {
  const text = await read((await ask(method, path, options)).text(), options.signal)
  return (text === '' ? undefined : parseJson(text)) as Body
}

/** Sends with the session's token. If the session had ended and the user signs in again, sends again. */
async function withSession<Answer>(sent: () => Promise<Answer>): Promise<Answer> {
  const now = session() ?? (await resumeSession())
  if (now.expiresAt - Date.now() < RENEW_BEFORE_MS) await renew()
  try {
    return await sent()
  } catch (problem) {
    if (!(problem instanceof Problem) || problem.status !== 401) throw problem
    endSession()
    await resumeSession()
    return await sent()
  }
}

/** Calls the service with the session's token. Resolves to the parsed response, or rejects with a Problem or SignedOut. */
export const call = <Body>(method: string, path: string, options: CallOptions = {}): Promise<Body> =>
  withSession(() => send<Body>(method, path, options))

/** Downloads a file unchanged. */
export const file = (path: string): Promise<Blob> =>
  withSession(async () => read((await ask('GET', path, {})).blob(), undefined))

/** Functions that ask the user to sign in again without losing what was typed. They resolve to false if the user declines. */
const askers: (() => Promise<boolean>)[] = []
let asked: Promise<boolean> | undefined

/**
 * Registers an asker while typed input could be lost. If the session ends, the asker runs and the call then continues. Returns a
 * function that removes it.
 */
export function registerSignInPrompt(ask: () => Promise<boolean>): () => void {
  askers.push(ask)
  return () => {
    askers.splice(askers.indexOf(ask), 1)
  }
}

/** Returns the session after another sign-in. Throws SignedOut if no asker is registered or the user declines. */
async function resumeSession(): Promise<Session> {
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

/**
 * A record that is read to be changed. Sending its tag as `If-Match` keeps the change from overwriting what others did meanwhile.
 */
export type AsRead<Body> = { readonly body: Body; readonly tag: string }

export const getAsRead = <Body>(path: string): Promise<AsRead<Body>> =>
  withSession(async () => {
    const answer = await ask('GET', path, {})
    const body = parseJson(await read(answer.text(), undefined)) as Body
    return { body, tag: answer.headers.get('etag') ?? '*' }
  })

/** Builds a query string, leaving out empty values. */
export const queryOf = (values: Readonly<Record<string, string | number>>): string =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]])),
  ).toString()

/** The tenant's locator, for use in a path. */
export const ownTenant = (): string => encodeURIComponent(session()?.tenantLocator ?? '')

/** Signs in to a tenant, which is identified by its name or its host name. */
export async function signIn(tenant: string, username: string, password: string): Promise<void> {
  const where = tenant.includes('.') ? { hostName: tenant } : { tenantName: tenant }
  const body = { username, password, ...where }
  const { authorizationToken } = await send<{ authorizationToken: string }>('POST', '/account/authenticate', {
    body,
  })
  beginSession(authorizationToken)
}
