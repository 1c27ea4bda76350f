// Runs a scenario: carries out each step over a life without a service, and compares expected with actual values.
import { Refusal } from '../../src/kernel/errors.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { type LifeWorld, PolicyLife } from '../offline/life.ts'
import { type Comparison, compare, compareDocuments, type Mismatch } from './compare.ts'
import { type BodyProblem, readBody } from './contract.ts'
import type { Expectation, Path, Scenario, ScenarioStep } from './format.ts'
import { targetOf, UnknownName, withLocators } from './references.ts'
import { STEPS, type StepDefinition } from './steps.ts'
import { readTime, TIME_FORMS, timeText, withTimes } from './times.ts'
import { FIRST_PARTS, isPart, type Mark, markOf, PARTS, type ShownDocument } from './view.ts'

/** Why a step failed. A mistake is an error in the scenario itself. */
export type StepFailure =
  | ({ readonly kind: 'mismatch' } & Mismatch)
  | { readonly kind: 'refused'; readonly code: string; readonly message: string; readonly path: Path }
  | { readonly kind: 'mistake'; readonly message: string; readonly path: Path }

export type StepResult = {
  /** `create` for the policy itself. */
  readonly does: string
  /** Absent if the policy was not begun. */
  readonly at?: string
  readonly path: Path
  readonly failures: readonly StepFailure[]
  /** The number of values that were compared. */
  readonly compared: number
}

export type ScenarioResult = {
  readonly scenario: Scenario
  readonly steps: readonly StepResult[]
  /** The number of steps after the one that stopped it. */
  readonly skipped: number
  readonly passed: boolean
  /** Requests for values that are not given. */
  readonly notes: readonly string[]
  readonly ms: number
}

export type RunWorld = Omit<LifeWorld, 'given'> & {
  /**
   * Returns the policy in a file that a scenario names, and the values of its policyholder. Throws an Error with the reason if
   * it cannot.
   */
  policyIn(file: string): { readonly policy: Readonly<Record<string, unknown>>; readonly values: unknown }
}

class Mistakes extends Error {
  readonly failures: readonly StepFailure[]

  constructor(problems: readonly BodyProblem[]) {
    super('The scenario has mistakes.')
    this.failures = problems.map(({ path, message }) => ({ kind: 'mistake', path, message }))
  }
}

const mistake = (path: Path, message: string): Mistakes => new Mistakes([{ path, message }])

const EMPTY_MARK: Mark = { policy: undefined, events: 0, auxData: 0, logs: 0 }

/** Never throws because of the contents of a scenario or configuration. */
export async function runScenario(scenario: Scenario, world: RunWorld): Promise<ScenarioResult> {
  const began = performance.now()
  const { timeZone } = world.configuration.configuration
  const results: StepResult[] = []
  const named = new Map<string, string>()
  let life: PolicyLife | undefined

  /** Messages of the service contain times in milliseconds. */
  const readable = (message: string): string =>
    message.replaceAll(/\b\d{12,13}\b/g, ms => timeText(Number(ms), timeZone))

  const attempt = async (
    does: string,
    step: Pick<ScenarioStep, 'expect' | 'path'> & { readonly expectPath: Path },
    act: () => Promise<{ answer: unknown }>,
  ): Promise<boolean> => {
    const since = life ? markOf(life) : EMPTY_MARK
    const comparison: Comparison = { mismatches: [], compared: 0 }
    const failures: StepFailure[] = []
    const expected = step.expect
    const refusal = refusalIn(expected)
    let goesOn = true
    try {
      const { answer } = await act()
      if (refusal)
        comparison.mismatches.push({
          path: [...step.expectPath, 'refused'],
          expected: expected?.refused,
          got: undefined,
          canUpdate: false,
          note: 'the step succeeded',
        })
      expectations(expected, { life: life!, since, answer }, step.expectPath, comparison)
    } catch (problem) {
      if (problem instanceof Refusal && refusal) compareRefusal(refusal, problem, step.expectPath, comparison)
      else {
        failures.push(
          ...failuresOf(problem, step.path).map(one =>
            one.kind === 'refused' ? { ...one, message: readable(one.message) } : one,
          ),
        )
        goesOn = false
      }
    }
    failures.push(...comparison.mismatches.map(one => ({ kind: 'mismatch' as const, ...one })))
    results.push({
      does,
      ...(life && { at: timeText(life.now, timeZone) }),
      path: step.path,
      failures,
      compared: comparison.compared,
    })
    return goesOn && life?.isBegun === true
  }

  const creation = { expect: scenario.expect, expectPath: scenario.expectPath, path: scenario.policyPath }
  let goesOn = await attempt('create', creation, async () => {
    const { body, values, at } = beginning(scenario, world)
    life = new PolicyLife({ ...world, given: scenario.given }, at, values)
    const read = readBody(PolicyCreateRequest, { ...body, policyholderLocator: life.policyholder.locator })
    if ('problems' in read) throw new Mistakes(prefixPaths(read.problems, scenario.policyPath))
    return { answer: await life.create(read.value) }
  })
  for (const step of scenario.steps) {
    if (!goesOn) break
    goesOn = await attempt(step.does, { ...step, expectPath: [...step.path, 'expect'] }, async () => {
      await passTime(life!, step, timeZone)
      return { answer: await carryOutStep(life!, step, named) }
    })
  }
  return {
    scenario,
    steps: results,
    skipped: scenario.steps.length + 1 - results.length,
    passed: results.every(result => result.failures.length === 0),
    notes: [...(life?.notes ?? [])],
    ms: performance.now() - began,
  }
}

/** Returns the body of the new policy, its policyholder, and the time at which it is created. */
function beginning(scenario: Scenario, { policyIn, configuration: { configuration } }: RunWorld) {
  const { timeZone, products } = configuration
  const found = typeof scenario.policy === 'string' ? fileOf(scenario.policy, scenario, policyIn) : undefined
  const policy = found?.policy ?? (scenario.policy as Readonly<Record<string, unknown>>)
  const known = Object.keys(products)
  const body = withTimes(
    { ...(known.length === 1 && { productName: known[0] }), ...policy },
    time => readTime(time, timeZone) ?? time,
  ) as Readonly<Record<string, unknown>>
  const start = readTime(body.policyStartTimestamp, timeZone)
  const at = scenario.at === undefined ? start : readTime(scenario.at, timeZone)
  if (at === undefined)
    throw scenario.at === undefined
      ? mistake(
          scenario.policyPath,
          `The policy has no policyStartTimestamp. Add it, or write when the scenario begins as 'at': ${TIME_FORMS}.`,
        )
      : mistake([...scenario.path, 'at'], `'at' must be ${TIME_FORMS}.`)
  const isEmpty = Object.keys((scenario.values ?? {}) as object).length === 0
  return { body, values: isEmpty && found ? found.values : scenario.values, at }
}

function fileOf(file: string, { policyPath }: Scenario, policyIn: RunWorld['policyIn']) {
  try {
    return policyIn(file)
  } catch (problem) {
    throw mistake(policyPath, (problem as Error).message)
  }
}

async function passTime(life: PolicyLife, { at, does, path }: ScenarioStep, zone: string): Promise<void> {
  if (at === undefined) {
    if (does === 'wait') throw mistake(path, `A step 'wait' needs 'at': ${TIME_FORMS}.`)
    return
  }
  const time = readTime(at, life.configuration.timeZone)
  if (time === undefined) throw mistake([...path, 'at'], `'at' must be ${TIME_FORMS}.`)
  if (time < life.now)
    throw mistake(
      [...path, 'at'],
      `Time only moves forward: it is already ${timeText(life.now, life.configuration.timeZone)} (${zone}).`,
    )
  await life.advance(time as Instant)
}

const policyOf = ({ loaded: { aggregate, product } }: PolicyLife) =>
  policyResponse(aggregate, product, { summarizeQuotes: false })

async function carryOutStep(
  life: PolicyLife,
  step: ScenarioStep,
  named: Map<string, string>,
): Promise<unknown> {
  const { does, path, of, as } = step
  if (does === 'wait') return undefined
  if (does === 'updatePolicyholder') {
    life.updateHolder(step.body.values)
    return undefined
  }
  const definition: StepDefinition = STEPS[does as keyof typeof STEPS]
  const bodyPath = [...path, does]
  try {
    const record = definition.target && targetOf(life.aggregate, definition.target, of, named)
    const isOther = definition.alternative && Object.hasOwn(step.body, definition.alternative.property)
    const schema = isOther ? definition.alternative?.body : definition.body
    if (!schema && Object.keys(step.body).length > 0)
      throw mistake(bodyPath, `A step '${does}' has no properties.`)
    const asked = isOther ? step.body : { ...definition.unlessSaid, ...step.body }
    const timed = withTimes(asked, time => readTime(time, life.configuration.timeZone) ?? time)
    const read = schema
      ? readBody(
          schema,
          withLocators(timed, () => policyOf(life)),
        )
      : { value: undefined }
    if ('problems' in read) throw new Mistakes(prefixPaths(read.problems, bodyPath))
    const answer = await life.carryOut(definition.operation(read.value as never, record as never))
    const locator = (answer as { locator?: unknown } | undefined)?.locator
    if (as !== undefined && typeof locator === 'string') named.set(as, locator)
    return answer
  } catch (problem) {
    if (!(problem instanceof UnknownName)) throw problem
    const isOwn = problem.path[0] === 'of' || problem.path.length === 0
    throw mistake(isOwn ? [...path, ...problem.path] : [...bodyPath, ...problem.path], problem.message)
  }
}

const prefixPaths = (problems: readonly BodyProblem[], path: Path): BodyProblem[] =>
  problems.map(one => ({ ...one, path: [...path, ...one.path] }))

function failuresOf(problem: unknown, path: Path): readonly StepFailure[] {
  if (problem instanceof Mistakes) return problem.failures
  if (!(problem instanceof Refusal)) throw problem
  const { code, message } = problem
  return [{ kind: 'refused', code, message, path }]
}

type ExpectedRefusal = { readonly code?: unknown; readonly message?: unknown }

/** Reads `refused: policyValidation`, or an object with a part of the message. */
function refusalIn(expect: Expectation | null | undefined): ExpectedRefusal | undefined {
  const refused = expect?.refused
  if (refused === undefined || refused === false) return undefined
  return typeof refused === 'object' && refused !== null ? refused : { code: refused }
}

function compareRefusal(
  { code, message }: ExpectedRefusal,
  refusal: Refusal,
  path: Path,
  into: Comparison,
): void {
  const at = [...path, 'refused']
  into.compared += 1
  if (code !== undefined && code !== true && code !== refusal.code)
    into.mismatches.push({
      path: message === undefined ? at : [...at, 'code'],
      expected: code,
      got: refusal.code,
      canUpdate: true,
      note: refusal.message,
    })
  if (message !== undefined && !refusal.message.includes(String(message)))
    into.mismatches.push({
      path: [...at, 'message'],
      expected: message,
      got: refusal.message,
      canUpdate: true,
    })
}

function expectations(
  expected: Expectation | null | undefined,
  moment: { readonly life: PolicyLife; readonly since: Mark; readonly answer: unknown },
  path: Path,
  into: Comparison,
): void {
  const { timeZone } = moment.life.configuration
  if (expected === null) {
    const got = Object.fromEntries(
      FIRST_PARTS.flatMap(name => {
        const value = PARTS[name].of(moment)
        return value === undefined ? [] : [[name, value]]
      }),
    )
    into.mismatches.push({ path, expected, got, isUnwritten: true, canUpdate: true })
  }
  for (const [name, one] of Object.entries(expected ?? {})) {
    if (!isPart(name) || name === 'documents') continue
    compare(one, PARTS[name].of(moment), [...path, name], timeZone, into)
  }
  const documents = PARTS.documents.of(moment) as ShownDocument[]
  const wanted = expected?.documents
  if (Array.isArray(wanted)) {
    // A list of names means exactly these documents.
    compare(
      wanted.map(one => (typeof one === 'object' ? JSON.stringify(one) : String(one))).sort(),
      documents.map(document => document.fileName).sort(),
      [...path, 'documents'],
      timeZone,
      into,
    )
    compareDocuments(undefined, documents, [...path, 'documents'], into)
  } else if (wanted === null)
    into.mismatches.push({
      path: [...path, 'documents'],
      expected: null,
      got: documents.map(document => document.fileName),
      isUnwritten: true,
      canUpdate: true,
    })
  else
    compareDocuments(
      wanted as Readonly<Record<string, unknown>> | undefined,
      documents,
      [...path, 'documents'],
      into,
    )
}
