// What a formula is tried out on: a peril that there is, or one made up of the request.
import { notFound, Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { changedData, report } from '../../policy/draft/changes.ts'
import { newDraft } from '../../policy/draft/draft.ts'
import { endOfRun } from '../../policy/fold/line.ts'
import { inForce } from '../../policy/fold/pieces.ts'
import { policyView } from '../../policy/projection/policy.ts'
import {
  type PolicyAggregate,
  putRecords,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../../policy/records/aggregate.ts'
import { contractSpan, type Ground, type Loaded, paymentSchedule } from '../../policy/surroundings.ts'
import type { FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import { type FieldData, NO_FIELD_DATA } from '../../product/fields/groups.ts'
import {
  type FieldValues,
  fieldError,
  fieldErrors,
  readFieldValues,
  valuesOf,
} from '../../product/fields/values.ts'
import { type Attempt, assertValid } from '../../rating/rate.ts'
import type { Operation } from '../../rating/template-data.ts'
import type { CheckExistingPerilPremiumRequest, CheckPerilPremiumRequest } from './contract.ts'
import type { Subject } from './formula.ts'

/** A subject with the surroundings of its policy, and the operation that its peril is rated in. */
export type Tried = { readonly subject: Subject; readonly loaded: Loaded; readonly operation: Operation }

// ------------------------------------------------------------------------------------------------ made up

/**
 * A policy of one exposure with one peril, as new business; none of it is stored. Refuses (400) what the product does not
 * know, and values that it would not take; what is missing may be.
 */
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

/**
 * The peril of that displayId or locator, over the span of the characteristics that the request names, else of the last
 * ones in force; rated in the operation that made them. Refuses (404) what the policy does not have.
 */
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
