import { CaseTag, type Context, type Emitter } from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from '../context.ts'
import { evaluationOf, RENDERED, tokenEvaluation } from '../evaluation.ts'
import { equal } from '../operators.ts'

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
