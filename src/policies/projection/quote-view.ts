// One quote of new business as answers show it: one segment of the policy, one run for each exposure and peril.
import type { ProductDefinition } from '../../configuration/configuration.ts'
import type { FieldData } from '../../platform/fields/groups.ts'
import { derivedUuid, shardOfDigits, type Uuid } from '../../platform/locators.ts'
import { sum, toNumber } from '../../platform/money.ts'
import { taxGroupResponses } from '../../rating/price.ts'
import type {
  Exposure,
  Modification,
  Peril,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
  Quote,
} from '../aggregate.ts'
import type {
  ExposureCharacteristicsResponse,
  PerilCharacteristicsResponse,
  PolicyCharacteristicsResponse,
} from '../contract/characteristics.ts'
import type { ExposureModificationResponse, PolicyModificationResponse } from '../contract/modification.ts'
import type { ExposureResponse, PerilResponse } from '../contract/response.ts'
import { quoteParts } from '../quote-parts.ts'
import { textIfAny, underwritingResponse } from './parts.ts'

/**
 * Locator of the segment that a peril's run has in one segment of its policy: always the same for the same two,
 * so that it needs no row.
 */
export const perilSegmentLocator = (run: Uuid, segment: PolicySegment, shard: number): Uuid =>
  derivedUuid(shard, run, segment.locator)

export class QuoteView {
  readonly #aggregate: PolicyAggregate
  readonly #quote: Quote
  readonly #shard: number
  readonly #modification: Modification
  readonly #segment: PolicySegment
  readonly #parts: ReturnType<typeof quoteParts>
  readonly #record: { policyholderLocator: string; policyLocator: string; productLocator: string }
  readonly #perilsOf = new Map<Uuid, { peril: Peril; run: PerilRun; segmentLocator: Uuid }[]>()

  constructor(aggregate: PolicyAggregate, quote: Quote, product: ProductDefinition) {
    this.#aggregate = aggregate
    this.#quote = quote
    this.#parts = quoteParts(aggregate, quote)
    this.#modification = this.#parts.modification
    this.#segment = this.#parts.segment
    this.#shard = shardOfDigits(aggregate.policy.locator)
    this.#record = {
      policyholderLocator: aggregate.policy.policyholderLocator,
      policyLocator: String(aggregate.policy.locator),
      productLocator: product.locator,
    }
    for (const run of this.#parts.perilRuns) {
      const peril = aggregate.perils.get(run.perilLocator)
      if (!peril) continue
      const list = this.#perilsOf.get(peril.exposureLocator) ?? []
      list.push({ peril, run, segmentLocator: perilSegmentLocator(run.locator, this.#segment, this.#shard) })
      this.#perilsOf.set(peril.exposureLocator, list)
    }
  }

  policyCharacteristics(): PolicyCharacteristicsResponse {
    const { currency } = this.#aggregate.policy
    const prices = this.#parts.perilRuns.flatMap(run => (run.price ? [run.price] : []))
    const priced = this.#modification.premiumChange !== undefined
    const taxes = prices.flatMap(price => price.taxes)
    return {
      ...this.#record,
      ...this.#made(this.#segment),
      ...fieldsOf(this.#segment.data),
      startTimestamp: String(this.#segment.start),
      endTimestamp: String(this.#segment.end),
      policyStartTimestamp: String(this.#quote.contractStart),
      policyEndTimestamp: String(this.#quote.contractEnd),
      grossPremium: priced
        ? toNumber(
            sum(
              prices.map(price => price.premium.amount),
              currency,
            ),
          )
        : undefined,
      grossPremiumCurrency: currency,
      grossTaxes: priced
        ? toNumber(
            sum(
              taxes.map(tax => tax.amount),
              currency,
            ),
          )
        : undefined,
      grossTaxesCurrency: currency,
      taxGroups: taxGroupResponses(taxes, currency),
    }
  }

  exposureResponses(): ExposureResponse[] {
    return this.#parts.exposureRuns.flatMap(run => {
      const exposure = this.#aggregate.exposures.get(run.exposureLocator)
      if (!exposure) return []
      const characteristics: ExposureCharacteristicsResponse = {
        ...this.#record,
        ...this.#made(run),
        ...fieldsOf(run.data),
        exposureLocator: exposure.locator,
        startTimestamp: String(run.start),
        endTimestamp: String(run.end),
      }
      return [
        {
          ...this.#record,
          ...part(exposure),
          characteristics: [characteristics],
          perils: (this.#perilsOf.get(exposure.locator) ?? []).map(
            ({ peril, run: perilRun, segmentLocator }) =>
              this.#perilResponse(peril, perilRun, segmentLocator, run.locator),
          ),
        },
      ]
    })
  }

  modificationResponse(): PolicyModificationResponse {
    const { premiumChange, underwriting, ...modification } = this.#modification
    const { currency } = this.#aggregate.policy
    return {
      ...this.#record,
      locator: modification.locator,
      name: modification.name,
      displayId: String(modification.displayId),
      number: modification.number,
      createdTimestamp: String(modification.createdAt),
      updatedTimestamp: String(modification.updatedAt),
      issuedTimestamp: textIfAny(modification.issuedAt),
      effectiveTimestamp: String(modification.effectiveAt),
      policyEndTimestamp: String(modification.policyEnd),
      premiumChange: premiumChange && toNumber(premiumChange),
      premiumChangeCurrency: currency,
      automatedUnderwritingResult: underwriting && underwritingResponse(underwriting),
      exposureModifications: this.#exposureModifications(),
      newPolicyCharacteristicsLocator: this.#segment.locator,
      newPolicyCharacteristicsLocators: [this.#segment.locator],
      mediaByLocator: {},
      fieldValues: {},
      fieldGroupsByLocator: {},
      configVersion: this.#aggregate.policy.configVersion,
    }
  }

  #exposureModifications(): ExposureModificationResponse[] {
    const { currency } = this.#aggregate.policy
    const modification = this.#modification.locator
    return this.#parts.exposureRuns.map(run => {
      const locator = derivedUuid(this.#shard, modification, run.exposureLocator)
      return {
        ...this.#record,
        locator,
        exposureLocator: run.exposureLocator,
        policyModificationLocator: modification,
        newExposureCharacteristicsLocator: run.locator,
        perilModifications: (this.#perilsOf.get(run.exposureLocator) ?? []).map(entry => ({
          ...this.#record,
          locator: derivedUuid(this.#shard, modification, entry.segmentLocator),
          exposureModificationLocator: locator,
          perilLocator: entry.peril.locator,
          premiumChange: entry.run.price && toNumber(entry.run.price.premium.amount),
          premiumChangeCurrency: currency,
          newPerilCharacteristicsLocator: entry.segmentLocator,
        })),
      }
    })
  }

  #perilResponse(peril: Peril, run: PerilRun, segmentLocator: Uuid, exposureRun: Uuid): PerilResponse {
    const { currency } = this.#aggregate.policy
    const { price, amounts } = run
    const characteristics: PerilCharacteristicsResponse = {
      ...this.#record,
      ...this.#made(run),
      ...fieldsOf(run.data),
      locator: segmentLocator,
      perilLocator: peril.locator,
      policyCharacteristicsLocator: this.#segment.locator,
      exposureCharacteristicsLocator: exposureRun,
      policyModificationLocator: run.madeBy,
      coverageStartTimestamp: String(run.start),
      coverageEndTimestamp: String(run.end),
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
      premium: price && toNumber(price.premium.amount),
      premiumCurrency: currency,
      technicalPremium: price?.technicalPremium && toNumber(price.technicalPremium.amount),
      monthPremium: numberIfAny(price?.premium.month),
      monthTechnicalPremium: numberIfAny(price?.technicalPremium?.month),
    }
    return {
      ...this.#record,
      ...part(peril),
      exposureLocator: peril.exposureLocator,
      renewalGroup: peril.renewalGroup,
      characteristics: [characteristics],
    }
  }

  /** A segment's knowledge span: it is issued when the modification that made it is. */
  #made(segment: { locator: Uuid; createdAt: number; updatedAt: number; madeBy: Uuid; replacedBy?: Uuid }) {
    const issuedAt = this.#aggregate.modifications.get(segment.madeBy)?.issuedAt
    const replacedAt = segment.replacedBy && this.#aggregate.modifications.get(segment.replacedBy)?.issuedAt
    return {
      locator: segment.locator,
      createdTimestamp: String(segment.createdAt),
      updatedTimestamp: String(segment.updatedAt),
      issuedTimestamp: textIfAny(issuedAt),
      replacedTimestamp: textIfAny(replacedAt),
    }
  }
}

const numberIfAny = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text)

const part = (record: Exposure | Peril) => ({
  locator: record.locator,
  name: record.name,
  displayId: String(record.displayId),
  createdTimestamp: String(record.createdAt),
  updatedTimestamp: String(record.updatedAt),
})

const fieldsOf = (data: FieldData) => ({
  fieldValues: data.values,
  fieldGroupsByLocator: Object.fromEntries(data.groups.map(group => [group.locator, group.values])),
  mediaByLocator: {},
})
