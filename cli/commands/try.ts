import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { countText } from '../../src/kernel/text.ts'
import { type Instant, now as realTime, startOfDay } from '../../src/kernel/time.ts'
import type { Configuration, ProductDefinition } from '../../src/product/configuration.ts'
import { EXIT, type ExitCode, Failure, usage } from '../exit.ts'
import { fileProblem } from '../file-problem.ts'
import { countsOf, countsText, findingsText, shownFindings } from '../findings.ts'
import { makeFolder } from '../make-folder.ts'
import { checkFolder } from '../offline/check.ts'
import { readPolicyFile } from '../offline/policy-file.ts'
import { readTime, TIME_FORMS } from '../scenario/times.ts'
import { listNames, type Run, say, show, type Terminal } from '../terminal.ts'
import type { Base, MadeCase } from '../trial/policies.ts'
import { type Problem, type ProblemKind, type TrialReport, tryProduct } from '../trial/trial.ts'

export type TryOptions = {
  count?: string
  seed?: string
  product?: string
  at?: string
  base?: string
  keep?: string
}

/** About a day of work for one machine. */
const MOST_POLICIES = 1_000_000

/** `bindery try DIR`: rates random valid policies and shows problems with them, without a service. */
export async function tryPolicies(folder: string, options: TryOptions, run: Run): Promise<ExitCode> {
  const count = wholeNumber('--count', options.count ?? '1000', 1, MOST_POLICIES)
  const seed = wholeNumber(
    '--seed',
    options.seed ?? String(Math.floor(Math.random() * 1_000_000)),
    0,
    2 ** 31,
  )
  const base = baseOf(options.base)
  const { configuration, findings, root } = await checkFolder(folder)
  if (!configuration) {
    const shown = shownFindings(findings, root)
    const error = `The configuration has mistakes: ${countsText(findings)}.`
    show(run, { ok: false, error, ...countsOf(findings), findings: shown }, () => '')
    say(run, `${findingsText(shown, run.terminal)}\n`)
    if (run.json) return EXIT.refused
    throw new Failure(EXIT.refused, error)
  }
  const product = productOf(
    configuration,
    options.product ?? (base?.policy.productName as string | undefined),
  )
  const now = momentOf(options.at, configuration)
  const began = performance.now()
  const report = await tryProduct(configuration, product, {
    count,
    seed,
    now,
    base,
    interrupted: run.terminal.interrupted,
    ...(run.terminal.isWatched && !run.json && { progress: done => progress(done, count, run.terminal) }),
  })
  if (run.terminal.isWatched && !run.json) run.terminal.err('\r\u001b[K')
  const files = options.keep === undefined ? [] : writeProblemFiles(options.keep, report.problems)
  const seconds = (performance.now() - began) / 1_000
  const problems = report.problems.map((one, at) => ({
    ...shownProblem(one),
    ...(files[at] && { file: files[at] }),
  }))
  show(run, { ok: problems.length === 0, ...report, problems, seconds: Number(seconds.toFixed(2)) }, () =>
    reportText(report, files, seconds, run.terminal),
  )
  if (run.terminal.interrupted.aborted) return EXIT.interrupted
  return problems.length === 0 ? EXIT.ok : EXIT.refused
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw usage(`${name} must be a whole number from ${least} to ${most}, not '${text}'.`)
}

function baseOf(file: string | undefined): Base {
  if (file === undefined) return undefined
  const [one, ...others] = readPolicyFile(file)
  if (others.length > 0)
    throw usage(`'${file}' has ${others.length + 1} policies, but --base needs exactly one.`)
  const isEmpty = Object.keys((one!.values ?? {}) as object).length === 0
  return { policy: one!.policy, values: isEmpty ? undefined : one!.values }
}

function productOf({ products }: Configuration, name: string | undefined): ProductDefinition {
  const known = Object.keys(products)
  const chosen = name ?? (known.length === 1 ? known[0] : undefined)
  if (chosen !== undefined && Object.hasOwn(products, chosen)) return products[chosen]!
  throw usage(
    chosen === undefined
      ? `The configuration has several products. Choose one with --product: ${known.join(', ')}.`
      : `There is no product '${chosen}'. The configuration has ${known.join(', ')}.`,
  )
}

function momentOf(at: string | undefined, { timeZone }: Configuration): Instant {
  if (at === undefined) return startOfDay(realTime(), timeZone)
  const time = readTime(at, timeZone)
  if (time === undefined) throw usage(`--at must be ${TIME_FORMS}, not '${at}'.`)
  return time
}

const progress = (done: number, count: number, { err }: Terminal): void => {
  if (done % 50 === 0 || done === count) err(`\r${done}/${policiesText(count)}`)
}

/** Returns the policy in the form that `bindery price --policy` reads. */
const fileOf = ({ values, policy }: MadeCase): object => ({
  ...(Object.keys(values).length > 0 && { policyholder: { values: simplifyPart(values, 'values') } }),
  policy: simplifyPart(policy),
})

/** Removes empty parts, and replaces a list of one value by the value. */
function simplifyPart(part: unknown, name = ''): unknown {
  if (Array.isArray(part)) return part.map(one => simplifyPart(one))
  if (typeof part !== 'object' || part === null) return part
  const isOfFields = name === 'fieldValues' || name === 'values'
  return Object.fromEntries(
    Object.entries(part).flatMap(([key, value]) => {
      if (isOfFields && Array.isArray(value) && value.length === 1) return [[key, value[0]]]
      const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
      return isEmpty && key !== 'exposures' ? [] : [[key, simplifyPart(value, key)]]
    }),
  )
}

const shownProblem = ({ key: _, smallest, ...problem }: Problem) => ({
  ...problem,
  smallest: fileOf(smallest),
})

/** Writes a file for each problem. Returns their names, in the order of the problems. */
function writeProblemFiles(folder: string, problems: readonly Problem[]): string[] {
  try {
    makeFolder(folder)
    const taken = new Set<string>()
    return problems.map(({ kind, what, smallest }) => {
      const plain = `${kind}-${what}`
        .replaceAll(/[^A-Za-z0-9]+/g, '-')
        .replaceAll(/^-+|-+$/g, '')
        .slice(-100)
      let name = plain
      for (let number = 2; taken.has(name); number += 1) name = `${plain}-${number}`
      taken.add(name)
      const file = join(folder, `${name}.json`)
      writeFileSync(file, `${JSON.stringify(fileOf(smallest), null, 2)}\n`)
      return file
    })
  } catch (problem) {
    throw usage(`The policies cannot be written to '${folder}': ${fileProblem(problem)}.`)
  }
}

const WORDS: Readonly<Record<ProblemKind, string>> = {
  refused: 'refused',
  invalid: 'invalid',
  zero: 'premium of 0',
  negative: 'negative premium',
  notANumber: 'premium that is not a number',
}

function reportText(
  report: TrialReport,
  files: readonly string[],
  seconds: number,
  { colors }: Terminal,
): string {
  const { productName, seed, count, priced, decisions, totals, problems, rows, unmade, notes } = report
  const decided = Object.entries(decisions)
    .filter(([, number]) => number > 0)
    .map(([decision, number]) => `${number} ${decision}`)
    .join(', ')
  const head = [
    `${colors.bold(productName)}: ${policiesText(count)}, ${priced} priced in ${seconds.toFixed(1)} s; seed ${seed}\n`,
    ...(totals
      ? [
          `underwriting: ${decided}\n`,
          `total: from ${totals.least} to ${totals.greatest}, half of them up to ${totals.median}\n`,
        ]
      : []),
    ...unmade.map(one => `${colors.yellow('note')}  ${one}\n`),
    ...notes.map(note => `${colors.yellow('note')}  ${note}\n`),
  ]
  const shown = problems.map((problem, at) => problemText(problem, files[at], colors))
  const left = rows.filter(row => row.unreached.length > 0)
  const unreached = left.map(
    ({ path, total, unreached: keys }) =>
      `  ${path}  ${colors.yellow(`${keys.length} of ${total}`)}  ${colors.dim(listNames(keys))}\n`,
  )
  return [
    ...head,
    ...(shown.length > 0 ? ['\n', ...shown] : []),
    ...(unreached.length > 0 ? [`\n${colors.bold('rows that no policy reached')}\n`, ...unreached] : []),
    problems.length === 0 ? `${colors.green('no problems found')}\n` : '',
  ].join('')
}

const policiesText = (count: number): string => countText(count, 'policy', 'policies')

function problemText(
  { kind, what, message, policies, smallest }: Problem,
  file: string | undefined,
  colors: Terminal['colors'],
): string {
  return [
    `${colors.red(WORDS[kind])}  ${colors.bold(what)}  ${colors.dim(policiesText(policies))}\n`,
    `  ${message}\n`,
    file === undefined
      ? `  ${colors.dim(JSON.stringify(fileOf(smallest)))}\n`
      : `  ${colors.dim(`bindery price DIR --policy ${file}`)}\n`,
  ].join('')
}
