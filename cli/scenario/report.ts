// Prints the results of scenarios: each failure with its place, the expected and the actual value.
import type { Colors } from 'picocolors/types'
import { countText } from '../../src/kernel/text.ts'
import { pathText } from '../../src/platform/wire-problem.ts'
import type { Mismatch } from './compare.ts'
import type { Path, ScenarioFile } from './format.ts'
import type { ScenarioResult, StepFailure, StepResult } from './run.ts'

export type Ran = { readonly file: ScenarioFile; readonly results: readonly ScenarioResult[] }

/** Longer values are truncated: the file contains the expected one, and `--update` writes the other. */
const LONGEST_SHOWN = 2_000

export function ranText({ file, results }: Ran, colors: Colors): string {
  const problems = file.problems.map(
    ({ line, column, message }) =>
      `${colors.red('✗')} ${colors.bold(`${file.file}:${line}:${column}`)}\n    ${message}\n`,
  )
  return [...problems, ...results.map(one => scenarioText(file, one, colors))].join('')
}

function scenarioText(file: ScenarioFile, result: ScenarioResult, colors: Colors): string {
  const { scenario, passed, steps, skipped, notes } = result
  const mark = passed ? colors.green('✓') : colors.red('✗')
  const head = `${mark} ${scenario.name} ${colors.dim(`${file.file}, ${countText(steps.length, 'step')}`)}\n`
  const noted = notes.map(note => `    ${colors.yellow('note')}  ${note}\n`).join('')
  if (passed) return head + noted
  const failed = steps.map((step, at) => stepText(file, step, at, colors)).join('')
  const rest = skipped === 0 ? '' : colors.dim(`    ${countText(skipped, 'step')} after that not executed\n`)
  return head + noted + failed + rest
}

function stepText(file: ScenarioFile, step: StepResult, at: number, colors: Colors): string {
  if (step.failures.length === 0) return ''
  const name = at === 0 ? 'the new policy' : `step ${at}, ${step.does}`
  const shown = step.failures.map(failure => failureText(file, step, failure, colors)).join('')
  return `    ${colors.bold(name)}${step.at === undefined ? '' : ` ${colors.dim(`at ${step.at}`)}`}\n${shown}`
}

function failureText(file: ScenarioFile, step: StepResult, failure: StepFailure, colors: Colors): string {
  const { line, column } = file.placeOf(failure.path)
  const place = colors.dim(`${file.file}:${line}:${column}`)
  if (failure.kind === 'refused')
    return `      ${place}\n      ${colors.red(`refused, ${failure.code}`)}: ${failure.message}\n`
  if (failure.kind === 'mistake') return `      ${place}\n      ${colors.red(failure.message)}\n`
  return `      ${place}\n${mismatchText(step, failure, colors)}`
}

function mismatchText(step: StepResult, mismatch: Mismatch, colors: Colors): string {
  const { path, expected, got, note, isUnwritten } = mismatch
  const name = nameOf(path, step.path)
  const because = note === undefined ? '' : colors.dim(` (${note})`)
  const got_ = indented(got === undefined ? 'nothing' : valueText(got))
  if (isUnwritten)
    return `      ${name}: ${colors.yellow('no value is written yet')}; --update fills it in\n        ${colors.green(`got       ${got_}`)}\n`
  return [
    `      ${name}${because}\n`,
    `        ${colors.red(`expected  ${indented(valueText(expected))}`)}\n`,
    `        ${colors.green(`got       ${got_}`)}\n`,
  ].join('')
}

/** Returns the part of the path below `expect`. */
export function nameOf(path: Path, step: Path): string {
  const own = path.slice(step.length).filter((one, at) => at > 0 || (one !== 'expect' && one !== 'expected'))
  const at = path.findLastIndex(one => one === 'expect' || one === 'expected')
  return pathText(at >= 0 ? path.slice(at + 1) : own) || 'expect'
}

export function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}… (${text.length} characters)` : text
}

const indented = (text: string): string => text.replaceAll('\n', `\n${' '.repeat(18)}`)

export type Counts = {
  readonly passed: number
  readonly failed: number
  readonly steps: number
  readonly compared: number
}

export const countsOfRuns = (runs: readonly Ran[]): Counts => {
  const results = runs.flatMap(run => run.results)
  const steps = results.flatMap(one => one.steps)
  const unread = runs.filter(run => run.file.problems.length > 0).length
  const passed = results.filter(one => one.passed).length
  return {
    passed,
    failed: results.length - passed + unread,
    steps: steps.length,
    compared: steps.reduce((sum, one) => sum + one.compared, 0),
  }
}

export function countsLine({ passed, failed, steps, compared }: Counts, ms: number, colors: Colors): string {
  const words = [
    ...(failed > 0 ? [colors.red(`${failed} failed`)] : []),
    ...(passed > 0 || failed === 0 ? [colors.green(`${passed} passed`)] : []),
  ]
  return `${words.join(', ')} ${colors.dim(`(${countText(steps, 'step')}, ${countText(compared, 'value')} compared, ${(ms / 1_000).toFixed(2)} s)`)}\n`
}
