// Keeps configurations in the isolate's memory, so that a request needs no round trip for them. The key is the hash with the
// tenant's generation. Entries never expire: a repair changes the hash.

import { desc, eq, sql } from 'drizzle-orm'
import { BoundedCache, memoByObject } from '../kernel/maps.ts'
import type { Calls } from '../platform/calls.ts'
import type { AdministrationContext, RequestContext } from '../platform/context.ts'
import { putRows } from '../platform/database/rows.ts'
import { type Database, type Query, statement } from '../platform/database.ts'
import { filePlace } from '../platform/http/body/bytes.ts'
import { fileKey, HOME_SHARD, shardDatabase, type Tenant, tenantFiles } from '../platform/tenancy.ts'
import type { ArchiveFile } from './archive/read.ts'
import {
  type Configuration,
  isLookupTable,
  keyInLookupTable,
  type LookupTable,
  lineOfRow,
  type TemplateSource,
  tableOf,
} from './configuration.ts'
import { loadPatternEngine } from './fields/patterns.ts'
import { configurationVersions, deployments } from './tables.ts'
import type { Lookup } from './templates/effects.ts'
import type { CompiledTemplate } from './templates/liquid.ts'

export type LoadedConfiguration = {
  readonly configuration: Configuration
  /** SHA-256 of the archive, in hexadecimal. */
  readonly hash: string
  /** Compiles a template and keeps it as long as the configuration is in memory. Throws if it does not compile. */
  template(source: TemplateSource): CompiledTemplate
  /** Returns a look-up that reads the product's own table of a name, or else the tenant's (brief 5.1). */
  lookup(productName: string): Lookup
}

/** In characters of compiled JSON. In memory they take about three times as many bytes. */
export const MOST_CACHED_CHARACTERS = 16 * 1024 * 1024

const configurations = new BoundedCache<LoadedConfiguration>(MOST_CACHED_CHARACTERS)

type TemplateCompiler = typeof import('./templates/liquid.ts').compileTemplate

/** Returns a configuration from memory or R2. Also loads the engines for templates and patterns, which start-up does not need. */
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

/** Compiles templates and indexes tables on first use, and keeps both as long as the configuration. */
export function loadedConfiguration(
  configuration: Configuration,
  hash: string,
  compileTemplate: TemplateCompiler,
): LoadedConfiguration {
  const templates = new Map<string, CompiledTemplate>()
  const indexOf = memoByObject(indexTable)
  const rowIndexOf = memoByObject(indexRows)
  return {
    configuration,
    hash,
    template(source) {
      const known = templates.get(source.path)
      if (known) return known
      const { template, findings } = compileTemplate(source)
      if (!template)
        throw new Error(`${source.path} was deployed but does not compile: ${findings[0]?.message}`)
      templates.set(source.path, template)
      return template
    },
    lookup(productName) {
      const product = configuration.products[productName]
      const tableNamed = (name: string) => tableOf(configuration, product, name)
      const lookup: Lookup = (name, key) => {
        const table = tableNamed(name)
        if (!table || !isLookupTable(table.columns)) return 'noSuchTable'
        const value = indexOf(table).get(keyInLookupTable(key))
        return value === undefined ? 'noSuchKey' : { value }
      }
      lookup.rowOf = (name, key) => {
        const table = tableNamed(name)
        const row = table && rowIndexOf(table).get(keyInLookupTable(key))
        return row === undefined ? undefined : { path: table!.path, line: lineOfRow(table!, row) }
      }
      return lookup
    },
  }
}

/** If several rows have the same key, the first one counts. */
function indexTable({ columns, rows }: LookupTable): ReadonlyMap<string, string> {
  const [key, value] = [columns.indexOf('key'), columns.indexOf('value')]
  const index = new Map<string, string>()
  for (const row of rows) if (!index.has(row[key]!)) index.set(row[key]!, row[value]!)
  return index
}

/** The index of the first row with each key. */
function indexRows({ columns, rows }: LookupTable): ReadonlyMap<string, number> {
  const key = columns.indexOf('key')
  const index = new Map<string, number>()
  for (const [at, row] of rows.entries()) if (!index.has(row[key]!)) index.set(row[key]!, at)
  return index
}

/** Returns undefined before the first deployment. */
export async function latestVersion(
  context: Pick<AdministrationContext, 'env' | 'calls'>,
  tenant: Tenant,
): Promise<VersionRow | undefined> {
  const database = shardDatabase(context.env, tenant, HOME_SHARD, context.calls)
  const [rows] = await database.batch([versionQuery(database, undefined)])
  return rows[0]
}

/** Returns undefined before the first deployment. */
export async function newestConfiguration(context: RequestContext): Promise<Configuration | undefined> {
  const { env, tenant, calls } = context
  const latest = await latestVersion(context, tenant)
  return latest && (await loadConfiguration(env, tenant, latest.hash, calls)).configuration
}

/**
 * Archives and compiled configurations in R2. Both are named by the archive's hash, so a file never changes. Signed links resolve
 * to this path; see platform/http/file-links.ts.
 */
export const archivePath = (hash: string): string[] => ['archives', `${hash}.zip`]

const archiveKey = (tenant: Tenant, hash: string): string => fileKey(tenant, ...archivePath(hash))

/** The key of a compiled configuration, in R2 and in the isolate's cache. */
export const compiledKey = (tenant: Tenant, hash: string): string =>
  fileKey(tenant, 'configurations', `${hash}.${COMPILER_FORMAT}.json`)

/** Thrown if the archive is lost, or the compiler has become stricter. Only a repair or a new deployment helps. */
export class ConfigurationUnreadable extends Error {}

/** Writes the archive and its compiled configuration to R2. */
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
    // R2 rejects writes to one key in quick succession; another request may have just written it.
    calls.r2 += 1
    if (!(await bucket.head(key))) throw problem
  }
}

/**
 * Returns a configuration and the length of its JSON in characters. Compiles the archive again if the output of this compiler
 * version is missing, or throws 503 while the isolate has other large archives in memory. Throws `ConfigurationUnreadable` if the
 * archive is lost or no longer compiles.
 */
async function getConfiguration(
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
    // Loaded on demand, because it is large and rarely needed.
    const { compileArchive } = await import('./compile.ts')
    return await compileArchive(zip)
  })
  if (!configuration) {
    const first = findings.find(({ severity }) => severity === 'ERROR')
    throw new ConfigurationUnreadable(`The archive ${hash} no longer compiles: ${first?.path} ${first?.code}`)
  }
  const text = compiledText(configuration)
  await putCompiled(env, tenant, hash, text, calls)
  return { configuration, characters: text.length }
}

/** Throws `ConfigurationUnreadable` if the archive is missing. */
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
    if (!archive) throw new ConfigurationUnreadable(`The archive ${hash} is no longer stored.`)
    place.reach(archive.size)
    return await use(new Uint8Array(await archive.arrayBuffer()))
  } finally {
    place.leave()
  }
}

/** Throws `ConfigurationUnreadable` if the archive is missing. */
export const withArchive = <T>(
  env: Env,
  tenant: Tenant,
  hash: string,
  calls: Calls,
  use: (files: readonly ArchiveFile[]) => Promise<T>,
): Promise<T> =>
  withZip(env, tenant, hash, calls, async zip => {
    // Loaded on demand, because it is large and rarely needed.
    const { readArchive } = await import('./archive/read.ts')
    return await use(readArchive(zip).files)
  })

/** The version of the compiler's output. Increase it when the output changes, so that a newer Worker compiles again. */
const COMPILER_FORMAT = 5

/** A configuration as it is stored. Each of the tenant's tables is stored once, in a product; `tables` names that product. */
type StoredConfiguration = Omit<Configuration, 'tables'> & { tables: Record<string, string> }

/** Serializes a configuration for `readCompiledText`. Throws if a table of the tenant belongs to no product. */
export function compiledText(configuration: Configuration): string {
  const products = Object.values(configuration.products)
  const holderOf = (name: string, table: LookupTable): string => {
    const holder = products.find(({ tables }) => Object.hasOwn(tables, name) && tables[name] === table)
    if (!holder) throw new Error(`The table '${name}' of the tenant does not belong to a product.`)
    return holder.name
  }
  const tables = Object.entries(configuration.tables).map(([name, table]) => [name, holderOf(name, table)])
  const kept: StoredConfiguration = { ...configuration, tables: Object.fromEntries(tables) }
  return JSON.stringify(kept)
}

/** Inverse of `compiledText`. */
export function readCompiledText(text: string): Configuration {
  const kept = JSON.parse(text) as StoredConfiguration
  const tableOf = (name: string, product: string) => kept.products[product]!.tables[name]!
  const tables = Object.entries(kept.tables).map(([name, product]) => [name, tableOf(name, product)])
  return { ...kept, tables: Object.fromEntries(tables) }
}

/** Returns a static file: a resource in force, or else the product's own. `expect` loads several names together. */
export type StaticFiles = ((name: string) => Promise<Uint8Array | undefined>) & {
  expect?(names: readonly string[]): Promise<void>
}

/**
 * Static files of a product. Reads the archive at the first request, and only once for documents of a policy that are made
 * together.
 */
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

// Rows of configuration versions, and of their deployments and repairs.
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

/** Selects a version; undefined selects the latest. For a batch with other queries. */
export const versionQuery = (database: Database, version: number | undefined) =>
  version === undefined ? database.bind(LATEST_VERSION, {}) : database.bind(VERSION, { version })

/** Selects all versions, in no particular order. For a batch with other queries. */
export const allVersionsQuery = (database: Database) => database.build.select().from(configurationVersions)

/** In commit order. */
export const deploymentsQuery = (database: Database, version?: number) =>
  database.build
    .select()
    .from(deployments)
    .where(version === undefined ? undefined : eq(deployments.version, version))
    .orderBy(sql`rowid`)

/** Leaves existing versions unchanged. */
export const addVersionsQuery = (database: Database, rows: readonly VersionRow[]): Query[] =>
  rows.map(row =>
    database.build
      .insert(configurationVersions)
      .values(row)
      .onConflictDoNothing({ target: configurationVersions.version }),
  )

/** Builds queries that insert versions, or replace those with the same number: a repair changes the hash of a version. */
export const putVersions = (database: Database, rows: readonly VersionRow[]): Query[] =>
  putRows(database, configurationVersions, rows)
