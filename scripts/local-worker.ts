// The Worker on this machine's runtime, as a process group of its own: it has children, which end with it only when the group does.
// It stays as it was built: a change of its sources or generated files interrupts nobody, and takes effect at the next start, unless it is watched.
import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'

const PROGRAMS = {
  built: resolve('scripts/run-worker.bundle.mjs'),
  watched: resolve('scripts/watched-worker.ts'),
}

/** Files of the library that the page at /docs loads; wrangler.toml names them too. */
export const LIBRARY_FOLDER = 'node_modules/@scalar/api-reference/dist/browser'

export type LocalWorker = {
  /** The wrangler.toml. */
  config: string
  /** Instead of the entry that the config names. */
  script?: string
  port: number
  /** Where a debugger finds it. When left out, there is no debugger. */
  inspectorPort?: number
  dataFolder: string
  /** Variables beside those of the config; none that is secret, since command lines can be read. */
  vars?: Readonly<Record<string, string>>
  /** The checkout whose Worker it is; by default this one. */
  checkout?: string | undefined
  /** Whether it is built again whenever a source changes. */
  isWatched?: boolean
}

/** What a program below is given, as JSON. */
export const givenWorker = (): LocalWorker => JSON.parse(process.argv[2]!) as LocalWorker

/** Starts the Worker; the process id is also that of the group. */
export function spawnLocalWorker(worker: LocalWorker): ChildProcess & { readonly pid: number } {
  const program = worker.isWatched ? PROGRAMS.watched : PROGRAMS.built
  const child = spawn(process.execPath, ['--expose-gc', program, JSON.stringify(worker)], {
    ...(worker.checkout !== undefined && { cwd: worker.checkout }),
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      // Nothing of a local run leaves the machine or the data folder.
      WRANGLER_SEND_METRICS: 'false',
      WRANGLER_LOG_PATH: resolve(worker.dataFolder, 'logs'),
      WRANGLER_REGISTRY_PATH: resolve(worker.dataFolder, 'registry'),
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      X_LOCAL_EXPLORER: 'false',
      X_LOCAL_OBSERVABILITY: 'false',
      WRANGLER_LOG: 'error',
      // Large pieces of memory go back to the machine when they are free.
      MALLOC_MMAP_THRESHOLD_: '131072',
    },
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${worker.script ?? worker.config} could not be started.`)
  return Object.assign(child, { pid })
}

/** False when no process of the group is left. */
export function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch {
    return false
  }
}
