// The surroundings of a life without a service, for a configuration in a folder.
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
    // The sandbox caches programs by this name, so it must differ after a change.
    configuration: loadedConfiguration(configuration, `offline-${loads}`, compileTemplate),
    openSandbox: openOfflineSandbox,
    staticFiles: productName => filesIn(join(root, 'products', productName, 'policy', 'static_documents')),
  }
}

/** Finds files as the service finds them in the archive, including a PDF without its file extension. */
const filesIn =
  (folder: string): StaticFiles =>
  async name => {
    // Accepts only a name, not a path to other folders.
    if (name.includes('/') || name.includes('\\')) return undefined
    for (const one of [name, `${name}.pdf`])
      try {
        return new Uint8Array(readFileSync(join(folder, one)))
      } catch {
        // Not there: the service finds none either.
      }
    return undefined
  }
