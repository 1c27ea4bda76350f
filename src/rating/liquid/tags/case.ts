import { CaseTag, type Context, type Emitter, evalToken, toValueSync } from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from '../context.ts'
import { equal } from '../operators.ts'

/** `case`: the first `when` with an equal value, equal as `==` sees it. */
export class FirstMatchCaseTag extends CaseTag {
  override *render(context: Context, emitter: Emitter): ReturnType<CaseTag['render']> {
    const subject = toValueSync(this.value.value(context))
    const matching = this.branches.find(branch =>
      branch.values.some(value =>
        equal(subject, toValueSync(evalToken(value, context)), context as RenderingContext),
      ),
    )
    yield this.liquid.renderer.renderTemplates(matching?.templates ?? this.elseTemplates, context, emitter)
  }
}
