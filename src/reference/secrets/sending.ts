// Headers as they are sent: references are replaced by items of the secrets in force.

import { type AuditEntry, auditRows } from '../../access/audit/store.ts'
import { invalidRequest } from '../../kernel/errors.ts'
import { BoundedCache } from '../../kernel/maps.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Query } from '../../platform/database.ts'
import { requirePermission } from '../../platform/http/permissions.ts'
import { isHeaderValue } from '../../platform/outbound/contract.ts'
import {
  hasReference,
  maskedValues,
  referencesIn,
  type SecretReference,
  withReferences,
} from '../../platform/outbound/masking.ts'
import {
  HOME_SHARD,
  homeDatabase,
  sealedPlace,
  type Tenant,
  type TenantPlace,
  tenantNow,
} from '../../platform/tenancy.ts'
import { selectInForce } from '../resource.ts'
import { findCandidates } from '../store.ts'
import { maySendTo, plainText, type SecretContents } from './items.ts'
import { readContentsOf } from './store.ts'

type Headers = Readonly<Record<string, string | readonly string[]>>

/** The headers and the secret values in them, or why they cannot be sent; the reason contains no value. */
export type Resolved<H extends Headers> =
  | { readonly headers: H; readonly values: readonly string[] }
  | { readonly problem: string }

/** How long an isolate trusts what it read: for this long after a change, the old value may still be sent. */
const TRUST_MS = 5_000

type Cached = { readonly secret: SecretContents | undefined; readonly readAt: Instant }
const cached = new BoundedCache<Map<string, Cached>>(1_000)

/** Call after a change: this isolate reads them again. */
export const forgetSecrets = (tenant: Tenant): void => {
  cached.delete(sealedPlace(tenant))
}

/**
 * The headers for a request to the address now. Uses the secrets in force in the tenant's time, for no jurisdiction. Headers without
 * references cause no reads.
 */
export async function resolvedHeaders<H extends Headers>(
  context: TenantPlace,
  headers: H,
  url: string,
): Promise<Resolved<H>> {
  const texts = Object.values(headers).flat()
  if (!texts.some(hasReference)) return { headers, values: [] }
  const names = staticNamesIn(texts)
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

const staticNamesIn = (texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap(referencesIn).map(one => one.staticName)),
]

const itemOf = (
  secrets: ReadonlyMap<string, SecretContents | undefined>,
  { staticName, item }: SecretReference,
): string | undefined => {
  const items = secrets.get(staticName)?.items
  return items && Object.hasOwn(items, item) ? plainText(items[item]) : undefined
}

/** The secrets in force now, by static name; undefined for names without one. */
async function secretsInForce(
  context: TenantPlace,
  staticNames: readonly string[],
): Promise<ReadonlyMap<string, SecretContents | undefined>> {
  const key = sealedPlace(context.tenant)
  const cachedSecrets = cached.get(key) ?? new Map<string, Cached>()
  const isKnown = (name: string): boolean => now() - (cachedSecrets.get(name)?.readAt ?? 0) < TRUST_MS
  const wanted = staticNames.filter(name => !isKnown(name))
  if (wanted.length > 0) {
    for (const [name, secret] of await readInForce(context, wanted))
      cachedSecrets.set(name, { secret, readAt: now() })
    cached.set(key, cachedSecrets)
  }
  return new Map(staticNames.map(name => [name, cachedSecrets.get(name)?.secret]))
}

/** Like `secretsInForce`, but always reads the database. */
export async function readInForce(
  context: TenantPlace,
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

type Asked = { readonly staticName: string; readonly item: string }
type Given = readonly [staticName: string, item: string, value: unknown]

/** The items of the secrets in force, for no jurisdiction; null if there is none. */
export async function secretsForPlugin(
  context: RequestContext,
  asked: readonly Asked[],
  plugin: string,
): Promise<Given[]> {
  const secrets = await readInForce(context, [...new Set(asked.map(one => one.staticName))])
  const values = asked.map(({ staticName, item }): Given => {
    const items = secrets.get(staticName)?.items
    return [staticName, item, items && Object.hasOwn(items, item) ? items[item] : null]
  })
  const entries = [...secrets.keys()].flatMap((staticName): AuditEntry[] => {
    const items = values
      .filter(([of, , value]) => of === staticName && value !== null)
      .map(([, item]) => item)
    return items.length === 0
      ? []
      : [{ action: 'secrets.read', subject: staticName, details: { staticName, items, plugin } }]
  })
  const database = homeDatabase(context)
  const rows = auditRows(database, context, HOME_SHARD, entries)
  if (rows.length > 0) await database.batch(rows as [Query, ...Query[]])
  return values
}

export type Sender = {
  readonly url: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

export type SenderChange = { readonly before?: Sender | undefined; readonly after: Sender }

/** Each header that names a secret, with its address. An unchanged pair sends nothing new and to no other address. */
const named = (sender: Sender | undefined): string[] =>
  sender
    ? Object.entries(sender.headers)
        .flatMap(([name, values]) => [values].flat().map(value => [name.toLowerCase(), value] as const))
        .filter(([, value]) => referencesIn(value).length > 0)
        .map(([name, value]) => JSON.stringify([new URL(sender.url).href, name, value]))
    : []

/** Whether values that the caller cannot read would reach another host: a change keeps what answers show as a mask. */
function takesMaskedElsewhere({ before, after }: SenderChange): boolean {
  if (!before || new URL(before.url).origin === new URL(after.url).origin) return false
  const had = new Set(maskedValues(before))
  return maskedValues(after).some(one => had.has(one))
}

/**
 * Refuses (403) a caller without `secrets.read` who adds a secret to headers, sends headers that name one to another address, or takes
 * masked values to another host; and (400) an address to which a secret in force must not be sent. Reads nothing if none of this changes.
 */
export async function requireMaySend(
  context: RequestContext,
  changes: readonly SenderChange[],
): Promise<void> {
  const changed = changes
    .filter(({ before, after }) => {
      const unchanged = new Set(named(before))
      return named(after).some(one => !unchanged.has(one))
    })
    .map(({ after }) => after)
  if (changed.length === 0 && !changes.some(takesMaskedElsewhere)) return
  requirePermission(context.caller, ['secrets.read'])
  const namesOf = ({ headers }: Sender): string[] => staticNamesIn(Object.values(headers).flat())
  const secrets = await readInForce(context, [...new Set(changed.flatMap(namesOf))])
  for (const sender of changed)
    for (const staticName of namesOf(sender)) {
      const hosts = secrets.get(staticName)?.allowedHosts
      if (!maySendTo(hosts, sender.url))
        throw invalidRequest(
          `The secret '${staticName}' may be sent to ${hosts!.join(', ')} only, not to '${new URL(sender.url).hostname}'.`,
        )
    }
}
