// Decides whether a policy can move to another version of the configuration, and how the move changes it. Later transactions are
// rated, underwritten, billed and documented by that version; recorded ones are unchanged.
import { Refusal, wrongState } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/time.ts'
import { jsonAnswer, storedAnswer } from '../../platform/commit.ts'
import type { ConflictResponse } from '../../policy/contract/requests.ts'
import { summary } from '../../policy/draft/validation.ts'
import { standingLapses } from '../../policy/fold/line.ts'
import { type PolicyAggregate, putRecords, recordsWhere } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { loadVersion } from '../../policy/store/loading.ts'
import type { Loaded, Version } from '../../policy/surroundings.ts'
import { assertPolicyAllows, combineSteps, type Planned, policyEvent } from '../../policy/transitions.ts'
import { withoutDecision } from '../endorsements/application.ts'
import { conflictsOf, withoutConflicts } from '../mechanism/conflicts.ts'
import { defineKind } from '../mechanism/kind.ts'
import { endsNaturally, termEndTimers } from '../term-end.ts'
import type { PolicyUpgradeRequest, PolicyUpgradeResponse } from './contract.ts'
import { type ConstraintProblems, constraintProblems, NO_PROBLEMS, upgradeProblems } from './problems.ts'

export type UpgradeDecision = {
  readonly answer: PolicyUpgradeResponse
  /** Undefined for a dry run, and if the policy already has the version. */
  readonly upgraded?: { readonly planned: Planned; readonly loaded: Loaded }
}

/**
 * Accepts any other version, including an earlier one, which is how an upgrade is undone. Upgrading to the version that the
 * policy already has records nothing, so upgrading a whole book can be repeated. Rejects pending transactions with 409 unless
 * they may be invalidated, and content that the version rejects with 400; a dry run returns both.
 */
export function decideUpgrade(
  loaded: Loaded,
  target: Version,
  { dryRun, conflictHandling = 'block' }: Omit<PolicyUpgradeRequest, 'configVersion'>,
  now: Instant,
  constraints?: ConstraintProblems,
): UpgradeDecision {
  const { aggregate } = loaded
  const { policy } = aggregate
  const found: PolicyUpgradeResponse = {
    policyLocator: String(policy.locator),
    fromConfigVersion: policy.configVersion,
    toConfigVersion: target.configVersion,
    upgraded: false,
    validationErrors: NO_PROBLEMS,
    conflicts: [],
  }
  if (target.configVersion === policy.configVersion) return { answer: found }
  assertPolicyAllows(aggregate, 'upgrade')
  assertNotLapsed(aggregate)
  const quotes = pricedQuotes(aggregate)
  const cleared = withoutConflicts(aggregate, '', dryRun ? 'invalidate' : conflictHandling, now)
  const { problems, product: upgradedProduct } = upgradeProblems(
    cleared.aggregate,
    loaded,
    target,
    now,
    constraints,
  )
  if (dryRun)
    return {
      answer: { ...found, validationErrors: problems, conflicts: [...quotes, ...conflictsOf(aggregate)] },
    }
  if (quotes.length > 0)
    throw wrongState(
      `Quotes of the policy are priced by version ${policy.configVersion}: ${quotes.map(one => one.locator).join(', ')}. Discard them; their copies can be priced again once the policy is upgraded.`,
    )
  if (problems.hasErrors || !upgradedProduct)
    throw new Refusal('policyValidation', summary(problems), { policyFieldErrors: problems })
  const { configuration, configVersion } = target
  const after = { ...loaded, configuration, product: upgradedProduct }
  const planned = combineSteps(cleared, planUpgrade(cleared.aggregate, after, configVersion, now))
  return {
    answer: { ...found, upgraded: true },
    upgraded: { planned, loaded: { ...after, aggregate: planned.aggregate } },
  }
}

/** Returns the quotes that block the upgrade because they are priced. An issued policy has none, since its quotes are read-only. */
const pricedQuotes = ({ policy, quotes }: PolicyAggregate): ConflictResponse[] =>
  policy.issuedAt !== undefined
    ? []
    : [...quotes.values()].flatMap(({ locator, state }) =>
        state === 'draft' || state === 'discarded'
          ? []
          : [{ kind: 'quote' as const, locator: String(locator), state }],
      )

function planUpgrade(
  before: PolicyAggregate,
  { product }: Pick<Loaded, 'product'>,
  configVersion: number,
  now: Instant,
): Planned {
  const { configVersion: from, upgrades = [] } = before.policy
  const policy = {
    ...before.policy,
    configVersion,
    upgrades: [...upgrades, { at: now, from }],
    updatedAt: now,
  }
  const decided = recordsWhere(before.endorsements, isDecidedApplication)
  const aggregate: PolicyAggregate = {
    ...before,
    policy,
    // A person decided on applications by the former version's price and rules, so these decisions are dropped.
    endorsements: putRecords(before.endorsements, decided.map(withoutDecision)),
  }
  const data = { fromConfigVersion: String(from), toConfigVersion: String(configVersion) }
  return {
    aggregate,
    events: [policyEvent(aggregate, 'policy.upgrade', data)],
    timers: endsNaturally(aggregate) ? termEndTimers(policy, product, now) : [],
  }
}

const isDecidedApplication = ({ state, underwriting }: Endorsement): boolean =>
  state === 'application' && underwriting !== undefined

/** Rejects a lapsed policy, since a lapse is reversed under the version that caused it (resources brief 10.5). */
function assertNotLapsed(aggregate: PolicyAggregate): void {
  if (standingLapses(aggregate).length > 0)
    throw wrongState(
      `Policy ${aggregate.policy.locator} has lapsed and cannot be upgraded; reinstate it first.`,
    )
}

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** With `dryRun` nothing is stored. */
    upgrade: { request: PolicyUpgradeRequest }
  }
}

export const upgradeKind = defineKind<'upgrade'>({
  name: 'upgrade',
  isReadOnly: ({ request }) => request.dryRun,
  async decide(loaded, { request }, { attempt, context, database }) {
    const target = await loadVersion(context, database, request.configVersion)
    const constraints = await constraintProblems(loaded, target, attempt)
    const { upgraded, answer } = decideUpgrade(loaded, target, request, attempt.now, constraints)
    // This request may already have upgraded the policy at an earlier attempt.
    if (!upgraded) return { answer: (await storedAnswer(context, database)) ?? jsonAnswer(answer) }
    return { ...upgraded, response: () => answer }
  },
})
