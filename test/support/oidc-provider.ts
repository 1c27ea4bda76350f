// A certified OpenID provider on its own port, for tests on Node, and through oidc-server.ts for tests in the Workers runtime.
// Users sign in without a password. Tests can change its keys, and create tokens that it would never issue.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import { KEPT_OPEN } from './kept-open.ts'

export const CLIENT = { id: 'bindery', secret: 'a client secret that only tests use' }

/** Claims of the users, by subject. */
export type Persons = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export type MadeToken = {
  /** Null leaves a claim out. */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  /** Signs with a key that the provider does not publish. */
  readonly foreignKey?: boolean
}

/** The response that replaces a path's own. */
export type Answer = {
  readonly status?: number
  readonly body?: string
  readonly headers?: Record<string, string>
}

export type TestProvider = {
  readonly issuer: string
  /** Gets an ID token by the code flow with PKCE, as any client does. */
  idToken(subject: string, nonce?: string): Promise<string>
  /** Creates a token with any claims, signed with the provider's key. Valid by default. */
  make(token: MadeToken): Promise<string>
  /** Replaces the key that signs and is published. */
  changeKeys(): Promise<void>
  setPersons(persons: Persons): void
  /** Sets the paths whose responses are replaced from now on. `'down'` closes each connection. */
  answer(answers: Readonly<Record<string, Answer>> | 'down'): void
  /** Number of requests by path. */
  calls(): Readonly<Record<string, number>>
  close(): Promise<void>
}

const REDIRECT = 'http://127.0.0.1:1/callback'

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { ...(await exportJWK(privateKey)), kid: randomBytes(8).toString('hex'), alg: 'RS256', use: 'sig' }
}

export async function startProvider(
  first: Persons,
  redirects: readonly string[] = [],
): Promise<TestProvider> {
  let persons = first
  let key = await newKey()
  let answers: Readonly<Record<string, Answer>> | 'down' = {}
  let listener: RequestListener = () => {}
  const calls: Record<string, number> = {}
  const server = createServer(KEPT_OPEN, (request, response) => {
    const path = request.url!.split('?')[0]!
    calls[path] = (calls[path] ?? 0) + 1
    if (answers === 'down') return void request.socket.destroy()
    const answer = answers[path]
    if (answer) return void response.writeHead(answer.status ?? 200, answer.headers).end(answer.body ?? '')
    return void listener(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const serve = (): void => {
    const provider = newProvider(issuer, key, redirects, subject => persons[subject])
    const own = provider.callback()
    listener = (request, response) =>
      request.url!.startsWith('/interaction/') ? signIn(provider, request, response) : own(request, response)
  }
  serve()

  return {
    issuer,
    idToken: (subject, nonce) => codeFlow(issuer, subject, nonce),
    async make({ claims, header, foreignKey }) {
      const signing = foreignKey ? await newKey() : key
      const seconds = Math.floor(Date.now() / 1000)
      const standard = {
        iss: issuer,
        aud: CLIENT.id,
        sub: 'made',
        iat: seconds,
        exp: seconds + 600,
        jti: randomUUID(),
      }
      const all = Object.entries({ ...standard, ...claims }).filter(([, value]) => value !== null)
      return await new SignJWT(Object.fromEntries(all) as never)
        .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header } as never)
        .sign(await importJWK(signing, 'RS256'))
    },
    async changeKeys() {
      key = await newKey()
      serve()
    },
    setPersons(next) {
      persons = next
    },
    answer(next) {
      answers = next
    },
    calls: () => calls,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function newProvider(
  issuer: string,
  key: JWK,
  redirects: readonly string[],
  person: (subject: string) => Readonly<Record<string, unknown>> | undefined,
): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [REDIRECT, ...redirects],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['only tests use it'] },
    claims: {
      // The ticket makes two tokens of the same second differ.
      openid: ['sub', 'ticket'],
      profile: ['name', 'preferred_username', 'groups'],
      email: ['email', 'email_verified'],
    },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) =>
      person(sub)
        ? { accountId: sub, claims: async () => ({ sub, ticket: randomUUID(), ...person(sub) }) }
        : undefined,
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        accountId: oidc.session.accountId,
        clientId: oidc.client.clientId,
      })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
}

const FORM = `<!doctype html><title>Provider</title><h1>Who are you?</h1>
<form method="post"><label>Login <input name="login" autofocus></label><button>Continue</button></form>`

async function signIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    if (request.method !== 'POST')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(FORM)
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk as Buffer)
    const accountId = new URLSearchParams(Buffer.concat(body).toString()).get('login')!
    await provider.interactionFinished(
      request,
      response,
      accountId === 'nobody'
        ? { error: 'access_denied', error_description: 'They said no.' }
        : { login: { accountId } },
    )
  } catch (problem) {
    response.writeHead(500).end(String(problem))
  }
}

/** Performs the steps of a client and a browser. */
async function codeFlow(issuer: string, subject: string, nonce: string | undefined): Promise<string> {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: CLIENT.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid profile email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(nonce !== undefined && { nonce }),
  })
  const cookies = new Map<string, string>()
  const call = async (address: string, init: RequestInit = {}): Promise<string> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(address, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, cookie },
    })
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = set.split(';')[0]!.split('=')
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (!location) throw new Error(`${address} answered ${response.status}: ${await response.text()}`)
    return new URL(location, issuer).href
  }
  const interaction = await call(`${issuer}/auth?${query}`)
  const resume = await call(interaction, { method: 'POST', body: new URLSearchParams({ login: subject }) })
  const back = new URL(await call(resume))
  const code = back.searchParams.get('code')
  if (!code) throw new Error(`No code came back: ${back.href}`)
  const basic = Buffer.from(`${CLIENT.id}:${encodeURIComponent(CLIENT.secret)}`).toString('base64')
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    }),
  })
  const tokens = (await answer.json()) as { id_token?: string }
  if (!tokens.id_token) throw new Error(`No ID token came: ${JSON.stringify(tokens)}`)
  return tokens.id_token
}
