// Whether a policy can move to another version of the configuration, and what becomes of it then. From then on its
// transactions are rated, underwritten, billed and documented by that version; what was recorded stays as it is.
import { Refusal, wrongState } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/time.ts'
import { storedAnswer } from '../../platform/commit.ts'
import type { ConflictResponse } from '../../policy/contract/requests.ts'
import { summary } from '../../policy/draft/validation.ts'
import { type PolicyAggregate, putRecords, recordsWhere } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { loadVersion } from '../../policy/store/loading.ts'
import type { Loaded, Version } from '../../policy/surroundings.ts'
import { assertPolicyAllows, chain, type Planned, policyEvent } from '../../policy/transitions.ts'
import { undecided } from '../endorsements/application.ts'
import { lapseInForce } from '../lapses/lapse.ts'
import { conflictsOf, defineKind, json, withoutConflicts } from '../mechanism/kind.ts'
import { endsNaturally, termEndTimers } from '../term-end.ts'
import type { PolicyUpgradeRequest, PolicyUpgradeResponse } from './contract.ts'
import { type ConstraintProblems, constraintProblems, NO_PROBLEMS, upgradeProblems } from './problems.ts'

export type UpgradeDecision = {
  readonly answer: PolicyUpgradeResponse
  /** Undefined where nothing is to be recorded: of a dry run, and where the policy has the version already. */
  readonly upgraded?: { readonly planned: Planned; readonly loaded: Loaded }
}

/**
 * Any other version is taken, an earlier one too: an upgrade that was a mistake is taken back so, by the same
 * checks. Where the policy has the version already, that is the answer and nothing is recorded: whoever
 * upgrades a whole book may do so again. Refuses with 409 what is pending, unless it may be invalidated, and with 400 content that
 * the version does not take; a dry run tells of both. `constraints`: what its constraint tables say.
 */
export function decideUpgrade(
  loaded: Loaded,
  target: Version,
  { dryRun, conflictHandling = 'block' }: Omit<PolicyUpgradeRequest, 'configVersion'>,
  now: Instant,
  constraints?: ConstraintProblems,
): UpgradeDecision {
  const { aggregate, product } = loaded
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
    product,
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
      `Quotes of the policy are priced by version ${policy.configVersion}: ${quotes.map(one => one.locator).join(', ')}. Discard them; copies can be priced anew once the policy is upgraded.`,
    )
  if (problems.hasErrors || !upgradedProduct)
    throw new Refusal('policyValidation', summary(problems), { policyFieldErrors: problems })
  const { configuration, configVersion } = target
  const after = { ...loaded, configuration, product: upgradedProduct }
  const planned = chain(cleared, planUpgrade(cleared.aggregate, after, configVersion, now))
  return {
    answer: { ...found, upgraded: true },
    upgraded: { planned, loaded: { ...after, aggregate: planned.aggregate } },
  }
}

/** Quotes of a policy that is not issued; once it is, they are for reading. */
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
    // A person decided on the price and the rules of the version before.
    endorsements: putRecords(before.endorsements, decided.map(undecided)),
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

/** What lapsed is taken back by the version that it lapsed by (resources brief 10.5). */
function assertNotLapsed(aggregate: PolicyAggregate): void {
  if (lapseInForce(aggregate))
    throw wrongState(
      `Policy ${aggregate.policy.locator} is lapsed and cannot be upgraded; reinstate it first.`,
    )
}

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** To another version of the configuration; with `dryRun` nothing is stored. */
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
    // The policy may have the version already because this very request was carried out before.
    if (!upgraded) return { answer: (await storedAnswer(context, database)) ?? json(answer) }
    return { ...upgraded, response: () => answer }
  },
})
