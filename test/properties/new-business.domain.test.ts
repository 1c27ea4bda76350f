// Random new business on both examples: all invariants hold in any order of requests.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { type Money, plus, sum, toNumber } from '../../src/kernel/money.ts'
import { add, type Instant } from '../../src/kernel/time.ts'
import { allowedActions } from '../../src/platform/events/transitions.ts'
import { amountsDue } from '../../src/policy/bills/amounts-due.ts'
import { PolicyCreateRequest, PolicyUpdateRequest } from '../../src/policy/contract/requests.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { type PolicyAggregate, quoteParts, selectedQuote } from '../../src/policy/records/aggregate.ts'
import { COLLECTION_NAMES, COLLECTIONS } from '../../src/policy/store/rows.ts'
import { POLICY_TRANSITIONS, type PolicyAction, policyState } from '../../src/policy/transitions.ts'
import type { Attempt } from '../../src/rating/rate.ts'
import {
  decideCreation,
  decideDiscard,
  decideFinalization,
  decideIssue,
  decidePrice,
  decideUpdate,
} from '../../src/transactions/new-business/decision.ts'
import {
  type Example,
  newPolicyContextOf,
  plentyOfLocators,
  workedPolicies,
} from '../support/configurations.ts'
import { size } from '../support/sizes.ts'

const NOW = Date.UTC(2026, 10, 21, 12) as Instant
const SEED = 20261121

const attempt = (): Attempt => ({
  now: NOW,
  supply: plentyOfLocators(),
  digits: async () => plentyOfLocators(),
})

type Step =
  | { kind: 'add'; copy: number }
  | { kind: 'removeExposure'; which: number }
  | { kind: 'removePeril'; which: number }
  | { kind: 'span'; days: number; months: number }
  | { kind: 'finalize' | 'issue' | 'discard' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), copy: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('removeExposure' as const), which: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('removePeril' as const), which: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('span' as const),
      days: fc.integer({ min: -40, max: 400 }),
      months: fc.integer({ min: 1, max: 26 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('finalize' as const, 'issue' as const, 'discard' as const),
    }),
  },
)

const total = (amounts: Money[], aggregate: PolicyAggregate): Money => sum(amounts, aggregate.policy.currency)

function holds(aggregate: PolicyAggregate): void {
  const quotes = [...aggregate.quotes.values()]
  expect(quotes.filter(quote => quote.selected)).toHaveLength(1)
  const quote = selectedQuote(aggregate)
  const { modification, segment, exposureRuns, perilRuns } = quoteParts(aggregate, quote)
  const span = { start: quote.contractStart, end: quote.contractEnd }
  for (const part of [segment, ...exposureRuns, ...perilRuns]) expect(part).toMatchObject(span)
  expect(exposureRuns).toHaveLength(aggregate.exposures.size)
  expect(perilRuns).toHaveLength(aggregate.perils.size)
  for (const peril of aggregate.perils.values())
    expect(aggregate.exposures.has(peril.exposureLocator)).toBe(true)
  if (modification.premiumChange === undefined) return

  const premium = total(
    perilRuns.map(run => run.price!.premium.amount),
    aggregate,
  )
  expect(premium).toEqual(modification.premiumChange)
  const taxes = total(
    perilRuns.flatMap(run => run.price!.taxes.map(tax => tax.amount)),
    aggregate,
  )
  const fees = total(
    [...aggregate.fees.values()].map(fee => fee.amount),
    aggregate,
  )
  const due = amountsDue(aggregate, modification)
  if (due.length > 0) expect(total(due, aggregate)).toEqual(plus(plus(premium, taxes), fees))
}

/** Converts to rows, through JSON, and back, as the store does. */
function stored(aggregate: PolicyAggregate): PolicyAggregate {
  const copy: Record<string, unknown> = { policy: aggregate.policy }
  for (const name of COLLECTION_NAMES) {
    const { toRow, fromRow, table } = COLLECTIONS[name]
    const columns = Object.keys(table as object)
    copy[name] = new Map(
      [...(aggregate[name] as ReadonlyMap<unknown, object>).values()].map(record => {
        const row = toRow(record as never) as Record<string, unknown>
        for (const key of Object.keys(row)) if (row[key] !== undefined) expect(columns).toContain(key)
        const whole = Object.fromEntries(columns.map(column => [column, row[column] ?? null]))
        const read = fromRow(JSON.parse(JSON.stringify(whole)) as never, aggregate.policy.currency)
        return [read.locator, read]
      }),
    )
  }
  return copy as PolicyAggregate
}

const EXAMPLES: Example[] = ['motor', 'home']

for (const example of EXAMPLES)
  describe(`new business on the ${example} example`, () => {
    const worked = workedPolicies(example)

    it('keeps its invariants in any order of actions, and rejects actions that its state does not allow', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.nat(worked.length - 1),
          fc.array(step, { maxLength: 12 }),
          async (which, steps) => {
            const { policy: request, policyholder } = worked[which]!.request
            const ground = newPolicyContextOf(example, request.productName, policyholder.values, NOW)
            const created = await decideCreation(
              PolicyCreateRequest.parse({
                ...request,
                policyholderLocator: ground.policyholder.locator,
                finalize: false,
              }),
              ground,
              attempt(),
            )
            let current = created.aggregate
            holds(current)
            for (const one of steps) {
              const loaded = { ...ground, aggregate: current }
              const update = (changes: object) =>
                decideUpdate(PolicyUpdateRequest.parse({ finalize: false, ...changes }), loaded, attempt())
              const exposures = [...current.exposures.values()]
              const perils = [...current.perils.values()]
              const peril = perils[one.kind === 'removePeril' ? one.which % perils.length : 0]
              const actions: Record<
                Step['kind'],
                [PolicyAction, () => Promise<{ aggregate: PolicyAggregate }>]
              > = {
                add: [
                  'update',
                  () =>
                    update({
                      addExposures: [
                        request.exposures[one.kind === 'add' ? one.copy % request.exposures.length : 0],
                      ],
                    }),
                ],
                removeExposure: [
                  'update',
                  () =>
                    update({
                      removeExposures: exposures
                        .filter(
                          (_, at) => one.kind === 'removeExposure' && at === one.which % exposures.length,
                        )
                        .map(exposure => exposure.locator),
                    }),
                ],
                removePeril: [
                  'update',
                  () =>
                    update(
                      peril
                        ? {
                            updateExposures: [
                              { exposureLocator: peril.exposureLocator, removePerils: [peril.locator] },
                            ],
                          }
                        : {},
                    ),
                ],
                span: [
                  'update',
                  () => {
                    const start = add(
                      selectedQuote(current).contractStart,
                      one.kind === 'span' ? one.days : 0,
                      'day',
                      ground.timeZone,
                    )
                    return update({
                      policyStartTimestamp: start,
                      policyEndTimestamp: add(
                        start,
                        one.kind === 'span' ? one.months : 1,
                        'month',
                        ground.timeZone,
                      ),
                    })
                  },
                ],
                finalize: ['finalize', () => decideFinalization(loaded, attempt())],
                issue: ['issue', () => decideIssue(loaded, attempt())],
                discard: ['discard', async () => decideDiscard(loaded, attempt())],
              }
              const [action, run] = actions[one.kind]
              const allowed = allowedActions(POLICY_TRANSITIONS, policyState(current)).includes(action)
              try {
                const preview =
                  action === 'finalize' && allowed ? await decidePrice(loaded, attempt()) : undefined
                const { aggregate } = await run()
                expect(allowed).toBe(true)
                if (preview) {
                  const recorded = await decidePrice({ ...loaded, aggregate }, attempt())
                  expect(recorded.total).toBe(preview.total)
                  expect(recorded.grossPremium).toBe(
                    toNumber(quoteParts(aggregate, selectedQuote(aggregate)).modification.premiumChange!),
                  )
                }
                current = aggregate
              } catch (problem) {
                if (!(problem instanceof Refusal)) throw problem
                expect(problem.code).toBe(
                  allowed ? expect.stringMatching(/policyValidation|templateFailed/) : 'wrongState',
                )
              }
              holds(current)
            }
            const options = { summarizeQuotes: true }
            expect(policyResponse(stored(current), ground.product, options)).toEqual(
              policyResponse(current, ground.product, options),
            )
          },
        ),
        { seed: SEED, numRuns: size(35, 2_000), verbose: 1 },
      )
    })
  })
