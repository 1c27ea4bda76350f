import {
  BreakTag,
  CommentTag,
  type Context,
  ContinueTag,
  type Emitter,
  InlineCommentTag,
  Liquid,
  LiquidTag,
  RawTag,
  type Template,
  toValue,
  toValueSync,
} from 'liquidjs/dist/liquid.browser.mjs'
import {
  CountingEmitter,
  type Dialect,
  newRenderState,
  RenderingContext,
  type RenderingEnvironment,
  withPosition,
} from './context.ts'
import { operators, registerFilters } from './evaluation.ts'
import { listFilters } from './filters/lists.ts'
import { scalarFilters } from './filters/scalars.ts'
import { type Finding, reportOf, TooManyErrors } from './findings.ts'
import { MOST_PARTS, PARTS_PROBLEM, partsOf, sizeProblem, TemplateError } from './limits.ts'
import { SnippetTag } from './snippet-tag.ts'
import { TemplateParser } from './syntax/parser.ts'
import { tidySource } from './syntax/source.ts'
import {
  CountedForTag,
  CountedIfTag,
  CountedTablerowTag,
  CountedUnlessTag,
  DirectAssignTag,
  DirectEchoTag,
  FirstMatchCaseTag,
  GroupedCycleTag,
  ObservableCaptureTag,
  ObservableDecrementTag,
  ObservableIncrementTag,
  PageBlockTag,
} from './tags.ts'
import { dataNumber, isDataNumber, LiquidNumber } from './values.ts'

const TAGS: Liquid['tags'] = {
  assign: DirectAssignTag,
  break: BreakTag,
  capture: ObservableCaptureTag,
  case: FirstMatchCaseTag,
  comment: CommentTag,
  continue: ContinueTag,
  cycle: GroupedCycleTag,
  decrement: ObservableDecrementTag,
  echo: DirectEchoTag,
  footer: PageBlockTag,
  for: CountedForTag,
  header: PageBlockTag,
  if: CountedIfTag,
  include: SnippetTag,
  increment: ObservableIncrementTag,
  liquid: LiquidTag,
  raw: RawTag,
  render: SnippetTag,
  tablerow: CountedTablerowTag,
  unless: CountedUnlessTag,
  '#': InlineCommentTag,
}

/** Renders and counts each node. The library's own renderer reads a clock and counts nothing. */
function renderTemplates(templates: Template[], context: Context, emitter?: Emitter): string {
  const { budget, observation } = context as RenderingContext
  const out = emitter ?? new CountingEmitter(text => budget.countMemory(text.length))
  for (const template of templates) {
    try {
      budget.countNode()
      const outer = observation?.enter(template)
      const result = toValueSync(template.render(context, out))
      if (result) out.write(result)
      observation?.leave(outer)
    } catch (error) {
      throw withPosition(error, template.token)
    }
    if (context.breakCalled || context.continueCalled) break
  }
  return out.buffer
}

/** Creates the library's engine with Bindery's tags and filters. It keeps no state of a rendering. */
export function libraryEngine(dialect: Dialect): Liquid {
  const engine = new Liquid({ operators, groupedExpressions: true, ownPropertyOnly: true, locale: 'en-US' })
  Object.assign(engine, { tags: Object.assign(Object.create(null), TAGS), filters: Object.create(null) })
  Object.assign(engine.renderer, { renderTemplates })
  registerFilters(engine, { ...scalarFilters, ...listFilters, ...dialect.filters })
  return engine
}

export type Rendering<Effects = unknown> = {
  output: string
  effects: Effects
  /** If not empty, output and effects are provisional: load these values and render again. */
  missing: unknown[]
  /** Variables and paths without a value, each once, at most 200. */
  undefinedNames: string[]
  /** The variables that the template assigned, as plain data, for trying out a template. */
  variables(): Record<string, unknown>
}

/** A template without state, which can be rendered any number of times. */
export type CompiledTemplate<Environment = RenderingEnvironment, Effects = unknown> = {
  readonly path: string
  readonly nodes: Template[]
  /**
   * Renders `data` as the variable `data` and never writes to it. Throws `TemplateError` with path, line and column. While
   * values are missing nothing fails, because a blank in their place may be the only cause. It is a method, so that callers do
   * not need the engine, which is not loaded at startup.
   */
  render(data: unknown, environment: Environment): Rendering<Effects>
}

export type TemplateCompiler<Environment = RenderingEnvironment, Effects = unknown> = (source: {
  readonly path: string
  readonly source: string
}) => { template?: CompiledTemplate<Environment, Effects>; findings: Finding[] }

/**
 * Creates a compiler. It repairs untidy forms and reports them as warnings. Unreadable markup, unknown filters and unknown tags
 * are errors; with an error there is no template. Lines and columns count from 1. Reports at most 100 errors and 100 warnings.
 * The compiler never throws.
 */
export function createLiquid<Environment extends RenderingEnvironment, Effects>(
  dialect: Dialect<Effects>,
): TemplateCompiler<Environment, Effects> {
  const engine = libraryEngine(dialect)
  return ({ path, source }) => {
    const findings: Finding[] = []
    const problem = sizeProblem(source) ?? (partsOf(source) > MOST_PARTS ? PARTS_PROBLEM : undefined)
    if (problem !== undefined)
      return { findings: [{ severity: 'ERROR', path, code: 'templateTooLarge', message: problem }] }
    const text = source.replace(/^\uFEFF/, '')
    const report = reportOf(text, path, findings, dialect.suggestion)
    try {
      const nodes = new TemplateParser(engine, report).parse(tidySource(text, report), path)
      const render = (data: unknown, environment: Environment) =>
        renderNodes(engine, dialect, nodes, data, environment)
      if (findings.every(finding => finding.severity === 'WARNING'))
        return { template: { path, nodes, render }, findings: sortFindings(findings) }
    } catch (error) {
      if (!(error instanceof TooManyErrors)) {
        const message = `This template cannot be read: ${error instanceof Error ? error.message : error}.`
        findings.push({ severity: 'ERROR', path, line: 1, column: 1, code: 'templateUnreadable', message })
      }
    }
    return { findings: sortFindings(findings) }
  }
}

const sortFindings = (findings: Finding[]): Finding[] =>
  findings.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))

function renderNodes<Effects>(
  engine: Liquid,
  dialect: Dialect<Effects>,
  nodes: Template[],
  data: unknown,
  environment: RenderingEnvironment,
): Rendering<Effects> {
  const state = newRenderState(data, environment, dialect)
  const emitter = new CountingEmitter(text => state.budget.countOutput(text))
  const context = new RenderingContext(engine, state)
  const variables = () => plainVariables(context.bottom())
  try {
    renderTemplates(nodes, context, emitter)
  } catch (error) {
    if (!(error instanceof TemplateError) || state.missing.size === 0) throw error
    const missing = [...state.missing.values()]
    return { output: '', effects: dialect.newEffects(), missing, undefinedNames: [], variables }
  }
  return {
    output: emitter.buffer,
    effects: dialect.settledEffects(state.effects as Effects),
    missing: [...state.missing.values()],
    undefinedNames: [...state.undefinedNames],
    variables,
  }
}

/** The limit for all variables together. The rest becomes `CUT`. */
const MOST_VALUES = 2_000
const MOST_CHARACTERS = 100_000
const DEEPEST = 6
const CUT = '…'

/**
 * Returns variables as plain data. A number becomes text if a JSON number cannot represent it exactly. The result is limited, no
 * matter how much of its data a template assigned.
 */
function plainVariables(scope: object): Record<string, unknown> {
  let values = 0
  let characters = 0
  const object = (map: object, depth: number): Record<string, unknown> => {
    const made: [string, unknown][] = []
    for (const name of Object.keys(map)) {
      const isFull = values >= MOST_VALUES
      made.push(isFull ? [CUT, CUT] : [name, plain((map as Record<string, unknown>)[name], depth)])
      if (isFull) break
    }
    return Object.fromEntries(made)
  }
  const list = (items: readonly unknown[], depth: number): unknown[] => {
    const made: unknown[] = []
    for (const item of items) {
      made.push(plain(item, depth))
      if (values > MOST_VALUES) break
    }
    return made
  }
  const text = (whole: string): string => {
    const room = MOST_CHARACTERS - characters
    characters += whole.length
    return whole.length > room ? `${whole.slice(0, Math.max(0, room)).toWellFormed()}${CUT}` : whole
  }
  const plain = (given: unknown, depth: number): unknown => {
    values += 1
    if (values > MOST_VALUES || depth > DEEPEST) return CUT
    const value = toValue(given)
    if (value === null || value === undefined || typeof value === 'boolean') return value ?? null
    if (isDataNumber(value) || value instanceof LiquidNumber) return plainNumber(value)
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return list(value, depth + 1)
    return typeof value === 'object' ? object(value, depth + 1) : null
  }
  return object(scope, 1)
}

function plainNumber(value: Parameters<typeof dataNumber>[0] | LiquidNumber): number | string {
  const text = String(value instanceof LiquidNumber ? value : dataNumber(value))
  const number = Number(text)
  return String(number) === text ? number : text
}
