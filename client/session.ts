// The token of a client's calls: made by a sign-in when first needed, renewed before it ends, and made anew when it no
// longer counts.
import { BinderyError } from './problem.ts'

/** A user of a tenant, by the tenant's host name or name; with neither, the administration account. */
export type SignIn = {
  readonly username: string
  readonly password: string
  readonly hostName?: string
  readonly tenantName?: string
}

/** A token of one's own, e.g. a long-lived one; a function is asked before every call. */
export type OwnToken = string | (() => string | Promise<string>)

export type Session = {
  /** What the next call is signed in with; undefined without a sign-in and a token. */
  token(): Promise<string | undefined>
  /** The token was refused (401). Whether the next one is another, so that a second try makes sense. */
  refused(token: string): boolean
}

/** After this part of its life a token is renewed. */
const RENEWED_AFTER = 0.75

/** The claims of a JWT; undefined for text that is none, as a long-lived token. Nobody checks the signature here. */
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

/** Of the token's own times, since the two clocks need not agree. */
function held(token: string): Held {
  const { exp, iat } = claimsOf(token) ?? {}
  const lifeMs =
    typeof exp === 'number' && typeof iat === 'number' ? (exp - iat) * 1_000 : Number.POSITIVE_INFINITY
  return { token, renewAt: Date.now() + lifeMs * RENEWED_AFTER }
}

/**
 * `post` calls the service, without a token or with the one given, and gives the new token. Calls that come while a
 * sign-in is under way wait for it.
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
      // A token is renewed for some hours after the sign-in; then the password is asked for again.
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
