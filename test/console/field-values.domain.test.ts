import { beforeEach, describe, expect, test } from 'vitest'
import { fieldTitle, productFields, valuesText } from '../../console/field-values.ts'
import type { Field, ProductDetail } from '../../console/wire.ts'

beforeEach(() => {
  Object.assign(globalThis, { sessionStorage: { getItem: () => null, removeItem: () => {} } })
})

const field = (name: string, more: Partial<Field> = {}): Field =>
  ({ name, title: name, type: 'string', conditions: [], ...more }) as unknown as Field

const LICENCE = Date.UTC(1997, 0, 1)

describe('Values of fields', () => {
  test('are formatted by the type of their field, whatever its name', () => {
    const text = (precision: string) =>
      valuesText(field('licence', { type: 'date', precision } as Partial<Field>), [String(LICENCE)])
    expect(['year', 'month', 'day'].map(text)).toEqual(['1997', 'January 1997', 'Jan 1, 1997'])
    expect(text('second')).toMatch(/^Jan 1, 1997, 12:00/)
    expect(valuesText(field('account_on', { type: 'number' }), ['852073200000'])).toBe('852073200000')
    expect(valuesText(undefined, ['852073200000', 'b'])).toBe('852073200000, b')
  })

  test('are shown by the names of their choices, and files are counted', () => {
    const choices = [
      { value: 'own_ground', displayName: 'own_ground' },
      { value: 'NY', displayName: 'NY' },
      { value: 'g', displayName: 'Garage' },
    ]
    expect(valuesText(field('parking', { choices } as Partial<Field>), ['own_ground', 'NY', 'g'])).toBe(
      'Own ground, NY, Garage',
    )
    expect(valuesText(field('photos', { type: 'media' }), ['a', 'b'])).toBe('2 files')
  })

  test('are titled by the level of their field: two exposures may have fields of the same name', () => {
    const product = {
      fields: [
        field('drivers', { type: 'group', fields: [field('born', { title: 'Born' })] } as Partial<Field>),
      ],
      exposures: [
        {
          name: 'vehicle',
          fields: [field('built', { title: 'Built in', type: 'date' })],
          perils: [{ name: 'theft', fields: [field('built', { title: 'Fitted in' })] }],
        },
        { name: 'house', fields: [field('built', { title: 'Rooms built' })], perils: [] },
      ],
    } as unknown as ProductDetail
    const { policy, ofExposure, ofPeril } = productFields(product)
    expect(fieldTitle(policy, 'born')).toBe('Born')
    expect(fieldTitle(ofExposure('vehicle'), 'built')).toBe('Built in')
    expect(fieldTitle(ofExposure('house'), 'built')).toBe('Rooms built')
    expect(fieldTitle(ofPeril('vehicle', 'theft'), 'built')).toBe('Fitted in')
    expect(fieldTitle(ofPeril('house', 'theft'), 'built_later')).toBe('Built later')
  })
})
