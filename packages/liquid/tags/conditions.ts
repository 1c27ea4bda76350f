import { CaseTag, type Context, type Emitter, IfTag, UnlessTag } from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from '../context.ts'
import { evaluationOf, RENDERED, tokenEvaluation } from '../evaluation.ts'
import { ITEM_WORK } from '../limits.ts'
import { equal, isTrue } from '../operators.ts'

/** `if`, whose every condition counts: a long chain is no single node. */
export class CountedIfTag extends IfTag {
  readonly #branches = this.branches.map(({ value, templates }) => ({ test: evaluationOf(value), templates }))

  override render(outer: Context, emitter: Emitter): ReturnType<IfTag['render']> {
    const context = outer as RenderingContext
    context.budget.countWork(this.branches.length * ITEM_WORK)
    const holding = this.#branches.find(({ test }) => isTrue(test(context)))
    this.liquid.renderer.renderTemplates(holding?.templates ?? this.elseTemplates ?? [], context, emitter)
    return RENDERED
  }
}

/** `unless`, counted as `if` is. Its own condition must not hold; those of its `elsif` must. */
export class CountedUnlessTag extends UnlessTag {
  readonly #branches = this.branches.map(({ value, templates }, at) => ({
    test: evaluationOf(value),
    wanted: at > 0,
    templates,
  }))

  override render(outer: Context, emitter: Emitter): ReturnType<UnlessTag['render']> {
    const context = outer as RenderingContext
    context.budget.countWork(this.branches.length * ITEM_WORK)
    const chosen = this.#branches.find(({ test, wanted }) => isTrue(test(context)) === wanted)
    this.liquid.renderer.renderTemplates(chosen?.templates ?? this.elseTemplates, context, emitter)
    return RENDERED
  }
}

/** `case`: the first `when` with an equal value, equal as `==` sees it. */
export class FirstMatchCaseTag extends CaseTag {
  readonly #subject = evaluationOf(this.value)
  readonly #branches = this.branches.map(({ values, templates }) => ({
    values: values.map(tokenEvaluation),
    templates,
  }))

  override render(outer: Context, emitter: Emitter): ReturnType<CaseTag['render']> {
    const context = outer as RenderingContext
    const subject = this.#subject(context)
    const matching = this.#branches.find(branch =>
      branch.values.some(value => equal(subject, value(context), context)),
    )
    this.liquid.renderer.renderTemplates(matching?.templates ?? this.elseTemplates, context, emitter)
    return RENDERED
  }
}
