import type { RequestContext } from '../../platform/context.ts'
import { loadConfiguration, newestConfiguration } from '../../product/cache.ts'
import type { Configuration, SecretDeclaration } from '../../product/configuration.ts'
import type { VersionRow } from '../../product/store.ts'

/** How the newest configuration declares the secret; undefined: it does not. */
export async function declarationOf(
  context: RequestContext,
  staticName: string,
): Promise<SecretDeclaration | undefined> {
  const configuration = await newestConfiguration(context)
  return configuration && declarationIn(configuration, staticName)
}

const declarationIn = ({ secrets }: Configuration, staticName: string): SecretDeclaration | undefined =>
  Object.hasOwn(secrets, staticName) ? secrets[staticName] : undefined

/** Whether the version declares the secret, or has a script that reads secrets and writes this one's name out. */
export async function isReferredToBy(
  context: RequestContext,
  version: VersionRow | undefined,
  staticName: string,
): Promise<boolean> {
  if (!version) return false
  const { env, tenant, calls } = context
  const { configuration } = await loadConfiguration(env, tenant, version.hash, calls)
  if (declarationIn(configuration, staticName)) return true
  const written = ["'", '"', '`'].map(quote => quote + staticName + quote)
  return Object.values(configuration.scripts).some(
    source => source.includes('getSecret') && written.some(name => source.includes(name)),
  )
}
