import {
  AssignTag,
  type Context,
  EchoTag,
  type Emitter,
  type Liquid,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
  type Value,
} from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from '../context.ts'
import { evaluationOf, RENDERED } from '../evaluation.ts'

/** What the library keeps to itself of `assign` and `echo`. */
type Assigned = { readonly key: string; readonly value: Value }
type Echoed = { readonly value: Value | undefined }

/** `assign`: as the library has it, evaluated at once. */
export class DirectAssignTag extends AssignTag {
  readonly #key = (this as unknown as Assigned).key
  readonly #value = evaluationOf((this as unknown as Assigned).value)

  override render(context: Context): ReturnType<AssignTag['render']> {
    const value = this.#value(context as RenderingContext)
    ;(context.bottom() as Record<string, unknown>)[this.#key] = value
    return RENDERED
  }
}

/** `echo`: what an output prints, as a tag. */
export class DirectEchoTag extends EchoTag {
  readonly #value = echoed(this)

  override render(context: Context, emitter: Emitter): ReturnType<EchoTag['render']> {
    if (this.#value) emitter.write(this.#value(context as RenderingContext))
    return RENDERED
  }
}

function echoed(tag: object) {
  const { value } = tag as Echoed
  return value && evaluationOf(value)
}

/**
 * `header … endheader` and `footer … endfooter` of documents. They print as elements `<bindery-header>` and
 * `<bindery-footer>`, which the PDF stage moves to the margin of every page.
 */
export class PageBlockTag extends Tag {
  readonly #templates: Template[] = []

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, remaining, liquid)
    parser
      .parseStream(remaining)
      .on(`tag:end${token.name}`, function () {
        this.stop()
      })
      .on<Template>('template', template => {
        this.#templates.push(template)
      })
      .start()
  }

  render(context: Context, emitter: Emitter): void {
    emitter.write(`<bindery-${this.name}>`)
    this.liquid.renderer.renderTemplates(this.#templates, context, emitter)
    emitter.write(`</bindery-${this.name}>`)
  }
}
