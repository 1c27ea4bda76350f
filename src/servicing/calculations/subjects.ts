// The peril on which a formula is tried out: an existing one, or one that is made up from the request.

import { invalidRequest, notFound, Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, plus, toNumber } from '../../kernel/money.ts'
import { addFieldErrors, applyFieldChanges } from '../../policy/draft/changes.ts'
import { newDraft } from '../../policy/draft/draft.ts'
import { endOfRun } from '../../policy/fold/line.ts'
import { piecesInForce } from '../../policy/fold/pieces.ts'
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
import type { Loaded, NewPolicyContext } from '../../policy/surroundings.ts'
import { contractSpan, paymentSchedule } from '../../policy/surroundings.ts'
import type {
  FieldDefinition,
  Finding,
  ProductDefinition,
  TemplateSource,
} from '../../product/configuration.ts'
import { type FieldData, NO_FIELD_DATA } from '../../product/fields/groups.ts'
import { fieldError, fieldErrors, readFieldValues, valuesOf } from '../../product/fields/values.ts'
import type { CompiledTemplate, compileTemplate, Rendering } from '../../product/templates/liquid.ts'
import { type Attempt, assertValid } from '../../rating/rate.ts'
import { PerilRating, type Rateable, type RatingContext } from '../../rating/rater.ts'
import type { Operation } from '../../rating/template-data.ts'
import type * as contract from './contract.ts'

/** A peril to be rated, with its quote, its policy and the operation in which it is rated. */
export type Subject = {
  readonly loaded: Loaded
  readonly quote: Quote
  readonly rateable: Rateable
  readonly operation: Operation
}

/** Makes up new business of one exposure and one peril. Rejects unknown names and wrong values with 400; values may be missing. */
export function madeUpSubject(
  request: contract.CheckPerilPremiumRequest,
  surroundings: NewPolicyContext,
  attempt: Attempt,
): Subject {
  const { product, timeZone, currency, policyholder, configVersion } = surroundings
  const { policyCharacteristics, exposureCharacteristics, perilCharacteristics } = request
  const { policyStartTimestamp: start, policyEndTimestamp: end } = policyCharacteristics
  const { fieldValues: _values, fieldGroupsByLocator: _groups, ...amounts } = perilCharacteristics
  const definitions = definitionsOf(request, product)
  const { name } = definitions.exposure
  const draft = newDraft(
    {
      policyholderLocator: policyholder.locator,
      configVersion,
      currency,
      contract: contractSpan(start, end, timeZone, attempt.now),
      paymentScheduleName: paymentSchedule(product, undefined),
      exposures: [{ exposureName: name, perils: [{ name: definitions.peril.name, ...amounts }] }],
    },
    { product, timeZone, ...attempt },
  )
  const { reported } = draft
  const context = { timeZone, supply: attempt.supply, reported }
  const quote = selectedQuote(draft.aggregate)
  const parts = quoteParts(draft.aggregate, quote)
  const exposure = parts.exposures[0]!
  const peril = [...draft.aggregate.perils.values()][0]!
  const withData = <R>(record: R, owner: Owner, definition: Definition, sent: Characteristics) => ({
    ...record,
    data: dataOf(owner.locator, definition.fields, sent, context),
  })
  const segment = withData(parts.segment, parts.segment, product, policyCharacteristics)
  const exposureRun = withData(
    parts.exposureRuns[0]!,
    exposure,
    definitions.exposure,
    exposureCharacteristics,
  )
  const run = withData(parts.perilRuns[0]!, peril, definitions.peril, perilCharacteristics)
  const aggregate: PolicyAggregate = {
    ...draft.aggregate,
    segments: putRecords(draft.aggregate.segments, [segment]),
    exposureRuns: putRecords(draft.aggregate.exposureRuns, [exposureRun]),
    perilRuns: putRecords(draft.aggregate.perilRuns, [run]),
  }
  const loaded: Loaded = { ...surroundings, aggregate }
  assertValid(aggregate, quote, loaded, attempt, false, reported)
  const rateable = { run, peril, exposure, segment, exposureRun }
  return { loaded, quote, rateable, operation: 'new_business' }
}

function definitionsOf(
  { exposureName, perilName }: contract.CheckPerilPremiumRequest,
  product: ProductDefinition,
) {
  const { name, exposures } = product
  const exposure = definitionNamed(exposures, exposureName, `Product '${name}' has no exposure`)
  const peril = definitionNamed(exposure.perils, perilName, `Exposure '${exposureName}' has no peril`)
  return { exposure, peril }
}

function definitionNamed<T extends { name: string }>(list: readonly T[], name: string, hasNone: string): T {
  const found = list.find(definition => definition.name === name)
  if (found) return found
  const known = list.map(definition => `'${definition.name}'`).join(', ') || 'none'
  throw invalidRequest(`${hasNone} '${name}'; it has ${known}.`)
}

type Owner = { readonly locator: string }
type Definition = { readonly fields: readonly FieldDefinition[] }
type Characteristics = { fieldValues: unknown; fieldGroupsByLocator: Readonly<Record<string, unknown>> }

/** Returns the field data of a request. Field groups keep the locators that the request gives them. */
function dataOf(
  owner: string,
  fields: readonly FieldDefinition[],
  { fieldValues, fieldGroupsByLocator: contents }: Characteristics,
  context: Parameters<typeof applyFieldChanges>[4],
): FieldData {
  const { values } = readFieldValues(fieldValues)
  const groups = fields
    .filter(({ type }) => type === 'group')
    .flatMap(({ name }) => valuesOf(values, name).map(locator => ({ fieldName: name, locator })))
  const missing = groups
    .filter(({ locator }) => !Object.hasOwn(contents, locator))
    .map(({ fieldName, locator }) => {
      const problem = `lists '${locator}', but fieldGroupsByLocator has no values for it`
      return fieldError(fieldName, 'INVALID_VALUE', problem)
    })
  const listed = new Set(groups.map(({ locator }) => locator))
  const unlisted = Object.keys(contents)
    .filter(locator => !listed.has(locator))
    .map(locator => {
      const problem = `has '${locator}', which no field of type group lists`
      return fieldError('fieldGroupsByLocator', 'INVALID_FIELD', problem)
    })
  addFieldErrors(context.reported, owner, fieldErrors([...missing, ...unlisted]))
  const isGroup = new Set(groups.map(({ fieldName }) => fieldName))
  const plain = Object.entries(fieldValues as Record<string, unknown>).filter(([name]) => !isGroup.has(name))
  const changes = {
    fieldValues: Object.fromEntries(plain),
    addFieldGroups: groups.map(({ fieldName, locator }) => ({ fieldName, fieldValues: contents[locator] })),
  }
  const locators = groups.map(({ locator }) => locator as Uuid).values()
  const nextGroup = () => locators.next().value!
  const definitions = fields as FieldDefinition[]
  return applyFieldChanges(owner, definitions, NO_FIELD_DATA, changes, context, nextGroup) ?? NO_FIELD_DATA
}

/** Returns the named characteristics, or the last in force, with the operation that created them. Throws 404 if there are none. */
export function existingSubject(request: contract.CheckExistingPerilPremiumRequest, loaded: Loaded): Subject {
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
  const last = piecesInForce(pieces.map(one => one.piece)).at(-1) ?? pieces.at(-1)?.piece
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
    loaded,
    quote,
    rateable: { run, peril, exposure, segment: piece.segment, exposureRun },
    operation: kind === 'endorsement' || kind === 'renewal' ? kind : 'new_business',
  }
}

/** Appears in errors in place of a template's path. */
const PATH = 'calculation'

/** The number of problems that are listed. Further ones are only counted. */
const MOST_LISTED = 10

export type Formula = { readonly template: CompiledTemplate; readonly warnings: readonly Finding[] }

/** Compiles a formula. Throws 422 with every problem of the text. */
export function readFormula(source: string, compile: typeof compileTemplate): Formula {
  const { template, findings } = compile({ path: PATH, source })
  if (template) return { template, warnings: findings }
  const errors = findings
    .filter(({ severity }) => severity === 'ERROR')
    .map(({ path, line, column, message }) =>
      line === undefined ? `${path}: ${message}` : `${path}:${line}:${column}: ${message}`,
    )
  const more = errors.length > MOST_LISTED ? ` And ${errors.length - MOST_LISTED} more.` : ''
  throw new Refusal('templateFailed', `${errors.slice(0, MOST_LISTED).join(' ')}${more}`)
}

/** Prices the peril by the formula. Throws 422, with the line, if the formula or a tax of the product fails or passes a limit. */
export function calculatePrice(
  { template, warnings }: Formula,
  { loaded: { aggregate }, quote, rateable }: Subject,
  context: RatingContext,
): contract.CalculationResponse {
  let rendering: Rendering | undefined
  const recordedTemplate: CompiledTemplate = {
    ...template,
    render(data, environment) {
      rendering = template.render(data, environment)
      return rendering
    },
  }
  const source: TemplateSource = { path: PATH, source: '' }
  const withFormula: RatingContext = {
    ...context,
    product: productWith(source, context.product, rateable),
    template: wanted => (wanted === source ? recordedTemplate : context.template(wanted)),
  }
  const price = new PerilRating(aggregate, quote, withFormula).price(rateable)
  return {
    ...priceResponse(price),
    assignedVariables: rendering?.variables() ?? {},
    warnings: warnings.map(({ line = 0, column = 0, message }) => ({ line, column, message })),
  }
}

const productWith = (
  premium: TemplateSource,
  product: ProductDefinition,
  { exposure: { name }, peril }: Rateable,
): ProductDefinition => ({
  ...product,
  exposures: product.exposures.map(exposure => {
    if (exposure.name !== name) return exposure
    const perils = exposure.perils.map(own => (own.name === peril.name ? { ...own, premium } : own))
    return { ...exposure, perils }
  }),
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
