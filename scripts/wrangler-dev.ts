// `wrangler dev` as a process group of its own: it has children, which end with it only when the group does.
import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'

const WRANGLER = resolve('node_modules/wrangler/bin/wrangler.js')
const BUILT_ONCE = resolve('scripts/built-once.ts')

export type DevelopmentWorker = {
  /** The wrangler.toml. */
  config: string
  /** Instead of the entry that the config names. */
  script?: string
  port: number
  /** Where a debugger finds it. When left out any free port; no debugger at all for a Worker that is built once. */
  inspectorPort?: number
  dataFolder: string
  /** The checkout whose Worker it is; this one unless told. */
  checkout?: string | undefined
  /**
   * Whether it stays as it was built, whatever becomes of its sources. Otherwise it is built again when they change, and who asks
   * meanwhile is answered 503, `Your worker restarted mid-request`.
   */
  isBuiltOnce?: boolean
}

/** Starts the Worker; the process id is also that of the group. */
export function spawnWranglerDev(worker: DevelopmentWorker): ChildProcess & { readonly pid: number } {
  const command = worker.isBuiltOnce
    ? [BUILT_ONCE, JSON.stringify(worker)]
    : [WRANGLER, ...wranglerArguments(worker)]
  const child = spawn(process.execPath, command, {
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

const wranglerArguments = ({
  config,
  script,
  port,
  inspectorPort = 0,
  dataFolder,
}: DevelopmentWorker): string[] => [
  'dev',
  ...(script === undefined ? [] : [script]),
  ...['--config', config],
  ...['--ip', '127.0.0.1'],
  ...['--port', String(port)],
  ...['--inspector-port', String(inspectorPort)],
  ...['--persist-to', resolve(dataFolder)],
  // A line for each request is shown to nobody at this level, and costs a tenth of the request.
  ...['--var', 'REQUEST_LOG:off'],
  // No edge is in front of it, so what a client says of its address is not believed; and links lead to this port.
  ...['--var', `TRUSTED_PROXIES:${process.env.TRUSTED_PROXIES ?? ''}`],
  ...['--var', `PUBLIC_ORIGIN:${process.env.PUBLIC_ORIGIN ?? `http://localhost:${port}`}`],
  '--show-interactive-dev-session=false',
]
