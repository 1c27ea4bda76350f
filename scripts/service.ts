// The service as a process. Its process group is noted in the data folder, so that a start after a crash of this program can end
// the processes that the crash left behind.
import { type ChildProcess, execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { signalGroup, spawnLocalWorker } from './local-worker.ts'
import { startPluginRunner } from './plugin-runner.ts'
import { replaceFile } from './replace-file.ts'
import { readSecrets } from './settings.ts'
import { CONFIG_FILE } from './write-config.ts'

/** The content of `service.json` in the data folder while the service runs. */
export type RunningService = {
  /** The process that started the service and supervises it. */
  launcher: number
  /** The process group of the service. */
  group: number
  port: number
}

const noteFile = (dataFolder: string): string => join(dataFolder, 'service.json')

/** Returns the service of this data folder, as the last start noted it. */
export function notedService(dataFolder: string): RunningService | undefined {
  const file = noteFile(dataFolder)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunningService) : undefined
}

/** Returns the command line of a process. Empty if there is no process of that id. */
function commandOf(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
  } catch {
    return ''
  }
}

/**
 * Makes sure that no service runs on the data folder. Ends a service whose launcher is gone (after a crash), and throws if its
 * launcher is alive. Resolves to true if it ended a service.
 */
export async function endStaleService(dataFolder: string): Promise<boolean> {
  const noted = notedService(dataFolder)
  if (!noted) return false
  if (commandOf(noted.launcher).includes('start.ts'))
    throw new Error(
      `Bindery is already running on ${dataFolder}: process ${noted.launcher}, http://localhost:${noted.port}. Stop it first, or set BINDERY_DATA to another folder.`,
    )
  // Process ids are reused, so a process is only ended if its command line shows that it is ours.
  const ours = commandOf(noted.group).includes(resolve(dataFolder))
  if (ours) await endGroup(noted.group)
  rmSync(noteFile(dataFolder), { force: true })
  return ours
}

/** Rejects a port on which another program listens. */
export function checkPort(port: number): Promise<void> {
  return new Promise((done, fail) => {
    const probe = createServer()
    probe.once('error', () =>
      fail(
        new Error(
          `Port ${port} is in use by another program. Stop that program, or choose another port: PORT=${port + 1} npm start`,
        ),
      ),
    )
    probe.listen(port, '127.0.0.1', () => probe.close(() => done()))
  })
}

export type Service = {
  origin: string
  /** Resolves to the exit code when the service has ended, by itself or because it was stopped. */
  ended: Promise<number>
  /** Ends the service in an orderly way or, after 10 s, by force. */
  stop(): Promise<void>
}

/** Starts the service on the port, with the plugin runner. It responds some seconds later (`waitForHealth`). */
export async function startService(port: number, dataFolder: string, isWatched = false): Promise<Service> {
  const runner = await startPluginRunner(readSecrets().TOKEN_SECRET!)
  const child = spawnLocalWorker({
    config: CONFIG_FILE,
    port,
    dataFolder,
    isWatched,
    // Request logs would only add lines that nobody reads, and take a tenth of the time of each request.
    vars: {
      REQUEST_LOG: 'off',
      // No edge is in front of the service, so it does not trust addresses that clients claim. Links lead to this port.
      TRUSTED_PROXIES: process.env.TRUSTED_PROXIES ?? '',
      PUBLIC_ORIGIN: process.env.PUBLIC_ORIGIN ?? `http://localhost:${port}`,
      ...runner.vars,
    },
  })
  const group = child.pid
  const note: RunningService = { launcher: process.pid, group, port }
  replaceFile(noteFile(dataFolder), JSON.stringify(note))
  const ended = exitOf(child).then(async code => {
    await endGroup(group)
    await runner.stop()
    rmSync(noteFile(dataFolder), { force: true })
    return code
  })
  return {
    origin: `http://localhost:${port}`,
    ended,
    async stop() {
      signalGroup(group, 'SIGTERM')
      const forced = setTimeout(() => signalGroup(group, 'SIGKILL'), 10_000)
      await ended
      clearTimeout(forced)
    },
  }
}

/** Kills the rest of the group and waits until no process is left, because its port is not free until then. */
async function endGroup(group: number): Promise<void> {
  while (signalGroup(group, 'SIGKILL')) await sleep(20)
}

const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise(done => {
    child.once('error', () => done(1))
    child.once('exit', (code, signal) => done(code ?? (signal === 'SIGTERM' || signal === 'SIGINT' ? 0 : 1)))
  })

/** How long a service may take until it responds: minutes on a very busy machine. */
const LONGEST_START_MS = 15 * 60_000
const SAY_EVERY_MS = 20_000

/** Waits until /health responds with 200. Throws if the service ends before that, or after a quarter of an hour. */
export async function waitForHealth(service: Service, say: (line: string) => void = () => {}): Promise<void> {
  let endedWith: number | undefined
  service.ended.then(code => {
    endedWith = code
  })
  let saidAt = 0
  for (const start = performance.now(); ; await sleep(100)) {
    if (endedWith !== undefined)
      throw new Error(`The service exited (code ${endedWith}) before it responded.`)
    const response = await fetch(`${service.origin}/health`, {
      signal: AbortSignal.timeout(SAY_EVERY_MS),
    }).catch(() => undefined)
    if (response?.ok) return
    const waited = performance.now() - start
    if (waited > LONGEST_START_MS)
      throw new Error(
        `${service.origin}/health did not respond with 200 within ${LONGEST_START_MS / 60_000} minutes.`,
      )
    if (waited - saidAt < SAY_EVERY_MS) continue
    saidAt = waited
    say(`the service is still starting (${Math.round(waited / 1000)} seconds)`)
  }
}

/** Calls the scheduled handler, as cron does every minute in production. Resolves to false if it failed. */
export async function callScheduled(service: Service): Promise<boolean> {
  const response = await fetch(`${service.origin}/cdn-cgi/local/scheduled`).catch(() => undefined)
  return response?.ok ?? false
}
