import { type BinderyClient, BinderyError } from '../../client/index.ts'
import { connect, serviceAddress } from '../api.ts'
import { EXIT, type ExitCode, usage } from '../exit.ts'
import { readSecret } from '../secret.ts'
import { holderOf, type Kind, readSignIns, type SignIn, signInFile, writeSignIns } from '../sign-ins.ts'
import { type Run, show } from '../terminal.ts'

export type LoginOptions = { tenant?: string; user?: string; token?: boolean }

/** `bindery login [ADDRESS]`: signs in, and keeps the token for the other commands. */
export async function login(
  given: string | undefined,
  { tenant, user, token }: LoginOptions,
  run: Run,
): Promise<ExitCode> {
  const { env } = run.terminal
  const kept = readSignIns(env)
  const address = requireAddress(given ?? env.BINDERY_URL ?? kept?.address)
  await assertServiceResponds(address, run)
  const signIn = token
    ? await withToken(address, tenant, run)
    : await withPassword(address, { tenant, username: user }, run)
  const kind: Kind = signIn.tenantLocator === undefined ? 'administration' : 'tenant'
  const others = kept?.address === address ? kept : undefined
  writeSignIns(env, { ...others, address, [kind]: signIn })
  const file = signInFile(env)
  const { token: _, ...shown } = signIn
  show(run, { ok: true, address, account: kind, ...shown, file }, () => {
    const who =
      signIn.username ?? (kind === 'tenant' ? 'a long-lived token of the tenant' : 'a long-lived token')
    const where = signIn.tenant === undefined ? '' : ` of ${signIn.tenant}`
    return `${run.terminal.colors.green('signed in')} at ${address} as ${who}${where}; saved in ${file}\n`
  })
  return EXIT.ok
}

function requireAddress(address: string | undefined): string {
  if (address === undefined)
    throw usage("Give the address of the service, for example 'bindery login http://localhost:8787'.")
  return serviceAddress(address)
}

/**
 * Throws before a secret is typed if nothing responds at the address. Every response will do: a proxy may answer this path itself,
 * and signing in reports what is wrong with a service.
 */
async function assertServiceResponds(address: string, { terminal }: Run): Promise<void> {
  try {
    await connect(address, terminal).get('/v1/ping', { parseAs: 'text' })
  } catch (problem) {
    if (!(problem instanceof BinderyError)) throw problem
  }
}

async function withPassword(
  address: string,
  {
    tenant,
    username = tenant === undefined ? 'administrator' : undefined,
  }: { tenant: string | undefined; username: string | undefined },
  { terminal }: Run,
): Promise<SignIn> {
  if (username === undefined) throw usage("Give the user of the tenant with '--user NAME'.")
  // Host names always contain a dot, names of tenants never.
  const named = tenant?.includes('.') ? { hostName: tenant } : { tenantName: tenant }
  const password = await readSecret(`Password of ${username}`, terminal)
  const { authorizationToken } = await connect(address, terminal).post('/account/authenticate', {
    body: { username, password, ...named },
  })
  return {
    token: authorizationToken,
    username,
    ...(tenant !== undefined && { tenant }),
    ...holderOf(authorizationToken),
  }
}

async function withToken(address: string, tenant: string | undefined, { terminal }: Run): Promise<SignIn> {
  const token = (await readSecret('Token', terminal)).trim()
  const holder = holderOf(token)
  if (!holder) throw usage('This is not a token of the service. It was truncated or mistyped.')
  await assertTokenAccepted(connect(address, terminal, async () => token))
  return { token, ...holder, ...(tenant !== undefined && { tenant }) }
}

/**
 * Checks that the service accepts the token. A token has its own permissions: a response that this one is not permitted also
 * proves that the token is valid.
 */
async function assertTokenAccepted(api: BinderyClient): Promise<void> {
  try {
    await api.get('/products')
  } catch (problem) {
    const isGood = problem instanceof BinderyError && [403, 404, 409].includes(problem.status)
    if (!isGood) throw problem
  }
}
