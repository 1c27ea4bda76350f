import { describe, expect, test, vi } from 'vitest'
import { isAmong, rowsOf, type Scope, valuesIn } from '../../console/desk/constraints.ts'
import { differences } from '../../console/desk/difference.ts'
import { stepsOf } from '../../console/desk/next-steps.ts'
import {
  newPeril,
  type PerilKind,
  perilChanges,
  perilForm,
  perilRequest,
} from '../../console/desk/peril-form.ts'
import { faultsOf } from '../../console/desk/places.ts'
import { rebasedExposure, rebasedFilled } from '../../console/desk/rebase.ts'
import { changes, type Filled, filledFrom, NOTHING, newRecordFields } from '../../console/desk/values.ts'
import { cancellationToReinstate, openReinstatement } from '../../console/knowledge.ts'
import { rebasedSet } from '../../console/rebase.ts'
import type { Cancellation, Field, PerilSegment, Policy } from '../../console/wire.ts'

const field = (name: string, more: Partial<Field> = {}): Field => ({
  name,
  title: name,
  type: 'string',
  conditions: [],
  isOptional: true,
  isRepeatable: false,
  isConstrained: false,
  ...more,
})

// The console reads the session of its tab.
vi.hoisted(() => {
  Object.assign(globalThis, { sessionStorage: { getItem: () => null, removeItem: () => {} } })
})

describe('The request of a form', () => {
  const drivers = field('drivers', {
    type: 'group',
    isRepeatable: true,
    fields: [field('name'), field('age')],
  })
  const fields = [
    field('channel'),
    field('broker', { conditions: [{ field: 'channel', values: ['broker'] }] }),
    drivers,
  ]
  const before = filledFrom(fields, {
    fieldValues: { channel: ['direct'], drivers: ['g1', 'g2'] },
    fieldGroupsByLocator: { g1: { name: ['Ida'], age: ['40'] }, g2: { name: ['Paul'] } },
  })

  test('contains what is filled in, but no blanks and no fields whose condition does not hold', () => {
    const filled = {
      values: { channel: ['direct'], broker: ['BRK-1'] },
      groups: { drivers: [{ values: { name: ['Ida', ' '] } }] },
    }
    expect(newRecordFields(fields, filled)).toEqual({
      fieldValues: { channel: ['direct'] },
      fieldGroups: [{ fieldName: 'drivers', fieldValues: { name: ['Ida'] } }],
    })
    expect(newRecordFields(fields, NOTHING)).toEqual({ fieldValues: {}, fieldGroups: [] })
  })

  test('contains only changes to a record: groups added, changed and removed, each by its locator', () => {
    expect(changes(fields, before, before)).toEqual({})
    const [ida] = before.groups.drivers!
    const now: Filled = {
      values: { channel: [] },
      groups: {
        drivers: [{ ...ida!, values: { name: ['Ida'], age: ['41'] } }, { values: { name: ['Mia'] } }],
      },
    }
    expect(changes(fields, before, now)).toEqual({
      fieldValues: { channel: [] },
      addFieldGroups: [{ fieldName: 'drivers', fieldValues: { name: ['Mia'] } }],
      updateFieldGroups: [{ fieldGroupLocator: 'g1', fieldName: 'drivers', fieldValues: { age: ['41'] } }],
      removeFieldGroups: ['g2'],
    })
  })

  test('contains the changed amounts of a peril, including removals', () => {
    const kind: PerilKind = {
      name: 'glass',
      displayName: 'Glass',
      fields: [],
      defaults: { deductible: '150', indemnityPerItem: '2500' },
    }
    const added = newPeril(kind)
    expect(perilRequest(kind, added)).toEqual({ name: 'glass' })
    expect(perilRequest(kind, { ...added, amounts: { ...added.amounts, deductible: '300' } })).toEqual({
      name: 'glass',
      deductible: '300',
    })
    const form = perilForm(kind, {
      fieldValues: {},
      fieldGroupsByLocator: {},
      deductible: '150',
      indemnityPerItem: '2500',
    } as unknown as PerilSegment)
    expect(perilChanges(kind, 'p1', form, form)).toBeUndefined()
    const now = { ...form, amounts: { deductible: '', indemnityPerItem: 'unlimited' } }
    expect(perilChanges(kind, 'p1', form, now)).toEqual({
      perilLocator: 'p1',
      removeDeductible: true,
      indemnityPerItem: 'unlimited',
    })
  })
})

describe('A form whose record is read again', () => {
  const before: Filled = {
    values: { km: ['12000'], phone: ['1'], use: ['private'] },
    groups: {
      drivers: [
        { locator: 'g1', values: { name: ['Ida'], age: ['40'] } },
        { locator: 'g2', values: {} },
      ],
    },
  }

  test('shows what others changed, with the entries of the user', () => {
    const entered: Filled = {
      values: { ...before.values, km: ['30000'], use: [] },
      groups: {
        drivers: [{ locator: 'g1', values: { name: ['Ida'], age: ['41'] } }, { values: { name: ['New'] } }],
      },
    }
    const now: Filled = {
      values: { km: ['15000'], phone: ['2'], use: ['private'] },
      groups: {
        drivers: [
          { locator: 'g1', values: { name: ['Ada'], age: ['40'] } },
          { locator: 'g2', values: {} },
          { locator: 'g3', values: { name: ['Theirs'] } },
        ],
      },
    }
    expect(rebasedFilled(before, entered, now)).toEqual({
      values: { km: ['30000'], phone: ['2'], use: [] },
      groups: {
        drivers: [
          { locator: 'g1', values: { name: ['Ada'], age: ['41'] } },
          { locator: 'g3', values: { name: ['Theirs'] } },
          { values: { name: ['New'] } },
        ],
      },
    })
  })

  test('shows the present perils of an exposure, without the end of one that is gone', () => {
    const peril = (deductible: string) => ({ filled: NOTHING, amounts: { deductible } })
    const form = (perils: Record<string, ReturnType<typeof peril>>, endedPerils: string[] = []) => ({
      filled: NOTHING,
      perils,
      endedPerils,
      addedPerils: {},
    })
    expect(
      rebasedExposure(
        form({ glass: peril('0'), theft: peril('150'), fire: peril('10') }),
        form({ glass: peril('50'), theft: peril('150'), fire: peril('10') }, ['fire', 'glass']),
        form({ glass: peril('20'), theft: peril('300') }),
      ),
    ).toEqual(form({ glass: peril('50'), theft: peril('300') }, ['glass']))
  })

  test('has the permissions that others gave, and those that the user chose', () => {
    expect([...rebasedSet(['read', 'write'], new Set(['read', 'pay']), ['read', 'write', 'list'])]).toEqual([
      'read',
      'list',
      'pay',
    ])
  })
})

describe('Choices that depend on other fields', () => {
  const model = {
    table: 'vehicles',
    column: 'model',
    timeBasis: 'policyStartTime' as const,
    where: [
      { column: 'make', field: 'make', of: 'exposure' as const, values: [] },
      { column: 'region', field: 'region', of: 'policy' as const, values: ['R1', 'R2'] },
    ],
  }
  const scope = (make: string[], region: string[]): Scope => ({
    kind: 'exposure',
    fields: [field('make'), field('model')],
    values: { make },
    outer: { kind: 'policy', fields: [field('region'), field('state')], values: { region, state: ['NY'] } },
  })
  const around = { times: { policyStartTime: Date.UTC(2027, 0) }, jurisdictionField: 'state' }
  const filters = (paths: readonly string[] | undefined) =>
    paths?.map(path => {
      const { searchParams } = new URL(path, 'https://bindery.test')
      return [searchParams.getAll('key'), searchParams.get('date'), searchParams.get('jurisdiction')]
    })

  test('are the rows that match the values of those fields, at whichever level these are', () => {
    const date = '2027-01-01T00:00:00.000Z'
    expect(filters(rowsOf(model, scope(['VW & Co=1'], ['R3']), around))).toEqual([
      [['make=VW & Co=1', 'region=R3'], date, 'NY'],
    ])
    // Without a value, any of the values that the configuration allows.
    expect(filters(rowsOf(model, scope(['VW'], []), around))!.map(([keys]) => keys)).toEqual([
      ['make=VW', 'region=R1'],
      ['make=VW', 'region=R2'],
    ])
  })

  test('are not requested while a field that they depend on is empty, missing or has too many values', () => {
    expect(rowsOf(model, scope([' '], ['R3']), around)).toBeUndefined()
    expect(rowsOf(model, { ...scope(['VW'], []), outer: undefined }, around)).toBeUndefined()
    const many = Array.from({ length: 9 }, (_, at) => `R${at}`)
    expect(rowsOf(model, scope(['VW'], many), around)).toBeUndefined()
  })

  test('include a value that is the same number, but otherwise only the same text', () => {
    expect(isAmong('2024.0', ['2024'], { type: 'number' })).toBe(true)
    expect(isAmong('2024.0', ['2024'], { type: 'string' })).toBe(false)
    expect(isAmong('100', ['1'], { type: 'number' })).toBe(false)
  })

  test('depend on a field only while the conditions of that field hold', () => {
    const fields = [field('kind'), field('make', { conditions: [{ field: 'kind', values: ['car'] }] })]
    const values = { kind: ['trailer'], make: ['VW'] }
    expect(valuesIn({ kind: 'exposure', fields, values }, 'make')).toEqual([])
    expect(valuesIn({ kind: 'exposure', fields, values: { ...values, kind: ['car'] } }, 'make')).toEqual([
      'VW',
    ])
    expect(valuesIn({ kind: 'exposure', fields, values }, 'nobody')).toBeUndefined()
  })
})

test('errors of a peril or a group are assigned to its path', () => {
  const wrong = { fieldName: 'zone', message: 'Which?' }
  const { policyFieldErrors } = {
    policyFieldErrors: {
      policyFieldErrors: {
        errors: [],
        fieldGroupErrors: [{ fieldName: 'drivers', locator: 'g1', errors: [wrong] }],
      },
      exposureValidationErrors: [
        {
          exposureLocator: 'e1',
          perilValidationErrors: [{ name: 'glass', fieldErrors: { errors: [wrong], fieldGroupErrors: [] } }],
        },
      ],
    },
  }
  expect([...faultsOf({ policyFieldErrors }).keys()]).toEqual([
    'policy.drivers.g1.zone',
    'exposure.e1.peril.glass.zone',
  ])
})

describe('The changes of a transaction', () => {
  const span = { startTimestamp: '0', endTimestamp: '100', issuedTimestamp: '0' }
  const segment = (fieldValues: object, fieldGroupsByLocator: object = {}) => ({
    ...span,
    fieldValues,
    fieldGroupsByLocator,
  })
  const peril = (name: string, more: object = {}) => ({
    locator: name,
    name,
    characteristics: [
      {
        ...segment({}),
        coverageStartTimestamp: '0',
        coverageEndTimestamp: '100',
        deductible: '500',
        indemnityPerEvent: '25000.5',
        ...more,
      },
    ],
  })
  const policy = (values: object, exposures: object[], groups: object = {}) =>
    ({
      characteristics: [segment(values, groups)],
      exposures,
      grossFeesCurrency: 'USD',
    }) as unknown as Policy
  const car = (values: object, perils: object[], more: object = {}) => ({
    locator: 'car',
    name: 'vehicle',
    displayId: 'V1',
    perils,
    characteristics: [{ ...segment(values), ...more }],
  })
  const product = {
    fields: [
      field('channel', { title: 'Channel' }),
      field('drivers', { title: 'Drivers', type: 'group', fields: [field('name', { title: 'Name' })] }),
    ],
    exposures: [
      {
        name: 'vehicle',
        displayName: 'Vehicle',
        fields: [field('photos', { title: 'Photos', type: 'media' })],
        perils: ['theft', 'glass'].map(name => ({
          name,
          displayName: name.toUpperCase(),
          fields: [],
          defaults: {},
        })),
      },
    ],
  } as unknown as Parameters<typeof differences>[2]

  test('are listed by value, group, exposure and peril, at the given time', () => {
    const before = policy(
      { channel: ['direct'], drivers: ['g1', 'g2'] },
      [car({}, [peril('theft'), peril('glass')])],
      { g1: { name: ['Ida'] }, g2: { name: ['Paul'] } },
    )
    const after = policy(
      { channel: ['broker'], drivers: ['g1', 'g3'] },
      [
        car({ photos: ['m1', 'm2'] }, [
          peril('theft', { deductible: '1000', indemnityPerEvent: 'unlimited' }),
          peril('glass', { replacedTimestamp: '5' }),
        ]),
        { ...car({}, []), locator: 'other' },
      ],
      { g1: { name: ['Ida'] }, g3: { name: ['Mia'] } },
    )
    expect(differences(before, after, product, 10)).toEqual([
      { what: 'Channel', before: 'direct', after: 'broker' },
      { what: 'Drivers', before: 'Name: Paul', after: 'Name: Mia' },
      { what: 'Vehicle V1: Photos', before: '', after: '2 files' },
      { what: 'Vehicle V1: THEFT: Deductible', before: '$500.00', after: '$1,000.00' },
      { what: 'Vehicle V1: THEFT: Limit for each event', before: '$25,000.50', after: 'Unlimited' },
      { what: 'Vehicle V1: GLASS', before: 'Covered', after: 'Not covered' },
      { what: 'Vehicle', before: 'Not covered', after: 'Covered' },
    ])
  })

  test('are none if nothing differs, or the time is not covered', () => {
    const same = policy({ channel: ['direct'] }, [car({}, [peril('theft')])])
    expect(differences(same, same, product, 10)).toEqual([])
    expect(differences(same, policy({ channel: ['broker'] }, []), product, 200)).toEqual([])
  })
})

test('The cancellation to reinstate is the one that was issued last, even if it was created first', () => {
  const cancellation = (locator: string, more: object) =>
    ({ locator, state: 'issued', reinstatements: [], ...more }) as unknown as Cancellation
  const first = cancellation('first', { issuedTimestamp: '1000' })
  const second = cancellation('second', { issuedTimestamp: '999' })
  const draft = cancellation('draft', { state: 'draft', issuedTimestamp: undefined })
  expect(cancellationToReinstate([first, second, draft])?.locator).toBe('first')
  const back = { ...first, reinstatements: [{ state: 'issued' }] } as unknown as Cancellation
  expect(cancellationToReinstate([back, second, draft])?.locator).toBe('second')
  expect(cancellationToReinstate([back, draft])).toBeUndefined()
})

test('A reinstatement in preparation is continued, and one that was issued or has expired is not', () => {
  const withStates = (...states: string[]) =>
    ({
      reinstatements: states.map((state, at) => ({ state, locator: String(at) })),
    }) as unknown as Cancellation
  expect(openReinstatement(withStates('expired', 'draft'))?.locator).toBe('1')
  expect(openReinstatement(withStates('accepted'))?.locator).toBe('0')
  expect(openReinstatement(withStates('expired', 'issued'))).toBeUndefined()
  expect(openReinstatement({} as Cancellation)).toBeUndefined()
})

test('A reinstatement in preparation is accepted, then issued, with the permissions of the interface', () => {
  const steps = (state: string) =>
    stepsOf({ kind: 'reinstatement', locator: '1', title: '', state, decision: undefined })
  expect(steps('draft')).toEqual([['accept', ['reinstatements.write', 'reinstatements.accept']]])
  expect(steps('accepted')).toEqual([
    ['issue', ['reinstatements.write', 'reinstatements.issue']],
    ['invalidate', ['reinstatements.write']],
  ])
  expect(steps('issued')).toEqual([])
  expect(steps('expired')).toEqual([])
})
