// Secrets as rows of the home shard.
import { and, eq, sql } from 'drizzle-orm'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import { seal, unseal } from '../../platform/sealed.ts'
import { sealedPlace, type Tenant, type TenantPlace } from '../../platform/tenancy.ts'
import type { Resource } from '../resource.ts'
import { resourceGroupMembers, resourceGroups, resourceRevisions, resources, secrets } from '../tables.ts'
import type { SecretContents, SecretItems } from './items.ts'

const placeOf = (tenant: Tenant, name: string): string => sealedPlace(tenant, 'secret', name)

/** Seals a secret for storage: its items or, if it is bound to hosts, a pair of items and hosts. */
export const sealedContents = (
  { env, tenant }: TenantPlace,
  name: string,
  { items, allowedHosts }: SecretContents,
): Promise<string> =>
  seal(env, placeOf(tenant, name), JSON.stringify(allowedHosts ? [items, allowedHosts] : items))

async function unsealContents(
  { env, tenant }: TenantPlace,
  name: string,
  sealed: string,
): Promise<SecretContents> {
  const stored = JSON.parse(await unseal(env, placeOf(tenant, name), sealed)) as
    | SecretItems
    | [SecretItems, string[]]
  return Array.isArray(stored)
    ? { items: stored[0], allowedHosts: stored[1] }
    : { items: stored as SecretItems }
}

/** Stores the sealed contents in place of earlier ones. */
export const putSecret = (database: Database, resourceName: string, sealed: string): Query[] =>
  putRows(database, secrets, [{ resourceName, items: sealed }])

/** Returns the secret of that name with its items, in one round trip; undefined if there is none. */
export async function readNamed(
  context: TenantPlace,
  database: Database,
  name: string,
): Promise<({ resource: Resource } & SecretContents) | undefined> {
  const [[resource], [row]] = await database.batch([
    database.build
      .select()
      .from(resources)
      .where(and(eq(resources.name, name), eq(resources.type, 'secret'))),
    database.build.select().from(secrets).where(eq(secrets.resourceName, name)),
  ])
  if (!resource) return undefined
  return {
    resource: resource as Resource,
    ...(row ? await unsealContents(context, name, row.items) : { items: {} }),
  }
}

/** Returns functions that open the secrets with the static names, by their own names. */
export async function readContentsOf(
  context: TenantPlace,
  database: Database,
  staticNames: readonly string[],
): Promise<ReadonlyMap<string, () => Promise<SecretContents>>> {
  const [rows] = await database.batch([
    database.build
      .select({ name: secrets.resourceName, items: secrets.items })
      .from(secrets)
      .innerJoin(resources, eq(resources.name, secrets.resourceName))
      .where(sql`${resources.staticName} in (select value from json_each(${JSON.stringify(staticNames)}))`),
  ])
  return new Map(rows.map(({ name, items }) => [name, () => unsealContents(context, name, items)]))
}

/** Deletes the secret and its revisions, and removes it from its groups. */
export const secretDeletion = (database: Database, name: string): Query[] => [
  database.build.delete(secrets).where(eq(secrets.resourceName, name)),
  database.build.delete(resources).where(eq(resources.name, name)),
  database.build.delete(resourceRevisions).where(eq(resourceRevisions.resourceName, name)),
  database.build
    .update(resourceGroups)
    .set({ version: sql`${resourceGroups.version} + 1` })
    .where(
      sql`${resourceGroups.locator} in (select group_locator from ${resourceGroupMembers} where resource_name = ${name})`,
    ),
  database.build.delete(resourceGroupMembers).where(eq(resourceGroupMembers.resourceName, name)),
]
