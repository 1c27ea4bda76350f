import {
  type Context,
  type Emitter,
  evalTokenValue,
  type Liquid,
  Tag,
  type TagToken,
  type Token,
  type TopLevelToken,
  toValueSync,
  Value,
} from 'liquidjs/dist/liquid.browser.mjs'
import { printed } from '../printing.ts'

/** `cycle 'a', 'b'` or `cycle group: 'a', 'b'`: one value after the other, each time it is rendered. */
export class GroupedCycleTag extends Tag {
  readonly #group: Token | undefined
  readonly #values: Value[] = []
  /** Cycles of the same values go on together, those of different groups apart. */
  readonly #signature: string

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid) {
    super(token, remaining, liquid)
    const begin = this.tokenizer.p
    const group = this.tokenizer.readValue()
    this.tokenizer.skipBlank()
    if (group && this.tokenizer.peek() === ':') this.#group = group
    this.tokenizer.p = this.#group ? this.tokenizer.p + 1 : begin
    this.#signature = token.args
    while (!this.tokenizer.end()) {
      this.#values.push(new Value(this.tokenizer.readFilteredValue(), liquid))
      this.tokenizer.skipBlank()
      if (this.tokenizer.peek() !== ',') break
      this.tokenizer.advance()
    }
    this.tokenizer.assert(this.#values.length > 0, 'cycle needs values')
  }

  render(context: Context, emitter: Emitter): void {
    const group = this.#group ? printed(toValueSync(evalTokenValue(this.#group, context))) : this.#signature
    const turns = context.getRegister<Map<string, number>>('cycle', new Map())
    const turn = turns.get(group) ?? 0
    turns.set(group, turn + 1)
    emitter.write(toValueSync(this.#values[turn % this.#values.length]!.value(context)))
  }
}
