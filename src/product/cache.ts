// Configurations in the memory of an isolate, so that a request needs no round trip for one. An entry is named by its hash and
// the tenant's generation and never expires: a repair gives the version another hash.

import { desc, eq, sql } from 'drizzle-orm'
import { BoundedCache } from '../kernel/maps.ts'
import type { Calls } from '../platform/calls.ts'
import type { AdministrationContext, RequestContext } from '../platform/context.ts'
import { type Database, putRows, type Query, statement } from '../platform/database.ts'
import { filePlace } from '../platform/http/body/bytes.ts'
import { fileKey, HOME_SHARD, shardDatabase, type Tenant, tenantFiles } from '../platform/tenancy.ts'
import type { ArchiveFile } from './archive/read.ts'
import { type Configuration, isLookupTable, type LookupTable, type TemplateSource } from './configuration.ts'
import { loadPatternEngine } from './fields/value-checks.ts'
import { configurationVersions, deployments } from './tables.ts'
import type { LookupResult } from './templates/effects.ts'
import type { CompiledTemplate } from './templates/liquid.ts'

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

/** The configuration of that archive, from memory or R2, with what templates and patterns need (no part of the start-up). */
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
      const known = templates.get(source.path)
      if (known) return known
      const { template, findings } = compileTemplate(source)
      if (!template)
        throw new Error(`${source.path} was deployed and does not compile: ${findings[0]?.message}`)
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

// Archives and compiled configurations in R2, both named by the archive's hash: a file never changes. Each table of a
// compiled configuration is stored once.
/** What a path of a signed link leads to; see platform/http/file-links.ts. */
export const archivePath = (hash: string): string[] => ['archives', `${hash}.zip`]

const archiveKey = (tenant: Tenant, hash: string): string => fileKey(tenant, ...archivePath(hash))

/** Where the compiled configuration is kept, and what isolates cache it under. */
export const compiledKey = (tenant: Tenant, hash: string): string =>
  fileKey(tenant, 'configurations', `${hash}.${COMPILER_FORMAT}.json`)

/** The archive is lost, or the compiler has become stricter since: only a repair or a new deploy helps. */
export class ConfigurationUnreadable extends Error {}

/** Keeps the archive and what was compiled from it. */
export async function putConfiguration(
  env: Env,
  tenant: Tenant,
  { zip, hash, configuration }: { zip: Uint8Array; hash: string; configuration: Configuration },
  calls: Calls,
): Promise<void> {
  const options = { sha256: hash, httpMetadata: { contentType: 'application/zip' } }
  await Promise.all([
    put(tenantFiles(env, tenant), archiveKey(tenant, hash), zip, options, calls),
    putCompiled(env, tenant, hash, compiledText(configuration), calls),
  ])
}

function putCompiled(env: Env, tenant: Tenant, hash: string, text: string, calls: Calls): Promise<void> {
  const options = { httpMetadata: { contentType: 'application/json' } }
  return put(tenantFiles(env, tenant), compiledKey(tenant, hash), text, options, calls)
}

async function put(
  bucket: R2Bucket,
  key: string,
  content: Uint8Array | string,
  options: R2PutOptions,
  calls: Calls,
): Promise<void> {
  calls.r2 += 1
  try {
    await bucket.put(key, content, options)
  } catch (problem) {
    // R2 refuses writes of one key that follow too fast; another request may have put the same just now.
    calls.r2 += 1
    if (!(await bucket.head(key))) throw problem
  }
}

/**
 * The compiled configuration and the characters of its text. Compiled again from the archive when this
 * compiler's is not there, unless the isolate has other large archives in memory (503). Throws
 * `ConfigurationUnreadable`.
 */
export async function getConfiguration(
  env: Env,
  tenant: Tenant,
  hash: string,
  calls: Calls,
): Promise<{ configuration: Configuration; characters: number }> {
  calls.r2 += 1
  const kept = await tenantFiles(env, tenant).get(compiledKey(tenant, hash))
  if (kept) {
    const text = await kept.text()
    return { configuration: readCompiledText(text), characters: text.length }
  }
  const { configuration, findings } = await withZip(env, tenant, hash, calls, async zip => {
    // Seldom needed, and much code: loaded when it is.
    const { compileArchive } = await import('./compile.ts')
    return await compileArchive(zip)
  })
  if (!configuration) {
    const first = findings.find(({ severity }) => severity === 'ERROR')
    throw new ConfigurationUnreadable(`The archive ${hash} compiles no more: ${first?.path} ${first?.code}`)
  }
  const text = compiledText(configuration)
  await putCompiled(env, tenant, hash, text, calls)
  return { configuration, characters: text.length }
}

/** What `use` makes of an archive that is kept. Throws `ConfigurationUnreadable` where it is not. */
async function withZip<T>(
  env: Env,
  tenant: Tenant,
  hash: string,
  calls: Calls,
  use: (zip: Uint8Array) => Promise<T>,
): Promise<T> {
  const place = filePlace()
  try {
    calls.r2 += 1
    const archive = await tenantFiles(env, tenant).get(archiveKey(tenant, hash))
    if (!archive) throw new ConfigurationUnreadable(`The archive ${hash} is not kept any more.`)
    place.reach(archive.size)
    return await use(new Uint8Array(await archive.arrayBuffer()))
  } finally {
    place.leave()
  }
}

/** What `use` makes of the files of an archive that is kept. Throws `ConfigurationUnreadable` where it is not. */
export const withArchive = <T>(
  env: Env,
  tenant: Tenant,
  hash: string,
  calls: Calls,
  use: (files: readonly ArchiveFile[]) => Promise<T>,
): Promise<T> =>
  withZip(env, tenant, hash, calls, async zip => {
    // Seldom needed, and much code: loaded when it is.
    const { readArchive } = await import('./archive/read.ts')
    return await use(readArchive(zip).files)
  })

/** Raise it when `compileConfiguration` makes something else of the same archive: a newer Worker then compiles again. */
const COMPILER_FORMAT = 3

/** `tables` of the tenant are tables of its products: each only names the product that has it. */
type Kept = Omit<Configuration, 'tables'> & { tables: Record<string, string> }

/** The configuration as JSON text. */
export function compiledText(configuration: Configuration): string {
  const products = Object.values(configuration.products)
  const holderOf = (name: string, table: LookupTable): string => {
    const holder = products.find(({ tables }) => Object.hasOwn(tables, name) && tables[name] === table)
    if (!holder) throw new Error(`The table '${name}' of the tenant is none of a product.`)
    return holder.name
  }
  const tables = Object.entries(configuration.tables).map(([name, table]) => [name, holderOf(name, table)])
  const kept: Kept = { ...configuration, tables: Object.fromEntries(tables) }
  return JSON.stringify(kept)
}

/** The configuration of a text that `compiledText` made. */
export function readCompiledText(text: string): Configuration {
  const kept = JSON.parse(text) as Kept
  const tableOf = (name: string, product: string) => kept.products[product]!.tables[name]!
  const tables = Object.entries(kept.tables).map(([name, product]) => [name, tableOf(name, product)])
  return { ...kept, tables: Object.fromEntries(tables) }
}

/** Static documents by name: resources in force first, then the product's. `expect` lists names to look up together. */
export type StaticFiles = ((name: string) => Promise<Uint8Array | undefined>) & {
  expect?(names: readonly string[]): Promise<void>
}

/** Reads the archive when a file is first asked for, and once for all documents of a policy that are made together. */
export function staticFiles(
  { env, tenant, calls }: { env: Env; tenant: Tenant; calls: Calls },
  archiveHash: string,
  productName: string,
): StaticFiles {
  let files: Promise<Map<string, () => Uint8Array>> | undefined
  const folder = `products/${productName}/policy/static_documents/`
  return async name => {
    files ??= withArchive(env, tenant, archiveHash, calls, async archive => {
      const own = archive.filter(file => file.path.startsWith(folder))
      return new Map(own.map(file => [file.path.slice(folder.length), file.bytes]))
    })
    const all = await files
    return (all.get(name) ?? all.get(`${name}.pdf`))?.()
  }
}

// Rows of configuration versions and of their deploys and repairs.
export type VersionRow = typeof configurationVersions.$inferSelect

const LATEST_VERSION = statement(build =>
  build.select().from(configurationVersions).orderBy(desc(configurationVersions.version)).limit(1),
)
const VERSION = statement(build =>
  build
    .select()
    .from(configurationVersions)
    .where(eq(configurationVersions.version, sql.placeholder('version'))),
)

/** The version, or the latest for undefined; to be read in a batch with other queries. */
export const versionQuery = (database: Database, version: number | undefined) =>
  version === undefined ? database.bind(LATEST_VERSION, {}) : database.bind(VERSION, { version })

export const allVersionsQuery = (database: Database) => database.build.select().from(configurationVersions)

/** Deploys and repairs in the order in which they were committed; of all versions, or of one. */
export const deploymentsQuery = (database: Database, version?: number) =>
  database.build
    .select()
    .from(deployments)
    .where(version === undefined ? undefined : eq(deployments.version, version))
    .orderBy(sql`rowid`)

/** Adds versions that are missing; leaves those that are there as they are. */
export const addVersionsQuery = (database: Database, rows: readonly VersionRow[]): Query[] =>
  rows.map(row =>
    database.build
      .insert(configurationVersions)
      .values(row)
      .onConflictDoNothing({ target: configurationVersions.version }),
  )

export const putVersions = (database: Database, rows: readonly VersionRow[]): Query[] =>
  putRows(database, configurationVersions, rows)
