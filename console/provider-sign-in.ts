// Sign-in through the tenant's identity provider: the browser leaves for it and returns with a code, which is exchanged for a
// token.
import { Problem } from './api.ts'
import type { ProblemBody } from './problem-body.ts'
import { beginSession } from './session.ts'
import { FAILURES, SIGN_IN } from './words.ts'

const REASONS: Readonly<Record<string, string>> = SIGN_IN.failures

export type Options = {
  readonly providers: readonly { readonly name: string; readonly label: string }[]
  readonly passwords: boolean
}

/** Where the user was before leaving for the provider. */
const RETURN_KEY = 'bindery.return'

/**
 * Reads the result with which the browser returned, and immediately removes it from the address, before anything shows or stores
 * it.
 */
function takeSignInResult(): { readonly code?: string; readonly failure?: string } | undefined {
  const [, code, failed] = /^#\/signed-in(?:\/([\w.-]+)|\?failed=(\w+))$/.exec(location.hash) ?? []
  if (code === undefined && failed === undefined) return undefined
  history.replaceState(null, '', sessionStorage.getItem(RETURN_KEY) || '#/')
  sessionStorage.removeItem(RETURN_KEY)
  return code === undefined ? { failure: REASONS[failed!] ?? SIGN_IN.failures.provider } : { code }
}

let arrival = takeSignInResult()

/** Completes a sign-in that returned from the provider. Resolves to false if there is none. Throws a Problem if it was rejected. */
export async function finishSignIn(): Promise<boolean> {
  const { code, failure } = arrival ?? {}
  arrival = undefined
  if (failure !== undefined) throw new Problem(0, { message: failure })
  if (code === undefined) return false
  const { authorizationToken } = await post<{ authorizationToken: string }>('', { code })
  beginSession(authorizationToken)
  return true
}

export const hasSignInResult = (): boolean => arrival !== undefined

const tenantParameter = (tenant: string): Record<string, string> =>
  tenant.includes('.') ? { hostName: tenant } : { tenantName: tenant }

/** Returns how people sign in to the tenant. Falls back to passwords if that cannot be read. */
export async function optionsOf(tenant: string): Promise<Options> {
  const response = await fetch(`/account/signInOptions?${new URLSearchParams(tenantParameter(tenant))}`, {
    headers: { accept: 'application/json' },
  }).catch(() => undefined)
  return response?.ok ? ((await response.json()) as Options) : { providers: [], passwords: true }
}

/** Leaves the page for the provider. */
export async function leaveForProvider(tenant: string, provider: string): Promise<void> {
  const { location: address } = await post<{ location: string }>('/begin', {
    ...tenantParameter(tenant),
    provider,
  })
  if (!/^https?:/.test(address)) throw new Problem(0, { message: SIGN_IN.failures.provider })
  sessionStorage.setItem(RETURN_KEY, location.hash)
  location.assign(address)
}

/** Posts with the cookie that binds the sign-in to this browser. No other call of the console has a cookie. */
async function post<Body>(path: string, body: object): Promise<Body> {
  const response = await fetch(`/account/authenticateByProvider${path}`, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
    cache: 'no-store',
    credentials: 'same-origin',
  }).catch(() => {
    throw new Problem(0, { message: FAILURES.unreachable })
  })
  const answer = (await response.json().catch(() => ({}))) as Body & ProblemBody
  if (response.ok) return answer
  throw new Problem(response.status, answer)
}
