// Files of a configuration that documents use as they are: static documents, and images for templates.

import type { Calls } from '../../platform/calls.ts'
import { filePlace } from '../../platform/large-files.ts'
import { fileKey, type Tenant, tenantFiles } from '../../platform/tenancy.ts'
import { archivePath } from './files.ts'

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
      const { readArchive } = await import('../archive/read.ts')
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
