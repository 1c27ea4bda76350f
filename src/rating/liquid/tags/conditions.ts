import { type Context, type Emitter, IfTag, UnlessTag } from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from '../context.ts'
import { ITEM_WORK } from '../limits.ts'

/** `if`, whose every condition counts: a long chain is no single node. */
export class CountedIfTag extends IfTag {
  override *render(context: Context, emitter: Emitter): ReturnType<IfTag['render']> {
    ;(context as RenderingContext).budget.countWork(this.branches.length * ITEM_WORK)
    return yield* super.render(context, emitter)
  }
}

/** `unless`, counted as `if` is. */
export class CountedUnlessTag extends UnlessTag {
  override *render(context: Context, emitter: Emitter): ReturnType<UnlessTag['render']> {
    ;(context as RenderingContext).budget.countWork(this.branches.length * ITEM_WORK)
    return yield* super.render(context, emitter)
  }
}
