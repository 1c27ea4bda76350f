// The current sign-ins at one service: an administration account, which deploys, and a tenant's account, which reads events and
// migrates. They are stored in the user's configuration folder, in a file that nobody else can read.
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { BinderyClient } from '../client/index.ts'
import { NO_TENANT, tenantOfAuthToken } from '../src/access/tokens.ts'
import { now } from '../src/kernel/time.ts'
import { connect, serviceAddress } from './api.ts'
import { EXIT, Failure, usage } from './exit.ts'
import { fileProblem } from './file-problem.ts'
import { makeFolder } from './make-folder.ts'
import type { Terminal } from './terminal.ts'

export type SignIn = {
  readonly token: string
  /** Milliseconds. Absent for a long-lived token. */
  readonly expiresAt?: number
  readonly username?: string
  /** Set for a tenant's account. */
  readonly tenantLocator?: string
  /** The tenant's name or host name, as the user gave it. */
  readonly tenant?: string
}

export type SignIns = {
  readonly address: string
  readonly administration?: SignIn
  readonly tenant?: SignIn
}

export type Kind = 'administration' | 'tenant'

type Env = Terminal['env']

/** `$XDG_CONFIG_HOME/bindery/sign-in.json`, or the same below `~/.config` or `%APPDATA%`. */
export const signInFile = (env: Env): string =>
  join(
    env.XDG_CONFIG_HOME ?? env.APPDATA ?? join(env.HOME ?? homedir(), '.config'),
    'bindery',
    'sign-in.json',
  )

export function readSignIns(env: Env): SignIns | undefined {
  try {
    return JSON.parse(readFileSync(signInFile(env), 'utf8')) as SignIns
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw usage(`${signInFile(env)} cannot be read: ${fileProblem(problem)}. Remove it and sign in again.`)
  }
}

/** Writes the whole file or nothing, for its owner only. */
export function writeSignIns(env: Env, signIns: SignIns): void {
  const file = signInFile(env)
  makeFolder(dirname(file), 0o700)
  writeFileSync(`${file}.new`, `${JSON.stringify(signIns, null, 2)}\n`, { mode: 0o600 })
  // A leftover file keeps its earlier mode.
  chmodSync(`${file}.new`, 0o600)
  renameSync(`${file}.new`, file)
}

/** Returns the holder of a token from the token itself, without a call. Undefined for text that is not a token. */
export function holderOf(token: string): Pick<SignIn, 'tenantLocator' | 'expiresAt'> | undefined {
  if (token.startsWith('bdy_')) {
    const tenant = tenantOfAuthToken(token)
    return tenant && (tenant === NO_TENANT ? {} : { tenantLocator: tenant })
  }
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8'))
    const tenant = claims['tenant.uuid'] as string | undefined
    return {
      ...(claims.exp && { expiresAt: claims.exp * 1_000 }),
      ...(tenant !== undefined && { tenantLocator: tenant }),
    }
  } catch {
    return undefined
  }
}

export type SignedIn = { readonly api: BinderyClient; readonly signIn: SignIn }

const COMMAND = {
  administration: 'bindery login ADDRESS',
  tenant: 'bindery login ADDRESS --tenant NAME --user NAME',
}

/** Returns a client for the account that is signed in, or for BINDERY_URL and BINDERY_TOKEN, which take precedence. */
export function signedIn(kind: Kind, terminal: Terminal): SignedIn {
  const { env } = terminal
  const kept = readSignIns(env)
  const address = env.BINDERY_URL === undefined ? kept?.address : serviceAddress(env.BINDERY_URL)
  const given = env.BINDERY_TOKEN
  const holder = given === undefined ? undefined : holderOf(given)
  if (given !== undefined && !holder)
    throw usage('BINDERY_TOKEN is not a token of the service. It was truncated or mistyped.')
  // A token belongs to its service. A stored token is not sent to another address.
  const own = kept?.address === address ? kept?.[kind] : undefined
  const signIn: SignIn | undefined = given === undefined ? own : { token: given, ...holder }
  if (address === undefined || !signIn)
    throw new Failure(
      EXIT.signedOut,
      `Not signed in. Sign in with '${COMMAND[kind]}', or set BINDERY_URL and BINDERY_TOKEN.`,
    )
  if ((kind === 'tenant') !== (signIn.tenantLocator !== undefined))
    throw new Failure(
      EXIT.signedOut,
      `The token belongs to ${kind === 'tenant' ? 'an administration account' : 'an account of a tenant'}, but this command needs ${kind === 'tenant' ? 'one of a tenant' : 'an administration account'}. Sign in with '${COMMAND[kind]}'.`,
    )
  return { api: connect(address, terminal, renewingToken(kind, signIn, address, terminal)), signIn }
}

/** Tokens are renewed when less than this remains. */
const RENEWED_BELOW_MS = 10 * 60_000

/** Returns the token, renewed before it expires for as long as the service permits. */
function renewingToken(
  kind: Kind,
  signIn: SignIn,
  address: string,
  terminal: Terminal,
): () => Promise<string> {
  let current = signIn
  return async () => {
    const { token, expiresAt } = current
    if (expiresAt === undefined || expiresAt - now() > RENEWED_BELOW_MS || expiresAt < now()) return token
    const renewing = connect(address, terminal, async () => token)
    const { authorizationToken } = await renewing.post('/account/renewAuthentication')
    current = { ...current, token: authorizationToken, ...holderOf(authorizationToken) }
    const kept = readSignIns(terminal.env)
    if (kept?.[kind]?.token === token) writeSignIns(terminal.env, { ...kept, [kind]: current })
    return authorizationToken
  }
}
