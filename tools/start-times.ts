// `npm run start-times [-- --record]`: measures how long `npm start` takes on this machine, the first time in a fresh clone after
// `npm ci`, and later with its data, and how much memory its processes then use. With --record, writes it to docs/measured.md.
// Only Linux reports shared memory.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../scripts/free-port.ts'
import { KEPT_IN } from '../scripts/source-key.ts'
import { listedProcesses } from './bench/cpu.ts'
import { measuredAt, writeSection } from './measured.ts'

/** After this time, a started process no longer changes. */
const SETTLED_MS = 10_000
const LATER_STARTS = 3

type Started = {
  readonly seconds: number
  readonly megabytes: number
  readonly shared: number
  readonly processes: number
}

/**
 * Returns figures of a process in megabytes: all mapped memory, and the same with shared memory divided among the processes that
 * share it.
 */
function memoryOf(pid: number): { rss: number; pss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const figure = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1_024
  return { rss: figure('Rss'), pss: figure('Pss') }
}

function descendants(of: number): number[] {
  const all = listedProcesses()
  const found = [of]
  for (const pid of found) found.push(...all.filter(({ parent }) => parent === pid).map(child => child.pid))
  return found
}

async function end(child: ChildProcess): Promise<void> {
  process.kill(-child.pid!, 'SIGINT')
  await once(child, 'exit')
}

async function startOnce(dataFolder: string): Promise<Started> {
  const began = performance.now()
  const child = spawn('npm', ['start'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: String(await freePort()), BINDERY_DATA: dataFolder },
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  while (!text.includes('Bindery answers on')) {
    if (child.exitCode !== null) throw new Error(`The service did not start:\n${text}`)
    await sleep(20)
  }
  const seconds = (performance.now() - began) / 1_000
  await sleep(SETTLED_MS)
  const processes = descendants(child.pid!).map(memoryOf)
  await end(child)
  const total = (key: 'rss' | 'pss'): number => processes.reduce((sum, one) => sum + one[key], 0)
  return { seconds, megabytes: total('rss'), shared: total('pss'), processes: processes.length }
}

const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } })
const folder = mkdtempSync(join(tmpdir(), 'bindery-start-'))
try {
  // Removes all builds, as after `npm ci`.
  rmSync(KEPT_IN, { recursive: true, force: true })
  const started = [await startOnce(folder)]
  for (let nth = 0; nth < LATER_STARTS; nth += 1) started.push(await startOnce(folder))
  const rows = started.map(
    ({ seconds, megabytes, shared, processes }, nth) =>
      `| ${nth === 0 ? 'first, with all builds' : 'later'} | ${seconds.toFixed(1)} | ${processes} | ${shared.toFixed(0)} | ${megabytes.toFixed(0)} |`,
  )
  const markdown = `## Start

\`npm run start-times -- --record\`. ${measuredAt()}

The time from \`npm start\` to the message that the service answers, and the memory of its processes ten seconds later. Memory that processes share, such as program code, counts once in the first
figure, and once for each process in the second.

| start | seconds | processes | megabytes | sum over processes |
| --- | ---: | ---: | ---: | ---: |
${rows.join('\n')}`
  console.log(markdown)
  if (values.record) writeSection('start', markdown)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
