// States and sums are computed by SQL in a list and by TypeScript elsewhere: both must agree for policies of any history, over
// several shards.
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type { PolicyLocator } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import type { Tenant } from '../../src/platform/tenancy.ts'
import { ListedState, PolicyListQuery, type PolicySummaryResponse } from '../../src/policy/list/contract.ts'
import { listPolicies } from '../../src/policy/list/service.ts'
import { pageQuery } from '../../src/policy/list/store.ts'
import {
  type Modification,
  type PolicyAggregate,
  selectedQuoteIfAny,
} from '../../src/policy/records/aggregate.ts'
import { differenceQueries } from '../../src/policy/store/aggregates.ts'
import { policyState } from '../../src/policy/transitions.ts'
import { databaseOf, makeTenant, requestOf } from '../servicing/events/tenant.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import {
  aggregateOf,
  at,
  euros,
  gracePeriodOf,
  modificationOf,
  policyOf,
  quoteOf,
  reinstatementOf,
} from './list-aggregates.ts'

const SEED = 20_261_121
const SHARDS = 3
const NOW = at(15_000)

const instants = fc.constantFrom(...[5_000, 10_000, 15_000, 20_000, 25_000].map(at))
const some = fc.option(instants, { nil: undefined })

/**
 * A later transaction, issued or not. What a cancellation cancelled may be reinstated or about to be. A reinstatement may reverse
 * one of those before it.
 */
const later = fc.record({
  kind: fc.constantFrom(
    'cancellation' as const,
    'withdrawal' as const,
    'lapse' as const,
    'reinstatement' as const,
    'renewal' as const,
  ),
  undoes: fc.nat(),
  issuedAt: some,
  premiumChange: fc.option(fc.integer({ min: -500, max: 500 }), { nil: undefined }),
  reinstated: fc.constantFrom(undefined, 'draft' as const, 'accepted' as const, 'issued' as const),
})

const history = fc.record({
  shard: fc.nat({ max: SHARDS - 1 }),
  createdAt: instants,
  issuedAt: some,
  discardedAt: fc.option(instants, { nil: undefined, freq: 4 }),
  start: instants,
  effectiveEnd: instants,
  quotes: fc.array(
    fc.record({
      state: fc.constantFrom('draft', 'quoted', 'accepted', 'declined', 'discarded'),
      premium: fc.option(fc.integer({ min: 0, max: 5_000 }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  /** None when the selected quote was discarded. An issued policy has one. */
  selected: fc.option(fc.nat(), { nil: undefined, freq: 5 }),
  later: fc.array(later, { maxLength: 3 }),
  /** Whether each grace period was settled. */
  graces: fc.array(fc.boolean(), { maxLength: 2 }),
})

type History = typeof history extends fc.Arbitrary<infer T> ? T : never

function policyWith(one: History): PolicyAggregate {
  const { shard, createdAt, issuedAt, discardedAt, start, effectiveEnd } = one
  const policy = policyOf(
    { createdAt, issuedAt, discardedAt, originalStart: start, originalEnd: effectiveEnd, effectiveEnd },
    shard,
  )
  const followsNone = one.selected === undefined && issuedAt === undefined
  const selected = followsNone ? undefined : (one.selected ?? 0) % one.quotes.length
  const quotes = one.quotes.map(({ state }, index) => quoteOf({ state, selected: index === selected }))
  const created = one.quotes.map(({ premium }, index) =>
    modificationOf({
      number: index,
      quoteLocator: quotes[index]!.locator,
      issuedAt: quotes[index]!.selected ? issuedAt : undefined,
      premiumChange: premium === undefined ? undefined : euros(premium),
    }),
  )
  const changes: Modification[] = []
  for (const [index, change] of one.later.entries())
    changes.push(
      modificationOf({
        kind: change.kind,
        number: quotes.length + index,
        issuedAt: change.issuedAt,
        premiumChange: change.premiumChange === undefined ? undefined : euros(change.premiumChange),
        transactionLocator: String(policy.locator + 64 * (index + 1)),
        undoes: change.kind === 'reinstatement' ? changes[change.undoes % (index + 1)]?.locator : undefined,
      }),
    )
  const reinstatements = one.later.flatMap(({ reinstated }, index) =>
    reinstated === undefined
      ? []
      : [
          reinstatementOf({
            state: reinstated,
            cancellationLocator: (policy.locator + 64 * (index + 1)) as never,
          }),
        ],
  )
  const gracePeriods = one.graces.map(settled => gracePeriodOf(settled ? { settledAt: at(9_000) } : {}))
  return aggregateOf(policy, {
    quotes,
    modifications: [...created, ...changes],
    reinstatements,
    gracePeriods,
  })
}

/** The state by brief 1.1. Before issue it is that of `policyState`. */
function expectedState(aggregate: PolicyAggregate): ListedState {
  const { policy, modifications, reinstatements } = aggregate
  const state = policyState(aggregate)
  if (state === 'unselected') return 'created'
  if (state !== 'issued' && state !== 'withdrawn') return state
  let lapse: Modification | undefined
  for (const one of [...modifications.values()].sort((a, b) => a.number - b.number)) {
    if (one.issuedAt === undefined) continue
    if (one.kind === 'lapse') lapse = one
    if (one.kind === 'renewal' || (lapse && one.undoes === lapse.locator)) lapse = undefined
  }
  if (lapse) return 'lapsed'
  if ([...aggregate.gracePeriods.values()].some(one => one.settledAt === undefined)) return 'inGrace'
  if (state === 'withdrawn') return state
  const undone = [...reinstatements.values()].filter(one => one.state === 'issued')
  const isCancelled = [...modifications.values()].some(
    one =>
      one.issuedAt !== undefined &&
      one.kind === 'cancellation' &&
      !undone.some(reinstatement => String(reinstatement.cancellationLocator) === one.transactionLocator),
  )
  if (isCancelled) return 'cancelled'
  if (policy.originalStart > NOW) return 'pending'
  return policy.effectiveEnd <= NOW ? 'expired' : 'issued'
}

function expectedPremium(aggregate: PolicyAggregate): number | undefined {
  const selected = selectedQuoteIfAny(aggregate)?.locator
  const changes = [...aggregate.modifications.values()]
    .filter(one =>
      one.quoteLocator === undefined ? one.issuedAt !== undefined : one.quoteLocator === selected,
    )
    .flatMap(one => (one.premiumChange === undefined ? [] : [one.premiumChange.minor]))
  return changes.length === 0 ? undefined : changes.reduce((sum, change) => sum + change, 0) / 100
}

let aggregates: PolicyAggregate[]
let tenant: Tenant
let list: (query: object, now?: Instant) => Promise<PolicySummaryResponse[]>

beforeAll(async () => {
  await prepareDatabases({ tenants: SHARDS })
  tenant = await makeTenant(SHARDS)
  console.info(`seed ${SEED}`)
  const histories = fc.sample(history, { numRuns: 400, seed: SEED })
  aggregates = histories.map(policyWith)
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const database = databaseOf(tenant, shard)
    const here = aggregates.filter((_, index) => histories[index]!.shard === shard)
    const queries = here.flatMap(aggregate => differenceQueries(database, undefined, aggregate))
    await database.batch(queries as [(typeof queries)[0], ...typeof queries])
  }
  list = async (query, now = NOW) => {
    const seen: PolicySummaryResponse[] = []
    let pagingToken: string | undefined
    do {
      const page = await listPolicies(
        requestOf(tenant, { now }),
        PolicyListQuery.parse({ pageSize: 37, ...query, pagingToken }),
      )
      expect(page.listCompleted).toBe(page.pagingToken === undefined)
      seen.push(...page.policies)
      pagingToken = page.pagingToken
    } while (pagingToken)
    return seen
  }
})

/** The locators of the policies that satisfy the test, in the order of a list. */
const those = (test: (aggregate: PolicyAggregate) => boolean): string[] =>
  aggregates
    .filter(test)
    .map(({ policy }) => policy)
    .sort((a, b) => a.createdAt - b.createdAt || a.locator - b.locator)
    .map(policy => String(policy.locator))

const locators = (found: readonly PolicySummaryResponse[]): string[] => found.map(one => one.locator)

it('every policy is listed once, in order, with the state and premium of its aggregate', async () => {
  const found = await list({})
  expect(locators(found)).toEqual(those(() => true))
  const of = new Map(aggregates.map(aggregate => [String(aggregate.policy.locator), aggregate]))
  for (const summary of found) {
    const aggregate = of.get(summary.locator)!
    expect([summary.locator, summary.state, summary.grossPremium]).toEqual([
      summary.locator,
      expectedState(aggregate),
      expectedPremium(aggregate),
    ])
  }
})

it('each state lists the policies in it, and each policy is in exactly one', async () => {
  for (const state of ListedState.options) {
    const expected = those(aggregate => expectedState(aggregate) === state)
    expect(expected.length, state).toBeGreaterThan(0)
    expect(locators(await list({ state })), state).toEqual(expected)
  }
})

it('filters by times of creation, issue and cover list the policies within them', async () => {
  const edges = [undefined, 4_999, 10_000, 10_001, 15_000, 20_000, 25_000]
  for (const after of edges)
    for (const before of edges) {
      const within = (one: number | undefined): boolean =>
        one !== undefined && (after === undefined || one > after) && (before === undefined || one < before)
      const bounded = after !== undefined || before !== undefined
      expect(
        locators(
          await list({ createdAfterTimestamp: after, createdBeforeTimestamp: before, pageSize: 1000 }),
        ),
      ).toEqual(those(({ policy }) => within(policy.createdAt)))
      expect(
        locators(await list({ issuedAfterTimestamp: after, issuedBeforeTimestamp: before, pageSize: 1000 })),
      ).toEqual(those(({ policy }) => !bounded || within(policy.issuedAt)))
      expect(
        locators(
          await list({ effectiveAfterTimestamp: after, effectiveBeforeTimestamp: before, pageSize: 1000 }),
        ),
      ).toEqual(
        those(
          ({ policy: { issuedAt, originalStart, effectiveEnd } }) =>
            !bounded ||
            (issuedAt !== undefined &&
              effectiveEnd > originalStart &&
              (after === undefined || effectiveEnd > after) &&
              (before === undefined || originalStart < before)),
        ),
      )
    }
})

it('the rows read for a page do not depend on the number of policies', async () => {
  const database = databaseOf(tenant)
  const position = { createdAt: at(10_000), locator: 1 as PolicyLocator }
  const rowsOf = async (changes: object): Promise<number> => {
    const selection = {
      policyholder: undefined,
      search: undefined,
      position: undefined,
      now: NOW,
      pageSize: 4,
    }
    const { sql, params } = pageQuery(database, { ...selection, ...changes }).toSQL()
    const { results, meta } = await boundDatabase(tenant.shards[0]!)
      .prepare(sql)
      .bind(...params)
      .all()
    expect(results).toHaveLength(5)
    return meta.rows_read
  }
  // For each of five policies: the policy itself, found and shown, with up to three quotes and six modifications.
  expect(await rowsOf({})).toBeLessThan(200)
  expect(await rowsOf({ position })).toBeLessThan(200)
  expect(await rowsOf({ createdAfterTimestamp: at(5_000), position })).toBeLessThan(200)
})
