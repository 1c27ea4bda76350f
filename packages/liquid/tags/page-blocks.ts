import {
  type Context,
  type Emitter,
  type Liquid,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
} from 'liquidjs/dist/liquid.browser.mjs'

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
