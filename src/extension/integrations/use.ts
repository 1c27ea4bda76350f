// Which configurations name an integration as the external rater of a product.
import { type SQL, sql } from 'drizzle-orm'
import type { RequestContext } from '../../platform/context.ts'
import { homeDatabase, shardDatabase } from '../../platform/tenancy.ts'
import { policies } from '../../policy/tables/policies.ts'
import { configurationVersions } from '../../product/tables.ts'

const naming = (name: string): SQL =>
  sql`select version, named.key as product from ${configurationVersions}, json_each(external_raters) as named where named.value = ${name}`

const newest = sql`(select max(version) from ${configurationVersions})`

/** Holds when the newest configuration names the integration. */
export const namedByNewest = (name: string): SQL =>
  sql`exists (select 1 from (${naming(name)}) where version = ${newest})`

type Naming = { readonly version: number; readonly product: string }

/**
 * Who needs the integration, as the beginning of a sentence: the newest configuration, or an older one that policies
 * are of, which are rated by it when they change. Undefined where nobody does.
 */
export async function useOf(context: RequestContext, name: string): Promise<string | undefined> {
  const home = homeDatabase(context)
  const [versions, [last]] = await home.batch([
    home.build.all<Naming>(naming(name)),
    home.build.all<{ version: number | null }>(sql`select ${newest} as version`),
  ])
  if (versions.length === 0) return undefined
  if (versions.some(({ version }) => version === last?.version)) return 'The newest configuration'
  const { env, tenant, calls } = context
  const used = await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [rows] = await database.batch([
        database.build.all<{ version: number }>(sql`
          select value ->> 0 as version from json_each(${JSON.stringify(versions.map(({ version, product }) => [version, product]))})
          where exists (select 1 from ${policies} where config_version = value ->> 0 and product_name = value ->> 1)
          limit 1`),
      ])
      return rows[0]?.version
    }),
  )
  const version = used.find(one => one !== undefined)
  return version === undefined ? undefined : `Configuration version ${version}, which policies are of,`
}
