// policyWhenIssued on random histories of both examples: the policy that an accepted endorsement or renewal previews is the
// policy that is read after the issue. Compares whole responses; `foreseeable` lists what may differ.
import '../../src/transactions/kinds.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import type { Instant } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import type { Endorsement } from '../../src/policy/records/transactions.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { policyWhenIssued } from '../../src/transactions/endorsements/plans.ts'
import { withoutIssueEffects } from '../support/comparable.ts'
import type { Example } from '../support/configurations.ts'
import { attemptAt, beginStory, inState, type Story } from '../support/policy-story.ts'
import { size } from '../support/sizes.ts'
import { same } from '../support/story-checks.ts'
import { carryOutStep, resultOrRefusal } from '../support/story-runner.ts'
import { newBusiness, type Step, step } from '../support/story-steps.ts'

const SEED = 20261122
const AN_HOUR = 3_600_000

/** Histories in which half of the steps leave an endorsement or a renewal accepted. */
const histories: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    step,
    step.map((one): Step => ({ ...one, kind: one.which % 3 === 0 ? 'renew' : 'endorse', far: 2 })),
  ),
  { minLength: 1, maxLength: 16, size: 'max' },
)

/** The response of GET after the issue, an hour later. */
async function readAfterIssue(
  { loaded, now }: Story,
  { locator }: Endorsement,
): Promise<PolicyResponse | Refusal> {
  const operation = { action: 'issue', endorsement: locator, conflictHandling: 'invalidate' } as const
  const attempt = attemptAt((now + AN_HOUR) as Instant)
  const issued = await resultOrRefusal(() => decideEndorsement(loaded, operation, attempt))
  if (issued instanceof Refusal) return issued
  return policyResponse(issued.planned.aggregate, loaded.product, { summarizeQuotes: false })
}

/** Number of segments that are replaced, on all levels. */
const replacements = ({ characteristics, exposures }: PolicyResponse): number =>
  [
    ...characteristics,
    ...exposures.flatMap(exposure => [
      ...exposure.characteristics,
      ...exposure.perils.flatMap(peril => peril.characteristics),
    ]),
  ].filter(one => one.replacedTimestamp !== undefined).length

describe.each<Example>(['motor', 'home'])(`policyWhenIssued on the %s example (seed ${SEED})`, example => {
  it(
    'equals the policy that is read after the issue',
    async () => {
      const seen = { endorsement: 0, renewal: 0, replacing: 0 }
      await fc.assert(
        fc.asyncProperty(newBusiness, histories, async (business, all) => {
          let story = await beginStory(example, business)
          for (const one of all) {
            ;({ story } = await carryOutStep(story, one))
            const { loaded, now } = story
            for (const accepted of inState(loaded.aggregate.endorsements, 'accepted')) {
              const foreseen = await resultOrRefusal(
                async () => policyWhenIssued(loaded, accepted.locator, now) as PolicyResponse,
              )
              const read = await readAfterIssue(story, accepted)
              if (foreseen instanceof Refusal || read instanceof Refusal) {
                expect(foreseen).toEqual(read)
                continue
              }
              same(withoutIssueEffects(foreseen), withoutIssueEffects(read))
              const before = policyResponse(loaded.aggregate, loaded.product, { summarizeQuotes: false })
              seen[accepted.kind] += 1
              if (replacements(foreseen) > replacements(before)) seen.replacing += 1
            }
          }
        }),
        { seed: SEED, numRuns: size(9, 750) },
      )
      expect(Math.min(seen.endorsement, seen.renewal, seen.replacing)).toBeGreaterThan(10)
    },
    size(150_000, 3_000_000),
  )
})
