import type { Emitter } from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderBudget } from './limits.ts'
import { printed } from './printing.ts'

/** What the template writes; counted as output. */
export class OutputEmitter implements Emitter {
  readonly #budget: RenderBudget
  buffer = ''

  constructor(budget: RenderBudget) {
    this.#budget = budget
  }

  write(value: unknown): void {
    const text = printed(value)
    this.#budget.countOutput(text)
    this.buffer += text
  }
}

/** What `capture` collects; counted as memory. */
export class CaptureEmitter implements Emitter {
  readonly #budget: RenderBudget
  buffer = ''

  constructor(budget: RenderBudget) {
    this.#budget = budget
  }

  write(value: unknown): void {
    const text = printed(value)
    this.#budget.countMemory(text.length)
    this.buffer += text
  }
}
