// The policy as it was known at a time: what GET answered then, segments that had been replaced by then with their
// marks included (a better decision than brief 3.5, which leaves them out: a snapshot can so be held against any
// answer that was kept, and who wants them out sees the mark). With a time of effect only what held then: segments
// not replaced by then (brief 2.1.2) whose span has that time in it, on policy, exposure and peril.
import { Refusal } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/time.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { ExposureResponse, PolicyResponse, PolicySnapshotRequest } from '../contract/response.ts'
import type { PolicyAggregate } from '../records/aggregate.ts'
import { knownAt } from './known.ts'
import { policyResponse } from './policy.ts'

/** Refuses with 404 a time before the policy's creation: GET did so then. */
export function policySnapshot(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  { asOfTimestamp: asOf, effectiveTimestamp }: PolicySnapshotRequest,
): PolicyResponse {
  const known = asOf === undefined ? aggregate : knownAt(aggregate, asOf)
  if (!known) {
    const { locator, createdAt } = aggregate.policy
    throw new Refusal(
      'notFound',
      `There was no policy '${locator}' at ${asOf}; it was created at ${createdAt}. Ask for that time or a later one.`,
    )
  }
  const answer = policyResponse(known, product, { summarizeQuotes: false })
  if (effectiveTimestamp === undefined) return answer
  const characteristics = answer.characteristics.filter(one =>
    holds(one, one.startTimestamp, one.endTimestamp, effectiveTimestamp),
  )
  return {
    ...answer,
    characteristics,
    exposures: characteristics.length > 0 ? exposuresInEffect(answer.exposures, effectiveTimestamp) : [],
  }
}

/** What of the exposures held then; without exposures and perils that have no segment then. */
const exposuresInEffect = (exposures: readonly ExposureResponse[], at: Instant): ExposureResponse[] =>
  exposures.flatMap(exposure => {
    const characteristics = exposure.characteristics.filter(one =>
      holds(one, one.startTimestamp, one.endTimestamp, at),
    )
    if (characteristics.length === 0) return []
    const perils = exposure.perils.flatMap(peril => {
      const own = peril.characteristics.filter(one =>
        holds(one, one.coverageStartTimestamp, one.coverageEndTimestamp, at),
      )
      return own.length === 0 ? [] : [{ ...peril, characteristics: own }]
    })
    return [{ ...exposure, characteristics, perils }]
  })

const holds = (
  { replacedTimestamp }: { readonly replacedTimestamp?: string },
  start: string,
  end: string,
  at: Instant,
): boolean => replacedTimestamp === undefined && Number(start) <= at && at < Number(end)
