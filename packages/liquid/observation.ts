// Shows a rendering step by step to an observer, for worksheets, coverage and stricter checks. Without an observer none of this
// runs.
import { type Template, type Token, TypeGuards, toValue, toValueSync } from 'liquidjs/dist/liquid.browser.mjs'

/** A position in a source. `path` is that of the template or snippet. Line and column count from 1. */
export type Place = { readonly path: string; readonly line: number; readonly column: number }

/** A piece of a source that renders: text, `{{ }}`, or `{% %}` with the name of its tag. */
export type NodePlace = {
  readonly at: Place
  readonly kind: 'text' | 'output' | 'tag'
  readonly tag?: string
  /**
   * The number of branches of a tag; `branch` reports the one taken. `if`, `unless` and `case` have one for each condition as
   * written and one for the rest, with or without `else`. Loops have one for turns and one for no turns.
   */
  readonly branches?: number
}

/** Values are those of the template. Numbers may be `LiquidNumber`, whose text is exact. */
export type ObservedRead = {
  readonly at: Place
  /** As written: `data.policy.locator`. Parts in brackets are replaced by their values. */
  readonly path: readonly string[]
  /** Undefined if there is no value. */
  readonly value: unknown
}

export type ObservedFilter = {
  readonly at: Place
  readonly name: string
  readonly input: unknown
  /** A named argument is a pair of name and value. */
  readonly args: readonly unknown[]
  readonly result: unknown
  /** The detail that the filter gave by `context.explain`; undefined if none. */
  readonly detail: unknown
}

/** An assignment by `assign`, `capture`, `increment` or `decrement`, by each turn of a loop, or by an argument of a snippet. */
export type ObservedAssignment = { readonly at: Place; readonly name: string; readonly value: unknown }

export type ObservedBranch = {
  readonly at: Place
  readonly tag: string
  /** From 0 to below `of`. */
  readonly taken: number
  /** The number of branches: `branches` of the node. The last means that no condition held, or that there were no turns. */
  readonly of: number
  /** For loops: the number of turns. */
  readonly turns?: number
}

/**
 * Its methods are called in the order of execution: a node before its contents, a value after its parts. They are also called
 * while keys are missing and values are provisional. An error that a method throws ends the rendering; a `TemplateError` is
 * passed on unchanged.
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

  /** `file` is used if the token has none. Parts of markup have none. */
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

/** The observer of one rendering, with the node being rendered. */
export class Observation {
  readonly #observer: RenderingObserver
  readonly #places = new Places()
  /** The place to report for anything that the library evaluates itself. */
  #node: Token | undefined

  constructor(observer: RenderingObserver) {
    this.#observer = observer
  }

  /** Returns the surrounding node, which must be passed to `leave`. */
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

  /** `taken` is below 0 if none of the conditions held. */
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

/**
 * Returns every node of a compiled template in the order of its source, including those within blocks: everything that a
 * rendering can reach.
 */
export function nodesOf({ nodes }: { readonly nodes: readonly Template[] }): NodePlace[] {
  const places = new Places()
  const found: NodePlace[] = []
  const waiting = [...nodes].reverse()
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const branches = branchesOf(node)
    found.push({ ...nodePlace(node.token, places), ...(branches !== undefined && { branches }) })
    const inner = node.children ? (toValueSync(node.children(false, true)) as Template[]) : []
    // Pushed one by one: a block can have more nodes than a call can have arguments.
    for (const child of [...inner].reverse()) waiting.push(child)
  }
  return found
}

function branchesOf(node: Branching): number | undefined {
  if (node.branches) return node.branches.length + 1
  const name = TypeGuards.isTagToken(node.token) ? node.token.name : ''
  return name === 'for' || name === 'tablerow' ? 2 : undefined
}
