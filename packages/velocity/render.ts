// Renders a Velocity template under the counted limits of Liquid. It reads only own members of data, calls only listed methods,
// and writes only to values that the template created.
import { positionAt } from '../liquid/findings.ts'
import {
  FILTER_WORK,
  ITEM_WORK,
  includedSnippet,
  type RenderBudget,
  type RenderLimits,
  STEP_WORK,
  TemplateError,
} from '../liquid/limits.ts'
import { asInteger, literalNumber, namesOf } from '../liquid/values.ts'
import { memberOf, readable } from './data.ts'
import type { Call, Expression, Macro, Node, Reference, Step } from './expression.ts'
import type { VelocityTemplate } from './parse.ts'
import { callTool, isTool, type ToolSurroundings } from './tools.ts'
import { calculate, callChange, callMethod, ITEM_MEMORY, isChange, isMap, isTrue, printed } from './values.ts'

export type VelocityEnvironment = ToolSurroundings & {
  /** For `#parse` and `#include`. Returns undefined for an unknown name. */
  readonly snippets?: (name: string) => VelocityTemplate | undefined
  readonly limits?: Partial<RenderLimits>
}

const MOST_UNDEFINED = 200
const LONGEST_NAME = 200
const DEEPEST_CALLS = 30
/** Variables of a loop in addition to its own. The last two are from Velocity 1. */
const LOOP_NAMES = ['foreach', 'velocityCount', 'velocityHasNext']

const templateError = (message: string): TemplateError => new TemplateError('templateFailed', message)

type Output = { write(text: string): void }
type Running = 'on' | 'break' | 'stop'

export class VelocityRun {
  readonly undefinedNames = new Set<string>()
  readonly #environment: VelocityEnvironment
  readonly #budget: RenderBudget
  readonly #variables = new Map<string, unknown>()
  readonly #macros = new Map<string, { macro: Macro; file: VelocityTemplate }>()
  readonly #defined = new Map<string, { body: readonly Node[]; file: VelocityTemplate }>()
  /** Maps and lists that the template created, and so may change. */
  readonly #made = new WeakSet<object>()
  /** Names of the snippets being rendered, outermost first. */
  readonly #snippets: string[] = []
  #calls = 0
  #file: VelocityTemplate | undefined

  constructor(data: unknown, environment: VelocityEnvironment, budget: RenderBudget) {
    this.#environment = environment
    this.#budget = budget
    this.#variables.set('data', readable(data))
  }

  file(template: VelocityTemplate, out: Output): Running {
    this.#budget.countWork(template.macros.size * ITEM_WORK)
    for (const [name, macro] of template.macros) this.#macros.set(name, { macro, file: template })
    return this.#in(template, () => this.#nodes(template.nodes, out))
  }

  /** Errors within `run` have positions in this file. */
  #in<T>(file: VelocityTemplate, run: () => T): T {
    const outer = this.#file
    this.#file = file
    try {
      return run()
    } finally {
      this.#file = outer
    }
  }

  #nodes(nodes: readonly Node[], out: Output): Running {
    for (const node of nodes) {
      const running = typeof node === 'string' ? this.#text(node, out) : this.#located(node, out)
      if (running !== 'on') return running
    }
    return 'on'
  }

  #text(text: string, out: Output): Running {
    this.#budget.countNode()
    out.write(text)
    return 'on'
  }

  #located(node: Exclude<Node, string>, out: Output): Running {
    try {
      this.#budget.countNode()
      return this.#node(node, out)
    } catch (problem) {
      if (problem instanceof TemplateError && problem.path !== undefined) throw problem
      const { path, source } = this.#file!
      const at = { path, ...positionAt(source, node.offset) }
      if (problem instanceof TemplateError) throw new TemplateError(problem.code, problem.message, at)
      // A full stack, or text beyond the maximum length of a string.
      if (problem instanceof RangeError)
        throw new TemplateError('templateLimit', 'The template nests too deeply or builds too much.', at)
      throw problem
    }
  }

  #node(node: Exclude<Node, string>, out: Output): Running {
    switch (node.kind) {
      case 'reference':
        return this.#print(node, out)
      case 'set':
        return this.#set(node.target, this.#value(node.value))
      case 'if':
        for (const { condition, body } of node.branches) {
          this.#budget.countWork(ITEM_WORK)
          if (!condition || this.#isTrue(this.#value(condition))) return this.#nodes(body, out)
        }
        return 'on'
      case 'foreach':
        return this.#loop(node, out)
      case 'define':
        this.#defined.set(node.name, { body: node.body, file: this.#file! })
        return 'on'
      case 'call':
        return this.#call(node, out)
      case 'parse':
        for (const name of node.names) if (this.#parsed(this.#value(name), out) === 'stop') return 'stop'
        return 'on'
      case 'include':
        for (const name of node.names) out.write(this.#snippet(this.#value(name)).snippet.source)
        return 'on'
      default:
        return node.kind
    }
  }

  #print(reference: Reference, out: Output): Running {
    const block = reference.steps.length === 0 ? this.#defined.get(reference.name) : undefined
    if (block && !this.#variables.has(reference.name))
      this.#deeper(() => this.#in(block.file, () => this.#nodes(block.body, out)))
    else {
      const value = this.#value(reference)
      if (value !== undefined && value !== null) out.write(printed(value, this.#budget))
      else if (!reference.quiet) out.write(reference.source)
    }
    return 'on'
  }

  #loop(node: Extract<Node, { kind: 'foreach' }>, out: Output): Running {
    const over = this.#value(node.over)
    const values = isMap(over) ? namesOf(over, this.#budget).map(key => memberOf(over, key)) : []
    const items = Array.isArray(over) ? over : values
    if (items.length === 0) return this.#nodes(node.otherwise, out)
    this.#budget.countMemory(isMap(over) ? items.length : 0)
    const parent = this.#variables.get('foreach')
    const topmost = (isMap(parent) ? parent.topmost : undefined) ?? parent
    // The body may change the template's own list. The number of turns remains that at the start.
    const { length } = items
    return this.#restoring([node.variable, ...LOOP_NAMES], () => {
      let running: Running = 'on'
      for (let index = 0; index < length && running === 'on'; index += 1) {
        this.#budget.countNode()
        const [count, hasNext] = [index + 1, index + 1 < length]
        this.#variables.set(node.variable, readable(items[index]))
        const position = { index, count, hasNext, first: index === 0, last: !hasNext, parent, topmost }
        this.#variables.set('foreach', position)
        this.#variables.set('velocityCount', count)
        this.#variables.set('velocityHasNext', hasNext)
        running = this.#nodes(node.body, out)
      }
      return running
    })
  }

  /** Runs a body and then restores the values of the names. A `#break` ends there. */
  #restoring(names: readonly string[], run: () => Running): Running {
    const before = names.map(name => [name, this.#variables.has(name), this.#variables.get(name)] as const)
    const running = run()
    for (const [name, had, value] of before)
      if (had) this.#variables.set(name, value)
      else this.#variables.delete(name)
    return running === 'stop' ? 'stop' : 'on'
  }

  #call({ name, args, body, source }: Call, out: Output): Running {
    const known = this.#macros.get(name)
    if (!known) {
      this.#undefined(`#${name}`)
      out.write(source)
      if (body) this.#nodes(body, out)
      return 'on'
    }
    const { macro, file } = known
    this.#budget.countWork(args.length * ITEM_WORK)
    const values = macro.parameters.map(({ otherwise }, index) => {
      const given = args[index] ?? otherwise
      return given && this.#value(given)
    })
    const content = body && this.#captured(body)
    return this.#restoring([...macro.parameters.map(({ name }) => name), 'bodyContent'], () => {
      for (const [index, parameter] of macro.parameters.entries())
        this.#variables.set(parameter.name, values[index])
      this.#variables.set('bodyContent', content)
      return this.#deeper(() => this.#in(file, () => this.#nodes(macro.body, out)))
    })
  }

  #deeper<T>(run: () => T): T {
    this.#calls += 1
    try {
      if (this.#calls > DEEPEST_CALLS)
        throw new TemplateError('templateLimit', `Macros call each other deeper than ${DEEPEST_CALLS}.`)
      return run()
    } finally {
      this.#calls -= 1
    }
  }

  #snippet(name: unknown): { name: string; snippet: VelocityTemplate } {
    return includedSnippet(name, this.#environment.snippets, this.#snippets, this.#budget.limits)
  }

  #parsed(given: unknown, out: Output): Running {
    const { name, snippet } = this.#snippet(given)
    this.#snippets.push(name)
    const running = this.file(snippet, out)
    this.#snippets.pop()
    return running
  }

  #captured(nodes: readonly Node[]): string {
    const parts: string[] = []
    const write = (text: string): void => {
      this.#budget.countMemory(text.length)
      parts.push(text)
    }
    this.#nodes(nodes, { write })
    return parts.join('')
  }

  #set({ name, steps, source }: Reference, value: unknown): Running {
    const last = steps.at(-1)
    if (!last) {
      this.#variables.set(name, value)
      return 'on'
    }
    const owner = this.#stepped(this.#variables.get(name), steps.slice(0, -1))
    if (typeof owner !== 'object' || owner === null || !this.#made.has(owner) || last.kind === 'method')
      throw templateError(
        `'${source}' cannot be set: only maps and lists that the template created itself can be changed.`,
      )
    const key = last.kind === 'property' ? last.name : this.#value(last.index)
    this.#budget.countMemory(ITEM_MEMORY)
    if (Array.isArray(owner)) {
      const index = asInteger(key)
      if (index === undefined || index < 0 || index >= owner.length)
        throw templateError(`'${source}' is outside the list.`)
      owner[index] = value
    } else (owner as Record<string, unknown>)[printed(key, this.#budget)] = value
    return 'on'
  }

  #value(expression: Expression): unknown {
    this.#budget.countWork(STEP_WORK)
    switch (expression.kind) {
      case 'value':
        return expression.value
      case 'decimal':
        return literalNumber(expression.text)
      case 'text':
        return this.#captured(expression.nodes)
      case 'list':
        return this.#newList(expression.items.map(item => this.#value(item)))
      case 'range':
        return this.#range(asInteger(this.#value(expression.from)), asInteger(this.#value(expression.to)))
      case 'map': {
        const map: Record<string, unknown> = Object.create(null)
        for (const [key, value] of expression.entries)
          map[printed(this.#value(key), this.#budget)] = this.#value(value)
        this.#budget.countMemory(expression.entries.length * ITEM_MEMORY)
        this.#made.add(map)
        return map
      }
      case 'not':
        return !this.#isTrue(this.#value(expression.of))
      case 'minus':
        return calculate('-', 0, this.#value(expression.of), this.#budget)
      case 'binary': {
        const { operator } = expression
        const left = this.#value(expression.left)
        if (operator === '&&') return this.#isTrue(left) && this.#isTrue(this.#value(expression.right))
        if (operator === '||') return this.#isTrue(left) || this.#isTrue(this.#value(expression.right))
        return calculate(operator, left, this.#value(expression.right), this.#budget)
      }
      case 'reference': {
        const value = this.#referred(expression)
        if (expression.otherwise) return this.#isTrue(value) ? value : this.#value(expression.otherwise)
        if (value === undefined) this.#undefined(expression.source)
        return value
      }
    }
  }

  #isTrue(value: unknown): boolean {
    return isTrue(value, this.#budget)
  }

  #newList(items: unknown[]): unknown[] {
    this.#budget.countMemory(items.length * ITEM_MEMORY)
    this.#made.add(items)
    return items
  }

  #range(from: number | undefined, to: number | undefined): unknown {
    if (from === undefined || to === undefined) return undefined
    const length = Math.abs(to - from) + 1
    this.#budget.countMemory(length * ITEM_MEMORY)
    return this.#newList(Array.from({ length }, (_, index) => (to < from ? from - index : from + index)))
  }

  #undefined(name: string): void {
    if (this.undefinedNames.size < MOST_UNDEFINED)
      this.undefinedNames.add(name.slice(0, LONGEST_NAME).toWellFormed())
  }

  #referred({ name, steps }: Reference): unknown {
    const [first, ...rest] = steps
    if (!this.#variables.has(name) && isTool(name) && first?.kind === 'method') {
      this.#budget.countWork(FILTER_WORK)
      const args = first.args.map(arg => this.#value(arg))
      return this.#stepped(callTool(name, first.name, args, this.#environment, this.#budget), rest)
    }
    return this.#stepped(this.#variables.get(name), steps)
  }

  #stepped(root: unknown, steps: readonly Step[]): unknown {
    let value = root
    for (const step of steps) {
      this.#budget.countWork(STEP_WORK)
      if (value === undefined || value === null) return undefined
      if (step.kind === 'method') {
        this.#budget.countWork(FILTER_WORK)
        const args = step.args.map(arg => this.#value(arg))
        value = isChange(value, step.name)
          ? this.#changed(value, step, args)
          : callMethod(value, step.name, args, this.#budget)
      } else value = this.#member(value, step.kind === 'property' ? step.name : this.#value(step.index))
    }
    return value
  }

  /** Calls a method that changes a list or map. The template must have created that list or map. */
  #changed(owner: object, { name }: { name: string }, args: readonly unknown[]): unknown {
    if (!this.#made.has(owner))
      throw templateError(
        `'${name}' cannot be called: only maps and lists that the template created itself can be changed.`,
      )
    return callChange(owner, name, args, this.#budget)
  }

  #member(owner: unknown, key: unknown): unknown {
    // As in Java, `$list.empty` is `$list.isEmpty()`. On a map it is a key.
    if (key === 'empty' && (Array.isArray(owner) || typeof owner === 'string')) return owner.length === 0
    if (Array.isArray(owner)) {
      const index = asInteger(key)
      return index === undefined ? undefined : readable(owner.at(index))
    }
    if (!isMap(owner) || key === undefined || key === null) return undefined
    const name = printed(key, this.#budget)
    return memberOf(owner, name)
  }
}
