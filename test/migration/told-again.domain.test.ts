// A history that the live service wrote, told again as an account of another system, becomes the same policy.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkedInvoices } from '../../src/billing/projection.ts'
import { boundQuote } from '../../src/cancellations/effect.ts'
import { AccountMigrationRequest } from '../../src/migration/contract-request.ts'
import { convertAccount, digitsNeeded } from '../../src/migration/convert/account.ts'
import { locatorSupply, type Uuid } from '../../src/platform/locators.ts'
import type { PolicyAggregate } from '../../src/policies/aggregate.ts'
import { isIssued } from '../../src/policies/fold/line.ts'
import { policyResponse } from '../../src/policies/projection/policy.ts'
import { policyView } from '../../src/policies/projection/view.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { comparable } from '../support/comparable.ts'
import type { Example } from '../support/configurations.ts'
import type { NaiveRequest } from '../support/naive-policy.ts'
import { beginStory, type Story } from '../support/policy-story.ts'
import { size } from '../support/sizes.ts'
import { addsUp, agreesWithModel, isAsExpected, tiles } from '../support/story-checks.ts'
import { type NewBusiness, newBusiness, type Step, steps } from '../support/story-steps.ts'
import { tell } from '../support/story-telling.ts'
import { toldAgain } from '../support/told-again.ts'
import { Untellable } from '../support/told-history.ts'

const SEED = 20261122

/** Below those of what comes after, which are in the order in which they were made. */
let sequence = 100_000

const wire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

const answersOf = (aggregate: PolicyAggregate, { loaded: { product } }: Story) => ({
  policy: wire(policyResponse(aggregate, product, { summarizeQuotes: false })),
  bills: wire(checkedInvoices(aggregate)),
  price: wire(policyPriceResponse(policyView(aggregate, boundQuote(aggregate), product, isIssued))),
})

function requestOf(story: Story) {
  const { aggregate, policyholder } = story.loaded
  return toldAgain({
    id: 'A',
    values: policyholder.entity.values,
    policies: [{ ...answersOf(aggregate, story), auxData: {} }],
    disbursements: [],
  })
}

function isTellable(story: Story): boolean {
  try {
    requestOf(story)
    return true
  } catch (problem) {
    if (problem instanceof Untellable) return false
    throw problem
  }
}

/** The migrated policy in the place of the live one; what requests name by the live one's locators, by its own. */
function carriedOver(story: Story, aggregate: PolicyAggregate): Story {
  const locators = [...aggregate.modifications.values()]
    .filter(one => one.kind === 'cancellation')
    .sort((a, b) => a.number - b.number)
    .map(one => one.transactionLocator!)
  const cancellations = story.requests.filter(one => one.kind === 'cancellation')
  const names = new Map(cancellations.map((one, at) => [one.name, locators[at]!]))
  const requests = story.requests.map((one): NaiveRequest => {
    if (one.kind === 'cancellation') return { ...one, name: names.get(one.name)! }
    return one.kind === 'reinstatement' ? { ...one, of: names.get(one.of)! } : one
  })
  return { ...story, requests, asked: new Map(), loaded: { ...story.loaded, aggregate } }
}

function migrated(story: Story): PolicyAggregate {
  const request = AccountMigrationRequest.parse(wire(requestOf(story)))
  const { configuration, configVersion } = { configVersion: 1, ...story.loaded }
  const digits = Array.from({ length: digitsNeeded(request) }, () => sequence++ * 64)
  const { policies, failures } = convertAccount(request, {
    configuration: configuration.configuration,
    configVersion,
    now: story.now,
    supply: locatorSupply(0, digits),
    shard: 0,
    accountLocator: story.loaded.aggregate.policy.policyholderLocator,
    callerLocator: '5b9a3f61-0000-4000-8000-000000000000' as Uuid,
  })
  expect(failures).toEqual([])
  return policies[0]!
}

/** All of it but what no migration request can tell: what underwriting said, and how a fee is described. */
const compared = ({ policy }: ReturnType<typeof answersOf>): unknown =>
  comparable({
    ...policy,
    fees: policy.fees.map(one => ({ ...one, description: undefined })),
    modifications: policy.modifications.map(one => ({ ...one, automatedUnderwritingResult: undefined })),
  })

const priceOf = ({ price }: ReturnType<typeof answersOf>): unknown =>
  comparable({ ...price, fees: price.fees.map(one => ({ ...one, description: undefined })) })

/** What is billed and planned, by what it is for; how a plan lays charges of one thing on each other is its own. */
const billsOf = ({ policy, bills }: ReturnType<typeof answersOf>): unknown => {
  const places = new Map(
    policy.exposures.flatMap((exposure, at) =>
      exposure.perils.flatMap((peril, index) =>
        peril.characteristics.map(one => [one.locator, `${at}.${index}`] as const),
      ),
    ),
  )
  const sums = (items: (typeof bills)['invoices'][number]['financialTransactions']) => {
    const all: Record<string, number> = {}
    for (const one of items) {
      const kind = one.feeName ?? one.taxName ?? one.commissionRecipient ?? 'premium'
      const key = `${places.get(one.perilCharacteristicsLocator ?? '') ?? ''} ${kind}`
      all[key] = (all[key] ?? 0) + Math.round(one.amount * 100)
    }
    return Object.entries(all)
      .filter(([, minor]) => minor !== 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }
  return {
    invoices: bills.invoices
      .filter(one => one.settlementType !== 'invalidated')
      .map(one => sums(one.financialTransactions)),
    // An installment of a request has no end: its period's is where the next one begins.
    planned: bills.futureInvoices.map(({ financialTransactions, endTimestamp: _, ...one }) => ({
      ...one,
      items: sums(financialTransactions),
    })),
  }
}

describe.each<Example>(['motor', 'home'])(`a history on the ${'%s'} example (seed ${SEED})`, example => {
  const tellableStory = async (business: NewBusiness, all: readonly Step[]): Promise<Story> => {
    let story = await beginStory(example, business)
    for (const one of all) {
      // Shared out by days, which no answer tells: a technical premium, which nobody pays, would be off by a cent.
      if (one.kind === 'legacyCancel' && example === 'home') continue
      const next = await tell(story, one)
      if (!next.refused && isTellable(next.story)) story = next.story
    }
    return story
  }

  it(
    'told again is the same policy, at the same price, billed and planned the same',
    async () => {
      await fc.assert(
        fc.asyncProperty(newBusiness, steps, async (business, all) => {
          const story = await tellableStory(business, all)
          const before = answersOf(story.loaded.aggregate, story)
          const after = answersOf(migrated(story), story)
          expect(compared(after)).toEqual(compared(before))
          expect(priceOf(after)).toEqual(priceOf(before))
          expect(billsOf(after)).toEqual(billsOf(before))
        }),
        { seed: SEED, numRuns: size(12, 200) },
      )
    },
    size(120_000, 1_200_000),
  )

  it(
    'lives on as the naive model says: priced by its whole history, and by all that comes after',
    async () => {
      await fc.assert(
        fc.asyncProperty(newBusiness, steps, steps, async (business, all, more) => {
          const told = await tellableStory(business, all)
          let story = carriedOver(told, migrated(told))
          agreesWithModel(story)
          tiles(story)
          addsUp(story)
          for (const one of more.slice(0, 6)) {
            const next = await tell(story, one)
            isAsExpected(next)
            story = next.story
            agreesWithModel(story)
            tiles(story)
          }
          addsUp(story)
        }),
        { seed: SEED, numRuns: size(8, 150) },
      )
    },
    size(120_000, 1_200_000),
  )
})
