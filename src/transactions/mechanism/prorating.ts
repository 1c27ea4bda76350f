// Transactions that split amounts, where the product's plugin says how (brief 5.6, getProrationResult). Plans are pure:
// one is made first to see what it splits, and is thrown away; then the plugin is asked, and the plan made with what
// it said as facts. A product without the plugin has its plan made once, and nothing is asked.
//
// Asked is only of what is split, so that creations, renewals, fees by hand and withdrawals, which take all there is,
// ask nothing.
import { BUILT_IN_BILLS, type OwnBills } from '../../billing/plugin-bills.ts'
import { shardOfDigits, transientLocators } from '../../kernel/locators.ts'
import { earlier, type Instant } from '../../kernel/time.ts'
import { NOTHING_PRORATED, type Prorated } from '../../policy/fold/shares.ts'
import { openSplits } from '../../policy/fold/splits.ts'
import { boundQuote, type Modification, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Loaded, NeedsWholePolicy } from '../../policy/surroundings.ts'
import { hasPlugin } from '../../product/configuration.ts'
import { askProration } from '../../rating/plugin-proration.ts'
import { type Attempt, type EffectContext, ratingContext } from '../../rating/rate.ts'

/** The plan's result; undefined where there is nothing to do. */
type Plan = { readonly aggregate: PolicyAggregate } | undefined

/** What the plan needs: digit locators, and the product's own planner of bills, if any. */
type Needs = { readonly digits: number; readonly ownBills?: OwnBills }

/**
 * The plan of a transaction with the amounts that it splits as the product's plugin says. Of the plan that is thrown away
 * nobody is asked for bills. Refuses what the plan refuses, before the plugin is asked; and (422) what the plugin may
 * not answer.
 */
export async function prorated<P extends Plan>(
  loaded: Loaded,
  attempt: Attempt,
  { digits, ownBills = BUILT_IN_BILLS }: Needs,
  plan: (context: EffectContext & { ownBills: OwnBills }) => P | Promise<P>,
): Promise<P> {
  const { product } = loaded
  const { now } = attempt
  const shown = transientLocators(shardOfDigits(loaded.aggregate.policy.locator))
  const said = await prorationOf(loaded, attempt, known =>
    plan({ product, now, supply: shown, prorated: known, ownBills: BUILT_IN_BILLS }),
  )
  return await plan({ product, now, supply: await attempt.digits(digits), prorated: said, ownBills })
}

/**
 * What the product's plugin says of the amounts that the transaction splits; undefined where it has none. `plan` makes
 * the transaction with what was said so far. The plugin is called once for each time at which amounts are split: that is
 * one, but for an endorsement that splits the policy at its own time and at an earlier end of the policy.
 */
export async function prorationOf(
  loaded: Loaded,
  attempt: Attempt,
  plan: (known: Prorated) => Plan | Promise<Plan>,
): Promise<Prorated | undefined> {
  const { product, aggregate: before, unread } = loaded
  if (!hasPlugin(product, 'getProrationResult')) return undefined
  // Every peril in force is split with the policy.
  if (unread) throw new NeedsWholePolicy()
  let known = NOTHING_PRORATED
  for (;;) {
    const aggregate = (await plan(known))?.aggregate
    const modification = aggregate && madeSince(before, aggregate)
    if (!modification) return known
    const { runs, fees } = openSplits(aggregate, boundQuote(aggregate), modification, known)
    const at = [...runs, ...fees]
      .map(one => one.at)
      .reduce<Instant | undefined>(
        (first, time) => (first === undefined ? time : earlier(first, time)),
        undefined,
      )
    if (at === undefined) return known
    const asked = { runs: runs.filter(one => one.at === at), fees: fees.filter(one => one.at === at) }
    const context = ratingContext({ ...loaded, aggregate }, attempt, modification)
    known = both(known, await askProration(aggregate, modification, at, asked, context))
    if (modification.kind !== 'endorsement' || modification.policyEnd >= before.policy.effectiveEnd)
      return known
  }
}

/** The modification that a transaction makes: one that the policy does not have. */
const madeSince = (before: PolicyAggregate, after: PolicyAggregate): Modification | undefined =>
  [...after.modifications.values()].find(one => !before.modifications.has(one.locator))

const both = (known: Prorated, more: Prorated): Prorated => {
  const runs = new Map(known.runs)
  for (const [run, splits] of more.runs) runs.set(run, [...(runs.get(run) ?? []), ...splits])
  return { runs, fees: new Map([...known.fees, ...more.fees]), holdbacks: more.holdbacks ?? known.holdbacks }
}
