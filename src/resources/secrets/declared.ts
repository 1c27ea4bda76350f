import { loadConfiguration } from '../../configuration/cache.ts'
import type { SecretDeclaration } from '../../configuration/configuration.ts'
import { latestVersion } from '../../configuration/reading.ts'
import type { VersionRow } from '../../configuration/store.ts'
import type { RequestContext } from '../../platform/context.ts'

type Declared = Readonly<Record<string, SecretDeclaration>>

/** The secrets that the version of the configuration declares, by static name; none before the first deploy. */
export async function declaredIn(
  { env, tenant, calls }: RequestContext,
  version: VersionRow | undefined,
): Promise<Declared> {
  if (!version) return {}
  const { configuration } = await loadConfiguration(env, tenant, version.hash, calls)
  return configuration.secrets
}

/** How the newest configuration declares the secret; undefined: it does not. */
export async function declarationOf(
  context: RequestContext,
  staticName: string,
): Promise<SecretDeclaration | undefined> {
  const declared = await declaredIn(context, await latestVersion(context, context.tenant))
  return Object.hasOwn(declared, staticName) ? declared[staticName] : undefined
}
