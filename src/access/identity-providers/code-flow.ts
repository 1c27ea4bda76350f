// The console's sign-in: the code flow with PKCE, state and nonce (OpenID Connect Core 1.0, 3.1). A cookie that scripts cannot
// read binds the response of the provider to the browser. At the end the page gets a code, which it exchanges with that cookie for
// an access token: no address ever contains a token.
//
// Each provider of each tenant has its own callback address (RFC 9700, 4.4.2). With a shared address, the provider of one tenant
// could redirect people to that of another tenant, and would receive the code that the other provider returned.
import { createHash, randomBytes } from 'node:crypto'
import { notFound, type Refusal, unauthenticated, wrongState } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { now } from '../../kernel/time.ts'
import type { PublicContext } from '../../platform/http/route.ts'
import { seal, unseal } from '../../platform/sealed.ts'
import { readTenant, requireServed, type Tenant } from '../../platform/tenancy.ts'
import type { AuthenticateResponse } from '../contract.ts'
import type {
  ProviderCallbackQuery,
  ProviderSignInRequest,
  ProviderTenantQuery,
  SignInOptionsResponse,
} from './contract.ts'
import { fetchJson, type Metadata, providerFailed, providerMetadata } from './discovery.ts'
import { exchangeIdToken, providersOf } from './exchange.ts'
import { type Provider, secretPlace } from './service.ts'
import { tenantOf } from './sign-in.ts'

const COOKIE = 'bindery-sign-in'

/** The only path to which browsers send the cookie. */
const COOKIE_PATH = '/account/authenticateByProvider'

/** Time for the person to sign in at the provider. */
const BEGUN_MS = 10 * 60_000
const CODE_MS = 60_000

/** `sealedPlace` never returns one of these. */
const BEGUN_PLACE = 'a sign-in that began'
const CODE_PLACE = 'a sign-in that ended'

/** The contents of the cookie. */
type Begun = {
  readonly tenantLocator: Uuid
  readonly tenantName: string
  readonly provider: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly expiresAt: number
}

/** The contents of the code. `state` binds it to the cookie. */
type Ended = Pick<Begun, 'tenantLocator' | 'state' | 'nonce' | 'expiresAt'> & { readonly idToken: string }

/**
 * Returns the ways to sign in to a tenant. For an unknown tenant, the response is the same as for one without providers, after as
 * many round trips, so that it does not reveal which tenants exist.
 */
export async function signInOptions(
  query: ProviderTenantQuery,
  context: PublicContext,
): Promise<SignInOptionsResponse> {
  const providers = await providersOf(await tenantOf(query, context), context)
  return {
    providers: providers.map(({ name, label }) => ({ name, label })),
    passwords: !providers.some(({ replacesPasswords }) => replacesPasswords),
  }
}

/** Responds with the provider's address for the sign-in, and with the cookie that must come back with the result. */
export async function beginSignIn(
  { provider: name, ...query }: ProviderSignInRequest,
  context: PublicContext,
): Promise<Response> {
  const { env } = context
  const tenant = await tenantOf(query, context)
  const provider = (await providersOf(tenant, context)).find(one => one.name === name)
  if (!tenant || !provider) throw notFound('identity provider', name)
  const { authorizationUrl } = await flowMetadata(env, provider)
  const random = (): string => randomBytes(32).toString('base64url')
  const begun: Begun = {
    tenantLocator: tenant.locator,
    tenantName: tenant.name,
    provider: name,
    state: random(),
    nonce: random(),
    verifier: random(),
    expiresAt: now() + BEGUN_MS,
  }
  const url = new URL(authorizationUrl)
  const parameters = {
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: redirectUri(begun, context),
    scope: provider.scopes.join(' '),
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: createHash('sha256').update(begun.verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  for (const [parameter, value] of Object.entries(parameters)) url.searchParams.set(parameter, value)
  const cookie = await seal(env, BEGUN_PLACE, JSON.stringify(begun))
  const secure = redirectUri(begun, context).startsWith('https:') ? '; Secure' : ''
  return Response.json(
    { location: url.href },
    {
      headers: {
        'set-cookie': `${COOKIE}=${cookie}; Path=${COOKIE_PATH}; Max-Age=${BEGUN_MS / 1000}; HttpOnly; SameSite=Lax${secure}`,
        'cache-control': 'no-store',
      },
    },
  )
}

type FlowMetadata = Metadata & { readonly authorizationUrl: string; readonly tokenUrl: string }

async function flowMetadata(env: Env, { issuer }: Provider): Promise<FlowMetadata> {
  const metadata = await providerMetadata(env, issuer)
  const { authorizationUrl, tokenUrl } = metadata
  if (authorizationUrl === undefined || tokenUrl === undefined)
    throw providerFailed(
      "The discovery document of the identity provider lacks 'authorization_endpoint' or 'token_endpoint', so it cannot sign in browsers.",
    )
  return { ...metadata, authorizationUrl, tokenUrl }
}

/**
 * Returns the callback address. The browser returns to the host at which the console was opened; the provider accepts only
 * addresses that were registered there. Behind a proxy that terminates TLS, the configured origin has the right scheme.
 */
function redirectUri(
  { tenantName, provider }: Pick<Begun, 'tenantName' | 'provider'>,
  { requestOrigin, env }: PublicContext,
): string {
  const configured = URL.parse(env.PUBLIC_ORIGIN)
  const origin =
    configured && configured.host === new URL(requestOrigin).host ? configured.origin : requestOrigin
  return `${origin}${COOKIE_PATH}/callback/${tenantName}/${provider}`
}

/** Why a sign-in ended without an account. The console has a sentence for each reason. */
type Failure = 'denied' | 'expired' | 'provider'

/** The tenant and provider of the callback address. */
type CameBack = { readonly tenantName: string; readonly providerName: string }

/** Always redirects to the console: with a code that is valid for a minute, or with the reason of the failure. */
export async function endSignIn(
  { tenantName, providerName }: CameBack,
  query: ProviderCallbackQuery,
  context: PublicContext,
): Promise<Response> {
  const failed = (failure: Failure) => toConsole(`#/signed-in?failed=${failure}`)
  const begun = await readSealed<Begun>(context, BEGUN_PLACE, cookieOf(context))
  if (!begun || query.state !== begun.state) return failed('expired')
  // The response of one provider must not be used for another.
  if (begun.tenantName !== tenantName || begun.provider !== providerName) return failed('provider')
  if (query.error !== undefined || query.code === undefined) return failed('denied')
  try {
    const idToken = await idTokenFor(query.code, query.iss, begun, context)
    if (idToken === undefined) return failed('provider')
    const { tenantLocator, state, nonce } = begun
    const ended: Ended = { tenantLocator, state, nonce, idToken, expiresAt: now() + CODE_MS }
    return toConsole(`#/signed-in/${await seal(context.env, CODE_PLACE, JSON.stringify(ended))}`)
  } catch (problem) {
    console.warn(
      JSON.stringify({ at: 'provider sign-in', requestId: context.requestId, problem: String(problem) }),
    )
    return failed('provider')
  }
}

const toConsole = (fragment: string): Response =>
  new Response(null, {
    status: 302,
    headers: {
      location: `/console${fragment}`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    },
  })

async function idTokenFor(
  code: string,
  iss: string | undefined,
  begun: Begun,
  context: PublicContext,
): Promise<string | undefined> {
  const { tenantLocator, provider: name, verifier } = begun
  const { env, calls } = context
  const tenant = await readTenant(env, { locator: tenantLocator }, calls)
  if (tenant) requireServed(tenant)
  const provider = tenant && (await providersOf(tenant, context)).find(one => one.name === name)
  if (!tenant || !provider) return undefined
  const { tokenUrl, authentications, namesItself } = await flowMetadata(env, provider)
  // RFC 9207: a code from another provider is not sent to this one.
  if (iss === undefined ? namesItself : iss !== provider.issuer) return undefined
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri(begun, context),
    code_verifier: verifier,
  })
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' }
  const secret = provider.sealedSecret === null ? undefined : await secretOf(tenant, provider, env)
  if (secret !== undefined && authentications.includes('client_secret_basic'))
    headers.authorization = `Basic ${Buffer.from(`${formEncode(provider.clientId)}:${formEncode(secret)}`).toString('base64')}`
  else {
    body.set('client_id', provider.clientId)
    if (secret !== undefined) body.set('client_secret', secret)
  }
  const answer = await fetchJson(env, tokenUrl, 'tokens', { method: 'POST', headers, body: body.toString() })
  return typeof answer.id_token === 'string' ? answer.id_token : undefined
}

/** RFC 6749, 2.3.1: encoded as in a form. */
const formEncode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)

const secretOf = (tenant: Tenant, { name, sealedSecret }: Provider, env: Env): Promise<string> =>
  unseal(env, secretPlace(tenant, name), sealedSecret!).catch(() => {
    throw wrongState(
      `The client secret of the identity provider '${name}' cannot be decrypted. Set it again.`,
    )
  })

const expiredSignInRefusal = (): Refusal =>
  unauthenticated('The sign-in took too long, or began in another browser. Begin again.')

/**
 * Exchanges a code for an access token. Throws 401 for a code that is older than a minute or belongs to another browser, and
 * otherwise like `exchangeIdToken`.
 */
export async function exchangeCode(code: string, context: PublicContext): Promise<AuthenticateResponse> {
  const [ended, begun] = await Promise.all([
    readSealed<Ended>(context, CODE_PLACE, code),
    readSealed<Begun>(context, BEGUN_PLACE, cookieOf(context)),
  ])
  if (!ended || !begun || ended.state !== begun.state) throw expiredSignInRefusal()
  const tenant = await readTenant(context.env, { locator: ended.tenantLocator }, context.calls)
  if (!tenant) throw expiredSignInRefusal()
  requireServed(tenant)
  return exchangeIdToken(tenant, ended.idToken, ended.nonce, context)
}

function cookieOf({ requestHeaders }: PublicContext): string | undefined {
  const cookies = (requestHeaders.get('cookie') ?? '').split(';').map(cookie => cookie.trim())
  return cookies.find(cookie => cookie.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1)
}

/** Returns undefined for text that was not sealed here, was changed, or is too old. */
async function readSealed<T extends { readonly expiresAt: number }>(
  { env }: PublicContext,
  place: string,
  sealed: string | undefined,
): Promise<T | undefined> {
  if (sealed === undefined) return undefined
  try {
    const value = JSON.parse(await unseal(env, place, sealed)) as T
    return value.expiresAt > now() ? value : undefined
  } catch {
    return undefined
  }
}
