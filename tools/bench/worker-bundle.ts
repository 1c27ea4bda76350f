// A bundle as an isolate runs it: compiled, linked with the platform's modules, and then evaluated.
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Module, SourceTextModule, SyntheticModule } from 'node:vm'

const PLATFORM = {
  DurableObject: class {},
  WorkerEntrypoint: class {},
  RpcTarget: class {},
  env: {},
}

/** Compiles the bundle's main module. Modules that a request loads from other files (src/bundles/load.ts) are imported as usual. */
export const compile = (source: string, bundle: string): SourceTextModule =>
  new SourceTextModule(source, {
    importModuleDynamically: specifier => import(resolve(dirname(bundle), specifier)),
  })

/** Links the platform's own modules, and the files next to the bundle, which the bundler treats as text. */
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
