// What a life without a service stands on, for a configuration in a folder.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadedConfiguration, type StaticFiles } from '../../src/product/cache.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import type { LifeWorld } from './life.ts'
import { openOfflineSandbox } from './sandbox.ts'

let loads = 0

/** `root` is the folder in which paths of the configuration begin. */
export function worldOf(configuration: Configuration, root: string): Omit<LifeWorld, 'given'> {
  loads += 1
  return {
    // The sandbox keeps programs by this name: after a change it must be another.
    configuration: loadedConfiguration(configuration, `offline-${loads}`, compileTemplate),
    openSandbox: openOfflineSandbox,
    staticFiles: productName => filesIn(join(root, 'products', productName, 'policy', 'static_documents')),
  }
}

/** As the service finds them in the archive: also a PDF without its ending. */
const filesIn =
  (folder: string): StaticFiles =>
  async name => {
    // A name, not a way to other folders.
    if (name.includes('/') || name.includes('\\')) return undefined
    for (const one of [name, `${name}.pdf`])
      try {
        return new Uint8Array(readFileSync(join(folder, one)))
      } catch {
        // Not there: the service finds none either.
      }
    return undefined
  }
