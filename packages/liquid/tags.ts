// Tags that replace the library's, so that every turn and every test is counted.
import {
  AssignTag,
  CaptureTag,
  CaseTag,
  type Context,
  DecrementTag,
  EchoTag,
  type Emitter,
  evalTokenValue,
  ForTag,
  IfTag,
  IncrementTag,
  type Liquid,
  type Parser,
  TablerowTag,
  Tag,
  type TagToken,
  type Template,
  type Token,
  type TopLevelToken,
  TypeGuards,
  toValueSync,
  UnlessTag,
  Value,
} from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from './context.ts'
import { equal, evaluationOf, isTrue, plainEvaluation, RENDERED, tokenEvaluation } from './evaluation.ts'
import { ITEM_WORK } from './limits.ts'
import { asInteger, LiquidNumber, namesOf, printedText } from './values.ts'

/** The items of a loop. A range is never built, so its length costs nothing. */
type Turns = { length: number; at(index: number): unknown }

const NO_TURNS: Turns = { length: 0, at: () => undefined }

type TurnsIn = (context: RenderingContext) => Turns

function turnsOf(collection: Token): TurnsIn {
  if (TypeGuards.isRangeToken(collection)) {
    const [from, to] = [plainEvaluation(collection.lhs), plainEvaluation(collection.rhs)]
    return context => {
      const low = asInteger(from(context)) ?? 0
      const high = asInteger(to(context)) ?? 0
      return { length: Math.max(0, high - low + 1), at: index => low + index }
    }
  }
  const list = plainEvaluation(collection)
  return context => listTurns(list(context), context)
}

/**
 * Loops over lists by item, over maps by pairs of key and value, and once over any other value, because a field may contain one
 * value or several.
 */
function listTurns(value: unknown, { budget }: RenderingContext): Turns {
  if (Array.isArray(value)) return { length: value.length, at: index => value[index] }
  if (value === null || value === undefined || value === '' || typeof value === 'boolean') return NO_TURNS
  if (typeof value !== 'object' || value instanceof LiquidNumber) return { length: 1, at: () => value }
  const names = namesOf(value, budget)
  const map = value as Readonly<Record<string, unknown>>
  return { length: names.length, at: index => [names[index], map[names[index]!]] }
}

function part(turns: Turns, offset: unknown, limit: unknown, reversed = false): Turns {
  const skipped = Math.max(0, asInteger(offset) ?? 0)
  const rest = Math.max(0, turns.length - skipped)
  const length =
    limit === undefined || limit === null ? rest : Math.min(rest, Math.max(0, asInteger(limit) ?? 0))
  return { length, at: index => turns.at(skipped + (reversed ? length - 1 - index : index)) }
}

function forloopOf(length: number, index: number, parentloop: unknown): object {
  const [rindex, first, last] = [length - index, index === 0, index === length - 1]
  return { length, index: index + 1, index0: index, rindex, rindex0: rindex - 1, first, last, parentloop }
}

/** `for` applies `offset`, then `limit`, then `reversed`, no matter in which order they are written. */
export class CountedForTag extends ForTag {
  readonly #turns = turnsOf(this.collection)
  readonly #modifiers = Object.keys(this.hash.hash).length
  readonly #resumeKey = `continue-${this.variable}-${this.collection.getText()}`

  override render(outer: Context, emitter: Emitter): ReturnType<ForTag['render']> {
    const context = outer as RenderingContext
    const { budget } = context
    const renderer = this.liquid.renderer
    budget.countWork(this.#modifiers * ITEM_WORK)
    const scope: Record<string, unknown> = Object.create(null)
    scope.continue = context.getRegister(this.#resumeKey, 0)
    context.push(scope)
    const { offset, limit, reversed } = this.#modifiersIn(context)
    context.pop()
    const turns = part(this.#turns(context), offset, limit, reversed === true)
    context.setRegister(this.#resumeKey, Math.max(0, asInteger(offset) ?? 0) + turns.length)
    context.observation?.loop(this.token, turns.length)
    if (turns.length === 0) {
      renderer.renderTemplates(this.elseTemplates, context, emitter)
      return RENDERED
    }
    const parentloop = context.valueAt(['forloop'])
    delete scope.continue
    context.push(scope)
    for (let index = 0; index < turns.length && !context.breakCalled; index += 1) {
      budget.countNode()
      scope[this.variable] = turns.at(index)
      context.observation?.assign(this.variable, scope[this.variable], this.token)
      scope.forloop = forloopOf(turns.length, index, parentloop)
      renderer.renderTemplates(this.templates, context, emitter)
      context.continueCalled = false
    }
    context.breakCalled = false
    context.pop()
    return RENDERED
  }

  #modifiersIn(context: Context): Record<string, unknown> {
    return this.#modifiers === 0 ? {} : (toValueSync(this.hash.render(context)) as Record<string, unknown>)
  }
}

/** `tablerow`: table cells, `cols` to a row. */
export class CountedTablerowTag extends TablerowTag {
  override *render(context: Context, emitter: Emitter): ReturnType<TablerowTag['render']> {
    const { budget, observation } = context as RenderingContext
    budget.countWork(Object.keys(this.args.hash).length * ITEM_WORK)
    const args = toValueSync(this.args.render(context)) as Record<string, unknown>
    const turns = part(turnsOf(this.collection)(context as RenderingContext), args.offset, args.limit)
    const columns = Math.max(1, asInteger(args.cols) ?? turns.length)
    const scope: Record<string, unknown> = Object.create(null)
    observation?.loop(this.token, turns.length)
    context.push(scope)
    for (let index = 0; index < turns.length && !context.breakCalled; index += 1) {
      budget.countNode()
      const [row, column] = [Math.floor(index / columns) + 1, (index % columns) + 1]
      scope[this.variable] = turns.at(index)
      observation?.assign(this.variable, scope[this.variable], this.token)
      scope.tablerowloop = {
        ...forloopOf(turns.length, index, undefined),
        row,
        col: column,
        col0: column - 1,
        col_first: column === 1,
        col_last: column === columns,
      }
      if (column === 1) emitter.write(`${row > 1 ? '</tr>' : ''}<tr class="row${row}">`)
      emitter.write(`<td class="col${column}">`)
      yield this.liquid.renderer.renderTemplates(this.templates, context, emitter)
      emitter.write('</td>')
      context.continueCalled = false
    }
    context.breakCalled = false
    if (turns.length > 0) emitter.write('</tr>')
    context.pop()
  }
}

/** `cycle 'a', 'b'` or `cycle group: 'a', 'b'` prints the next value each time it is rendered. */
export class GroupedCycleTag extends Tag {
  readonly #group: Token | undefined
  readonly #values: Value[] = []
  /** Cycles of the same values share their position. Cycles of different groups do not. */
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
    const group = this.#group
      ? printedText(toValueSync(evalTokenValue(this.#group, context)))
      : this.#signature
    const turns = context.getRegister<Map<string, number>>('cycle', new Map())
    const turn = turns.get(group) ?? 0
    turns.set(group, turn + 1)
    emitter.write(toValueSync(this.#values[turn % this.#values.length]!.value(context)))
  }
}

/** Chooses a branch. Counts each condition, because a long chain is more work than a single node. */
function conditional(
  { branches, token }: Pick<IfTag, 'branches' | 'token'>,
  isNegated: boolean,
): (outer: Context) => Template[] | undefined {
  const tests = branches.map(({ value, templates }, at) => {
    return { test: evaluationOf(value), wanted: !isNegated || at > 0, templates }
  })
  return outer => {
    const context = outer as RenderingContext
    context.budget.countWork(branches.length * ITEM_WORK)
    const taken = tests.findIndex(({ test, wanted }) => isTrue(test(context)) === wanted)
    context.observation?.branch(token, taken, tests.length)
    return tests[taken]?.templates
  }
}

export class CountedIfTag extends IfTag {
  readonly #chosen = conditional(this, false)

  override render(context: Context, emitter: Emitter): ReturnType<IfTag['render']> {
    const templates = this.#chosen(context) ?? this.elseTemplates ?? []
    this.liquid.renderer.renderTemplates(templates, context, emitter)
    return RENDERED
  }
}

/** The condition of `unless` must be false. Those of its `elsif` must be true. */
export class CountedUnlessTag extends UnlessTag {
  readonly #chosen = conditional(this, true)

  override render(context: Context, emitter: Emitter): ReturnType<UnlessTag['render']> {
    this.liquid.renderer.renderTemplates(this.#chosen(context) ?? this.elseTemplates, context, emitter)
    return RENDERED
  }
}

/** `case` chooses the first `when` with a value that is equal by `==`. */
export class FirstMatchCaseTag extends CaseTag {
  readonly #subject = evaluationOf(this.value)
  readonly #branches = this.branches.map(({ values, templates }) => ({
    values: values.map(tokenEvaluation),
    templates,
  }))

  override render(outer: Context, emitter: Emitter): ReturnType<CaseTag['render']> {
    const context = outer as RenderingContext
    const subject = this.#subject(context)
    const taken = this.#branches.findIndex(branch =>
      branch.values.some(value => equal(subject, value(context), context)),
    )
    context.observation?.branch(this.token, taken, this.#branches.length)
    this.liquid.renderer.renderTemplates(
      this.#branches[taken]?.templates ?? this.elseTemplates,
      context,
      emitter,
    )
    return RENDERED
  }
}

/** Fields of `assign` and `echo` that the library does not expose. */
type PrivateFields = { readonly key: string; readonly value: Value | undefined }

/** `assign` as in the library, but evaluated immediately. */
export class DirectAssignTag extends AssignTag {
  readonly #key = (this as unknown as PrivateFields).key
  readonly #value = evaluationOf((this as unknown as PrivateFields).value!)

  override render(outer: Context): ReturnType<AssignTag['render']> {
    const context = outer as RenderingContext
    const value = this.#value(context)
    ;(context.bottom() as Record<string, unknown>)[this.#key] = value
    context.observation?.assign(this.#key, value, this.token)
    return RENDERED
  }
}

/** Shows the observer the value to which the library's tag set the variable. */
export function showAssigned(scope: object, name: string, token: TagToken, context: Context): void {
  const { observation } = context as RenderingContext
  observation?.assign(name, (scope as Record<string, unknown>)[name], token)
}

export class ObservableCaptureTag extends CaptureTag {
  override *render(context: Context): ReturnType<CaptureTag['render']> {
    yield* super.render(context)
    showAssigned(context.bottom(), this.variable, this.token, context)
  }
}

export class ObservableIncrementTag extends IncrementTag {
  readonly #variable = variableOf(this)

  override render(context: Context, emitter: Emitter): void {
    super.render(context, emitter)
    showAssigned(context.environments, this.#variable, this.token, context)
  }
}

export class ObservableDecrementTag extends DecrementTag {
  readonly #variable = variableOf(this)

  override render(context: Context, emitter: Emitter): void {
    super.render(context, emitter)
    showAssigned(context.environments, this.#variable, this.token, context)
  }
}

/** The library keeps it private. */
const variableOf = (tag: object): string => (tag as { readonly variable: string }).variable

/** `echo` is an output as a tag. */
export class DirectEchoTag extends EchoTag {
  readonly #value =
    (this as unknown as PrivateFields).value && evaluationOf((this as unknown as PrivateFields).value!)

  override render(context: Context, emitter: Emitter): ReturnType<EchoTag['render']> {
    if (this.#value) emitter.write(this.#value(context as RenderingContext))
    return RENDERED
  }
}

/** `header` and `footer` print elements that the PDF stage moves to the margins of every page. */
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

  // biome-ignore lint/correctness/useYield: the library's tags list their nodes in this way.
  *children(): Generator<unknown, Template[]> {
    return this.#templates
  }
}
