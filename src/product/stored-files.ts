// Archives and compiled configurations in R2, both named by the archive's hash: a file never changes. Each table of a
// compiled configuration is stored once.
import type { Calls } from '../platform/calls.ts'
import { filePlace } from '../platform/http/body/large-files.ts'
import { fileKey, type Tenant, tenantFiles } from '../platform/tenancy.ts'
import type { ArchiveFile } from './archive/read.ts'
import type { Compilation } from './compile.ts'
import type { Configuration, LookupTable } from './configuration.ts'

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
  await Promise.all([
    put(
      tenantFiles(env, tenant),
      archiveKey(tenant, hash),
      zip,
      { sha256: hash, type: 'application/zip' },
      calls,
    ),
    putCompiled(env, tenant, hash, compiledText(configuration), calls),
  ])
}

const putCompiled = (env: Env, tenant: Tenant, hash: string, text: string, calls: Calls): Promise<void> =>
  put(tenantFiles(env, tenant), compiledKey(tenant, hash), text, { type: 'application/json' }, calls)

async function put(
  bucket: R2Bucket,
  key: string,
  content: Uint8Array | string,
  { sha256, type }: { sha256?: string; type: string },
  calls: Calls,
): Promise<void> {
  calls.r2 += 1
  try {
    await bucket.put(key, content, {
      ...(sha256 && { sha256 }),
      httpMetadata: { contentType: type },
    })
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
  calls.r2 += 1
  const archive = await tenantFiles(env, tenant).get(archiveKey(tenant, hash))
  if (!archive) throw new ConfigurationUnreadable(`The archive ${hash} is not kept any more.`)
  const { configuration, findings } = await compiledFrom(archive)
  if (!configuration) {
    const first = findings.find(({ severity }) => severity === 'ERROR')
    throw new ConfigurationUnreadable(`The archive ${hash} compiles no more: ${first?.path} ${first?.code}`)
  }
  const text = compiledText(configuration)
  await putCompiled(env, tenant, hash, text, calls)
  return { configuration, characters: text.length }
}

/** What `use` makes of the files of an archive that is kept. Throws `ConfigurationUnreadable` where it is not. */
export async function withArchive<T>(
  env: Env,
  tenant: Tenant,
  hash: string,
  calls: Calls,
  use: (files: readonly ArchiveFile[]) => Promise<T>,
): Promise<T> {
  const place = filePlace()
  try {
    calls.r2 += 1
    const archive = await tenantFiles(env, tenant).get(archiveKey(tenant, hash))
    if (!archive) throw new ConfigurationUnreadable(`The archive ${hash} is not kept any more.`)
    place.reach(archive.size)
    // Seldom needed, and much code: loaded when it is.
    const { readArchive } = await import('./archive/read.ts')
    return await use(readArchive(new Uint8Array(await archive.arrayBuffer())).files)
  } finally {
    place.leave()
  }
}

async function compiledFrom(archive: R2ObjectBody): Promise<Compilation> {
  const place = filePlace()
  try {
    place.reach(archive.size)
    // Seldom needed, and much code: loaded when it is.
    const { compileArchive } = await import('./compile.ts')
    return await compileArchive(new Uint8Array(await archive.arrayBuffer()))
  } finally {
    place.leave()
  }
}

/**
 * Part of the name that a compiled configuration is kept under. Raised whenever `compileConfiguration` makes
 * something else of the same archive: a newer Worker then compiles again instead of reading what an older one kept.
 */
const COMPILER_FORMAT = 3

/** `tables` of the tenant are tables of its products: each only names the product that has it. */
type Kept = Omit<Configuration, 'tables'> & { tables: Record<string, string> }

/** The configuration as JSON text. */
export function compiledText(configuration: Configuration): string {
  const products = Object.values(configuration.products)
  const holderOf = (name: string, table: LookupTable): string => {
    const holder = products.find(
      product => Object.hasOwn(product.tables, name) && product.tables[name] === table,
    )
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
  const tables = Object.entries(kept.tables).map(([name, product]) => [
    name,
    kept.products[product]!.tables[name]!,
  ])
  return { ...kept, tables: Object.fromEntries(tables) }
}

/**
 * Files by name: the product's under static_documents, or before them the resources in force; undefined for a name that
 * there is not. `expect` tells beforehand which names will be asked for, where they can be looked up together.
 */
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
  const read = async (): Promise<Map<string, () => Uint8Array>> => {
    calls.r2 += 1
    const archive = await tenantFiles(env, tenant).get(fileKey(tenant, ...archivePath(archiveHash)))
    if (!archive) throw new Error(`The archive ${archiveHash} is not kept any more.`)
    const place = filePlace()
    try {
      place.reach(archive.size)
      const { readArchive } = await import('./archive/read.ts')
      const { files: all } = readArchive(new Uint8Array(await archive.arrayBuffer()))
      const own = all.filter(file => file.path.startsWith(folder))
      return new Map(own.map(file => [file.path.slice(folder.length), file.bytes]))
    } finally {
      place.leave()
    }
  }
  return async name => {
    files ??= read()
    const all = await files
    return (all.get(name) ?? all.get(`${name}.pdf`))?.()
  }
}
