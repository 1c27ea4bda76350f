// Headers as they are sent: with the items of the secrets that are in force in the place of references to them.

import { type Instant, now } from '../../kernel/time.ts'
import { isHeaderValue } from '../../platform/outbound/contract.ts'
import {
  hasReference,
  referencesIn,
  type SecretReference,
  withReferences,
} from '../../platform/outbound/secret-references.ts'
import { homeDatabase, sealedPlace, type Tenant, tenantNow } from '../../platform/tenancy.ts'
import { selectInForce } from '../selection.ts'
import { findCandidates } from '../store.ts'
import { maySendTo } from './hosts.ts'
import { plainText, type SecretContents } from './items.ts'
import { readContentsOf, type SecretContext } from './store.ts'

type Headers = Readonly<Record<string, string | readonly string[]>>

/** The headers with the values that went into them; or why they cannot be sent, without any value. */
export type Resolved<H extends Headers> =
  | { readonly headers: H; readonly values: readonly string[] }
  | { readonly problem: string }

/** How long an isolate trusts what it read, as of integrations: so long after a change the old value may be sent. */
const TRUST_MS = 5_000
const MOST_CACHED_TENANTS = 1_000

type Cached = { readonly secret: SecretContents | undefined; readonly readAt: Instant }
const cached = new Map<string, Map<string, Cached>>()

/** Called after a change: this isolate reads them again. */
export const forgetSecrets = (tenant: Tenant): void => {
  cached.delete(sealedPlace(tenant))
}

/**
 * The headers as they are to be sent to the address now. Secrets are those of their static names in force in the tenant's time, for no
 * jurisdiction. Without references nothing is read.
 */
export async function resolvedHeaders<H extends Headers>(
  context: SecretContext,
  headers: H,
  url: string,
): Promise<Resolved<H>> {
  const texts = Object.values(headers).flat()
  if (!texts.some(hasReference)) return { headers, values: [] }
  const names = [...new Set(texts.flatMap(referencesIn).map(one => one.staticName))]
  const secrets = await secretsInForce(context, names)
  const elsewhere = names.filter(name => !maySendTo(secrets.get(name)?.allowedHosts, url))
  if (elsewhere.length > 0)
    return {
      problem: `its headers refer to secrets that may not be sent to this host: ${elsewhere.join(', ')}`,
    }
  const values = new Set<string>()
  const missing: string[] = []
  const put = (text: string): string => {
    const sent = withReferences(text, reference => {
      const value = itemOf(secrets, reference)
      if (value === undefined) missing.push(`${reference.staticName}.${reference.item}`)
      else values.add(value)
      return value ?? ''
    })
    if (!isHeaderValue(sent)) missing.push(...referencesIn(text).map(one => `${one.staticName}.${one.item}`))
    return sent
  }
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? put(value) : value.map(put),
    ]),
  )
  if (missing.length > 0)
    return {
      problem: `its headers refer to what no secret in force has, or no header can: ${[...new Set(missing)].join(', ')}`,
    }
  return { headers: sent as H, values: [...values] }
}

const itemOf = (
  secrets: ReadonlyMap<string, SecretContents | undefined>,
  { staticName, item }: SecretReference,
): string | undefined => {
  const items = secrets.get(staticName)?.items
  return items && Object.hasOwn(items, item) ? plainText(items[item]) : undefined
}

/** The secrets in force now, by static name; undefined where none is. */
async function secretsInForce(
  context: SecretContext,
  staticNames: readonly string[],
): Promise<ReadonlyMap<string, SecretContents | undefined>> {
  const key = sealedPlace(context.tenant)
  const known = cached.get(key) ?? new Map<string, Cached>()
  const isKnown = (name: string): boolean => now() - (known.get(name)?.readAt ?? 0) < TRUST_MS
  const wanted = staticNames.filter(name => !isKnown(name))
  if (wanted.length > 0) {
    for (const [name, secret] of await readInForce(context, wanted))
      known.set(name, { secret, readAt: now() })
    if (cached.size >= MOST_CACHED_TENANTS) cached.clear()
    cached.set(key, known)
  }
  return new Map(staticNames.map(name => [name, known.get(name)?.secret]))
}

/** As `secretsInForce`, from the database. */
export async function readInForce(
  context: SecretContext,
  staticNames: readonly string[],
  at: Instant = tenantNow(context.tenant),
): Promise<ReadonlyMap<string, SecretContents | undefined>> {
  const database = homeDatabase(context)
  const [{ resources, groups }, items] = await Promise.all([
    findCandidates(database, staticNames),
    readContentsOf(context, database, staticNames),
  ])
  return new Map(
    await Promise.all(
      staticNames.map(async staticName => {
        const instances = resources.filter(one => one.type === 'secret' && one.staticName === staticName)
        const { chosen } = selectInForce(instances, groups, { at })
        return [staticName, chosen && (await items.get(chosen.resource.name)?.())] as const
      }),
    ),
  )
}
