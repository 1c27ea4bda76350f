// Endorsements and renewals in a policy's story, in several requests or in one.
import { Refusal } from '../../src/kernel/errors.ts'
import { add, type Instant } from '../../src/kernel/time.ts'
import type { Endorsement } from '../../src/policy/records/transactions.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import type { EndorsementOperation } from '../../src/transactions/endorsements/plans.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { type NaiveRequest, naiveRefusal } from './naive-policy.ts'
import { attemptAt, inState, naiveOf, type Story } from './policy-story.ts'
import { resolvedChanges, wireChanges } from './story-changes.ts'
import { viewOf } from './story-checks.ts'
import { locatorsOf } from './story-keys.ts'
import {
  blockingTransactions,
  changeOf,
  momentIn,
  resultOrRefusal,
  type StepOutcome,
  withAggregate,
} from './story-runner.ts'
import type { Step } from './story-steps.ts'

const STATES = ['application', 'quoted', 'accepted', 'issued'] as const
const ACTIONS = ['quote', 'accept', 'issue'] as const

const REPRICE = { never: 'never', always: 'changed', all: 'all' } as const

/** The request of the step, in the form of the model and of the service. */
function endorsementAsked(story: Story, one: Step) {
  const { product } = story.loaded
  const policy = naiveOf(story)
  const type = product.endorsements[one.which % product.endorsements.length]!
  const at = momentIn(story, one.at)
  const changes = resolvedChanges(policy, product, one.changes, { time: at, isRenewal: false })
  const reprice = type.reprice === 'input' ? (one.reprice ? 'changed' : 'never') : REPRICE[type.reprice]
  const asked: NaiveRequest = { kind: 'endorsement', at, reprice, changes }
  const wire = {
    endorsementName: type.name,
    startTimestamp: at,
    reprice: type.reprice === 'input' ? one.reprice : undefined,
    conflictHandling: one.firmly ? 'invalidate' : 'block',
    ...wireChanges(changes, locatorsOf(viewOf(story))),
  }
  const operation = (state: string): EndorsementOperation => ({
    action: 'create',
    request: EndorsementCreateRequest.parse({ ...wire, state }),
  })
  return { asked, operation }
}

function renewalAsked(story: Story, { days, changes: picks }: Step) {
  const { product, aggregate } = story.loaded
  const { timeZone } = story.rules
  const start = aggregate.policy.effectiveEnd
  const end = days % 3 === 0 ? add(start, 1, 'year', timeZone) : add(start, days * 15, 'day', timeZone)
  const changes = resolvedChanges(naiveOf(story), product, picks, { time: start, isRenewal: true })
  const asked: NaiveRequest = { kind: 'renewal', start, end: end as Instant, changes }
  const wire = { renewalEndTimestamp: end, ...wireChanges(changes, locatorsOf(viewOf(story))) }
  const operation = (state: string): EndorsementOperation => ({
    action: 'renew',
    request: RenewalCreateRequest.parse({ ...wire, state }),
  })
  return { asked, operation }
}

/** Endorses or renews. Also returns the price change shown for the application and the recorded one. */
export async function endorse(
  story: Story,
  one: Step,
  kind: 'endorsement' | 'renewal',
): Promise<StepOutcome> {
  const { asked, operation } = (kind === 'renewal' ? renewalAsked : endorsementAsked)(story, one)
  const because = naiveRefusal(naiveOf(story), asked)
  const blocked =
    one.far > 0 && blockingTransactions(story).length > 0 && (!one.firmly || kind === 'renewal')
      ? 'another transaction stands in the way'
      : undefined
  const created = await decided(story, operation(STATES[one.atOnce ? one.far : 0]!))
  if (created instanceof Refusal)
    return { story, refused: created, expectedRefusal: because ?? (one.atOnce ? blocked : undefined) }
  const locator = created.endorsement
  const recorded = { ...story, asked: new Map([...story.asked, [String(locator), asked]]) }
  const atOnce = withAggregate(
    recorded,
    created.planned.aggregate,
    one.atOnce && one.far === 3 ? asked : undefined,
  )
  if (one.far === 0) return { story: atOnce, expectedRefusal: because }
  const of = { kind: 'endorsement' as const, endorsement: locator, asked: 'price' as const }
  if (one.atOnce) return { story: atOnce, expectedRefusal: because ?? blocked }
  let now = atOnce
  const previewed = await changeOf(now, of)
  for (const action of ACTIONS.slice(0, one.far)) {
    const conflictHandling = one.firmly && kind === 'endorsement' ? 'invalidate' : 'block'
    const next = await decided(now, { action, endorsement: locator, conflictHandling })
    if (next instanceof Refusal) return { story: now, refused: next, expectedRefusal: because ?? blocked }
    now = withAggregate(now, next.planned.aggregate, action === 'issue' ? asked : undefined)
  }
  return {
    story: now,
    expectedRefusal: because ?? blocked,
    previewed,
    recorded: await changeOf(now, of),
  }
}

const decided = (story: Story, operation: EndorsementOperation) =>
  resultOrRefusal(() => decideEndorsement(story.loaded, operation, attemptAt(story.now)))

/** Quotes, accepts, issues or takes back an open endorsement or renewal. Undefined if none is open. */
export async function continueEndorsement(story: Story, one: Step): Promise<StepOutcome | undefined> {
  const open = inState(story.loaded.aggregate.endorsements, 'application', 'quoted', 'accepted')
  const record = open[one.which % open.length]
  if (!record) return undefined
  const asked = story.asked.get(String(record.locator))!
  const action = actionOn(record, one)
  const isForward = action === 'quote' || action === 'accept' || action === 'issue'
  const of = { kind: 'endorsement' as const, endorsement: record.locator, asked: 'price' as const }
  const previewed = isForward ? await changeOf(story, of) : undefined
  const next = await decided(story, {
    action,
    endorsement: record.locator,
    conflictHandling: one.firmly ? 'invalidate' : 'block',
  })
  const others = blockingTransactions(story).filter(locator => locator !== String(record.locator))
  const blocked = others.length > 0 && !one.firmly ? 'another transaction stands in the way' : undefined
  const expectedRefusal = isForward ? (naiveRefusal(naiveOf(story), asked) ?? blocked) : undefined
  if (next instanceof Refusal) return { story, refused: next, expectedRefusal }
  const after = withAggregate(story, next.planned.aggregate, action === 'issue' ? asked : undefined)
  return {
    story: after,
    expectedRefusal,
    previewed,
    recorded: isForward ? await changeOf(after, of) : undefined,
  }
}

function actionOn({ state }: Endorsement, { far, reprice }: Step) {
  if (state === 'application') return far === 0 ? 'discard' : 'quote'
  if (far === 0) return 'invalidate'
  return state === 'quoted' && reprice ? 'accept' : 'issue'
}
