// `npm run faults -- [--runs N] [--seed S]`: runs seeded journeys while everything that can fail does, and writes the fault table
// in docs/measured.md (docs/faults.md says what is injected and what is proved).
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { Figures } from '../test/faults/figures.ts'
import { FAULT_KINDS, FAULTS } from '../test/faults/kinds.ts'
import { databasesOf, type Plan, planOf } from '../test/faults/writers.ts'
import { measuredAt, writeSection } from './measured.ts'

const USAGE = 'npm run faults -- [--runs N] [--seed S] [--kills N] [--workers N]'

/** Runs of one process, and databases of their tenants. A process has a pool of 64 databases, one of which the checker needs. */
const MOST_RUNS = 20
const MOST_DATABASES = 60
/** Runs of one process whose service is killed. Their tenants exist at the same time. */
const MOST_KILLED = 20
/** Unless `--kills` is given, one run in this many has its service killed as a process. Each of these takes minutes. */
const RUNS_A_KILLED_ONE = 25

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
    kills: { type: 'string' },
    workers: { type: 'string', default: '3' },
  },
})
const counts = [values.runs, values.seed, values.workers, `1${values.kills ?? ''}`]
if (!counts.every(text => /^[1-9]\d{0,8}$/.test(text)) || Number(values.kills ?? 0) > Number(values.runs)) {
  console.error(`faults: usage: ${USAGE}`)
  process.exit(2)
}
const runs = Number(values.runs)
const first = Number(values.seed)
const killed = Number(values.kills ?? Math.floor(runs / RUNS_A_KILLED_ONE))

type Part = { readonly project: string; readonly file: string; readonly runs: number; readonly seed: number }

const parts: Part[] = []
for (let at = 0; at < runs - killed; ) {
  const plans: Plan[] = []
  while (at < runs - killed && plans.length < MOST_RUNS) {
    const plan = planOf(first + at)
    if (databasesOf([...plans, plan]) > MOST_DATABASES) break
    plans.push(plan)
    at += 1
  }
  parts.push({
    project: 'service',
    file: 'test/faults/faults.long.service.test.ts',
    runs: plans.length,
    seed: plans[0]!.seed,
  })
}
const killedParts: Part[] = []
for (let at = 0; at < killed; at += MOST_KILLED)
  killedParts.push({
    project: 'process',
    file: 'test/faults/kills.process.test.ts',
    runs: Math.min(MOST_KILLED, killed - at),
    seed: first + runs - killed + at,
  })
// First, because each takes minutes, most of them waiting.
parts.unshift(...killedParts)

/** A line that a run printed. */
const FIGURES = /^faults: (\{.*\})$/

const figures: Figures[] = []

/** Carries out the part. Resolves to whether all of it held. Shows its output if it did not. */
function carryOut({ project, file, runs, seed }: Part): Promise<boolean> {
  return new Promise(resolve => {
    const env = {
      ...process.env,
      NO_COLOR: '1',
      BINDERY_FAULTS_RUNS: String(runs),
      BINDERY_FAULTS_SEED: String(seed),
    }
    const child = spawn('vitest', ['run', '--project', project, file], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    })
    const lines: string[] = []
    let reportedRuns = 0
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on('line', line => {
        lines.push(line)
        const json = FIGURES.exec(line)?.[1]
        if (json === undefined) return
        const one = JSON.parse(json) as Figures
        figures.push(one)
        reportedRuns += 1
        console.log(`seed ${one.seed}: ${one.acknowledged} acknowledged, ${one.violations} violations`)
      })
    child.on('close', code => {
      if (code !== 0) console.log(lines.join('\n'))
      resolve(code === 0 && reportedRuns === runs)
    })
  })
}

const begun = performance.now()
const waiting = parts.values()
let passed = true
await Promise.all(
  Array.from({ length: Number(values.workers) }, async () => {
    for (const part of waiting) passed = (await carryOut(part)) && passed
  }),
)

const sum = (of: (one: Figures) => number): number => figures.reduce((total, one) => total + of(one), 0)

/** Sums the counts of all runs. */
function total(of: (one: Figures) => Readonly<Partial<Record<string, number>>>): Map<string, number> {
  const totals = new Map<string, number>()
  for (const one of figures)
    for (const [name, count] of Object.entries(of(one))) totals.set(name, (totals.get(name) ?? 0) + count!)
  return totals
}

const injected = total(one => one.faults)
const runsWith = (kind: (typeof FAULT_KINDS)[number]): number =>
  figures.filter(figure => (figure.faults[kind] ?? 0) > 0).length
const done = total(one => one.kinds)
/** Returns the number of runs whose tenant had such a number of databases in the end. */
const ran = (on: (shards: number) => boolean): string =>
  said(figures.filter(({ shards: [, to] }) => on(to)).length)
const said = (count: number | undefined): string => (count ?? 0).toLocaleString('en')

const table = `## Faults

Written by \`npm run faults -- --runs ${runs} --seed ${first}\`; do not edit. [faults.md](faults.md) describes the injected faults and the
checks. ${measuredAt()} ${Math.round((performance.now() - begun) / 60_000)} minutes.

| fault | injected | in runs |
| ----- | -------- | ------- |
${FAULT_KINDS.map(kind => `| ${FAULTS[kind]} | ${said(injected.get(kind))} | ${said(runsWith(kind))} |`).join('\n')}

| result | count |
| --------------- | ----- |
| runs | ${said(figures.length)} |
| transactions acknowledged | ${said(sum(one => one.acknowledged))} |
| transactions rejected | ${said(sum(one => one.refused))} |
| transactions never acknowledged | ${said(sum(one => one.unknown))} |
| of these: completely stored | ${said(sum(one => one.done))} |
| of these: completely absent | ${said(sum(one => one.unknown - one.done))} |
| accounts migrated in the meantime | ${said(sum(one => one.migrated))} |
| runs on one database / on two to seven / on eight or nine | ${ran(one => one === 1)} / ${ran(one => one > 1 && one < 8)} / ${ran(one => one >= 8)} |
| events, each delivered | ${said(sum(one => one.events))} |
| deliveries repeated | ${said(sum(one => one.repeats))} |
| **violations** | **${said(sum(one => one.violations))}** |

Acknowledged, by kind: ${[...done]
  .filter(([name]) => !name.startsWith('= '))
  .sort(([, a], [, b]) => b - a)
  .map(([name, count]) => `${name} ${said(count)}`)
  .join(', ')}. In the databases at the end: ${[...done]
  .filter(([name]) => name.startsWith('= '))
  .map(([name, count]) => `${said(count)} × ${name.slice(2)}`)
  .join(', ')}.
`

if (passed) writeSection('faults', table)
console.log(passed ? table : 'faults: there were violations; docs/measured.md was not changed')
process.exit(passed ? 0 : 1)
