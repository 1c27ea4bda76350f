import {
  BreakTag,
  CaptureTag,
  CommentTag,
  type Context,
  ContinueTag,
  DecrementTag,
  type Emitter,
  IncrementTag,
  InlineCommentTag,
  Liquid,
  LiquidTag,
  RawTag,
  type Template,
  toValueSync,
} from 'liquidjs/dist/liquid.browser.mjs'
import { located, type RenderingContext } from './context.ts'
import { CaptureEmitter } from './emitter.ts'
import { arithmeticFilters } from './filters/arithmetic.ts'
import { dateFilters } from './filters/dates.ts'
import { documentFilters } from './filters/documents.ts'
import { effectFilters } from './filters/effects.ts'
import { registerFilters } from './filters/filter.ts'
import { listFilters } from './filters/lists.ts'
import { lookupFilters } from './filters/lookups.ts'
import { numberFormatFilters } from './filters/number-formats.ts'
import { textFilters } from './filters/text.ts'
import { operators } from './operators.ts'
import { FirstMatchCaseTag } from './tags/case.ts'
import { CountedIfTag, CountedUnlessTag } from './tags/conditions.ts'
import { GroupedCycleTag } from './tags/cycle.ts'
import { CountedForTag, CountedTablerowTag } from './tags/loops.ts'
import { PageBlockTag } from './tags/page-blocks.ts'
import { SnippetTag } from './tags/snippet.ts'
import { DirectAssignTag, DirectEchoTag } from './tags/values.ts'

const TAGS: Liquid['tags'] = {
  assign: DirectAssignTag,
  break: BreakTag,
  capture: CaptureTag,
  case: FirstMatchCaseTag,
  comment: CommentTag,
  continue: ContinueTag,
  cycle: GroupedCycleTag,
  decrement: DecrementTag,
  echo: DirectEchoTag,
  footer: PageBlockTag,
  for: CountedForTag,
  header: PageBlockTag,
  if: CountedIfTag,
  include: SnippetTag,
  increment: IncrementTag,
  liquid: LiquidTag,
  raw: RawTag,
  render: SnippetTag,
  tablerow: CountedTablerowTag,
  unless: CountedUnlessTag,
  '#': InlineCommentTag,
}

/**
 * Renders one node after the other, counting each. It stands in for the library's own renderer, which reads a clock
 * and counts nothing. Everything is synchronous, so it needs no generators.
 */
export function renderTemplates(templates: Template[], context: Context, emitter?: Emitter): string {
  const { budget } = context as RenderingContext
  const out = emitter ?? new CaptureEmitter(budget)
  for (const template of templates) {
    try {
      budget.countNode()
      const result = toValueSync(template.render(context, out))
      if (result) out.write(result)
    } catch (error) {
      throw located(error, template.token)
    }
    if (context.breakCalled || context.continueCalled) break
  }
  return out.buffer
}

function createEngine(): Liquid {
  const engine = new Liquid({ operators, groupedExpressions: true, ownPropertyOnly: true, locale: 'en-US' })
  Object.assign(engine, { tags: Object.assign(Object.create(null), TAGS), filters: Object.create(null) })
  Object.assign(engine.renderer, { renderTemplates })
  for (const filters of [
    textFilters,
    arithmeticFilters,
    listFilters,
    dateFilters,
    numberFormatFilters,
    lookupFilters,
    effectFilters,
    documentFilters,
  ])
    registerFilters(engine, filters)
  return engine
}

/** The one instance: it holds no state of any rendering. */
export const engine = createEngine()
