import type { CompiledTemplate } from './compile.ts'
import { newRenderState, RenderingContext } from './context.ts'
import { noEffects, type RatingEffects, settledEffects } from './effects.ts'
import { OutputEmitter } from './emitter.ts'
import { engine, renderTemplates } from './engine.ts'
import type { MissingKey, RenderingEnvironment } from './environment.ts'
import { TemplateError } from './template-error.ts'
import { plainVariables } from './variables.ts'

export type { LookupResult, MissingKey, RenderingEnvironment } from './environment.ts'
export type { RenderLimits } from './limits.ts'
export { TemplateError } from './template-error.ts'

export type Rendering = {
  output: string
  effects: RatingEffects
  /** When there are any, output and effects are provisional: load these keys and render again. */
  missing: MissingKey[]
  /** Variables and paths without a value, each once and at most 200. */
  undefinedNames: string[]
  /** What the template assigned, as plain data: for whoever tries it out. */
  variables(): Record<string, unknown>
}

/**
 * Renders `data`, which the template sees as the variable `data` and which is never written to. Throws
 * `TemplateError` with path, line and column. While keys are missing nothing fails: a blank in their place may be
 * the only reason.
 */
export function renderTemplate(
  template: CompiledTemplate,
  data: unknown,
  environment: RenderingEnvironment,
): Rendering {
  const state = newRenderState(data, environment)
  const emitter = new OutputEmitter(state.budget)
  const context = new RenderingContext(engine, state)
  const variables = () => plainVariables(context.bottom())
  try {
    renderTemplates(template.nodes, context, emitter)
  } catch (error) {
    if (!(error instanceof TemplateError) || state.missing.size === 0) throw error
    return {
      output: '',
      effects: noEffects(),
      missing: [...state.missing.values()],
      undefinedNames: [],
      variables,
    }
  }
  const missing = [...state.missing.values()]
  return {
    output: emitter.buffer,
    effects: settledEffects(state.effects),
    missing,
    undefinedNames: [...state.undefinedNames],
    variables,
  }
}
