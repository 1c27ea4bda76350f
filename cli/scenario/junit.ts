// Results as JUnit XML, which build servers read: a suite for each file, a case for each scenario.

import type { ScenarioFile } from './format.ts'
import { nameOf, type Ran, valueText } from './report.ts'
import type { ScenarioResult, StepFailure, StepResult } from './run.ts'

export function junitXml(runs: readonly Ran[]): string {
  const suites = runs.map(({ file, results }) => {
    const problems = file.problems.map(({ line, column, message }) =>
      caseXml(file.file, 'the file', 0, [`${file.file}:${line}:${column}: ${message}`]),
    )
    const cases = results.map(result =>
      caseXml(file.file, result.scenario.name, result.ms, failuresOf(file, result), result.notes),
    )
    const failed = problems.length + results.filter(result => !result.passed).length
    return `  <testsuite name=${quoted(file.file)} tests="${problems.length + cases.length}" failures="${failed}" errors="0" skipped="0" time="${seconds(timeOf(results))}">
${[...problems, ...cases].join('')}  </testsuite>
`
  })
  const all = runs.flatMap(run => run.results)
  const unread = runs.reduce((sum, one) => sum + one.file.problems.length, 0)
  const failed = all.filter(one => !one.passed).length + unread
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bindery test" tests="${all.length + unread}" failures="${failed}" errors="0" time="${seconds(timeOf(all))}">
${suites.join('')}</testsuites>
`
}

const timeOf = (results: readonly ScenarioResult[]): number => results.reduce((sum, one) => sum + one.ms, 0)

const seconds = (ms: number): string => (ms / 1_000).toFixed(3)

function caseXml(
  file: string,
  name: string,
  ms: number,
  failures: readonly string[],
  notes: readonly string[] = [],
): string {
  const head = `    <testcase classname=${quoted(file)} name=${quoted(name)} time="${seconds(ms)}"`
  if (failures.length === 0 && notes.length === 0) return `${head}/>\n`
  const failed =
    failures.length === 0
      ? ''
      : `      <failure message=${quoted(failures[0]!.split('\n')[0]!)}>${escapeXml(failures.join('\n\n'))}</failure>\n`
  const noted = notes.length === 0 ? '' : `      <system-out>${escapeXml(notes.join('\n'))}</system-out>\n`
  return `${head}>\n${failed}${noted}    </testcase>\n`
}

const failuresOf = (file: ScenarioFile, { steps }: ScenarioResult): string[] =>
  steps.flatMap(step => step.failures.map(failure => failureLine(file, step, failure)))

export function failureLine(file: ScenarioFile, step: StepResult, failure: StepFailure): string {
  const { line, column } = file.placeOf(failure.path)
  const place = `${file.file}:${line}:${column}`
  if (failure.kind === 'refused')
    return `${place}: ${step.does} was refused, ${failure.code}: ${failure.message}`
  if (failure.kind === 'mistake') return `${place}: ${failure.message}`
  const got = failure.got === undefined ? 'nothing' : valueText(failure.got)
  const note = failure.note === undefined ? '' : ` (${failure.note})`
  return `${place}: ${step.does}: ${nameOf(failure.path, step.path)}${note}\nexpected  ${valueText(failure.expected)}\ngot       ${got}`
}

/** Omits characters that XML does not permit. */
const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot have.
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')

const quoted = (text: string): string =>
  `"${escapeXml(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;')}"`
