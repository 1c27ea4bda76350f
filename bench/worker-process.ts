// A Worker under `wrangler dev`, as a process group of its own: the service and the floor alike, with the same
// flags.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Service, waitForHealth } from '../scripts/service.ts'

const WRANGLER = resolve('node_modules/wrangler/bin/wrangler.js')

const running = new Set<Service>()
let over = false

/** Ends what still runs, also when the bench fails or is interrupted; nothing is started after it. */
export const stopWorkers = async (): Promise<void> => {
  over = true
  await Promise.all([...running].map(worker => worker.stop()))
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

export type WorkerSource = { config: string; script: string; dataFolder: string }

/** Resolves when GET /health answers 200. */
export async function startWorker({ config, script, dataFolder }: WorkerSource): Promise<Service> {
  mkdirSync(dataFolder, { recursive: true })
  const port = await freePort()
  if (over) throw new Error('The bench has ended.')
  const child = spawn(process.execPath, [WRANGLER, ...flags(config, script, dataFolder, port)], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      // Nothing of a local run leaves the machine or the data folder.
      WRANGLER_SEND_METRICS: 'false',
      WRANGLER_LOG_PATH: join(dataFolder, 'logs'),
      WRANGLER_REGISTRY_PATH: join(dataFolder, 'registry'),
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      X_LOCAL_EXPLORER: 'false',
      X_LOCAL_OBSERVABILITY: 'false',
    },
  })
  const group = child.pid
  if (group === undefined) throw new Error(`${script} could not be started.`)
  const worker: Service = {
    origin: `http://127.0.0.1:${port}`,
    ended: once(child, 'exit').then(async ([code]) => {
      await endGroup(group)
      running.delete(worker)
      return (code as number | null) ?? 1
    }),
    async stop() {
      signalGroup(group, 'SIGTERM')
      const forced = setTimeout(() => signalGroup(group, 'SIGKILL'), 10_000)
      await worker.ended
      clearTimeout(forced)
    },
  }
  running.add(worker)
  await waitForHealth(worker)
  return worker
}

/** False when no process of the group is left. */
function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch {
    return false
  }
}

/** Ends what the first process of the group has left, which may still write into the data folder. */
async function endGroup(group: number): Promise<void> {
  for (let tries = 0; tries < 100 && signalGroup(group, 'SIGKILL'); tries += 1) await sleep(50)
}

const flags = (config: string, script: string, dataFolder: string, port: number): string[] => [
  ...['dev', script],
  ...['--config', config],
  ...['--ip', '127.0.0.1'],
  ...['--port', String(port)],
  ...['--inspector-port', '0'],
  ...['--persist-to', dataFolder],
  ...['--log-level', 'error'],
  '--show-interactive-dev-session=false',
]
