// A bundle as an isolate sees it: compiled, with the platform's modules beside it, then evaluated.
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Module, SourceTextModule, SyntheticModule } from 'node:vm'

const PLATFORM = {
  DurableObject: class {},
  WorkerEntrypoint: class {},
  RpcTarget: class {},
  env: {},
}

/** The bundle's main module, compiled; what a request loads from beside it (src/bundles/load.ts) is plain modules. */
export const compile = (source: string, bundle: string): SourceTextModule =>
  new SourceTextModule(source, {
    importModuleDynamically: specifier => import(resolve(dirname(bundle), specifier)),
  })

/** Puts the platform's own modules and the files beside the bundle, which are text to the bundler, at hand. */
export const link = (worker: SourceTextModule, bundle: string): Promise<void> =>
  worker.link(specifier => moduleNamed(specifier, dirname(bundle)))

async function moduleNamed(specifier: string, folder: string): Promise<Module> {
  if (specifier.startsWith('cloudflare:')) return synthetic(PLATFORM)
  if (specifier.startsWith('.')) return synthetic({ default: readFileSync(join(folder, specifier), 'utf8') })
  return synthetic(await import(specifier))
}

const synthetic = (values: Record<string, unknown>): SyntheticModule =>
  new SyntheticModule(Object.keys(values), function () {
    for (const [name, value] of Object.entries(values)) this.setExport(name, value)
  })
