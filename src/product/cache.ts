// Configurations in the memory of an isolate, so that a request needs no round trip for one. An entry is named by its hash and
// the tenant's generation and never expires: a repair gives the version another hash.
import { BoundedCache } from '../kernel/bounded-cache.ts'
import type { Calls } from '../platform/calls.ts'
import type { AdministrationContext, RequestContext } from '../platform/context.ts'
import { HOME_SHARD, shardDatabase, type Tenant } from '../platform/tenancy.ts'
import { type Configuration, isLookupTable, type LookupTable, type TemplateSource } from './configuration.ts'
import { loadPatternEngine } from './fields/patterns.ts'
import { type VersionRow, versionQuery } from './store.ts'
import { compiledKey, getConfiguration } from './stored-files.ts'
import type { CompiledTemplate } from './templates/liquid.ts'
import type { LookupResult } from './templates/lookups.ts'

export type LoadedConfiguration = {
  readonly configuration: Configuration
  /** SHA-256 of the archive, hex. */
  readonly hash: string
  /** The source, read once for as long as the configuration is in memory. */
  template(source: TemplateSource): CompiledTemplate
  /** Look-ups for templates of the product: in its own table of that name, else in the tenant's (brief 5.1). */
  lookup(productName: string): (table: string, key: string) => LookupResult
}

/** Characters of compiled JSON that an isolate keeps; in memory they are some three times as many bytes. */
export const MOST_CACHED_CHARACTERS = 16 * 1024 * 1024

const configurations = new BoundedCache<LoadedConfiguration>(MOST_CACHED_CHARACTERS)

type TemplateCompiler = typeof import('./templates/liquid.ts').compileTemplate

/**
 * The configuration of that archive: from memory, else from R2. What its templates and patterns need comes with
 * it; so both are there with every configuration and are no part of an isolate's start-up.
 */
export async function loadConfiguration(
  env: Env,
  tenant: Tenant,
  hash: string,
  calls: Calls,
): Promise<LoadedConfiguration> {
  const key = compiledKey(tenant, hash)
  const known = configurations.get(key)
  if (known) return known
  const [{ configuration, characters }, { compileTemplate }] = await Promise.all([
    getConfiguration(env, tenant, hash, calls),
    import('./templates/liquid.ts'),
    loadPatternEngine(),
  ])
  const loaded = loadedConfiguration(configuration, hash, compileTemplate)
  configurations.set(key, loaded, characters)
  return loaded
}

/** Templates and look-ups of a configuration that is in memory. */
export function loadedConfiguration(
  configuration: Configuration,
  hash: string,
  compileTemplate: TemplateCompiler,
): LoadedConfiguration {
  const templates = new Map<string, CompiledTemplate>()
  const indexes = new Map<LookupTable, ReadonlyMap<string, string>>()
  const indexOf = (table: LookupTable): ReadonlyMap<string, string> => {
    const index = indexes.get(table) ?? indexTable(table)
    indexes.set(table, index)
    return index
  }
  return {
    configuration,
    hash,
    template(source) {
      const template = templates.get(source.path) ?? compiledTemplate(compileTemplate(source), source)
      templates.set(source.path, template)
      return template
    },
    lookup(productName) {
      const own = configuration.products[productName]?.tables ?? {}
      return (name, key) => {
        const table = named(own, name) ?? named(configuration.tables, name)
        if (!table || !isLookupTable(table.columns)) return 'noSuchTable'
        const value = indexOf(table).get(key)
        return value === undefined ? 'noSuchKey' : { value }
      }
    },
  }
}

/** Names come from templates: `constructor` is no table. */
const named = (tables: Record<string, LookupTable>, name: string): LookupTable | undefined =>
  Object.hasOwn(tables, name) ? tables[name] : undefined

/** Of rows with the same key the first counts. */
function indexTable({ columns, rows }: LookupTable): ReadonlyMap<string, string> {
  const [key, value] = [columns.indexOf('key'), columns.indexOf('value')]
  const index = new Map<string, string>()
  for (const row of rows) if (!index.has(row[key]!)) index.set(row[key]!, row[value]!)
  return index
}

function compiledTemplate(
  { template, findings }: ReturnType<TemplateCompiler>,
  source: TemplateSource,
): CompiledTemplate {
  if (template) return template
  throw new Error(`${source.path} was deployed and does not compile: ${findings[0]?.message}`)
}

/** The latest version's row; undefined before the first deploy. */
export async function latestVersion(
  context: Pick<AdministrationContext, 'env' | 'calls'>,
  tenant: Tenant,
): Promise<VersionRow | undefined> {
  const database = shardDatabase(context.env, tenant, HOME_SHARD, context.calls)
  const [rows] = await database.batch([versionQuery(database, undefined)])
  return rows[0]
}

/** What the latest version says; undefined before the first deploy. */
export async function newestConfiguration(context: RequestContext): Promise<Configuration | undefined> {
  const { env, tenant, calls } = context
  const latest = await latestVersion(context, tenant)
  return latest && (await loadConfiguration(env, tenant, latest.hash, calls)).configuration
}
