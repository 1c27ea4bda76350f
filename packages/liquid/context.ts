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
import { asInteger, dataNumber, isDataNumber, LiquidNumber, printed } from './values.ts'

/** What a caller adds to the engine: its own filters and what they record, and what the engine does not know itself. */
export type Dialect<Effects = unknown> = {
  readonly filters: Filters
  /** What the filters of a rendering write to: `context.state.effects`. */
  newEffects(): Effects
  /** The effects at the end of a rendering, as its caller gets them. */
  settledEffects(effects: Effects): Effects
  readonly calendar: Calendar
  isCurrency(code: string): boolean
  /** A sentence, with a blank before it, that names the known name which was probably meant; empty when none was. */
  suggestion(name: string, known: readonly string[]): string
}

/** What a template may ask for beyond its data. Nothing here waits: rendering is synchronous. */
export type RenderingEnvironment = {
  /** IANA name. */
  timeZone: string
  /** ISO 4217. */
  currency: string
  /** The time of `"now"`, in milliseconds since the Unix epoch. */
  now: number
  /** For `image_url`; without it the name is printed unchanged. */
  imageUrl?(name: string): string | undefined
  /** For `include` and `render`, a compiled template; undefined for an unknown name. */
  templates?(name: string): { readonly nodes: Template[] } | undefined
  limits?: Partial<RenderLimits>
}

/** State of one rendering, shared by the template and the snippets that it includes. */
type RenderState = {
  data: unknown
  environment: RenderingEnvironment
  budget: RenderBudget
  dialect: Dialect<unknown>
  effects: unknown
  /** What filters asked for that was not loaded, by text that names it, so that each is asked for once. */
  missing: Map<string, unknown>
  /** Names of the snippets being rendered, outermost first. */
  snippets: string[]
  /** Variables and paths that had no value, as they stand in the source; at most 200. */
  undefinedNames: Set<string>
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
  }
}

/** No clock is looked at: what a rendering may take is counted. */
const UNTIMED = { use: () => {}, check: () => {} } as unknown as Context['renderLimit']

/** The library counts the items of a range that it builds; each takes several bytes. */
const RANGE_ITEM_MEMORY = 4

/** The variables of one template. Reads own members of data only, never calls anything in it and never writes to it. */
export class RenderingContext extends Context {
  readonly state: RenderState
  readonly #engine: Liquid
  /** The filter that runs, for the position of errors. */
  filter: Token | undefined

  constructor(engine: Liquid, state: RenderState) {
    const globals: object = Object.assign(Object.create(null), { data: state.data })
    const memoryLimit = {
      use: (units: number) => state.budget.countMemory(units * RANGE_ITEM_MEMORY),
      check: () => {},
    } as unknown as Context['memoryLimit']
    const limits = { memoryLimit, renderLimit: UNTIMED, liquid: engine }
    super(Object.create(null), engine.options, { sync: true, globals }, limits)
    this.state = state
    this.#engine = engine
  }

  get budget(): RenderBudget {
    return this.state.budget
  }

  /** Some key was not loaded, so what is rendered is not final. */
  get provisional(): boolean {
    return this.state.missing.size > 0
  }

  /** A context that sees the data and nothing else, for `render`. */
  override spawn(): RenderingContext {
    return new RenderingContext(this.#engine, this.state)
  }

  // biome-ignore lint/correctness/useYield: the library drives what it asks for.
  override *_get(path: Parameters<Context['_get']>[0]): IterableIterator<unknown> {
    return this.valueAt(path)
  }

  /** What the variable that the path begins with has there; that it has nothing is noted. */
  valueAt(path: readonly unknown[]): unknown {
    let value: unknown = this.#scopeOf(path[0])
    for (const part of path) value = this.readProperty(value, part)
    const { undefinedNames } = this.state
    if (value === undefined && undefinedNames.size < MOST_UNDEFINED) {
      const name = path.map(part => String(toValue(part))).join('.')
      // Loops ask whether they stand in another.
      if (name !== 'forloop') undefinedNames.add(name.slice(0, LONGEST_NAME).toWellFormed())
    }
    return value
  }

  /** The innermost that has the name, as the library looks for it. */
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
    if (name === 'size') return Object.keys(map).length
    if (name === 'first') return Object.entries(map)[0]
    if (name === 'last') return Object.entries(map).at(-1)
    return undefined
  }

  /**
   * What the template asks for cannot be done: throws `templateFailed` at the running filter. While keys are
   * missing it returns undefined instead, since a blank in place of their values may be the only reason.
   */
  reject(message: string): undefined {
    if (this.provisional) return undefined
    const error = new TemplateError('templateFailed', message)
    throw this.filter ? located(error, this.filter) : error
  }
}

function asValue(value: unknown): unknown {
  if (isDataNumber(value)) return dataNumber(value)
  return typeof value === 'function' ? undefined : value
}

/** The error with the position of `token`, unless it has one. Anything that is not ours becomes `templateFailed`. */
export function located(error: unknown, token: Token): TemplateError {
  if (error instanceof TemplateError && error.path !== undefined) return error
  const [line, column] = token.getPosition() as [number, number]
  const at = { path: token.file ?? '', line, column }
  if (error instanceof TemplateError) return new TemplateError(error.code, error.message, at)
  // The only RangeErrors left to the library are a full stack and a text beyond the longest one.
  if (error instanceof RangeError)
    return new TemplateError('templateLimit', 'The template nests too deeply or builds too much.', at)
  const cause = error instanceof Error && 'originalError' in error ? error.originalError : error
  if (cause !== error) return located(cause, token)
  return new TemplateError('templateFailed', error instanceof Error ? error.message : String(error), at)
}

/** Collects what a template writes; `count` is of the budget: output, or memory for what `capture` collects. */
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
