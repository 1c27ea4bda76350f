// The token of a client's calls. A sign-in creates it when it is first needed, renews it before it expires, and creates a new
// one when it is no longer accepted.
import { BinderyError } from './problem.ts'

/** A user of a tenant, identified by the tenant's host name or name. Without either, the administration account. */
export type SignIn = {
  readonly username: string
  readonly password: string
  readonly hostName?: string
  readonly tenantName?: string
}

/** Your own token, for example a long-lived one. A function is called before every call. */
export type OwnToken = string | (() => string | Promise<string>)

export type Session = {
  /** Returns the token for the next call. Undefined without a sign-in or token. */
  token(): Promise<string | undefined>
  /** Reports that the service rejected the token (401). Returns whether there may be another one to retry with. */
  refused(token: string): boolean
}

/** A token is renewed after this fraction of its lifetime. */
const RENEWED_AFTER = 0.75

/** Returns the claims of a JWT, or undefined for other text, such as a long-lived token. Does not check the signature. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const payload = token.split('.')[1]
  if (payload === undefined) return undefined
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), character =>
      character.charCodeAt(0),
    )
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

export function ownToken(token: OwnToken | undefined): Session {
  return {
    token: async () => (typeof token === 'function' ? token() : token),
    refused: () => typeof token === 'function',
  }
}

type Held = { readonly token: string; readonly renewAt: number }

/** Computes the lifetime from the token's own times, because the two clocks may differ. */
function held(token: string): Held {
  const { exp, iat } = claimsOf(token) ?? {}
  const lifeMs =
    typeof exp === 'number' && typeof iat === 'number' ? (exp - iat) * 1_000 : Number.POSITIVE_INFINITY
  return { token, renewAt: Date.now() + lifeMs * RENEWED_AFTER }
}

/**
 * `post` calls the service, with or without the given token, and returns the new token. Calls that arrive during a sign-in wait
 * for it.
 */
export function signedInSession(
  signIn: SignIn,
  post: (
    path: '/account/authenticate' | '/account/renewAuthentication',
    call: { body?: SignIn; token?: string },
  ) => Promise<string>,
): Session {
  let current: Held | undefined
  let underWay: Promise<Held> | undefined

  const signedIn = async (): Promise<Held> => held(await post('/account/authenticate', { body: signIn }))
  const renewed = async ({ token }: Held): Promise<Held> => {
    try {
      return held(await post('/account/renewAuthentication', { token }))
    } catch (problem) {
      // A token can be renewed for some hours after the sign-in. Then the password is needed again.
      if (problem instanceof BinderyError && problem.status < 500) return signedIn()
      throw problem
    }
  }

  return {
    async token() {
      if (current && Date.now() < current.renewAt) return current.token
      underWay ??= (current ? renewed(current) : signedIn()).finally(() => {
        underWay = undefined
      })
      current = await underWay
      return current.token
    },
    refused(token) {
      if (current?.token === token) current = undefined
      return true
    },
  }
}
