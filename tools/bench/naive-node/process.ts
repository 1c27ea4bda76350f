// Runs tools/bench/naive-node/server.ts as a process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../scripts/free-port.ts'
import { waitForHealth } from '../../../scripts/service.ts'
import { groupCpuMs } from '../cpu.ts'
import { running, type Worker } from '../worker-process.ts'

/** Resolves when the server responds. Its data is in the folder. */
export async function startNaiveNode(folder: string): Promise<Worker> {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const child = spawn(
    process.execPath,
    ['tools/bench/naive-node/server.ts', join(folder, 'policies.sqlite'), String(port)],
    {
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  const { pid } = child
  if (pid === undefined) throw new Error('tools/bench/naive-node/server.ts could not be started.')
  const worker: Worker = {
    origin: `http://127.0.0.1:${port}`,
    cpuMs: () => groupCpuMs(pid),
    ended: once(child, 'exit').then(([code]) => {
      running.delete(worker)
      return (code as number | null) ?? 1
    }),
    async stop() {
      child.kill()
      await worker.ended
    },
  }
  running.add(worker)
  await waitForHealth(worker)
  return worker
}
