// Shows a rendering step by step to an observer: worksheets, coverage, stricter checks. Without an observer
// nothing of this runs.
import { type Template, type Token, TypeGuards, toValue, toValueSync } from 'liquidjs/dist/liquid.browser.mjs'

/** Where something stands in a source. `path` is that of the template or snippet; line and column count from 1. */
export type Place = { readonly path: string; readonly line: number; readonly column: number }

/** A piece of a source that renders: text, `{{ }}`, or `{% %}` with the name of its tag. */
export type NodePlace = {
  readonly at: Place
  readonly kind: 'text' | 'output' | 'tag'
  readonly tag?: string
  /**
   * How many ways a tag can go, of which `branch` gives one. `if`, `unless` and `case`: each condition as written, then
   * the rest, with or without `else`. Loops: turns, then none.
   */
  readonly branches?: number
}

/** Values are those of the template: numbers may be `LiquidNumber`, whose text is exact. */
export type ObservedRead = {
  readonly at: Place
  /** As written: `data.policy.locator`. Parts in brackets have their value. */
  readonly path: readonly string[]
  /** Undefined where there is none. */
  readonly value: unknown
}

export type ObservedFilter = {
  readonly at: Place
  readonly name: string
  readonly input: unknown
  /** An argument with a name is a pair of name and value. */
  readonly args: readonly unknown[]
  readonly result: unknown
  /** What the filter says about its result, by `context.explain`; undefined if nothing. */
  readonly detail: unknown
}

/** Of `assign`, `capture`, `increment` and `decrement`, each turn of a loop, and the arguments of a snippet. */
export type ObservedAssignment = { readonly at: Place; readonly name: string; readonly value: unknown }

export type ObservedBranch = {
  readonly at: Place
  readonly tag: string
  /** From 0, below `of`. */
  readonly taken: number
  /** How many ways there are: `branches` of the node. The last is that no condition held, or that there were no turns. */
  readonly of: number
  /** Of loops: how many turns there are. */
  readonly turns?: number
}

/**
 * Is called in the order of execution: a node before what it contains, a value after what it was made of. Also while
 * keys are missing, when values are provisional. What a method throws ends the rendering: a `TemplateError` as it is.
 */
export type RenderingObserver = {
  node?(node: Omit<NodePlace, 'branches'>): void
  read?(read: ObservedRead): void
  filter?(filter: ObservedFilter): void
  assign?(assignment: ObservedAssignment): void
  branch?(branch: ObservedBranch): void
}

/** Finds lines in a source without reading it again for each token. */
export class Places {
  readonly #starts = new Map<string, readonly number[]>()

  /** `file` where the token has none: parts of markup do not. */
  of({ input, begin, ...token }: Token, file?: string): Place {
    const starts = this.#starts.get(input) ?? lineStarts(input)
    this.#starts.set(input, starts)
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= begin) low = middle
      else high = middle - 1
    }
    return { path: token.file ?? file ?? '', line: low + 1, column: begin - starts[low]! + 1 }
  }
}

function lineStarts(input: string): number[] {
  const starts = [0]
  for (let at = input.indexOf('\n'); at >= 0; at = input.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The observer of one rendering, with the node that runs. */
export class Observation {
  readonly #observer: RenderingObserver
  readonly #places = new Places()
  /** Stands for the place of what the library evaluates itself. */
  #node: Token | undefined

  constructor(observer: RenderingObserver) {
    this.#observer = observer
  }

  /** Returns the node around it, for `leave`. */
  enter({ token }: Template): Token | undefined {
    const outer = this.#node
    this.#node = token
    if (this.#observer.node) this.#observer.node(nodePlace(token, this.#places))
    return outer
  }

  leave(outer: Token | undefined): void {
    this.#node = outer
  }

  read(path: readonly unknown[], value: unknown, token: Token | undefined): void {
    // Loops check whether they are inside another one.
    if (!this.#observer.read || (path.length === 1 && path[0] === 'forloop')) return
    const names = path.map(part => String(toValue(part)))
    this.#observer.read({ at: this.#at(token), path: names, value: toValue(value) })
  }

  filter(filter: Omit<ObservedFilter, 'at'>, token: Token): void {
    this.#observer.filter?.({ at: this.#at(token), ...filter })
  }

  assign(name: string, value: unknown, token: Token): void {
    this.#observer.assign?.({ at: this.#at(token), name, value: toValue(value) })
  }

  /** `taken` below 0: none of the conditions held. */
  branch(token: Token & { name: string }, taken: number, conditions: number): void {
    const of = conditions + 1
    this.#observer.branch?.({
      at: this.#at(token),
      tag: token.name,
      taken: taken < 0 ? conditions : taken,
      of,
    })
  }

  loop(token: Token & { name: string }, turns: number): void {
    const taken = turns === 0 ? 1 : 0
    this.#observer.branch?.({ at: this.#at(token), tag: token.name, taken, of: 2, turns })
  }

  #at(token: Token | undefined): Place {
    const known = token ?? this.#node
    return known ? this.#places.of(known, this.#node?.file) : { path: '', line: 1, column: 1 }
  }
}

function nodePlace(token: Token, places: Places): NodePlace {
  const at = places.of(token)
  if (TypeGuards.isTagToken(token)) return { at, kind: 'tag', tag: token.name }
  return { at, kind: TypeGuards.isHTMLToken(token) ? 'text' : 'output' }
}

type Branching = Template & { readonly branches?: readonly unknown[] }

/** Every node of a compiled template in the order of its source, those within blocks too: what a rendering can reach. */
export function nodesOf({ nodes }: { readonly nodes: readonly Template[] }): NodePlace[] {
  const places = new Places()
  const found: NodePlace[] = []
  const waiting = [...nodes].reverse()
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const branches = branchesOf(node)
    found.push({ ...nodePlace(node.token, places), ...(branches !== undefined && { branches }) })
    const inner = node.children ? (toValueSync(node.children(false, true)) as Template[]) : []
    waiting.push(...[...inner].reverse())
  }
  return found
}

function branchesOf(node: Branching): number | undefined {
  if (node.branches) return node.branches.length + 1
  const name = TypeGuards.isTagToken(node.token) ? node.token.name : ''
  return name === 'for' || name === 'tablerow' ? 2 : undefined
}
