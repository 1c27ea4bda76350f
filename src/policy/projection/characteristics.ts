// Characteristics: data of a policy, exposure or peril over a span, in responses (brief 2.1).

import { LongList } from '../../kernel/json.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { addByName, type Money, plus, sum, toNumber, zero } from '../../kernel/money.ts'
import type { Span } from '../../kernel/time.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type {
  AutomatedUnderwritingResultResponse,
  FeeResponse,
  PolicyFeeSummaryResponse,
  TaxGroupResponse,
} from '../contract/billing.ts'
import type {
  ExposureCharacteristicsResponse,
  ExposureResponse,
  PerilCharacteristicsResponse,
  PerilResponse,
  PolicyCharacteristicsResponse,
} from '../contract/response.ts'
import { type FeeInForce, feesOf } from '../fold/line.ts'
import { type ExposurePiece, isInForceAt } from '../fold/pieces.ts'
import type {
  Exposure,
  Peril,
  Policy,
  PolicyAggregate,
  PolicySegment,
  Stamped,
} from '../records/aggregate.ts'
import { selectedQuoteIfAny } from '../records/aggregate.ts'
import type { UnderwritingResult } from '../records/transactions.ts'
import { allPieces, type ExposureView, type PolicyView, type RunPiece } from './policy.ts'
import { mediaByLocator as mediaOf } from './records.ts'

/**
 * Returns every segment of the policy, including replaced ones, in creation order. Amounts are computed on first read, and are
 * absent until priced.
 */
export function policyCharacteristics(view: PolicyView): PolicyCharacteristicsResponse[] {
  const shared = withLazy({}, 'sums', () => sumsBySegment(view))
  const names = AMOUNTS.filter(name => isPriced(view) || !OF_PRICED.has(name))
  return view.line
    .flatMap(({ made }) => made)
    .map(segment => {
      const own = withLazy({}, 'amounts', () => segmentAmounts(view, shared.sums.get(segment.locator)))
      const read = policySegment(view, segment)
      for (const name of names) withLazy(read, name, () => own.amounts[name])
      return read as PolicyCharacteristicsResponse
    })
}

type SegmentSums = { premium: Money; taxes: Map<string, Money> }

/** Adds up amounts piece by piece, because a large policy has too many pieces to keep. */
function sumsBySegment(view: PolicyView): ReadonlyMap<Uuid, SegmentSums> {
  const none = zero(view.aggregate.policy.currency)
  const sums = new Map<Uuid, SegmentSums>()
  for (const { run, piece } of allPieces(view)) {
    if (!piece.amounts) continue
    const { premium, taxes } = piece.amounts
    let own = sums.get(piece.segment.locator)
    if (!own) {
      own = { premium: none, taxes: new Map() }
      sums.set(piece.segment.locator, own)
    }
    own.premium = plus(own.premium, premium)
    for (const [at, amount] of taxes.entries()) addByName(own.taxes, run.price!.taxes[at]!.name, amount)
  }
  return sums
}

const AMOUNTS = [
  'grossPremium',
  'grossPremiumCurrency',
  'grossTaxes',
  'grossTaxesCurrency',
  'taxGroups',
] as const
const OF_PRICED: ReadonlySet<string> = new Set(['grossPremium', 'grossTaxes'])

const isPriced = ({ line }: PolicyView): boolean => line[0]!.modification.premiumChange !== undefined

function segmentAmounts(view: PolicyView, sums: SegmentSums | undefined) {
  const { currency } = view.aggregate.policy
  const amountIfPriced = (amount: Money): number | undefined =>
    isPriced(view) ? toNumber(amount) : undefined
  return {
    grossPremium: amountIfPriced(sums?.premium ?? zero(currency)),
    grossPremiumCurrency: currency,
    grossTaxes: amountIfPriced(sum(sums?.taxes.values() ?? [], currency)),
    grossTaxesCurrency: currency,
    taxGroups: taxGroupsOf(sums?.taxes ?? []),
  }
}

function policySegment(
  view: PolicyView,
  segment: PolicySegment,
): Omit<PolicyCharacteristicsResponse, (typeof AMOUNTS)[number]> {
  const { originalStart, originalEnd } = view.aggregate.policy
  const isSelected = view.quote.selected
  return {
    ...view.record,
    ...stampsOf(view, segment.locator, segment, segment.madeBy, segment.replacedBy),
    ...fieldsOf(view, segment.data),
    ...spanOf(segment),
    policyStartTimestamp: String(isSelected ? originalStart : view.quote.contractStart),
    policyEndTimestamp: String(isSelected ? originalEnd : view.quote.contractEnd),
  }
}

/** Returns the exposures. Only the perils of the detailed exposures have characteristics. */
export function exposureResponses(view: PolicyView, detailed: readonly ExposureView[]): ExposureResponse[] {
  return Array.from(exposureAnswers(view, detailed), one => ({ ...one, perils: [...one.perils.items()] }))
}

/** Yields the same exposures, each made when it is read. */
export function* exposureAnswers(
  view: PolicyView,
  detailed: readonly ExposureView[],
): Generator<Omit<ExposureResponse, 'perils'> & { readonly perils: LongList<PerilResponse> }> {
  const detailOf = new Map(detailed.map(one => [one.exposure, one]))
  for (const one of view.exposures) {
    const { exposure, runs } = one
    const characteristics = runs.map(
      (piece): ExposureCharacteristicsResponse => ({
        ...view.record,
        ...stampsOf(view, piece.locator, piece.run, piece.madeBy, piece.replacedBy),
        ...fieldsOf(view, piece.run.data),
        exposureLocator: exposure.locator,
        ...spanOf(piece),
      }),
    )
    const perils = new LongList(() => perilResponses(view, one, detailOf.get(exposure)))
    yield { ...view.record, ...part(exposure), characteristics, perils }
  }
}

function* perilResponses(
  view: PolicyView,
  { perils, runs }: ExposureView,
  detail: ExposureView | undefined,
): Generator<PerilResponse> {
  for (const [at, { peril }] of perils.entries())
    yield perilResponse(view, peril, detail?.perils[at]?.pieces ?? [], runs)
}

function perilResponse(
  view: PolicyView,
  peril: Peril,
  pieces: readonly RunPiece[],
  runs: readonly ExposurePiece[],
): PerilResponse {
  const { policyholderLocator, policyLocator, productLocator } = view.record
  const { locator, name, displayId, createdTimestamp, updatedTimestamp } = part(peril)
  return {
    policyholderLocator,
    policyLocator,
    productLocator,
    locator,
    name,
    displayId,
    createdTimestamp,
    updatedTimestamp,
    exposureLocator: peril.exposureLocator,
    renewalGroup: peril.renewalGroup,
    parentLocator: peril.parentLocator,
    characteristics: pieces.map(one => perilSegment(view, one, runs)),
  }
}

/** Lists each property instead of spreading objects, because a large policy makes ten thousand of these. */
function perilSegment(
  view: PolicyView,
  { run, piece, locator }: RunPiece,
  exposureRuns: readonly ExposurePiece[],
): PerilCharacteristicsResponse {
  const { currency } = view.aggregate.policy
  const { price, amounts } = run
  const { policyholderLocator, policyLocator, productLocator } = view.record
  const { createdTimestamp, updatedTimestamp, issuedTimestamp, replacedTimestamp } = stampsOf(
    view,
    locator,
    run,
    piece.madeBy,
    piece.replacedBy,
  )
  const { fieldValues, fieldGroupsByLocator, mediaByLocator } = fieldsOf(view, run.data)
  return {
    policyholderLocator,
    policyLocator,
    productLocator,
    locator,
    createdTimestamp,
    updatedTimestamp,
    issuedTimestamp,
    replacedTimestamp,
    fieldValues,
    fieldGroupsByLocator,
    mediaByLocator,
    perilLocator: run.perilLocator,
    policyCharacteristicsLocator: piece.segment.locator,
    exposureCharacteristicsLocator: exposurePieceOf(view, piece, exposureRuns).locator,
    policyModificationLocator: piece.madeBy,
    coverageStartTimestamp: String(piece.start),
    coverageEndTimestamp: String(piece.end),
    deductible: numberIfAny(amounts.deductible),
    deductibleCurrency: currency,
    lumpSumPayment: numberIfAny(amounts.lumpSumPayment),
    lumpSumPaymentCurrency: currency,
    indemnityInAggregate: amounts.indemnityInAggregate,
    indemnityInAggregateCurrency: currency,
    indemnityPerEvent: amounts.indemnityPerEvent,
    indemnityPerEventCurrency: currency,
    indemnityPerItem: amounts.indemnityPerItem,
    indemnityPerItemCurrency: currency,
    premium: piece.amounts && toNumber(piece.amounts.premium),
    premiumCurrency: currency,
    technicalPremium: piece.amounts?.technicalPremium && toNumber(piece.amounts.technicalPremium),
    monthPremium: numberIfAny(price?.premium.month),
    monthTechnicalPremium: numberIfAny(price?.technicalPremium?.month),
  }
}

/** Returns the exposure's piece at the start of the peril's segment, as known with that segment. */
function exposurePieceOf(
  { order }: PolicyView,
  { start, madeBy }: RunPiece['piece'],
  pieces: readonly ExposurePiece[],
): ExposurePiece {
  const step = order.get(madeBy)!
  return pieces.findLast(one => isInForceAt(one, start, step, order)) ?? pieces[0]!
}

/** Returns a segment's locator and times. It is issued and replaced when the modifications that made and replaced it are issued. */
function stampsOf(
  { aggregate }: PolicyView,
  locator: Uuid,
  record: { createdAt: number; updatedAt: number },
  madeBy: Uuid,
  replacedBy: Uuid | undefined,
) {
  const maker = aggregate.modifications.get(madeBy)
  const replacedAt = replacedBy && aggregate.modifications.get(replacedBy)?.issuedAt
  return {
    locator,
    createdTimestamp: String(Math.max(record.createdAt, maker?.createdAt ?? 0)),
    updatedTimestamp: String(Math.max(record.updatedAt, maker?.createdAt ?? 0)),
    issuedTimestamp: textIfAny(maker?.issuedAt),
    replacedTimestamp: textIfAny(replacedAt),
  }
}

const numberIfAny = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text)

const part = (record: Exposure | Peril) => ({
  locator: record.locator,
  name: record.name,
  displayId: String(record.displayId),
  ...timesOf(record),
})

const fieldsOf = ({ aggregate }: PolicyView, data: FieldData) => ({
  fieldValues: data.values,
  fieldGroupsByLocator: Object.fromEntries(data.groups.map(group => [group.locator, group.values])),
  mediaByLocator: aggregate.media.size === 0 ? {} : mediaOf(data, aggregate.media),
})

// Lazy properties: a response reads all parts of a record, but a template only a few.

const lazyNamesOf = new WeakMap<object, Set<string>>()

/** Adds a property that is computed once, on first read. */
export function withLazy<T extends object, K extends string, V>(
  record: T,
  name: K,
  make: () => V,
): T & Readonly<Record<K, V>> {
  let made: { value: V } | undefined
  const names = lazyNamesOf.get(record)
  if (names) names.add(name)
  else lazyNamesOf.set(record, new Set([name]))
  return Object.defineProperty(record, name, {
    enumerable: true,
    configurable: true,
    get: () => {
      made ??= { value: make() }
      return made.value
    },
  }) as T & Readonly<Record<K, V>>
}

/** Returns the names of the record's properties that are computed when read. */
export const lazyNames = (record: object): ReadonlySet<string> => lazyNamesOf.get(record) ?? NONE

const NONE: ReadonlySet<string> = new Set()

/** Returns a number as the text that responses show. Undefined stays undefined. */
export const textIfAny = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : String(value)

/** Returns the record's times as text, in milliseconds. */
export const timesOf = ({ createdAt, updatedAt }: Stamped) => ({
  createdTimestamp: String(createdAt),
  updatedTimestamp: String(updatedAt),
})

/** Returns the span as text, in milliseconds. Its end is excluded, as in the span. */
export const spanOf = ({ start, end }: Span) => ({ startTimestamp: String(start), endTimestamp: String(end) })

/** Returns the properties from the policy's own row, for responses and lists. */
export const policyProperties = (policy: Policy) => ({
  locator: String(policy.locator),
  policyholderLocator: policy.policyholderLocator,
  productName: policy.productName,
  configVersion: policy.configVersion,
  ...timesOf(policy),
  issuedTimestamp: textIfAny(policy.issuedAt),
  originalContractStartTimestamp: String(policy.originalStart),
  originalContractEndTimestamp: String(policy.originalEnd),
  effectiveContractEndTimestamp: String(policy.effectiveEnd),
})

export const feeResponse = ({ fee, amount, reversed }: FeeInForce): FeeResponse => ({
  locator: fee.locator,
  name: fee.name,
  description: fee.description,
  ...spanOf(fee),
  amount: toNumber(amount),
  amountCurrency: amount.currency,
  reversed,
})

export const underwritingResponse = (result: UnderwritingResult): AutomatedUnderwritingResultResponse => ({
  decisionTimestamp: String(result.at),
  decision: result.decision,
  notes: [...result.notes],
})

/** Adds the amount in major units, and its currency. */
export const withAmount = <T extends object>(name: T, amount: Money) => ({
  ...name,
  amount: toNumber(amount),
  amountCurrency: amount.currency,
})

/** Returns the sum of the taxes of each name, in the order of their first tax. */
export function taxGroupResponses(taxes: readonly { name: string; amount: Money }[]): TaxGroupResponse[] {
  const sums = new Map<string, Money>()
  for (const { name, amount } of taxes) addByName(sums, name, amount)
  return taxGroupsOf(sums)
}

/** Converts sums by the name of the tax, in the given order. */
export const taxGroupsOf = (sums: Iterable<[string, Money]>): TaxGroupResponse[] =>
  [...sums].map(([name, amount]) => withAmount({ name }, amount))

/** Returns the policy's fees, including reversed ones. */
export function feeSummary(aggregate: PolicyAggregate): PolicyFeeSummaryResponse {
  const quote = selectedQuoteIfAny(aggregate)
  return { fees: quote ? feesOf(aggregate, quote).map(feeResponse) : [] }
}
