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
import { asInteger, dataNumber, isDataNumber, LiquidNumber, namesOf, printedText } from './values.ts'

/** Everything that the caller adds to the engine: filters, their effects, and knowledge that the engine lacks. */
export type Dialect<Effects = unknown> = {
  readonly filters: Filters
  /** Creates the effects of one rendering. Filters write to them as `context.state.effects`. */
  newEffects(): Effects
  /** Returns the final effects of a rendering for the caller. */
  settledEffects(effects: Effects): Effects
  readonly calendar: Calendar
  isCurrency(code: string): boolean
  /** The number of digits of the currency's minor unit. */
  digitsOfCurrency(code: string): number
  /** Returns a sentence, with a leading blank, that suggests the nearest known name. Empty if no name is near. */
  suggestion(name: string, known: readonly string[]): string
}

/** Sources besides the template's data. Nothing is asynchronous, because rendering is synchronous. */
export type RenderingEnvironment = {
  /** An IANA name. */
  timeZone: string
  /** An ISO 4217 code. */
  currency: string
  /** The time of `"now"`, in milliseconds since the Unix epoch. */
  now: number
  /** For `image_url`. Without it the filter prints the name unchanged. */
  imageUrl?(name: string): string | undefined
  /** For `include` and `render`. Returns undefined for an unknown name. */
  templates?(name: string): { readonly nodes: Template[] } | undefined
  limits?: Partial<RenderLimits>
  /** Sees each step of the rendering. Without an observer, no work is done for it. */
  observer?: RenderingObserver
  /**
   * Returns a sentence if reading a path without a value is a problem; the rendering then fails with it at the path. Returns
   * undefined if it is not. Not called while keys are missing.
   */
  withoutValue?(read: ReadWithoutValue): string | undefined
}

export type ReadWithoutValue = {
  /** As written, with parts in brackets replaced by their values. */
  readonly path: readonly string[]
  /** The index of the first part without a value; 0 is the variable itself. */
  readonly at: number
  /** The value that lacks that part. */
  readonly owner: unknown
  /** Whether the variable was set, even to nil. */
  readonly isSet: boolean
  /** Whether a condition tests for a value, or `default` replaces a missing one. */
  readonly isTested: boolean
}

/** The state of one rendering. The template shares it with the snippets that it includes. */
type RenderState = {
  data: unknown
  environment: RenderingEnvironment
  budget: RenderBudget
  dialect: Dialect<unknown>
  effects: unknown
  /** Requests of filters for values that were not loaded, by a text that identifies each, so that none is requested twice. */
  missing: Map<string, unknown>
  /** The names of the snippets being rendered, outermost first. */
  snippets: string[]
  /** Variables and paths without a value, as in the source; at most 200. */
  undefinedNames: Set<string>
  observation: Observation | undefined
}

const MOST_UNDEFINED = 200
const LONGEST_NAME = 200

/** Returns the state of a new rendering, with an unused budget. `dialect` supplies the effects that filters record. */
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

/** The library's limits read a clock. Bindery counts work instead. */
const UNTIMED = { use: () => {}, check: () => {} } as unknown as Context['renderLimit']

/** The library counts the items of a range, and each item needs several bytes. */
const RANGE_ITEM_MEMORY = 4

/** The variables of one template. Reads only own members of the data, never calls anything in it and never writes to it. */
export class RenderingContext extends Context {
  readonly state: RenderState
  readonly #engine: Liquid
  /** Undefined if there is no observer. */
  readonly observation: Observation | undefined
  /** The running filter, for the position of errors. */
  filter: Token | undefined
  /** The detail that the running filter reports about its result. */
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

  /** Whether a key was not loaded, so that the output is not final. */
  get provisional(): boolean {
    return this.state.missing.size > 0
  }

  /** Returns a context for `render` that sees only the data. */
  override spawn(): RenderingContext {
    return new RenderingContext(this.#engine, this.state)
  }

  // biome-ignore lint/correctness/useYield: the library drives what it asks for.
  override *_get(path: Parameters<Context['_get']>[0]): IterableIterator<unknown> {
    return this.valueAt(path)
  }

  /** Returns the value at the path, starting in the innermost scope that has its first name. Records a missing value. */
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
    // Not every token knows its file. The node around it does.
    throw token?.file ? withPosition(error, token) : error
  }

  /** Returns the innermost scope with that name, as the library does. */
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

  /**
   * Returns the text of a value for a filter. Counts the text of lists and maps, which may be far longer than the number of
   * items.
   */
  print(value: unknown): string {
    const text = printedText(value)
    if (typeof value === 'object') this.budget.countWork(text.length)
    return text
  }

  /** For filters: gives an observer a `detail` in addition to the filter's result. Calls `detail` only if there is an observer. */
  explain(detail: () => unknown): void {
    if (this.observation) this.detail = detail()
  }

  /**
   * Throws `templateFailed` at the running filter. While keys are missing it returns undefined instead, because a blank in place
   * of their values may be the only cause.
   */
  reject(message: string): undefined {
    if (this.provisional) return undefined
    const error = new TemplateError('templateFailed', message)
    throw this.filter ? withPosition(error, this.filter) : error
  }
}

const TESTING_TAG = /(?:^|[\s%-])(?:if|elsif|unless|and|or)\s+$/
const TESTED_BY = /^\s*(?:-?%\}|\n|(?:and|or)\b|(?:==|!=)\s*(?:nil|null|blank|empty)\b)/

/** Decides by the text around the path: `{% if path %}`, `path == nil`, `path | default: x`. */
function isTested({ input, begin, end }: Token): boolean {
  const after = input.slice(end, end + 40)
  if (/^\s*\|\s*default\b/.test(after)) return true
  return TESTED_BY.test(after) && TESTING_TAG.test(input.slice(Math.max(0, begin - 20), begin))
}

function asValue(value: unknown): unknown {
  if (isDataNumber(value)) return dataNumber(value)
  return typeof value === 'function' ? undefined : value
}

/** Adds the position of `token` unless the error has one. Errors of other kinds become `templateFailed`. */
export function withPosition(error: unknown, token: Token): TemplateError {
  if (error instanceof TemplateError && error.path !== undefined) return error
  const [line, column] = token.getPosition() as [number, number]
  const at = { path: token.file ?? '', line, column }
  if (error instanceof TemplateError) return new TemplateError(error.code, error.message, at)
  // The library throws RangeError only for a full stack or for text beyond the maximum length of a string.
  if (error instanceof RangeError)
    return new TemplateError('templateLimit', 'The template nests too deeply or builds too much.', at)
  const cause = error instanceof Error && 'originalError' in error ? error.originalError : error
  if (cause !== error) return withPosition(cause, token)
  return new TemplateError('templateFailed', error instanceof Error ? error.message : String(error), at)
}

/** Collects the output. `count` charges the budget: for output, or for memory in `capture`. */
export class CountingEmitter implements Emitter {
  readonly #count: (text: string) => void
  buffer = ''

  constructor(count: (text: string) => void) {
    this.#count = count
  }

  write(value: unknown): void {
    const text = printedText(value)
    this.#count(text)
    this.buffer += text
  }
}
