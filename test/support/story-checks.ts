// Invariants of a policy at every point of its story, and comparisons with the naive model (naive-policy.ts).
import Big from 'big.js'
import { expect } from 'vitest'
import { toNumber } from '../../src/kernel/money.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { amountsDue, isAbsorbed, planOf, standingInvoices } from '../../src/policy/bills/amounts-due.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyModificationResponse, PolicyResponse } from '../../src/policy/contract/response.ts'
import {
  feesOf,
  isIssued,
  isStanding,
  lineOf,
  type ModificationFilter,
  segmentsInForce,
} from '../../src/policy/fold/line.ts'
import { type PolicyView, policyResponse, policyView } from '../../src/policy/projection/policy.ts'
import { policySnapshot } from '../../src/policy/projection/snapshot.ts'
import { boundQuote, type PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { recordedPriceChange } from '../../src/transactions/mechanism/price-change.ts'
import { COVER, type NaivePiece, type NaivePolicy, naivePolicy, naiveSum } from './naive-policy.ts'
import type { NaiveAmounts } from './naive-rates.ts'
import { bigOf, naiveOf, naiveWithAccepted, type Story } from './policy-story.ts'
import { keyedExposures, keyedPerils, locatorsOf } from './story-keys.ts'
import type { StepOutcome } from './story-runner.ts'

/** Like `toEqual`, which takes longer to find no difference than the whole story takes. */
export function same(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual).toEqual(expected)
}

type Pieces = {
  start: number
  end: number
  data: Record<string, string>
  amounts: Record<string, string>
}[]

export const viewOf = ({ loaded }: Story, counts: ModificationFilter = isIssued): PolicyView =>
  policyView(loaded.aggregate, boundQuote(loaded.aggregate), loaded.product, counts)

export const priceOf = (story: Story): PolicyPriceResponse => policyPriceResponse(viewOf(story))

/** The service's pieces in force by peril, in the form of the model's. */
function piecesInForce(view: PolicyView): Record<string, Pieces> {
  const segments = segmentsInForce(view.line)
  return Object.fromEntries(
    keyedExposures(view).flatMap(exposure =>
      keyedPerils(exposure).map(({ key, one }) => [
        key,
        one.pieces
          .filter(({ piece }) => piece.replacedBy === undefined)
          .sort((a, b) => a.piece.start - b.piece.start)
          .map(({ run, piece: { start, end, amounts } }) => ({
            start,
            end,
            data: comparableValues({
              policy: only(segments.filter(segment => segment.start <= start && start < segment.end)).data
                .values,
              exposure: only(
                exposure.one.runs.filter(
                  one => one.replacedBy === undefined && one.start <= start && start < one.end,
                ),
              ).run.data.values,
              peril: { ...run.data.values, ...run.amounts },
            }),
            amounts: sortedAmounts({
              premium: bigOf(amounts!.premium),
              ...(amounts!.technicalPremium && { technicalPremium: bigOf(amounts!.technicalPremium) }),
              ...Object.fromEntries(
                run.price!.taxes.map(({ name }, at) => [`tax ${name}`, bigOf(amounts!.taxes[at]!)]),
              ),
              ...Object.fromEntries(
                run.price!.commissions.map(({ recipient }, at) => [
                  `commission ${recipient}`,
                  bigOf(amounts!.commissions[at]!),
                ]),
              ),
            }),
          })),
      ]),
    ),
  )
}

/** Returns the only element. */
function only<T>(list: readonly T[]): T {
  expect(list).toHaveLength(1)
  return list[0]!
}

/** Values as text, without those that the service rewrites (dates) and locators of groups. */
const comparableValues = (
  levels: Record<string, Readonly<Record<string, unknown>>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(levels).map(([level, values]) => [
      level,
      Object.entries(values)
        .filter(
          ([name]) =>
            !/_(?:month|registration|built|at)$|^(?:named_drivers|claims|items|agency|mortgagees)$/.test(
              name,
            ),
        )
        .map(([name, value]) => `${name}=${[value].flat().join()}`)
        .sort()
        .join('; '),
    ]),
  )

const sortedAmounts = (amounts: NaiveAmounts): Record<string, string> =>
  Object.fromEntries(
    Object.entries(amounts)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, amount]) => [name, amount.toFixed()]),
  )

/** The model's pieces by peril, in the order of the service's. */
function modelPieces(model: NaivePolicy): Record<string, Pieces> {
  const data = (pieces: readonly NaivePiece[], start: number) =>
    pieces.find(piece => piece.start <= start && start < piece.end)!.data.values
  return Object.fromEntries(
    [...model.perils].map(([key, { exposure }]) => [
      key,
      model.items.get(key)!.map(piece => ({
        start: piece.start,
        end: piece.end,
        data: comparableValues({
          policy: data(model.items.get(COVER)!, piece.start),
          exposure: data(model.exposures.get(exposure)!.pieces, piece.start),
          peril: piece.data.values,
        }),
        amounts: sortedAmounts(piece.amounts),
      })),
    ]),
  )
}

const byKey = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))

const isPremium = (name: string): boolean => name === 'premium'
const isTax = (name: string): boolean => name.startsWith('tax')
const isCommission = (name: string): boolean => name.startsWith('commission')
const isFee = (name: string): boolean => name === 'fee'
const isDue = (name: string): boolean => isPremium(name) || isTax(name) || isFee(name)

/** The service agrees with the model to the cent, at every level. */
export function expectModelAgrees(story: Story): void {
  const model = naiveOf(story)
  const { aggregate } = story.loaded
  const view = viewOf(story)
  same(byKey(piecesInForce(view)), byKey(modelPieces(model)))
  expect(aggregate.policy.effectiveEnd).toBe(model.end)

  const quote = boundQuote(aggregate)
  same(
    feesOf(aggregate, quote, lineOf(aggregate, quote)).map(
      ({ fee, amount, reversed }) => `${fee.name} ${reversed ? '0' : bigOf(amount).toFixed()}`,
    ),
    [...model.fees].map(([key, { name }]) => `${name} ${naiveSum(model, [key], isFee).toFixed()}`),
  )
  expect(aggregate.policy.paymentScheduleName).toBe(model.schedule)

  const total = (keys: Iterable<string>, test: (name: string) => boolean): number =>
    Number(naiveSum(model, keys, test))
  const price = policyPriceResponse(view)
  const { grossPremium, grossTaxes, grossCommissions, grossFees, total: due, exposurePrices } = price
  const all = [...model.items.keys()]
  const locators = locatorsOf(view)
  same(
    [grossPremium, grossTaxes, grossCommissions, grossFees, due],
    [isPremium, isTax, isCommission, isFee, isDue].map(test => total(all, test)),
  )
  for (const keyed of keyedExposures(view)) {
    const exposure = exposurePrices.find(one => one.locator === keyed.one.exposure.locator)!
    const perils = keyedPerils(keyed)
    const keys = perils.map(one => one.key)
    const levels = [isPremium, isTax, isCommission, isDue]
    same(
      [exposure.grossPremium, exposure.grossTaxes, exposure.grossCommissions, exposure.total],
      levels.map(test => total(keys, test)),
    )
    for (const { key, one } of perils) {
      const peril = exposure.perilPrices.find(price => price.locator === one.peril.locator)!
      same(
        [peril.premium, peril.grossTaxes, peril.grossCommissions, peril.total],
        levels.map(test => total([key], test)),
      )
      expect(one.peril.renewalGroup).toBe(locators.get(model.perils.get(key)!.group))
    }
  }
}

/** Each modification's premium change is that of its request in the model. */
export function changesAgreeWithModel(story: Story): void {
  const premiums = story.requests.map((_, at) => {
    const model = naivePolicy(story.requests.slice(0, at + 1), story.rules)
    return naiveSum(model, model.items.keys(), isPremium)
  })
  const changes = premiums.map((premium, at) => premium.minus(premiums[at - 1] ?? 0))
  const issued = lineOf(story.loaded.aggregate, boundQuote(story.loaded.aggregate))
  expect(issued.map(one => toNumber(one.modification.premiumChange!))).toEqual(changes.map(Number))
}

/** Segments in force do not overlap, and cover the same spans as the model. */
export function expectSegmentsMatchModel(story: Story): void {
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

/** The premium changes of the modifications sum to the premium in force, for the policy, each exposure and each peril. */
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

/** The invoiced and the planned amounts together are the price of what is in force or accepted. */
export function billsAddUp(story: Story): void {
  const { aggregate } = story.loaded
  const model = naiveWithAccepted(story)
  const due = naiveSum(model, model.items.keys(), isDue)
  expect(billed(aggregate).toFixed()).toBe(due.toFixed())
}

/** The sum of the invoiced and the planned amounts. */
export function billed(aggregate: PolicyAggregate): Big {
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

/** The total of each invoice by locator. Invoices in `known` keep the total that they have there. */
export function invoiceTotalsByLocator(
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

/** All sums over the whole story. */
export function expectSumsMatch(story: Story): void {
  changesAgreeWithModel(story)
  modificationsAddUp(story)
  recordedChangesAddUp(story)
  billsAddUp(story)
}

/** The response of GET at this time. */
export const answerNow = ({ loaded, now }: Story): { at: Instant; answer: PolicyResponse } => ({
  at: now,
  answer: policyResponse(loaded.aggregate, loaded.product, { summarizeQuotes: false }),
})

/** Snapshots of each earlier moment, and of all times up to the next, equal the response of GET at that moment. */
export function expectSnapshotsMatch(
  { loaded: { aggregate, product } }: Story,
  answers: readonly ReturnType<typeof answerNow>[],
): void {
  const snapshot = (asOfTimestamp: Instant): PolicyResponse =>
    policySnapshot(aggregate, product, { asOfTimestamp, effectiveTimestamp: undefined }) as PolicyResponse
  for (const [index, { at, answer }] of answers.entries()) {
    same(snapshot(at), answer)
    const next = answers[index + 1]
    if (next && next.at > at) same(snapshot((next.at - 1) as Instant), answer)
  }
}

const LEVIES = ['grossTaxesChange', 'grossFeesChange', 'grossCommissionsChange', 'totalChange'] as const

/** The recorded price changes sum to the price, for the policy, its exposures and perils. */
export function recordedChangesAddUp(story: Story): void {
  const { aggregate, product } = story.loaded
  const [first, ...later] = lineOf(aggregate, boundQuote(aggregate))
  const begun = policyPriceResponse(
    policyView(aggregate, boundQuote(aggregate), product, one => one === first!.modification),
  )
  const changes = later.map(one => recordedPriceChange(aggregate, one.modification, product))
  const price = priceOf(story)
  const total = (start: number, list: readonly number[]): number =>
    list.reduce((sum, one) => sum + cents(one), cents(start))
  same(
    LEVIES.map(name => {
      const of = name.replace('Change', '') as 'grossTaxes' | 'grossFees' | 'grossCommissions' | 'total'
      return total(
        begun[of],
        changes.map(one => one[name]),
      )
    }),
    [price.grossTaxes, price.grossFees, price.grossCommissions, price.total].map(cents),
  )
  for (const exposure of price.exposurePrices) {
    const of = <T extends { locator: string }>(list: readonly T[]): T | undefined =>
      list.find(one => one.locator === exposure.locator)
    const own = changes.flatMap(one => of(one.exposurePrices) ?? [])
    const start = of(begun.exposurePrices)
    same(
      [
        total(
          start?.grossPremium ?? 0,
          own.map(one => one.grossPremiumChange),
        ),
        total(
          start?.grossTaxes ?? 0,
          own.map(one => one.grossTaxesChange),
        ),
        total(
          start?.grossCommissions ?? 0,
          own.map(one => one.grossCommissionsChange),
        ),
      ],
      [exposure.grossPremium, exposure.grossTaxes, exposure.grossCommissions].map(cents),
    )
    for (const peril of exposure.perilPrices) {
      const ofPeril = own.flatMap(one => one.perilPrices.filter(part => part.locator === peril.locator))
      const was = start?.perilPrices.find(one => one.locator === peril.locator)
      same(
        [
          total(
            was?.premium ?? 0,
            ofPeril.map(one => one.premiumChange),
          ),
          total(
            was?.grossTaxes ?? 0,
            ofPeril.map(one => one.grossTaxesChange),
          ),
          total(
            was?.grossCommissions ?? 0,
            ofPeril.map(one => one.grossCommissionsChange),
          ),
        ],
        [peril.premium, peril.grossTaxes, peril.grossCommissions].map(cents),
      )
    }
  }
}

/** The figures of a price, without locators, which differ each time. */
export const figures = (price: PolicyPriceResponse | PolicyPriceChangeResponse): unknown =>
  JSON.parse(JSON.stringify(price, (name, value) => (/[lL]ocator$/.test(name) ? undefined : value)))

/** The step succeeds or is rejected as the model says, and is recorded with the price change that was shown before. */
export function expectOutcomeMatches({ refused, expectedRefusal, previewed, recorded }: StepOutcome): void {
  expect({ refused: refused !== undefined, because: expectedRefusal ?? refused?.message }).toEqual({
    refused: expectedRefusal !== undefined,
    because: expectedRefusal,
  })
  if (previewed && recorded) expect(figures(previewed)).toMatchObject(figures(recorded) as object)
}
