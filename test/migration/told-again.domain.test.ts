// A history that the live service wrote, told again as an account of another system, becomes the same policy.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkedInvoices } from '../../src/billing/projection.ts'
import { AccountMigrationRequest } from '../../src/migration/contract-request.ts'
import { convertAccount, digitsNeeded } from '../../src/migration/convert/account.ts'
import { locatorSupply, type Uuid } from '../../src/platform/locators.ts'
import type { PolicyAggregate } from '../../src/policies/aggregate.ts'
import { policyResponse } from '../../src/policies/projection/policy.ts'
import { comparable } from '../support/comparable.ts'
import type { Example } from '../support/configurations.ts'
import { beginStory, type Story } from '../support/policy-story.ts'
import { size } from '../support/sizes.ts'
import { newBusiness, steps } from '../support/story-steps.ts'
import { tell } from '../support/story-telling.ts'
import { toldAgain } from '../support/told-again.ts'
import { Untellable } from '../support/told-history.ts'

const SEED = 20261122

let sequence = 5_000_000

const wire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

const answersOf = (aggregate: PolicyAggregate, { loaded: { product } }: Story) => ({
  policy: wire(policyResponse(aggregate, product, { summarizeQuotes: false })),
  bills: wire(checkedInvoices(aggregate)),
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

describe.each<Example>(['motor', 'home'])(`a history on the %s example (seed ${SEED})`, example => {
  it(
    'told again is the same policy',
    async () => {
      await fc.assert(
        fc.asyncProperty(newBusiness, steps, async (business, all) => {
          let story = await beginStory(example, business)
          for (const one of all) {
            // Shared out by days, which no answer tells: a technical premium, which nobody pays, would be off by a cent.
            if (one.kind === 'legacyCancel' && example === 'home') continue
            const next = await tell(story, one)
            if (!next.refused && isTellable(next.story)) story = next.story
          }
          const after = migrated(story)
          expect(compared(answersOf(after, story))).toEqual(compared(answersOf(story.loaded.aggregate, story)))
        }),
        { seed: SEED, numRuns: size(30, 1_000), endOnFailure: true },
      )
    },
    size(60_000, 600_000),
  )
})
