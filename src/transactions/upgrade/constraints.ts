// What constraint tables say of a policy that is to move to another version of the configuration: of an issued policy, of all
// that is in force in some part of its term, by the tables in force now; of one that is not, of its quotes, as they would be
// checked. What the version that the policy has finds wrong by the same tables is told too, since that is no matter of the
// upgrade.

import type { ReportedProblems } from '../../policy/draft/draft.ts'
import { lineOf, lineUpTo, segmentsInForce } from '../../policy/fold/line.ts'
import { type PolicyAggregate, quoteParts, recordsWhere } from '../../policy/records/aggregate.ts'
import { basisAt, type Loaded, selectionBasis, type Version } from '../../policy/surroundings.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { graphOfProduct } from '../../product/constraint-graph.ts'
import { type Attempt, NOTHING_REPORTED } from '../../rating/rate.ts'
import { fieldsInUse } from '../../reference/constraints/answers.ts'
import { elementsAt, withBreaches } from '../constraints/validation.ts'

/** Problems by the version that the policy would have, and by the one that it has. */
export type ConstraintProblems = { readonly found: ReportedProblems; readonly known: ReportedProblems }

export const NO_CONSTRAINTS: ConstraintProblems = { found: NOTHING_REPORTED, known: NOTHING_REPORTED }

/** One round trip and the files of the tables, where the version has constraints at all. */
export async function constraintProblems(
  loaded: Loaded,
  target: Version,
  attempt: Attempt,
): Promise<ConstraintProblems> {
  const { products } = target.configuration.configuration
  const { name } = loaded.product
  const product = Object.hasOwn(products, name) ? products[name] : undefined
  if (!product) return NO_CONSTRAINTS
  const found = await problemsBy(loaded, target, product, attempt)
  if (found.byOwner.size === 0) return NO_CONSTRAINTS
  return { found, known: await problemsBy(loaded, loaded, loaded.product, attempt) }
}

async function problemsBy(
  { aggregate, policyholder }: Pick<Loaded, 'aggregate' | 'policyholder'>,
  { configuration: { configuration } }: Pick<Version, 'configuration'>,
  product: ProductDefinition,
  { now, readTables }: Attempt,
): Promise<ReportedProblems> {
  if (!readTables || graphOfProduct(configuration, product).tables.length === 0) return NOTHING_REPORTED
  const { timeZone } = aggregate.policy
  const requireMissing = aggregate.policy.issuedAt !== undefined
  let reported = NOTHING_REPORTED
  for (const { owner, line, starts, basis } of partsOf(aggregate, product, now)) {
    const surroundings = { product, policyholder, configuration }
    const checked = starts.flatMap(at => fieldsInUse(elementsAt(aggregate, line, at, surroundings), timeZone))
    reported = await withBreaches(
      checked,
      { configuration, basis, readTables, requireMissing },
      reported,
      owner,
    )
  }
  return reported
}

/** Lines of the policy, with the times from which on other content is in force, and whom its own data is reported under. */
function partsOf(aggregate: PolicyAggregate, product: ProductDefinition, now: Attempt['now']) {
  const of = { aggregate, product }
  const startsOf = (line: ReturnType<typeof lineOf>) => {
    const segments = segmentsInForce(line)
    const inForce = (at: number) => segments.some(one => one.start <= at && at < one.end)
    const runs = [...aggregate.exposureRuns.values(), ...aggregate.perilRuns.values()]
    return [...new Set([...segments, ...runs].map(one => one.start))].filter(inForce).sort((a, b) => a - b)
  }
  if (aggregate.policy.issuedAt === undefined)
    return recordsWhere(aggregate.quotes, one => one.state !== 'discarded').map(quote => {
      const { modification, segment } = quoteParts(aggregate, quote)
      const line = lineUpTo(aggregate, quote, modification)
      return {
        owner: segment.locator,
        line,
        starts: startsOf(line),
        basis: selectionBasis(of, modification, now),
      }
    })
  const line = lineOf(aggregate, [...aggregate.quotes.values()].find(one => one.issuedAt !== undefined)!)
  return [
    { owner: String(aggregate.policy.locator), line, starts: startsOf(line), basis: basisAt(of, now, now) },
  ]
}
