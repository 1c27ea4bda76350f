// The service as a process: the process group of the Worker, noted in the data folder, so that a start after a crash of this program can end
// what the crash left behind.
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

/** What `service.json` in the data folder says while the service runs. */
export type RunningService = {
  /** Process that started the service and looks after it. */
  launcher: number
  /** Process group of the service itself. */
  group: number
  port: number
}

const noteFile = (dataFolder: string): string => join(dataFolder, 'service.json')

/** The service of this data folder, as the last start noted it. */
export function notedService(dataFolder: string): RunningService | undefined {
  const file = noteFile(dataFolder)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunningService) : undefined
}

/** Command line of a process; empty when there is none of that id. */
function commandOf(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
  } catch {
    return ''
  }
}

/**
 * Makes sure that no service runs on the data folder: ends one whose launcher is gone (after a crash), and
 * refuses when its launcher is alive. True when it ended one.
 */
export async function endStaleService(dataFolder: string): Promise<boolean> {
  const noted = notedService(dataFolder)
  if (!noted) return false
  if (commandOf(noted.launcher).includes('start.ts'))
    throw new Error(
      `Bindery runs on ${dataFolder} already: process ${noted.launcher}, http://localhost:${noted.port}. Stop it first, or set BINDERY_DATA to another folder.`,
    )
  // Ids of processes are used again: only what is ours by its command line is ended.
  const ours = commandOf(noted.group).includes(resolve(dataFolder))
  if (ours) await endGroup(noted.group)
  rmSync(noteFile(dataFolder), { force: true })
  return ours
}

/** Refuses a port that another program listens on. */
export function checkPort(port: number): Promise<void> {
  return new Promise((done, fail) => {
    const probe = createServer()
    probe.once('error', () =>
      fail(
        new Error(
          `Port ${port} is in use by another program. Stop that, or choose another port: PORT=${port + 1} npm start`,
        ),
      ),
    )
    probe.listen(port, '127.0.0.1', () => probe.close(() => done()))
  })
}

export type Service = {
  origin: string
  /** Resolves with the exit code when the service has ended, by itself or stopped. */
  ended: Promise<number>
  /** Ends the service in good order; after 10 s by force. */
  stop(): Promise<void>
}

/** Starts the service on the port, with the plugin runner; it answers some seconds later (`waitForHealth`). */
export async function startService(port: number, dataFolder: string, isWatched = false): Promise<Service> {
  const runner = await startPluginRunner(readSecrets().TOKEN_SECRET!)
  const child = spawnLocalWorker({
    config: CONFIG_FILE,
    port,
    dataFolder,
    isWatched,
    // A line for each request is shown to nobody here, and costs a tenth of the request.
    vars: {
      REQUEST_LOG: 'off',
      // No edge is in front of it, so that a client's word for its address is not believed; and links lead to this port.
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

/** Kills what is left of the group, and waits until nothing is: until then its port is not free. */
async function endGroup(group: number): Promise<void> {
  while (signalGroup(group, 'SIGKILL')) await sleep(20)
}

const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise(done => {
    child.once('error', () => done(1))
    child.once('exit', (code, signal) => done(code ?? (signal === 'SIGTERM' || signal === 'SIGINT' ? 0 : 1)))
  })

/** How long a service may take before it answers: on a machine that is busy with much else, minutes. */
const LONGEST_START_MS = 15 * 60_000
const SAY_EVERY_MS = 20_000

/** Waits until /health answers 200; an Error when the service ends before, or after a quarter of an hour. */
export async function waitForHealth(service: Service, say: (line: string) => void = () => {}): Promise<void> {
  let endedWith: number | undefined
  service.ended.then(code => {
    endedWith = code
  })
  let saidAt = 0
  for (const start = performance.now(); ; await sleep(100)) {
    if (endedWith !== undefined)
      throw new Error(`The service ended (exit code ${endedWith}) before it answered.`)
    const response = await fetch(`${service.origin}/health`, {
      signal: AbortSignal.timeout(SAY_EVERY_MS),
    }).catch(() => undefined)
    if (response?.ok) return
    const waited = performance.now() - start
    if (waited > LONGEST_START_MS)
      throw new Error(
        `${service.origin}/health did not answer 200 within ${LONGEST_START_MS / 60_000} minutes.`,
      )
    if (waited - saidAt < SAY_EVERY_MS) continue
    saidAt = waited
    say(`the service is still starting (${Math.round(waited / 1000)} seconds)`)
  }
}

/** Calls the scheduled handler, as cron does in production every minute; false when it failed. */
export async function callScheduled(service: Service): Promise<boolean> {
  const response = await fetch(`${service.origin}/cdn-cgi/local/scheduled`).catch(() => undefined)
  return response?.ok ?? false
}
