// What holds of a policy at every point of its story, and what the naive model says of it (naive-policy.ts).
import Big from 'big.js'
import { expect } from 'vitest'
import { amountsDue, isAbsorbed, planOf, standingInvoices } from '../../src/billing/bill.ts'
import { boundQuote } from '../../src/cancellations/effect.ts'
import { toNumber } from '../../src/platform/money.ts'
import type { PolicyAggregate } from '../../src/policies/aggregate.ts'
import type { PolicyModificationResponse } from '../../src/policies/contract/modification.ts'
import type { PolicyResponse } from '../../src/policies/contract/response.ts'
import { feesOf } from '../../src/policies/fold/fees.ts'
import { type Counting, isIssued, isStanding, lineOf, segmentsInForce } from '../../src/policies/fold/line.ts'
import { inForce } from '../../src/policies/fold/pieces.ts'
import { policyResponse } from '../../src/policies/projection/policy.ts'
import { type PolicyView, policyView } from '../../src/policies/projection/view.ts'
import type { PolicyPriceResponse } from '../../src/rating/contract.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { COVER, type NaivePolicy, naivePolicy, naiveSum } from './naive-policy.ts'
import { bigOf, naiveOf, naiveWithAccepted, type Story } from './policy-story.ts'

/** As `toEqual`, which takes longer to find that nothing differs than the whole story takes. */
export function same(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual).toEqual(expected)
}

type Pieces = { start: number; end: number; amounts: Record<string, string> }[]

export const viewOf = ({ loaded }: Story, counts: Counting = isIssued): PolicyView =>
  policyView(loaded.aggregate, boundQuote(loaded.aggregate), loaded.product, counts)

export const priceOf = (story: Story): PolicyPriceResponse => policyPriceResponse(viewOf(story))

/** The service's pieces in force by peril, in the shape of the model's. */
function piecesInForce(view: PolicyView): Record<string, Pieces> {
  const perils = view.exposures.flatMap(exposure => exposure.perils)
  return Object.fromEntries(
    perils.map(({ peril, pieces }) => [
      peril.locator,
      inForce(pieces.map(one => one.piece)).map(({ start, end, amounts }) => {
        const { premium, technicalPremium, taxes, commissions } = amounts!
        return {
          start,
          end,
          amounts: {
            premium: bigOf(premium).toFixed(),
            ...(technicalPremium && { technicalPremium: bigOf(technicalPremium).toFixed() }),
            ...Object.fromEntries(taxes.map((tax, at) => [`tax ${at}`, bigOf(tax).toFixed()])),
            ...Object.fromEntries(commissions.map((one, at) => [`commission ${at}`, bigOf(one).toFixed()])),
          },
        }
      }),
    ]),
  )
}

/** The model's pieces of the view's perils. */
const modelPieces = ({ items }: NaivePolicy, view: PolicyView): Record<string, Pieces> =>
  Object.fromEntries(
    view.exposures
      .flatMap(exposure => exposure.perils)
      .map(({ peril }) => [
        peril.locator,
        (items.get(peril.locator) ?? []).map(({ start, end, amounts }) => ({
          start,
          end,
          amounts: Object.fromEntries(Object.entries(amounts).map(([name, one]) => [name, one.toFixed()])),
        })),
      ]),
  )

const isPremium = (name: string): boolean => name === 'premium'
const isTax = (name: string): boolean => name.startsWith('tax')
const isCommission = (name: string): boolean => name.startsWith('commission')
const isFee = (name: string): boolean => name === 'fee'
const isDue = (name: string): boolean => isPremium(name) || isTax(name) || isFee(name)

/** What the service says is what the model says, to the cent, at every level. */
export function agreesWithModel(story: Story): void {
  const model = naiveOf(story)
  const { aggregate } = story.loaded
  const view = viewOf(story)
  same(piecesInForce(view), modelPieces(model, view))
  expect(aggregate.policy.effectiveEnd).toBe(model.end)

  const quote = boundQuote(aggregate)
  const fees = feesOf(aggregate, quote, lineOf(aggregate, quote))
  expect(
    fees.map(({ fee, amount, reversed }) => `${fee.name} ${reversed ? '0' : bigOf(amount).toFixed()}`),
  ).toEqual(fees.map(({ fee }) => `${fee.name} ${naiveSum(model, [fee.locator], isFee).toFixed()}`))

  const total = (keys: Iterable<string>, test: (name: string) => boolean): number =>
    Number(naiveSum(model, keys, test))
  const price = policyPriceResponse(view)
  const { grossPremium, grossTaxes, grossCommissions, grossFees, total: due, exposurePrices } = price
  const all = [...model.items.keys()]
  same(
    [grossPremium, grossTaxes, grossCommissions, grossFees, due],
    [isPremium, isTax, isCommission, isFee, isDue].map(test => total(all, test)),
  )
  for (const [at, { perils }] of view.exposures.entries()) {
    const exposure = exposurePrices[at]!
    const keys = perils.map(one => one.peril.locator)
    const levels = [isPremium, isTax, isCommission, isDue]
    same(
      [exposure.grossPremium, exposure.grossTaxes, exposure.grossCommissions, exposure.total],
      levels.map(test => total(keys, test)),
    )
    same(
      exposure.perilPrices.map(one => [one.premium, one.grossTaxes, one.grossCommissions, one.total]),
      keys.map(key => levels.map(test => total([key], test))),
    )
  }
}

/** What each request changed, as the model has it, is what its modification says. */
export function changesAgreeWithModel(story: Story): void {
  const premiums = story.requests.map((_, at) => {
    const model = naivePolicy(story.requests.slice(0, at + 1), story.rules)
    return naiveSum(model, model.items.keys(), isPremium)
  })
  const changes = premiums.map((premium, at) => premium.minus(premiums[at - 1] ?? 0))
  const issued = lineOf(story.loaded.aggregate, boundQuote(story.loaded.aggregate))
  expect(issued.map(one => toNumber(one.modification.premiumChange!))).toEqual(changes.map(Number))
}

/** Segments in force lie one after the other, and cover what the model covers. */
export function tiles(story: Story): void {
  const { aggregate } = story.loaded
  const segments = segmentsInForce(lineOf(aggregate, boundQuote(aggregate)))
  for (const [at, segment] of segments.entries()) {
    expect(segment.start).toBeLessThan(segment.end)
    if (at > 0) expect(segments[at - 1]!.end).toBeLessThanOrEqual(segment.start)
  }
  const cover = naiveOf(story).items.get(COVER)!
  expect(segments.map(({ start, end }) => ({ start, end }))).toEqual(
    cover.map(({ start, end }) => ({ start, end })),
  )
}

const cents = (amount: number): number => Math.round(amount * 100)

const changeOf = (parts: readonly { premiumChange?: number | undefined }[]): number =>
  parts.reduce((total, one) => total + cents(one.premiumChange ?? 0), 0)

/** What the modifications changed adds up to what is in force: of the policy, of each exposure, of each peril. */
export function modificationsAddUp(story: Story): void {
  const response = policyResponse(story.loaded.aggregate, story.loaded.product, { summarizeQuotes: false })
  const { modifications } = response
  expect(modifications.map(one => one.number)).toEqual(modifications.map((_, at) => at))
  for (const one of modifications) expect(changeOf(perilModifications(one))).toBe(cents(one.premiumChange!))

  const issued = modifications.filter(one => one.issuedTimestamp !== undefined)
  const perils = issued.flatMap(perilModifications)
  for (const exposure of response.exposures) {
    const ofExposure = issued.flatMap(one =>
      one.exposureModifications.filter(part => part.exposureLocator === exposure.locator),
    )
    expect(changeOf(ofExposure.flatMap(part => part.perilModifications))).toBe(
      exposure.perils.reduce((total, peril) => total + premiumInForce(peril), 0),
    )
    for (const peril of exposure.perils)
      expect(changeOf(perils.filter(one => one.perilLocator === peril.locator))).toBe(premiumInForce(peril))
  }
  const all = response.exposures.flatMap(exposure => exposure.perils)
  expect(changeOf(issued)).toBe(all.reduce((total, peril) => total + premiumInForce(peril), 0))
}

const perilModifications = (modification: PolicyModificationResponse) =>
  modification.exposureModifications.flatMap(one => one.perilModifications)

const premiumInForce = ({ characteristics }: PolicyResponse['exposures'][number]['perils'][number]): number =>
  characteristics
    .filter(one => one.issuedTimestamp !== undefined && one.replacedTimestamp === undefined)
    .reduce((total, one) => total + cents(one.premium ?? 0), 0)

/** What is invoiced and what is planned comes to what is in force, with what is accepted. */
export function billsAddUp(story: Story): void {
  const { aggregate } = story.loaded
  const model = naiveWithAccepted(story)
  const due = naiveSum(model, model.items.keys(), isDue)
  expect(billed(aggregate).toFixed()).toBe(due.toFixed())
}

function billed(aggregate: PolicyAggregate): Big {
  const standing = standingInvoices(aggregate)
  const line = lineOf(aggregate, boundQuote(aggregate), isStanding)
  return line.reduce((total, { modification }) => {
    const amounts = amountsDue(aggregate, modification)
    const invoiced = new Set(
      standing
        .filter(invoice => invoice.policyModificationLocator === modification.locator)
        .map(invoice => invoice.installmentNumber),
    )
    const counted = planOf(aggregate, modification).filter(
      one => invoiced.has(one.number) || !isAbsorbed(aggregate, one),
    )
    return counted.reduce((sum, one) => sum.plus(bigOf(amounts[one.number - 1]!)), total)
  }, new Big(0))
}

/** What each of the invoices asks for, by locator; of those already in `known`, what was asked first. */
export function invoiced(
  { loaded: { aggregate } }: Story,
  known = new Map<string, string>(),
): Map<string, string> {
  const totals = new Map(known)
  for (const { locator, policyModificationLocator, installmentNumber } of aggregate.invoices.values()) {
    if (totals.has(locator)) continue
    const due = amountsDue(aggregate, aggregate.modifications.get(policyModificationLocator)!)
    totals.set(locator, bigOf(due[installmentNumber - 1]!).toFixed())
  }
  return totals
}

/** What has added up over the whole story. */
export function addsUp(story: Story): void {
  changesAgreeWithModel(story)
  modificationsAddUp(story)
  billsAddUp(story)
}
