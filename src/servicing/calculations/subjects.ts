// What a formula is tried out on: a peril that there is, or one made up of the request.

import { notFound, Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, plus, toNumber } from '../../kernel/money.ts'
import { changedData, report } from '../../policy/draft/changes.ts'
import { newDraft } from '../../policy/draft/draft.ts'
import { endOfRun } from '../../policy/fold/line.ts'
import { inForce } from '../../policy/fold/pieces.ts'
import { taxGroupResponses } from '../../policy/projection/characteristics.ts'
import { policyView } from '../../policy/projection/policy.ts'
import {
  type PerilPrice,
  type PolicyAggregate,
  putRecords,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../../policy/records/aggregate.ts'
import type { Ground, Loaded } from '../../policy/surroundings.ts'
import { contractSpan, paymentSchedule } from '../../policy/surroundings.ts'
import type {
  FieldDefinition,
  Finding,
  ProductDefinition,
  TemplateSource,
} from '../../product/configuration.ts'
import { type FieldData, NO_FIELD_DATA } from '../../product/fields/groups.ts'
import {
  type FieldValues,
  fieldError,
  fieldErrors,
  readFieldValues,
  valuesOf,
} from '../../product/fields/values.ts'
import type { CompiledTemplate, compileTemplate, Rendering } from '../../product/templates/liquid.ts'
import { type Attempt, assertValid } from '../../rating/rate.ts'
import { PerilRating, type Rateable, type RatingContext } from '../../rating/rater.ts'
import type { Operation } from '../../rating/template-data.ts'
import type {
  CalculationResponse,
  CheckExistingPerilPremiumRequest,
  CheckPerilPremiumRequest,
} from './contract.ts'

/** A subject with the surroundings of its policy, and the operation that its peril is rated in. */
export type Tried = { readonly subject: Subject; readonly loaded: Loaded; readonly operation: Operation }

// ------------------------------------------------------------------------------------------------ made up

/** A policy of one exposure and one peril, as new business. Unknown names and wrong values are refused (400); missing ones may be. */
export function madeUp(request: CheckPerilPremiumRequest, ground: Ground, attempt: Attempt): Tried {
  const { product, timeZone, currency, policyholder, configVersion } = ground
  const { policyCharacteristics, exposureCharacteristics, perilCharacteristics } = request
  const { policyStartTimestamp: start, policyEndTimestamp: end } = policyCharacteristics
  const { fieldValues: _values, fieldGroupsByLocator: _groups, ...amounts } = perilCharacteristics
  const { exposure: exposureKind, peril: perilKind } = definitionsOf(request, product)
  const draft = newDraft(
    {
      policyholderLocator: policyholder.locator,
      configVersion,
      currency,
      contract: contractSpan(start, end, timeZone, attempt.now),
      paymentScheduleName: paymentSchedule(product, undefined),
      exposures: [{ exposureName: exposureKind.name, perils: [{ name: perilKind.name, ...amounts }] }],
    },
    { product, timeZone, ...attempt },
  )
  const { reported } = draft
  const quote = selectedQuote(draft.aggregate)
  const parts = quoteParts(draft.aggregate, quote)
  const context = { timeZone, supply: attempt.supply, reported }
  const [exposure] = parts.exposures as [(typeof parts.exposures)[number]]
  const peril = [...draft.aggregate.perils.values()][0]!
  const segment = {
    ...parts.segment,
    data: dataOf(parts.segment.locator, product.fields, policyCharacteristics, context),
  }
  const exposureRun = {
    ...parts.exposureRuns[0]!,
    data: dataOf(exposure.locator, exposureKind.fields, exposureCharacteristics, context),
  }
  const run = {
    ...parts.perilRuns[0]!,
    data: dataOf(peril.locator, perilKind.fields, perilCharacteristics, context),
  }
  const aggregate: PolicyAggregate = {
    ...draft.aggregate,
    segments: putRecords(draft.aggregate.segments, [segment]),
    exposureRuns: putRecords(draft.aggregate.exposureRuns, [exposureRun]),
    perilRuns: putRecords(draft.aggregate.perilRuns, [run]),
  }
  const loaded: Loaded = { ...ground, aggregate }
  assertValid(aggregate, quote, loaded, attempt, false, reported)
  const rateable = { run, peril, exposure, segment, exposureRun }
  return { subject: { aggregate, quote, rateable }, loaded, operation: 'new_business' }
}

function definitionsOf(
  { exposureName, perilName }: CheckPerilPremiumRequest,
  { name, exposures }: ProductDefinition,
) {
  const named = <T extends { name: string }>(
    list: readonly T[],
    wanted: string,
    what: string,
    of: string,
  ): T => {
    const found = list.find(one => one.name === wanted)
    if (found) return found
    const known = list.map(one => `'${one.name}'`).join(', ') || 'none'
    throw new Refusal('invalidRequest', `${of} has no ${what} '${wanted}'; it has ${known}.`)
  }
  const exposure = named(exposures, exposureName, 'exposure', `Product '${name}'`)
  return { exposure, peril: named(exposure.perils, perilName, 'peril', `Exposure '${exposureName}'`) }
}

type Characteristics = { fieldValues: unknown; fieldGroupsByLocator: Readonly<Record<string, unknown>> }

type Context = Parameters<typeof changedData>[4]

/** The characteristics as they would be stored, with the groups under the locators that the request gives them. */
function dataOf(
  owner: string,
  fields: readonly FieldDefinition[],
  { fieldValues, fieldGroupsByLocator: content }: Characteristics,
  context: Context,
): FieldData {
  const { values: read } = readFieldValues(fieldValues)
  const groups = groupsIn(fields, read)
  const listed = new Set(groups.map(group => group.locator))
  const problems = [
    ...groups
      .filter(({ locator }) => !Object.hasOwn(content, locator))
      .map(({ fieldName, locator }) =>
        fieldError(
          fieldName,
          'INVALID_VALUE',
          `lists '${locator}', which fieldGroupsByLocator has no values of`,
        ),
      ),
    ...Object.keys(content)
      .filter(locator => !listed.has(locator))
      .map(locator =>
        fieldError(
          'fieldGroupsByLocator',
          'INVALID_FIELD',
          `has '${locator}', which no field of type group lists`,
        ),
      ),
  ]
  report(context.reported, owner, fieldErrors(problems))
  const isGroup = new Set(groups.map(group => group.fieldName))
  const plain = Object.fromEntries(
    Object.entries(fieldValues as Record<string, unknown>).filter(([name]) => !isGroup.has(name)),
  )
  const locators = groups.map(group => group.locator as Uuid)[Symbol.iterator]()
  const data = changedData(
    owner,
    fields as FieldDefinition[],
    NO_FIELD_DATA,
    {
      fieldValues: plain,
      addFieldGroups: groups.map(({ fieldName, locator }) => ({ fieldName, fieldValues: content[locator] })),
    },
    context,
    () => locators.next().value!,
  )
  return data ?? NO_FIELD_DATA
}

const groupsIn = (fields: readonly FieldDefinition[], values: FieldValues) =>
  fields
    .filter(field => field.type === 'group')
    .flatMap(({ name }) => valuesOf(values, name).map(locator => ({ fieldName: name, locator })))

// ------------------------------------------------------------------------------------------------ existing

/** The named peril, over the span of the named characteristics, else of the last in force, and the operation that made them. 404. */
export function existing(request: CheckExistingPerilPremiumRequest, loaded: Loaded): Tried {
  const { aggregate, product } = loaded
  const { perilDisplayId: text, perilCharacteristicsLocator: wanted } = request
  const peril = [...aggregate.perils.values()].find(
    one => String(one.displayId) === text || one.locator === text.toLowerCase(),
  )
  const exposure = peril && aggregate.exposures.get(peril.exposureLocator)
  if (!peril || !exposure) throw notFound('peril', text)
  const quote = aggregate.quotes.get(exposure.quoteLocator) as Quote
  const view = policyView(aggregate, quote, product)
  const shown = view.exposures.find(one => one.exposure.locator === exposure.locator)
  const pieces = shown?.perils.find(one => one.peril.locator === peril.locator)?.pieces ?? []
  const last = inForce(pieces.map(one => one.piece)).at(-1) ?? pieces.at(-1)?.piece
  const chosen = pieces.find(one => (wanted ? one.locator === wanted.toLowerCase() : one.piece === last))
  if (!chosen) throw notFound(wanted ? 'peril characteristics' : 'peril', wanted ?? text)
  const { piece } = chosen
  const counted = new Set(view.line.map(step => step.modification.locator))
  const exposureRun = [...aggregate.exposureRuns.values()].findLast(
    run =>
      run.exposureLocator === exposure.locator &&
      counted.has(run.madeBy) &&
      run.start <= piece.start &&
      piece.start < endOfRun(run, counted),
  )
  if (!exposureRun) throw notFound('exposure characteristics of the peril', text)
  const run = { ...chosen.run, start: piece.start, end: piece.end }
  const { kind } = aggregate.modifications.get(run.madeBy)!
  return {
    subject: { aggregate, quote, rateable: { run, peril, exposure, segment: piece.segment, exposureRun } },
    loaded,
    operation: kind === 'endorsement' || kind === 'renewal' ? kind : 'new_business',
  }
}

// A formula that is tried out in the place of a peril's own: read, and rendered by what rates policies.
/** What errors call the formula, as they call a file. */
const PATH = 'calculation'

/** Problems of a formula that one answer tells; the rest is counted. */
const MOST_TOLD = 10

/** A formula that was read, with what is untidy about it. */
export type Formula = { readonly template: CompiledTemplate; readonly warnings: readonly Finding[] }

/** Refuses (422) text that cannot be read, with every place that is wrong. */
export function readFormula(source: string, compile: typeof compileTemplate): Formula {
  const { template, findings } = compile({ path: PATH, source })
  if (template) return { template, warnings: findings }
  const errors = findings.filter(one => one.severity === 'ERROR').map(told)
  const more = errors.length > MOST_TOLD ? ` And ${errors.length - MOST_TOLD} more.` : ''
  throw new Refusal('templateFailed', `${errors.slice(0, MOST_TOLD).join(' ')}${more}`)
}

const told = ({ path, line, column, message }: Finding): string =>
  line === undefined ? `${path}: ${message}` : `${path}:${line}:${column}: ${message}`

/** A peril as it is rated, and the policy and quote that it is of. */
export type Subject = {
  readonly aggregate: PolicyAggregate
  readonly quote: Quote
  readonly rateable: Rateable
}

/** Rates the peril by the formula. 422, with the line, where the formula fails or passes a limit, or where a tax of the product does. */
export function calculated(
  { template, warnings }: Formula,
  { aggregate, quote, rateable }: Subject,
  context: RatingContext,
): CalculationResponse {
  let rendering: Rendering | undefined
  const watched: CompiledTemplate = {
    ...template,
    render: (data, environment) => {
      rendering = template.render(data, environment)
      return rendering
    },
  }
  const source: TemplateSource = { path: PATH, source: '' }
  const trying: RatingContext = {
    ...context,
    product: withFormula(context.product, rateable, source),
    template: asked => (asked === source ? watched : context.template(asked)),
  }
  const price = new PerilRating(aggregate, quote, trying).price(rateable)
  return {
    ...priceResponse(price),
    assignedVariables: rendering?.variables() ?? {},
    warnings: warnings.map(({ line = 0, column = 0, message }) => ({ line, column, message })),
  }
}

/** The product with the formula for the peril. */
const withFormula = (
  product: ProductDefinition,
  { exposure, peril }: Rateable,
  premium: TemplateSource,
): ProductDefinition => ({
  ...product,
  exposures: product.exposures.map(one =>
    one.name !== exposure.name
      ? one
      : { ...one, perils: one.perils.map(of => (of.name === peril.name ? { ...of, premium } : of)) },
  ),
})

function priceResponse({ premium, technicalPremium, commissions, taxes }: PerilPrice) {
  const { currency } = premium.amount
  const sums = new Map<string, Money>()
  for (const { recipient, amount } of commissions) {
    const earlier = sums.get(recipient)
    sums.set(recipient, earlier ? plus(earlier, amount) : amount)
  }
  return {
    premium: toNumber(premium.amount),
    premiumCurrency: currency,
    monthPremium: Number(premium.month),
    ...(technicalPremium && {
      technicalPremium: toNumber(technicalPremium.amount),
      technicalPremiumCurrency: currency,
      monthTechnicalPremium: Number(technicalPremium.month),
    }),
    commissions: [...sums].map(([recipient, amount]) => ({
      recipient,
      amount: toNumber(amount),
      amountCurrency: currency,
    })),
    taxGroups: taxGroupResponses(taxes),
  }
}
