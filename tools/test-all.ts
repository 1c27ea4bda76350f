// `npm run test:all [-- --json FILE]`: all tests, with as many runs as `.ci/run` makes. Process tests wait for services that start and for
// clocks, so they run beside the others, which take what is left of the processors. What they print is shown when they are done. FILE
// gets the results of both, as of vitest's JSON reporter. Ends with 1 where a test failed.
import { type ChildProcess, spawn } from 'node:child_process'
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { finished, pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'

/** Of vitest's JSON reporter, as far as the gate reads it. */
type Results = {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly unknown[]
}

const VITEST = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')

const { values } = parseArgs({ options: { json: { type: 'string' } } })
const folder = mkdtempSync(join(tmpdir(), 'bindery-test-all-'))
const jsonOf = (part: string): string => join(folder, `${part}.json`)
const running = new Set<ChildProcess>()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    for (const one of running) one.kill(signal)
  })

/** Runs vitest with these arguments; whether all passed. */
async function runPart(part: string, words: readonly string[], isShownLater = false): Promise<boolean> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${jsonOf(part)}`]
  const printed = join(folder, `${part}.txt`)
  const child = spawn(process.execPath, [VITEST, 'run', ...words, ...reporters], {
    env: { ...process.env, BINDERY_SIZES: 'usual' },
    stdio: ['ignore', isShownLater ? 'pipe' : 'inherit', isShownLater ? 'pipe' : 'inherit'],
  })
  running.add(child)
  const over = new Promise<boolean>(resolve => child.once('close', code => resolve(code === 0)))
  if (isShownLater) {
    const file = createWriteStream(printed)
    child.stdout!.pipe(file, { end: false })
    child.stderr!.pipe(file, { end: false })
    await over
    file.end()
    await finished(file)
    await pipeline(createReadStream(printed), process.stdout, { end: false })
  }
  const hasPassed = await over
  running.delete(child)
  return hasPassed
}

/** None of a run that broke off: its outcome says so. */
function resultsOf(part: string): Results {
  try {
    return JSON.parse(readFileSync(jsonOf(part), 'utf8')) as Results
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, testResults: [] }
  }
}

try {
  const passed = await Promise.all([
    runPart('process', ['--project', 'process', '--maxWorkers=2'], true),
    runPart('others', ['--project', 'domain', '--project', 'service']),
  ])
  if (values.json !== undefined) {
    const results = [resultsOf('others'), resultsOf('process')]
    const sum = (of: (one: Results) => number): number => results.reduce((total, one) => total + of(one), 0)
    const all: Results = {
      numPassedTests: sum(one => one.numPassedTests),
      numFailedTests: sum(one => one.numFailedTests),
      testResults: results.flatMap(one => one.testResults),
    }
    writeFileSync(values.json, JSON.stringify(all))
  }
  process.exitCode = passed.every(Boolean) ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
