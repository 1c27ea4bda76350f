// Runs the Worker as it was built, with nothing beside the runtime: started by local-worker.ts, with a LocalWorker as JSON.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { convertV4MiniflareOptions, Miniflare, type V4ModuleDefinition } from 'miniflare'
import type { LocalWorker } from './local-worker.ts'
import { SECRETS_FILE } from './settings.ts'
import { type BuiltWorker, builtWorker } from './worker-build.ts'

const KINDS: Readonly<Record<string, V4ModuleDefinition['type']>> = {
  '.js': 'ESModule',
  '.mjs': 'ESModule',
  '.wasm': 'CompiledWasm',
  '.html': 'Text',
  '.txt': 'Text',
  '.ttf': 'Data',
}

/** The entry first, then what stands beside it; not its source map and notes. */
function modulesOf({ folder, entry }: BuiltWorker): V4ModuleDefinition[] {
  const others = readdirSync(folder).filter(name => name !== entry && extname(name) in KINDS)
  return [entry, ...others].map(name => ({
    type: KINDS[extname(name)]!,
    path: join(folder, name),
    contents: readFileSync(join(folder, name)),
  }))
}

/** Secrets beside the configuration. */
function secretsOf(config: string): Record<string, string> {
  const file = join(dirname(config), SECRETS_FILE)
  return existsSync(file) ? (parseEnv(readFileSync(file, 'utf8')) as Record<string, string>) : {}
}

const {
  config,
  script,
  port,
  inspectorPort,
  dataFolder,
  vars = {},
} = JSON.parse(process.argv[2]!) as LocalWorker

const built = await builtWorker(config, script)
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    host: '127.0.0.1',
    port,
    ...(inspectorPort !== undefined && { inspectorPort }),
    resourcePersistencePath: resolve(dataFolder, 'v3'),
    // The scheduled handler, called as cron does.
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
        bindings: { ...built.options.bindings, ...secretsOf(config), ...vars },
        modulesRoot: built.folder,
        modules: modulesOf(built),
      },
    ],
  }),
)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void miniflare.dispose().finally(() => process.exit(0)))
await miniflare.ready
// What building its configuration left behind is more than the rest of this process.
globalThis.gc?.()
