// Resolves headers before they are sent: replaces references with items of the secrets in force.

import { type AuditEntry, auditRows } from '../../access/audit/store.ts'
import { invalidRequest } from '../../kernel/errors.ts'
import { BoundedCache } from '../../kernel/maps.ts'
import { type Instant, isWithinLast, now } from '../../kernel/time.ts'
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

/** The headers and the secret values in them, or why they cannot be sent. The reason contains no secret value. */
export type Resolved<H extends Headers> =
  | { readonly headers: H; readonly values: readonly string[] }
  | { readonly problem: string }

/** How long an isolate trusts its cache. For this long after a change, the old value may still be sent. */
const TRUST_MS = 5_000

type Cached = { readonly secret: SecretContents | undefined; readonly readAt: Instant }
const cached = new BoundedCache<Map<string, Cached>>(1_000)

/** Makes this isolate read the secrets again. Call it after a change. */
export const forgetSecrets = (tenant: Tenant): void => {
  cached.delete(sealedPlace(tenant))
}

/**
 * Returns the headers for a request to the address now. Uses the secrets in force at the tenant's time, for no jurisdiction.
 * Headers without references cause no reads.
 */
export async function resolveHeaders<H extends Headers>(
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
      problem: `its headers refer to secrets that must not be sent to this host: ${elsewhere.join(', ')}`,
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
      problem: `its headers refer to items that no secret in force has, or that cannot be sent in a header: ${[...new Set(missing)].join(', ')}`,
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

/** The secrets in force now, by static name; undefined if there is none. */
async function secretsInForce(
  context: TenantPlace,
  staticNames: readonly string[],
): Promise<ReadonlyMap<string, SecretContents | undefined>> {
  const key = sealedPlace(context.tenant)
  const cachedSecrets = cached.get(key) ?? new Map<string, Cached>()
  const isKnown = (name: string): boolean => isWithinLast(TRUST_MS, cachedSecrets.get(name)?.readAt ?? 0)
  const wanted = staticNames.filter(name => !isKnown(name))
  if (wanted.length > 0) {
    for (const [name, secret] of await readInForce(context, wanted))
      cachedSecrets.set(name, { secret, readAt: now() })
    cached.set(key, cachedSecrets)
  }
  return new Map(staticNames.map(name => [name, cachedSecrets.get(name)?.secret]))
}

/** Like `secretsInForce`, but always reads the database. */
async function readInForce(
  context: TenantPlace,
  staticNames: readonly string[],
): Promise<ReadonlyMap<string, SecretContents | undefined>> {
  const at = tenantNow(context.tenant)
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

/** Returns items of the secrets in force, for no jurisdiction; null if there is none. Records the read in the audit trail. */
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

/**
 * Identifies each header that refers to a secret, with its address. A header that was there before sends no other secret and to no
 * other address.
 */
const secretHeaderKeys = (sender: Sender | undefined): string[] =>
  sender
    ? Object.entries(sender.headers)
        .flatMap(([name, values]) => [values].flat().map(value => [name.toLowerCase(), value] as const))
        .filter(([, value]) => referencesIn(value).length > 0)
        .map(([name, value]) => JSON.stringify([new URL(sender.url).href, name, value]))
    : []

/**
 * Whether the change would send values that the caller cannot read to another host. A change may keep values that responses mask.
 */
function sendsMaskedToOtherHost({ before, after }: SenderChange): boolean {
  if (!before || new URL(before.url).origin === new URL(after.url).origin) return false
  const had = new Set(maskedValues(before))
  return maskedValues(after).some(one => had.has(one))
}

/**
 * Rejects with 403 a caller without `secrets.read` who adds a secret to headers, sends headers that refer to one to another
 * address, or sends masked values to another host. Rejects with 400 an address to which a secret in force must not be sent. Reads
 * nothing if the change does none of this.
 */
export async function requireMaySend(
  context: RequestContext,
  changes: readonly SenderChange[],
): Promise<void> {
  const changed = changes
    .filter(({ before, after }) => {
      const unchanged = new Set(secretHeaderKeys(before))
      return secretHeaderKeys(after).some(one => !unchanged.has(one))
    })
    .map(({ after }) => after)
  if (changed.length === 0 && !changes.some(sendsMaskedToOtherHost)) return
  requirePermission(context.caller, ['secrets.read'])
  const namesOf = ({ headers }: Sender): string[] => staticNamesIn(Object.values(headers).flat())
  const secrets = await readInForce(context, [...new Set(changed.flatMap(namesOf))])
  for (const sender of changed)
    for (const staticName of namesOf(sender)) {
      const hosts = secrets.get(staticName)?.allowedHosts
      if (!maySendTo(hosts, sender.url))
        throw invalidRequest(
          `The secret '${staticName}' can be sent only to ${hosts!.join(', ')}, not to '${new URL(sender.url).hostname}'.`,
        )
    }
}
