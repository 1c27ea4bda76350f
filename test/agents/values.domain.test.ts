// Values on their way between an agent and the interface.
import { describe, expect, it } from 'vitest'
import { pathOf } from '../../src/agents/protocol/host.ts'
import { fieldValues, isoOf, money, msOf, withAmounts } from '../../src/agents/protocol/values.ts'

describe('what an agent sends', () => {
  it('has times in any zone, which become milliseconds and come back in UTC', () => {
    expect(msOf('2026-12-01T00:00:00+01:00')).toBe('1796079600000')
    expect(isoOf('1796079600000')).toBe('2026-11-30T23:00:00.000Z')
    expect([isoOf(undefined), isoOf('soon')]).toEqual([undefined, undefined])
  })

  it('has the amounts of a peril by themselves; field values of that name stay what they are', () => {
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

  it('is a part of a path only where it is a locator or a name', () => {
    expect(pathOf`/policy/${'100000001'}/price`).toBe('/policy/100000001/price')
    for (const text of ['', '..', 'a/b', '../x', 'a?b', 'a#b', '%2e%2e', 'x'.repeat(101)])
      expect(() => pathOf`/policy/${text}`).toThrow('cannot be a part of a path')
  })
})

describe('what an agent gets', () => {
  it('has each amount with its currency, and lists of values of a bounded number of fields', () => {
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
