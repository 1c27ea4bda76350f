// Conversions of values between an agent and the API.
import { describe, expect, it } from 'vitest'
import { pathOf } from '../../src/agents/protocol/host.ts'
import { fieldValues, isoOf, money, msOf, withAmounts } from '../../src/agents/protocol/values.ts'

describe('values that an agent sends', () => {
  it('can have times in any zone, which become milliseconds and are shown in UTC', () => {
    expect(msOf('2026-12-01T00:00:00+01:00')).toBe('1796079600000')
    expect(isoOf('1796079600000')).toBe('2026-11-30T23:00:00.000Z')
    expect([isoOf(undefined), isoOf('soon')]).toEqual([undefined, undefined])
  })

  it('have the amounts of a peril as a group; field values with that name are not changed', () => {
    const fields = { amounts: 'of money', perils: 'two' }
    expect(
      withAmounts({
        fieldValues: fields,
        exposures: [
          {
            exposureName: 'vehicle',
            fieldValues: fields,
            perils: [{ name: 'theft', amounts: { deductible: '150' } }],
          },
        ],
        updateExposures: [
          { updatePerils: [{ perilLocator: '1', amounts: { indemnityPerItem: 'unlimited' } }] },
        ],
      }),
    ).toEqual({
      fieldValues: fields,
      exposures: [
        { exposureName: 'vehicle', fieldValues: fields, perils: [{ name: 'theft', deductible: '150' }] },
      ],
      updateExposures: [{ updatePerils: [{ perilLocator: '1', indemnityPerItem: 'unlimited' }] }],
    })
  })

  it('become part of a path only if they are a locator or a name', () => {
    expect(pathOf`/policy/${'100000001'}/price`).toBe('/policy/100000001/price')
    for (const text of ['', '..', 'a/b', '../x', 'a?b', 'a#b', '%2e%2e', 'x'.repeat(101)])
      expect(() => pathOf`/policy/${text}`).toThrow('is not allowed in a path')
  })
})

describe('values that an agent gets', () => {
  it('have each amount with its currency, and lists of values for at most 80 fields', () => {
    expect(money({ premium: 12.5, premiumCurrency: 'EUR' }, 'premium')).toEqual({
      amount: 12.5,
      currency: 'EUR',
    })
    expect([money({}, 'premium'), money(undefined, 'premium')]).toEqual([undefined, undefined])
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`field${at}`, [String(at)]]))
    expect(Object.keys(fieldValues(many))).toHaveLength(80)
    expect(fieldValues({ one: 'a', two: ['b', 'c'] })).toEqual({ one: ['a'], two: ['b', 'c'] })
  })
})
