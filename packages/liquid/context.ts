import Big from 'big.js'
import {
  Context,
  Drop,
  type Emitter,
  type Liquid,
  type Template,
  type Token,
  toValue,
} from 'liquidjs/dist/liquid.browser.mjs'
import type { Calendar } from './date-format.ts'
import type { Filters } from './evaluation.ts'
import { RenderBudget, type RenderLimits, STEP_WORK, TemplateError } from './limits.ts'
import { Observation, type RenderingObserver } from './observation.ts'
import { asInteger, dataNumber, isDataNumber, LiquidNumber, namesOf, printed } from './values.ts'

/** Everything that the caller adds to the engine: filters, their effects, and what the engine does not know. */
export type Dialect<Effects = unknown> = {
  readonly filters: Filters
  /** The filters of a rendering write here: `context.state.effects`. */
  newEffects(): Effects
  /** Final effects of a rendering, as the caller gets them. */
  settledEffects(effects: Effects): Effects
  readonly calendar: Calendar
  isCurrency(code: string): boolean
  /** How many digits its minor unit has. */
  digitsOfCurrency(code: string): number
  /** A sentence with a leading blank that suggests the nearest known name; empty if none is near. */
  suggestion(name: string, known: readonly string[]): string
}

/** Sources beyond the template's data. Nothing is asynchronous, because rendering is synchronous. */
export type RenderingEnvironment = {
  /** IANA name. */
  timeZone: string
  /** ISO 4217. */
  currency: string
  /** The time of `"now"`: milliseconds since the Unix epoch. */
  now: number
  /** For `image_url`; without it the filter prints the name unchanged. */
  imageUrl?(name: string): string | undefined
  /** For `include` and `render`; undefined for an unknown name. */
  templates?(name: string): { readonly nodes: Template[] } | undefined
  limits?: Partial<RenderLimits>
  /** Sees each step of the rendering. Without one, nothing is spent on it. */
  observer?: RenderingObserver
  /**
   * What is wrong with reading a path that has no value, as a sentence: the rendering fails with it at the path.
   * Undefined where nothing is. Not asked while keys are missing.
   */
  withoutValue?(read: ReadWithoutValue): string | undefined
}

export type ReadWithoutValue = {
  /** As written; parts in brackets have their value. */
  readonly path: readonly string[]
  /** The place of the first part without a value: 0 for the variable itself. */
  readonly at: number
  /** What lacks that part. */
  readonly owner: unknown
  /** The variable was set, even to nothing. */
  readonly isSet: boolean
  /** A condition asks whether there is a value, or `default` stands in for one. */
  readonly isTested: boolean
}

/** State of one rendering. The template shares it with the snippets that it includes. */
type RenderState = {
  data: unknown
  environment: RenderingEnvironment
  budget: RenderBudget
  dialect: Dialect<unknown>
  effects: unknown
  /** Requests of filters that were not loaded, by a text that identifies each, so none is requested twice. */
  missing: Map<string, unknown>
  /** Names of the snippets being rendered, outermost first. */
  snippets: string[]
  /** Variables and paths without a value, as in the source; at most 200. */
  undefinedNames: Set<string>
  observation: Observation | undefined
}

const MOST_UNDEFINED = 200
const LONGEST_NAME = 200

export function newRenderState<Effects>(
  data: unknown,
  environment: RenderingEnvironment,
  dialect: Dialect<Effects>,
): RenderState {
  return {
    data,
    environment,
    dialect: dialect as Dialect<unknown>,
    budget: new RenderBudget(environment.limits),
    effects: dialect.newEffects(),
    missing: new Map(),
    snippets: [],
    undefinedNames: new Set(),
    observation: environment.observer && new Observation(environment.observer),
  }
}

/** The library's limits read a clock; ours are counted. */
const UNTIMED = { use: () => {}, check: () => {} } as unknown as Context['renderLimit']

/** The library counts the items of a range; each takes several bytes. */
const RANGE_ITEM_MEMORY = 4

/** Variables of one template. Reads only own members of data, never calls anything in it and never writes to it. */
export class RenderingContext extends Context {
  readonly state: RenderState
  readonly #engine: Liquid
  /** Undefined where nobody observes. */
  readonly observation: Observation | undefined
  /** The running filter, for the position of errors. */
  filter: Token | undefined
  /** What the running filter says about its result. */
  detail: unknown

  constructor(engine: Liquid, state: RenderState) {
    const globals: object = Object.assign(Object.create(null), { data: state.data })
    const memoryLimit = {
      use: (units: number) => state.budget.countMemory(units * RANGE_ITEM_MEMORY),
      check: () => {},
    } as unknown as Context['memoryLimit']
    const limits = { memoryLimit, renderLimit: UNTIMED, liquid: engine }
    super(Object.create(null), engine.options, { sync: true, globals }, limits)
    this.state = state
    this.observation = state.observation
    this.#engine = engine
  }

  get budget(): RenderBudget {
    return this.state.budget
  }

  /** A key was not loaded, so the output is not final. */
  get provisional(): boolean {
    return this.state.missing.size > 0
  }

  /** A context for `render` that sees only the data. */
  override spawn(): RenderingContext {
    return new RenderingContext(this.#engine, this.state)
  }

  // biome-ignore lint/correctness/useYield: the library drives what it asks for.
  override *_get(path: Parameters<Context['_get']>[0]): IterableIterator<unknown> {
    return this.valueAt(path)
  }

  /** The value at the path in the innermost scope with its first name. A missing value is noted. */
  valueAt(path: readonly unknown[], token?: Token): unknown {
    let value: unknown = this.#scopeOf(path[0])
    for (const part of path) value = this.readProperty(value, part)
    const { undefinedNames } = this.state
    if (value === undefined && undefinedNames.size < MOST_UNDEFINED) {
      const name = path.map(part => String(toValue(part))).join('.')
      // Loops check whether they are inside another one.
      if (name !== 'forloop') undefinedNames.add(name.slice(0, LONGEST_NAME).toWellFormed())
    }
    this.observation?.read(path, value, token)
    if (value === undefined && this.state.environment.withoutValue) this.#missed(path, token)
    return value
  }

  #missed(path: readonly unknown[], token: Token | undefined): void {
    if (this.provisional || path[0] === 'forloop') return
    const scope = this.#scopeOf(path[0])
    let owner: unknown = scope
    let at = 0
    for (let next = owner; at < path.length; at += 1) {
      next = this.readProperty(owner, path[at])
      if (next === undefined) break
      owner = next
    }
    const problem = this.state.environment.withoutValue!({
      path: path.map(part => String(toValue(part))),
      at,
      owner,
      isSet: String(path[0]) in scope,
      isTested: token !== undefined && isTested(token),
    })
    if (problem === undefined) return
    const error = new TemplateError('templateFailed', problem)
    // Not every token knows its file; the node around it does.
    throw token?.file ? located(error, token) : error
  }

  /** The innermost scope with that name, as in the library. */
  #scopeOf(name: unknown): object {
    const { scopes } = this as unknown as { readonly scopes: readonly object[] }
    for (let at = scopes.length - 1; at >= 0; at -= 1) if ((name as string) in scopes[at]!) return scopes[at]!
    return (name as string) in this.environments ? this.environments : this.globals
  }

  override readProperty(owner: unknown, name: unknown): unknown {
    this.budget.countWork(STEP_WORK)
    const key = toValue(name)
    if (typeof owner === 'string') return key === 'size' ? owner.length : undefined
    if (typeof owner !== 'object' || owner === null) return undefined
    if (owner instanceof LiquidNumber || owner instanceof Big || owner instanceof Drop) return undefined
    return asValue(Array.isArray(owner) ? this.#item(owner, key) : this.#member(owner, key))
  }

  #item(list: unknown[], key: unknown): unknown {
    if (key === 'size') return list.length
    if (key === 'first') return list[0]
    if (key === 'last') return list[list.length - 1]
    const index = asInteger(key)
    return index === undefined ? undefined : list.at(index)
  }

  #member(map: object, key: unknown): unknown {
    if (key === null || key === undefined || typeof key === 'boolean') return undefined
    const name = String(key)
    if (Object.hasOwn(map, name)) return (map as Record<string, unknown>)[name]
    if (map === this.globals) return undefined
    if (name !== 'size' && name !== 'first' && name !== 'last') return undefined
    const names = namesOf(map, this.budget)
    if (name === 'size') return names.length
    const found = names.at(name === 'first' ? 0 : -1)
    return found === undefined ? undefined : [found, (map as Record<string, unknown>)[found]]
  }

  /** The text of a value for a filter. What a list or map prints as counts: it may be far more than its size. */
  print(value: unknown): string {
    const text = printed(value)
    if (typeof value === 'object') this.budget.countWork(text.length)
    return text
  }

  /**
   * For a filter: what an observer gets as `detail` beside the filter's result. `detail` is called only where somebody
   * observes.
   */
  explain(detail: () => unknown): void {
    if (this.observation) this.detail = detail()
  }

  /**
   * Throws `templateFailed` at the running filter. While keys are missing it returns undefined instead, because a blank
   * in place of their values may be the only reason.
   */
  reject(message: string): undefined {
    if (this.provisional) return undefined
    const error = new TemplateError('templateFailed', message)
    throw this.filter ? located(error, this.filter) : error
  }
}

const TESTING_TAG = /(?:^|[\s%-])(?:if|elsif|unless|and|or)\s+$/
const TESTED_BY = /^\s*(?:-?%\}|\n|(?:and|or)\b|(?:==|!=)\s*(?:nil|null|blank|empty)\b)/

/** Told from the text around the path: `{% if path %}`, `path == nil`, `path | default: x`. */
function isTested({ input, begin, end }: Token): boolean {
  const after = input.slice(end, end + 40)
  if (/^\s*\|\s*default\b/.test(after)) return true
  return TESTED_BY.test(after) && TESTING_TAG.test(input.slice(Math.max(0, begin - 20), begin))
}

function asValue(value: unknown): unknown {
  if (isDataNumber(value)) return dataNumber(value)
  return typeof value === 'function' ? undefined : value
}

/** Adds the position of `token` unless the error has one. Errors that are not ours become `templateFailed`. */
export function located(error: unknown, token: Token): TemplateError {
  if (error instanceof TemplateError && error.path !== undefined) return error
  const [line, column] = token.getPosition() as [number, number]
  const at = { path: token.file ?? '', line, column }
  if (error instanceof TemplateError) return new TemplateError(error.code, error.message, at)
  // The library throws RangeError only for a full stack or a text beyond the greatest length.
  if (error instanceof RangeError)
    return new TemplateError('templateLimit', 'The template nests too deeply or builds too much.', at)
  const cause = error instanceof Error && 'originalError' in error ? error.originalError : error
  if (cause !== error) return located(cause, token)
  return new TemplateError('templateFailed', error instanceof Error ? error.message : String(error), at)
}

/** Collects the output. `count` charges the budget: output, or memory for `capture`. */
export class CountingEmitter implements Emitter {
  readonly #count: (text: string) => void
  buffer = ''

  constructor(count: (text: string) => void) {
    this.#count = count
  }

  write(value: unknown): void {
    const text = printed(value)
    this.#count(text)
    this.buffer += text
  }
}
