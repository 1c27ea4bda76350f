// Transactions whose amounts the product's plugin splits (brief 5.6, getProrationResult). Plans are pure, so planning runs twice:
// the first plan finds out what it splits and is dropped, the plugin answers, and the second plan uses the answer. Creations,
// renewals, fees added by hand and withdrawals split nothing, so they do not call the plugin.
import { BUILT_IN_BILLS, type OwnBills } from '../../billing/plugin-bills.ts'
import { shardOfDigits, transientLocators } from '../../kernel/locators.ts'
import { earlier, type Instant } from '../../kernel/time.ts'
import { NOTHING_PRORATED, type Prorated } from '../../policy/fold/shares.ts'
import { openSplits } from '../../policy/fold/splits.ts'
import { boundQuote, type Modification, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Loaded, NeedsWholePolicy } from '../../policy/surroundings.ts'
import { hasPlugin } from '../../product/configuration.ts'
import { prorateByPlugin } from '../../rating/plugin-proration.ts'
import { type Attempt, type EffectContext, ratingContext } from '../../rating/rate.ts'

type Plan = { readonly aggregate: PolicyAggregate } | undefined

/**
 * The number of digit locators, and the product's own planner of bills, if any. `holdsNothingBack`: ignore what the plugin would
 * hold back, as for the value of a cancellation whose type is not yet known (brief 4.5).
 */
type Needs = { readonly digits: number; readonly ownBills?: OwnBills; readonly holdsNothingBack?: boolean }

/**
 * Returns the plan with the amounts that the plugin gives. The first plan does not call a plugin for bills, since it is dropped.
 * Throws what the plan rejects before the plugin is called, and 422 for an invalid answer.
 */
export async function planWithProration<P extends Plan>(
  loaded: Loaded,
  attempt: Attempt,
  { digits, ownBills = BUILT_IN_BILLS, holdsNothingBack }: Needs,
  plan: (context: EffectContext & { ownBills: OwnBills }) => P | Promise<P>,
): Promise<P> {
  const { product } = loaded
  const { now } = attempt
  const transient = transientLocators(shardOfDigits(loaded.aggregate.policy.locator))
  const answer = await prorationOf(
    loaded,
    attempt,
    known => plan({ product, now, supply: transient, prorated: known, ownBills: BUILT_IN_BILLS }),
    holdsNothingBack,
  )
  return await plan({ product, now, supply: await attempt.digits(digits), prorated: answer, ownBills })
}

/**
 * Returns the plugin's answer, or undefined for a product without that plugin. `plan` plans the transaction with the amounts
 * known so far. The plugin is called once for each time at which amounts are split: once, or twice for an endorsement that also
 * moves the policy's end earlier.
 */
export async function prorationOf(
  loaded: Loaded,
  attempt: Attempt,
  plan: (known: Prorated) => Plan | Promise<Plan>,
  holdsNothingBack = false,
): Promise<Prorated | undefined> {
  const { product, aggregate: before, unread } = loaded
  if (!hasPlugin(product, 'getProrationResult')) return undefined
  // Every peril in force is split with the policy, so a part of it is not enough.
  if (unread) throw new NeedsWholePolicy()
  let known = NOTHING_PRORATED
  // Each iteration requests the earliest time whose splits are still open.
  for (;;) {
    const aggregate = (await plan(known))?.aggregate
    const modification = aggregate && addedModification(before, aggregate)
    if (!modification) return known
    const { runs, fees } = openSplits(aggregate, boundQuote(aggregate), modification, known)
    const at = [...runs, ...fees]
      .map(split => split.at)
      .reduce<Instant | undefined>(
        (first, time) => (first === undefined ? time : earlier(first, time)),
        undefined,
      )
    if (at === undefined) return known
    const atOnce = { runs: runs.filter(run => run.at === at), fees: fees.filter(fee => fee.at === at) }
    const context = { ...ratingContext({ ...loaded, aggregate }, attempt, modification), holdsNothingBack }
    known = mergeProrated(known, await prorateByPlugin(aggregate, modification, at, atOnce, context))
    if (modification.kind !== 'endorsement' || modification.policyEnd >= before.policy.effectiveEnd)
      return known
  }
}

const addedModification = (before: PolicyAggregate, after: PolicyAggregate): Modification | undefined =>
  [...after.modifications.values()].find(({ locator }) => !before.modifications.has(locator))

const mergeProrated = (known: Prorated, more: Prorated): Prorated => {
  const runs = new Map(known.runs)
  for (const [run, splits] of more.runs) runs.set(run, [...(runs.get(run) ?? []), ...splits])
  return { runs, fees: new Map([...known.fees, ...more.fees]), holdbacks: more.holdbacks ?? known.holdbacks }
}
