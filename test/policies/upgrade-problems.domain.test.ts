// What another configuration version rejects of a policy, where the time or the history of the policy decides.
import { describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { configVersionAt } from '../../src/policy/records/aggregate.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'
import { upgradeProblems } from '../../src/transactions/upgrade/problems.ts'
import { STORY_BEGINS } from '../support/policy-story.ts'
import { after, carriedOut, halfway, issuedPolicy } from '../support/record-kinds/motor-policies.ts'
import '../../src/transactions/kinds.ts'

const YEARS_LATER = (STORY_BEGINS + 3 * 365 * 86_400_000) as Instant

/** The product with changed fields of its vehicles. */
const withVehicle = (
  product: ProductDefinition,
  change: (field: ProductDefinition['fields'][0]) => object,
): ProductDefinition => ({
  ...product,
  exposures: product.exposures.map(exposure =>
    exposure.name === 'vehicle'
      ? { ...exposure, fields: exposure.fields.map(field => ({ ...field, ...change(field) })) }
      : exposure,
  ),
})

const problemsOf = (
  { aggregate, configuration }: Loaded,
  before: ProductDefinition,
  product: ProductDefinition,
  now: Instant = STORY_BEGINS,
) => {
  const whole = { ...configuration.configuration, products: { [product.name]: product } }
  const target = { configuration: { ...configuration, configuration: whole }, configVersion: 2 }
  return upgradeProblems(aggregate, { product: before, configuration }, target, now).problems
}

describe('The problems of an upgrade', () => {
  it('are empty when both versions have the same rules', async () => {
    const loaded = await issuedPolicy()
    expect(problemsOf(loaded, loaded.product, loaded.product)).toEqual({
      hasErrors: false,
      exposureValidationErrors: [],
      cancellationValidationErrors: [],
    })
  })

  it('do not include values that only time has made invalid under the former version too', async () => {
    const loaded = await issuedPolicy()
    const recent = (years: number) => (field: ProductDefinition['fields'][0]) =>
      field.name === 'first_registration'
        ? { earliestOffset: { unit: 'year' as const, amount: -years, roundToDay: false } }
        : {}
    const eight = withVehicle(loaded.product, recent(8))
    const seven = withVehicle(loaded.product, recent(7))
    expect(problemsOf(loaded, loaded.product, eight, STORY_BEGINS).hasErrors).toBe(false)
    // First registered in 2021: too old for both versions in 2029, and for neither in 2026.
    expect(problemsOf(loaded, loaded.product, eight, YEARS_LATER).hasErrors).toBe(true)
    expect(problemsOf(loaded, seven, eight, YEARS_LATER).hasErrors).toBe(false)
  })

  it('include data that a cancellation removed, once each, because a reinstatement can restore it', async () => {
    const issued = await issuedPolicy()
    const cancelled = after(
      issued,
      await carriedOut(issued, { action: 'legacy', coverageEndAt: halfway(issued) }),
    )
    const flag = { ...issued.product.fields.find(one => one.name === 'channel')!, name: 'flag' }
    const asked = { ...issued.product, fields: [...issued.product.fields, flag] }
    for (const loaded of [issued, cancelled])
      expect(problemsOf(loaded, issued.product, asked).policyFieldErrors?.errors).toEqual([
        { fieldName: 'flag', code: 'MISSING', message: "Field 'flag' is required; send a value." },
      ])
  })

  it('include narrower bounds, and values whose type changed although their text still parses', async () => {
    const loaded = await issuedPolicy()
    const narrower = withVehicle(loaded.product, ({ name }) =>
      name === 'vehicle_value'
        ? { maximum: '20000' }
        : name === 'first_registration'
          ? { type: 'number' }
          : {},
    )
    const [vehicle] = problemsOf(loaded, loaded.product, narrower).exposureValidationErrors
    expect(vehicle!.exposureFieldErrors!.errors.map(one => [one.fieldName, one.code])).toEqual([
      ['first_registration', 'INVALID_TYPE'],
      ['vehicle_value', 'INVALID_VALUE'],
    ])
  })
})

describe('The configuration version of a policy at a time', () => {
  it('is the one that the next upgrade left, or the present one', async () => {
    const { policy } = (await issuedPolicy()).aggregate
    const at = (ms: number) => ms as Instant
    const moved = {
      ...policy,
      configVersion: 3,
      upgrades: [
        { at: at(100), from: 1 },
        { at: at(200), from: 2 },
      ],
    }
    expect([99, 100, 199, 200, 300].map(ms => configVersionAt(moved, at(ms)))).toEqual([1, 2, 2, 3, 3])
    expect(configVersionAt(policy, at(0))).toBe(policy.configVersion)
  })
})
