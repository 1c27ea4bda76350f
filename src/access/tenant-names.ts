// The name of a tenant is the first label of its host name (resources brief 10.6).
import { invalidRequest } from '../kernel/errors.ts'

/** The DNS limit for a label. */
const LONGEST_TENANT_NAME = 63

const NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/
const SUFFIX = /^[a-z0-9-]{1,40}$/
const DEFAULT_SUFFIX = 'configeditor'

/** Leaves room for a hyphen and the longest suffix. */
const LONGEST_USER = LONGEST_TENANT_NAME - 1 - 40

/** Used for user names without letters and digits. */
const USER_WITHOUT_LETTERS = 'user'

/** Throws 400 for a name that cannot be part of a host name. */
export function requireTenantName(name: string): string {
  if (name.length <= LONGEST_TENANT_NAME && NAME.test(name)) return name
  throw invalidRequest(
    `A tenant's name has 1 to ${LONGEST_TENANT_NAME} lower-case letters, digits and hyphens, and no hyphen first or last.`,
  )
}

/** Returns the name `<user>-<suffix>` of a test tenant. Throws 400 for a suffix that cannot be part of a host name. */
export function testTenantName(username: string, suffix: string = DEFAULT_SUFFIX): string {
  if (!SUFFIX.test(suffix) || suffix.endsWith('-'))
    throw invalidRequest(
      "'tenantNameSuffix' has 1 to 40 lower-case letters, digits and hyphens, and no hyphen last.",
    )
  const letters = username
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
  return `${letters.slice(0, LONGEST_USER) || USER_WITHOUT_LETTERS}-${suffix}`
}

/** Returns the host name of the tenant: `name.co.environment.domain` (resources brief 10.6). */
export const hostNameOf = (env: Pick<Env, 'ENVIRONMENT' | 'DOMAIN'>, name: string): string =>
  `${name}.co.${env.ENVIRONMENT}.${env.DOMAIN}`
