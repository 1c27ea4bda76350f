// The Worker in the local runtime, as a separate process group: it has children, which end with it only if the group does. Unless
// it is watched, the Worker stays as it was built: a change of sources or generated files interrupts nothing and takes effect at
// the next start.
import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'

const PROGRAMS = {
  built: resolve('scripts/run-worker.bundle.mjs'),
  watched: resolve('scripts/watched-worker.ts'),
}

/** The folder of the library that the page at /docs loads. wrangler.toml has it too. */
export const LIBRARY_FOLDER = 'node_modules/@scalar/api-reference/dist/browser'

export type LocalWorker = {
  /** The path of the wrangler.toml. */
  config: string
  /** Replaces the entry that the configuration names. */
  script?: string
  port: number
  /** The port for a debugger. If absent, there is no debugger. */
  inspectorPort?: number
  dataFolder: string
  /** Variables in addition to those of the configuration. None may be secret, because command lines can be read. */
  vars?: Readonly<Record<string, string>>
  /** The checkout whose Worker runs. By default this one. */
  checkout?: string | undefined
  /** Whether it is built again whenever a source changes. */
  isWatched?: boolean
}

/** Reads the JSON argument of a program that runs the Worker. */
export const readWorkerArgument = (): LocalWorker => JSON.parse(process.argv[2]!) as LocalWorker

/** Starts the Worker. The process id is also the id of the group. */
export function spawnLocalWorker(worker: LocalWorker): ChildProcess & { readonly pid: number } {
  const program = worker.isWatched ? PROGRAMS.watched : PROGRAMS.built
  const child = spawn(process.execPath, ['--expose-gc', program, JSON.stringify(worker)], {
    ...(worker.checkout !== undefined && { cwd: worker.checkout }),
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      // Keeps the data of a local run on this machine and in the data folder.
      WRANGLER_SEND_METRICS: 'false',
      WRANGLER_LOG_PATH: resolve(worker.dataFolder, 'logs'),
      WRANGLER_REGISTRY_PATH: resolve(worker.dataFolder, 'registry'),
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      X_LOCAL_EXPLORER: 'false',
      X_LOCAL_OBSERVABILITY: 'false',
      WRANGLER_LOG: 'error',
      // Returns large pieces of memory to the system when they are free.
      MALLOC_MMAP_THRESHOLD_: '131072',
    },
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${worker.script ?? worker.config} could not be started.`)
  return Object.assign(child, { pid })
}

/** Signals the group. Returns false if it has no process left. */
export function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch {
    return false
  }
}
