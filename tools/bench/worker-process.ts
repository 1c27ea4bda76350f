// Starts Workers, with the same flags for the service and the floor, and stops all of them when the bench is over.
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../scripts/free-port.ts'
import { signalGroup, spawnLocalWorker } from '../../scripts/local-worker.ts'
import { type Service, waitForHealth } from '../../scripts/service.ts'
import { groupCpuMs } from './cpu.ts'

/** Everything that was started and has not ended. */
export const running = new Set<Service>()
let over = false

/** Ends what still runs, even if the bench fails or is interrupted. Nothing can be started after it. */
export const stopWorkers = async (): Promise<void> => {
  over = true
  await Promise.all([...running].map(worker => worker.stop()))
}

export type WorkerSource = {
  config: string
  script: string
  dataFolder: string
  inspectorPort?: number
  /** The checkout from which it is built. By default the one in which the bench runs. */
  checkout?: string
}

export type Worker = Service & {
  /** CPU milliseconds that its runtime has used so far. Undefined if the machine does not report them. */
  cpuMs(): number | undefined
}

/** Starts a Worker. Resolves when GET /health responds with 200. */
export async function startWorker({
  config,
  script,
  dataFolder,
  inspectorPort,
  checkout,
}: WorkerSource): Promise<Worker> {
  mkdirSync(dataFolder, { recursive: true })
  const port = await freePort()
  if (over) throw new Error('The benchmark has ended.')
  const child = spawnLocalWorker({
    config,
    script,
    port,
    inspectorPort,
    dataFolder,
    checkout,
  })
  const group = child.pid
  const worker: Worker = {
    cpuMs: () => groupCpuMs(group, 'workerd'),
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

/** Ends the remaining processes of the group, which may still write to the data folder. */
async function endGroup(group: number): Promise<void> {
  for (let tries = 0; tries < 100 && signalGroup(group, 'SIGKILL'); tries += 1) await sleep(50)
}
