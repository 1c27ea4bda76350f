// Runs the built Worker, in a process that contains only the runtime. local-worker.ts starts it.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { convertV4MiniflareOptions, Miniflare, type V4ModuleDefinition } from 'miniflare'
import { LIBRARY_FOLDER, readWorkerArgument } from './local-worker.ts'
import { readSecrets } from './settings.ts'
import { type BuiltWorker, buildWorker } from './worker-build.ts'

const KINDS: Readonly<Record<string, V4ModuleDefinition['type']>> = {
  '.js': 'ESModule',
  '.mjs': 'ESModule',
  '.wasm': 'CompiledWasm',
  '.html': 'Text',
  '.txt': 'Text',
  '.ttf': 'Data',
}

/** Returns the entry first, then the other modules in its folder, without its source map and notes. */
function modulesOf({ folder, entry }: BuiltWorker): V4ModuleDefinition[] {
  const others = readdirSync(folder).filter(name => name !== entry && extname(name) in KINDS)
  return [entry, ...others].map(name => ({
    type: KINDS[extname(name)]!,
    path: join(folder, name),
    contents: readFileSync(join(folder, name)),
  }))
}

const worker = readWorkerArgument()
const { inspectorPort } = worker
/** The secrets next to the configuration. */
const secrets = readSecrets(dirname(worker.config)) as Record<string, string>
const built = await buildWorker(worker.config, worker.script)
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    host: '127.0.0.1',
    port: worker.port,
    ...(inspectorPort !== undefined && { inspectorPort }),
    resourcePersistencePath: resolve(worker.dataFolder, 'v3'),
    // Enables calls of the scheduled handler, as cron makes them.
    unsafeTriggerHandlers: true,
    cf: false,
    telemetry: { enabled: false },
    logRequests: false,
    handleStructuredLogs({ level, message }) {
      if (level === 'error') console.error(message)
    },
    workers: [
      {
        ...built.options,
        bindings: { ...built.options.bindings, ...secrets, ...worker.vars },
        serviceBindings: { ASSETS: { disk: { path: resolve(LIBRARY_FOLDER), writable: false } } },
        modulesRoot: built.folder,
        modules: modulesOf(built),
      },
    ],
  }),
)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void miniflare.dispose().finally(() => process.exit(0)))
await miniflare.ready
// Building the configuration leaves more garbage than the rest of this process uses.
globalThis.gc?.()
