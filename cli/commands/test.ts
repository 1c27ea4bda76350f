import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { countText } from '../../src/kernel/text.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import { EXIT, type ExitCode, Failure, usage } from '../exit.ts'
import { fileProblem } from '../file-problem.ts'
import { countsOf, countsText, findingsText, shownFindings } from '../findings.ts'
import { assertFolder, folderState, scenarioFiles } from '../folder.ts'
import { checkFolder } from '../offline/check.ts'
import { worldOf } from '../offline/world.ts'
import { Coverage } from '../scenario/coverage/coverage.ts'
import { coverageJson, coverageText } from '../scenario/coverage/report.ts'
import { policyReaderFor, readScenarioFiles, scenarioFilter } from '../scenario/files.ts'
import type { ScenarioFile } from '../scenario/format.ts'
import { failureLine, junitXml } from '../scenario/junit.ts'
import { countsLine, countsOfRuns, type Ran, ranText } from '../scenario/report.ts'
import { runScenario, type ScenarioResult } from '../scenario/run.ts'
import { updatedText } from '../scenario/update.ts'
import { pause, type Run, say, show, yieldToSignals } from '../terminal.ts'

export type TestOptions = {
  filter?: string
  update?: boolean
  watch?: boolean
  junit?: string
  /** True prints only the table. A text is also the name of the file to write. */
  coverage?: boolean | string
}

/** `bindery test DIR [FILES]`: runs scenarios with the configuration, without a service. */
export async function test(
  folder: string,
  files: readonly string[],
  options: TestOptions,
  run: Run,
): Promise<ExitCode> {
  assertFolder(folder)
  if (!options.watch) return await testOnce(folder, files, options, run)
  if (options.update) throw usage('--update cannot be combined with --watch.')
  return await testAtEveryChange(folder, files, options, run)
}

async function testOnce(
  folder: string,
  named: readonly string[],
  options: TestOptions,
  run: Run,
): Promise<ExitCode> {
  const began = performance.now()
  const files = readScenarioFiles(folder, named)
  const { configuration, findings, root } = await checkFolder(folder)
  if (!configuration) {
    const shown = shownFindings(findings, root)
    const error = `The configuration has mistakes: ${countsText(findings)}.`
    show(run, { ok: false, error, ...countsOf(findings), findings: shown }, () => '')
    say(run, `${findingsText(shown, run.terminal)}\n`)
    if (run.json) return EXIT.refused
    throw new Failure(EXIT.refused, error)
  }
  const coverage = options.coverage === undefined ? undefined : new Coverage(configuration)
  const runs = await runAll(
    files,
    coverage?.instrumented ?? configuration,
    root,
    { ...options, watched: coverage },
    run,
  )
  if (run.terminal.interrupted.aborted) throw new Failure(EXIT.interrupted, 'Interrupted.')
  const counts = countsOfRuns(runs)
  if (counts.passed + counts.failed === 0)
    throw usage(`No scenario has '${options.filter}' in its name or the name of its file.`)
  if (options.junit !== undefined) writeTo(options.junit, junitXml(runs))
  const { colors } = run.terminal
  const report = coverage?.report()
  if (report && typeof options.coverage === 'string')
    writeTo(options.coverage, `${JSON.stringify(coverageJson(report), null, 2)}\n`)
  const shown = {
    ok: counts.failed === 0,
    ...counts,
    files: runs.map(shownRun),
    ...(report && { coverage: coverageJson(report) }),
  }
  const line = countsLine(counts, performance.now() - began, colors)
  show(run, shown, () => line + (report ? coverageText(report, colors) : ''))
  return counts.failed === 0 ? EXIT.ok : EXIT.refused
}

/** Prints each file when it is done. */
async function runAll(
  files: readonly ScenarioFile[],
  configuration: Configuration,
  root: string,
  options: TestOptions & { watched: Coverage | undefined },
  run: Run,
): Promise<Ran[]> {
  const plain = worldOf(configuration, root)
  const world = options.watched?.watching(plain) ?? plain
  const isWanted = scenarioFilter(options.filter)
  const runs: Ran[] = []
  for (const file of files) {
    if (run.terminal.interrupted.aborted) break
    const results: ScenarioResult[] = []
    const policyIn = policyReaderFor(file.file)
    for (const scenario of file.scenarios) {
      if (!isWanted(file.file, scenario)) continue
      results.push(await runScenario(scenario, { ...world, policyIn }))
      await yieldToSignals()
      if (run.terminal.interrupted.aborted) break
    }
    const ran: Ran = { file, results }
    runs.push(ran)
    if (!run.json) run.terminal.out(ranText(ran, run.terminal.colors))
    if (options.update) update(ran, run)
  }
  return runs
}

function update({ file, results }: Ran, run: Run): void {
  const mismatches = results
    .flatMap(result => result.steps)
    .flatMap(one => one.failures)
    .filter(one => one.kind === 'mismatch')
  const { text, written } = updatedText(file, mismatches)
  if (written > 0) writeFileSync(file.file, text)
  const left = mismatches.length - written
  if (mismatches.length > 0)
    say(
      run,
      `${run.terminal.colors.yellow(`${file.file}: ${countText(written, 'value')} written`)}${left > 0 ? `, ${left} left for you to change: expectations about the contents of documents, or that a step is refused` : ''}\n`,
    )
}

const shownRun = ({ file, results }: Ran) => ({
  file: file.file,
  problems: file.problems,
  scenarios: results.map(({ scenario, passed, steps, skipped, notes, ms }) => ({
    name: scenario.name,
    passed,
    skipped,
    notes,
    ms: Math.round(ms),
    failures: steps.flatMap(step =>
      step.failures.map(failure => ({
        step: step.does,
        at: step.at,
        ...file.placeOf(failure.path),
        ...failure,
        path: failure.path.map(String),
        text: failureLine(file, step, failure),
      })),
    ),
  })),
})

function writeTo(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (problem) {
    throw usage(`'${file}' cannot be written: ${fileProblem(problem)}.`)
  }
}

const QUIET_MS = 150
const LOOK_EVERY_MS = 250

/** Returns a text that changes with the configuration and with scenarios, wherever they are. */
const stateOf = (folder: string, files: readonly string[]): string =>
  [...new Set([folder, ...[...files, ...scenariosOf(folder)].map(file => dirname(file))])]
    .map(folderState)
    .join('\n')

function scenariosOf(folder: string): string[] {
  try {
    return scenarioFiles(folder)
  } catch {
    // The folder was removed at this moment.
    return []
  }
}

async function testAtEveryChange(
  folder: string,
  files: readonly string[],
  options: TestOptions,
  run: Run,
): Promise<ExitCode> {
  const { terminal } = run
  let tested: string | undefined
  while (!terminal.interrupted.aborted) {
    const state = stateOf(folder, files)
    if (state === tested) {
      await pause(LOOK_EVERY_MS, terminal)
      continue
    }
    if (tested !== undefined) {
      await pause(QUIET_MS, terminal)
      if (stateOf(folder, files) !== state) continue
    }
    tested = state
    try {
      await testOnce(folder, files, options, run)
    } catch (problem) {
      if (terminal.interrupted.aborted) break
      // A failure that the next change may correct does not end the watch.
      if (!(problem instanceof Failure)) throw problem
      show(run, { ok: false, error: problem.message }, () => '')
      say(run, `${terminal.colors.red('error')}  ${problem.message}\n`)
    }
    say(run, terminal.colors.dim(`Watching ${folder}. Press Ctrl-C to stop.\n`))
  }
  return EXIT.ok
}
