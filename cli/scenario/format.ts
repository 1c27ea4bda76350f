// Reads scenario files as YAML, which includes JSON, and checks them, with the place of every problem.

import {
  type Document,
  isMap,
  isPair,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLParseError,
} from 'yaml'
import { z } from 'zod'
import { isJsonObject } from '../../src/kernel/json.ts'
import { didYouMean } from '../../src/kernel/text.ts'
import { issuesOf } from '../../src/platform/wire-problem.ts'
import type { Given, GivenRow } from '../offline/given.ts'
import { OTHER_STEPS, type OtherStepName, STEP_NAMES, STEPS, type StepName } from './steps.ts'
import { isPart, PARTS } from './view.ts'

export type Path = readonly PropertyKey[]

/** `line` and `column` count from 1. */
export type Problem = { readonly line: number; readonly column: number; readonly message: string }

export type Expectation = Readonly<Record<string, unknown>>

export type ScenarioStep = {
  readonly does: StepName | OtherStepName
  readonly body: Readonly<Record<string, unknown>>
  readonly at: unknown
  /** The record that it acts on: its number, or the name of the step that created it. */
  readonly of: string | number | undefined
  /** Names the record that the step creates. */
  readonly as: string | undefined
  /** Undefined: nothing is expected. Null: the expectation is not written yet. */
  readonly expect: Expectation | null | undefined
  readonly path: Path
}

export type Scenario = {
  readonly name: string
  readonly at: unknown
  /** Values of the policyholder. */
  readonly values: unknown
  /** The body of POST /policy, or the name of a file with it. */
  readonly policy: Readonly<Record<string, unknown>> | string
  readonly given: Given
  readonly expect: Expectation | null | undefined
  readonly expectPath: Path
  readonly policyPath: Path
  readonly steps: readonly ScenarioStep[]
  readonly path: Path
}

export type ScenarioFile = {
  readonly file: string
  readonly text: string
  readonly document: Document
  readonly scenarios: readonly Scenario[]
  readonly problems: readonly Problem[]
  /** Returns the place of a value, or of the name if it is a property. If there is none, returns the nearest place around it. */
  placeOf(path: Path): { readonly line: number; readonly column: number }
}

/** Longer files are rejected. */
const MOST_CHARACTERS = 4 * 1_048_576
/** Per file. */
const MOST_STEPS = 5_000

const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String)

const Row = z.record(z.string(), Text)

/** A list of rows by column, or for a table of keys and values the values by key. */
const GivenTable = z
  .union([z.array(Row), z.record(z.string(), Text)])
  .transform((table): GivenRow[] =>
    Array.isArray(table) ? table : Object.entries(table).map(([key, value]) => ({ key, value })),
  )

const GivenParts = z.strictObject({
  auxData: z.record(z.string(), Text).default({}).describe('Auxiliary data by key, for any record.'),
  secrets: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .default({})
    .describe('Items of secrets, by static name.'),
  raters: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .default({})
    .describe('Rates of external raters: by name of the rater, then by peril (`glass` or `vehicle.glass`).'),
  tables: z.record(z.string(), GivenTable).default({}).describe('Tables that are resources, by static name.'),
})

const Expect = z.record(z.string(), z.unknown()).nullish()

const Policyholder = z.looseObject({ values: z.unknown() })

const Body = z.record(z.string(), z.unknown())

export const ScenarioForm = z.strictObject({
  $schema: z.string().optional(),
  name: z.string().optional().describe('The title of the scenario. Default: the name of the file.'),
  why: z.string().optional().describe('A remark for readers.'),
  at: z
    .union([z.string(), z.number()])
    .optional()
    .describe('When the policy is created. Default: when it starts.'),
  policyholder: Policyholder.optional().describe('The body of POST /policyholder/create.'),
  policy: z
    .union([Body, z.string()])
    .optional()
    .describe('The body of POST /policy, or the path of a file that `bindery price --policy` accepts.'),
  request: z
    .looseObject({ policyholder: Policyholder.optional(), policy: Body })
    .optional()
    .describe('Replaces `policyholder` and `policy`.'),
  given: GivenParts.optional(),
  expect: Expect.describe('The expected results for the new policy.'),
  expected: Expect.describe('Another name for `expect`.'),
  steps: z.array(Body).max(MOST_STEPS).optional(),
})

const OF_A_STEP = ['at', 'of', 'as', 'expect', 'why'] as const

/** Reads the text of a file. `name` is the default name of its scenario. */
export function readScenarios(file: string, text: string, name: string): ScenarioFile {
  const lines = new LineCounter()
  const problems: Problem[] = []
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  if (text.length > MOST_CHARACTERS)
    return unreadableFile(file, text, `is longer than ${MOST_CHARACTERS} characters. Split it.`)
  const document = parseYamlDocument(text, lines)
  if (typeof document === 'string') return unreadableFile(file, text, document)
  for (const error of document.errors)
    problems.push({ ...placeAt(error.pos[0]), message: yamlProblem(error) })
  const placeOf = (path: Path) => placeAt(offsetOf(document, path))
  const scenarios: Scenario[] = []
  if (problems.length === 0) {
    const value = documentValue(document)
    if (value === undefined)
      return unreadableFile(file, text, 'uses aliases (&, *) too often. Write the values out.')
    const list = Array.isArray(value) ? value.map((one, at) => [one, [at]] as const) : [[value, []] as const]
    if (list.length === 0) problems.push({ line: 1, column: 1, message: 'is a list without scenarios.' })
    for (const [one, path] of list) {
      const read = readScenario(one, path, list.length === 1 ? name : `${name} ${Number(path[0]) + 1}`)
      if ('scenario' in read) scenarios.push(read.scenario)
      else problems.push(...read.issues.map(({ path: at, message }) => ({ ...placeOf(at), message })))
    }
  }
  return { file, text, document, scenarios, problems, placeOf }
}

const yamlProblem = ({ code, message }: YAMLParseError): string =>
  code === 'MULTIPLE_DOCS'
    ? 'starts a second document. Write several scenarios as a list.'
    : `is not valid YAML here: ${message.split('\n')[0]}`

const unreadableFile = (file: string, text: string, message: string): ScenarioFile => ({
  file,
  text,
  document: parseDocument(''),
  scenarios: [],
  problems: [{ line: 1, column: 1, message }],
  placeOf: () => ({ line: 1, column: 1 }),
})

/** Returns the document, or why there is none. */
function parseYamlDocument(text: string, lineCounter: LineCounter): Document | string {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false, merge: true })
  } catch (problem) {
    if (!(problem instanceof RangeError)) throw problem
    return 'is nested too deeply to be read.'
  }
}

/** Returns undefined if aliases expand to so much that it would not end. */
function documentValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 1_000 }) ?? null
  } catch (problem) {
    if (!(problem instanceof ReferenceError || problem instanceof RangeError)) throw problem
    return undefined
  }
}

type Issue = { readonly path: Path; readonly message: string }

function readScenario(
  value: unknown,
  path: Path,
  name: string,
): { readonly scenario: Scenario } | { readonly issues: Issue[] } {
  if (!isJsonObject(value))
    return {
      issues: [
        {
          path,
          message: `${value === null ? 'is empty' : 'is not a scenario'}. Write a policy, its steps and the expected results (docs/testing.md).`,
        },
      ],
    }
  const read = ScenarioForm.safeParse(value)
  if (!read.success)
    return {
      issues: issuesOf(read.error).flatMap(issue =>
        shownIssues(issue, path, Object.keys(ScenarioForm.shape)),
      ),
    }
  const {
    request,
    expect,
    expected,
    steps = [],
    policyholder = request?.policyholder,
    given,
    ...own
  } = read.data
  const issues: Issue[] = []
  const policy = own.policy ?? request?.policy
  if (policy === undefined)
    issues.push({
      path,
      message:
        "has no policy. Write the body of POST /policy, or the name of a file that contains it, under 'policy'.",
    })
  const expectPath = [...path, expected !== undefined ? 'expected' : 'expect']
  const expectation = expected !== undefined ? expected : expect
  issues.push(...expectIssues(expectation, expectPath))
  const readSteps = steps.map((step, at) => readStep(step, [...path, 'steps', at], issues))
  if (issues.length > 0) return { issues }
  return {
    scenario: {
      name: own.name ?? name,
      at: own.at,
      values: policyholder?.values ?? {},
      policy: policy!,
      given: given ?? GivenParts.parse({}),
      expect: expectation,
      expectPath,
      policyPath: request ? [...path, 'request', 'policy'] : [...path, 'policy'],
      steps: readSteps.flatMap(one => one ?? []),
      path,
    },
  }
}

function readStep(
  step: Readonly<Record<string, unknown>>,
  path: Path,
  issues: Issue[],
): ScenarioStep | undefined {
  const names = Object.keys(step).filter(one => !(OF_A_STEP as readonly string[]).includes(one))
  const [does] = names
  if (does === undefined) {
    issues.push({ path, message: `has no action. Name one of ${STEP_NAMES.join(', ')}.` })
    return undefined
  }
  const unknown = names.filter(one => !STEP_NAMES.includes(one))
  for (const one of unknown)
    issues.push({
      path: [...path, one],
      message: `'${one}' is not a step.${didYouMean(one, [...STEP_NAMES, ...OF_A_STEP])} Steps are ${STEP_NAMES.join(', ')}.`,
    })
  if (unknown.length === 0 && names.length > 1)
    issues.push({
      path: [...path, names[1]!],
      message: `'${names[1]}' is in the same step as '${does}'. Make it a separate step, with '- ' before it.`,
    })
  const body = step[does] ?? {}
  if (typeof body !== 'object' || Array.isArray(body))
    issues.push({
      path: [...path, does],
      message: `must have the properties of its request below '${does}:'.`,
    })
  const { at, of, as, expect } = step
  if (of !== undefined && typeof of !== 'string' && !(Number.isInteger(of) && Number(of) > 0))
    issues.push({
      path: [...path, 'of'],
      message: "'of' must be a number from 1, or the name that an earlier step has as 'as'.",
    })
  if (as !== undefined && typeof as !== 'string')
    issues.push({ path: [...path, 'as'], message: "'as' must be a name." })
  if (expect !== undefined && expect !== null && (typeof expect !== 'object' || Array.isArray(expect)))
    issues.push({
      path: [...path, 'expect'],
      message: "'expect' must name expected values, such as 'total: 100.00'.",
    })
  else issues.push(...expectIssues(expect as Expectation | null | undefined, [...path, 'expect']))
  const target = does in STEPS ? STEPS[does as StepName].target : undefined
  if (of !== undefined && target === undefined)
    issues.push({ path: [...path, 'of'], message: `'${does}' acts on the policy. Omit 'of'.` })
  return {
    does: does as StepName,
    body: body as Readonly<Record<string, unknown>>,
    at,
    of: of as string | number | undefined,
    as: as as string | undefined,
    expect: expect as Expectation | null | undefined,
    path,
  }
}

const EXPECTED = [...Object.keys(PARTS), 'refused']

const expectIssues = (expect: Expectation | null | undefined, path: Path): Issue[] =>
  Object.keys(expect ?? {})
    .filter(name => !isPart(name) && name !== 'refused')
    .map(name => ({
      path: [...path, name],
      message: `'${name}' cannot be expected.${didYouMean(name, EXPECTED)} Known properties are ${EXPECTED.join(', ')}.`,
    }))

function shownIssues(issue: z.core.$ZodIssue, before: Path, known: readonly string[]): Issue[] {
  const path = [...before, ...issue.path]
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(key => {
      const names = issue.path.length === 0 ? known : ['auxData', 'secrets', 'raters', 'tables']
      return {
        path: [...path, key],
        message: `'${key}' is not a known property.${didYouMean(key, names)} Known properties are ${names.join(', ')}.`,
      }
    })
  return [{ path, message: issue.message }]
}

/** Returns the offset of the value at the path, or of the name if it is a property. */
function offsetOf(document: Document, path: Path): number {
  let node: Node | null = document.contents
  let offset = node?.range?.[0] ?? 0
  for (const step of path) {
    const child = childAt(node, step)
    if (!child) break
    offset = child.name?.range?.[0] ?? offset
    node = isPair(child.value) ? null : child.value
  }
  return offset
}

type Child = { readonly name: Node | null; readonly value: Node | null }

/** Returns the child at the step. An entry of a list is its own name. */
function childAt(node: Node | null, step: PropertyKey): Child | undefined {
  if (isMap(node)) {
    const pair = node.items.find(one => keyOf(one) === String(step))
    return pair && { name: pair.key as Node | null, value: pair.value as Node | null }
  }
  const item = isSeq(node) ? (node.items[Number(step)] as Node | null | undefined) : undefined
  return item ? { name: item, value: item } : undefined
}

export const keyOf = ({ key }: Pair): string => String((key as { value?: unknown } | null)?.value ?? key)

export const otherStep = (name: string): name is OtherStepName => Object.hasOwn(OTHER_STEPS, name)
