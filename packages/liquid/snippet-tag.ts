// The tags that render another template in their place.
import {
  type Context,
  type Emitter,
  evalTokenValue,
  Hash,
  type Liquid,
  Tag,
  type TagToken,
  type Token,
  type TopLevelToken,
  toValueSync,
} from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from './context.ts'
import { ITEM_WORK, includedSnippet } from './limits.ts'
import { showAssigned } from './tags.ts'

/**
 * `include 'name'` and `render 'name'`, both with `key: value` pairs and `with value as name`; also `for list as name` with
 * `render`. A snippet of `include` reads and sets the variables around it; a snippet of `render` sees only `data` and its
 * arguments. Unknown names and cycles fail, and nesting is limited (brief 4.3).
 */
export class SnippetTag extends Tag {
  readonly #name: Token
  readonly #binding: { each: boolean; value: Token; alias: string } | undefined
  readonly #pairs: Hash

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid) {
    super(token, remaining, liquid)
    this.#name = this.tokenizer.readValueOrThrow()
    this.#binding = this.#readBinding()
    this.#pairs = new Hash(this.tokenizer, ':')
    this.tokenizer.skipBlank()
    this.tokenizer.assert(this.tokenizer.end(), () => `unexpected ${this.tokenizer.snapshot()}`)
  }

  #readBinding() {
    const begin = this.tokenizer.p
    const keyword = this.tokenizer.readIdentifier().content
    this.tokenizer.skipBlank()
    if ((keyword !== 'with' && keyword !== 'for') || this.tokenizer.peek() === ':') {
      this.tokenizer.p = begin
      return undefined
    }
    const value = this.tokenizer.readValueOrThrow()
    const beforeAs = this.tokenizer.p
    const alias =
      this.tokenizer.readIdentifier().content === 'as' ? this.tokenizer.readIdentifier().content : ''
    if (alias === '') this.tokenizer.p = beforeAs
    return { each: keyword === 'for', value, alias }
  }

  render(outer: Context, emitter: Emitter): void {
    const context = outer as RenderingContext
    const { snippets, environment, budget } = context.state
    const given = toValueSync(evalTokenValue(this.#name, context))
    const { name, snippet } = includedSnippet(given, environment.templates, snippets, budget.limits)
    budget.countWork(Object.keys(this.#pairs.hash).length * ITEM_WORK)
    const isolated = this.name === 'render'
    const scope: Record<string, unknown> = Object.assign(
      Object.create(null),
      toValueSync(this.#pairs.render(context)),
    )
    const bound = this.#binding && toValueSync(evalTokenValue(this.#binding.value, context))
    const items = this.#binding?.each && Array.isArray(bound) ? bound : [bound]
    const inner = isolated ? context.spawn() : context
    snippets.push(name)
    inner.push(scope)
    for (const item of items) {
      if (this.#binding) scope[this.#binding.alias || name] = item
      if (context.observation)
        for (const given of Object.keys(scope)) showAssigned(scope, given, this.token, context)
      budget.countNode()
      this.liquid.renderer.renderTemplates(snippet.nodes, inner, emitter)
    }
    inner.pop()
    snippets.pop()
  }
}
