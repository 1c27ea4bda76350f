// Starts the plugin runner as a process next to the service, and restarts it whenever it ends. It is a separate process group, so
// that no part of it is left behind.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunnerStart } from '../runner/server.ts'
import { runnerSecret } from '../src/extension/plugins/runners/runner-protocol.ts'
import { signalGroup } from './local-worker.ts'

const MAIN = 'runner/main.bundle.mjs'

/** The wait before a restart. It doubles each time the runner ends immediately, up to the longest wait. */
const SHORTEST_WAIT_MS = 50
const LONGEST_WAIT_MS = 5_000

/** A runner that has run for this long did not end immediately. */
const SETTLED_MS = 10_000

export type PluginRunnerProcess = {
  /** Variables for the Worker that calls the runner. Neither is secret. */
  readonly vars: { readonly PLUGIN_RUNNER_ADDRESS: string; readonly PLUGIN_RUNNER_START: string }
  readonly port: number
  /** The process that listens now. Undefined between two of them. */
  pid(): number | undefined
  stop(): Promise<void>
}

type Settings = Pick<RunnerStart, 'longestMs' | 'lanes'>

/**
 * Starts the runner and resolves when it listens. `tokenSecret` is the service's own secret, from which both sides derive the
 * secret of the runner. `main` is the built runner, whose cell is a file next to it.
 */
export async function startPluginRunner(
  tokenSecret: string,
  settings: Settings = {},
  main = MAIN,
): Promise<PluginRunnerProcess> {
  const start = randomUUID()
  const secret = await runnerSecret(tokenSecret, start)
  let isStopped = false
  let child: ChildProcess | undefined
  let wait = SHORTEST_WAIT_MS

  /** Starts the process on the port, or on any port for 0. Resolves to its port. */
  const begin = (port: number): Promise<number> =>
    new Promise((listens, fails) => {
      const began = performance.now()
      const started = spawn(process.execPath, [resolve(main)], {
        // Passes no environment, which contains credentials of the service and of the user who started it.
        env: {} as NodeJS.ProcessEnv,
        detached: true,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      child = started
      started.stdin.on('error', () => undefined)
      started.stdin.write(`${JSON.stringify({ ...settings, secret, port } satisfies RunnerStart)}\n`)
      let listening: number | undefined
      createInterface({ input: started.stdout }).once('line', line => {
        listening = (JSON.parse(line) as { port: number }).port
        listens(listening)
      })
      started.once('error', fails)
      started.once('exit', async (code, signal) => {
        if (started.pid !== undefined) signalGroup(started.pid, 'SIGKILL')
        child = undefined
        if (listening === undefined && port === 0)
          return fails(new Error(`The plugin runner did not start (${code ?? signal}). See the log above.`))
        if (isStopped) return
        wait = performance.now() - began > SETTLED_MS ? SHORTEST_WAIT_MS : Math.min(wait * 2, LONGEST_WAIT_MS)
        await sleep(wait)
        if (!isStopped) begin(port === 0 ? listening! : port).catch(() => undefined)
      })
    })

  const port = await begin(0)
  return {
    vars: { PLUGIN_RUNNER_ADDRESS: `http://127.0.0.1:${port}`, PLUGIN_RUNNER_START: start },
    port,
    pid: () => child?.pid,
    async stop() {
      isStopped = true
      const last = child
      if (!last?.pid) return
      const ended = new Promise(done => last.once('exit', done))
      last.stdin?.end()
      const forced = setTimeout(() => signalGroup(last.pid!, 'SIGKILL'), 2_000)
      await ended
      clearTimeout(forced)
    },
  }
}
