import { expect, test } from 'vitest'
import { compileWith } from '../minimal-archive.ts'

const settings = { timezone: 'Europe/Berlin', currency: 'EUR' }
const compiled = (customEvents: unknown) =>
  compileWith({ 'config.json': { ...settings, customEvents } as never })
const problems = (customEvents: unknown) =>
  compiled(customEvents).findings.map(({ severity, code, message }) => `${severity} ${code}: ${message}`)

const yearly = { anchor: 'policyStart', cadence: { durationBasis: 'year' } }

test('custom events and their schedules compile to a normalized form', () => {
  const { configuration, findings } = compiled([
    { type: 'custom.rate.referred' },
    { type: 'custom.policy.anniversary', schedule: yearly, products: ['boat'] },
    {
      type: 'custom.policy.survey',
      schedule: {
        anchor: 'TERMSTART',
        alignment: 'monthStart',
        offset: { amount: '-3', unit: 'week' },
        suppressOnStatuses: ['cancelled'],
      },
    },
  ])
  expect(findings).toEqual([])
  expect(configuration?.customEvents).toEqual([
    { type: 'custom.rate.referred' },
    {
      type: 'custom.policy.anniversary',
      products: ['boat'],
      schedule: {
        anchor: 'policyStart',
        cadence: { intervalDuration: 1, durationBasis: 'year' },
        suppressOnStatuses: [],
      },
    },
    {
      type: 'custom.policy.survey',
      schedule: {
        anchor: 'termStart',
        alignment: 'monthStart',
        offset: { amount: -3, unit: 'week' },
        suppressOnStatuses: ['cancelled'],
      },
    },
  ])
})

test('a single status in suppressOnStatuses is read as a list of one', () => {
  const { configuration, findings } = compiled([
    { type: 'custom.a', schedule: { ...yearly, suppressOnStatuses: 'Cancelled' } },
  ])
  expect(findings).toEqual([])
  expect(configuration?.customEvents?.[0]?.schedule?.suppressOnStatuses).toEqual(['cancelled'])
})

test('units of a schedule can be plural', () => {
  const { configuration, findings } = compiled([
    {
      type: 'custom.a',
      schedule: { ...yearly, offset: { amount: 1, unit: 'Days' }, cadence: { durationBasis: 'years' } },
    },
  ])
  expect(findings).toEqual([])
  expect(configuration?.customEvents?.[0]?.schedule).toMatchObject({
    offset: { unit: 'day' },
    cadence: { durationBasis: 'year' },
  })
})

test('an archive without custom events compiles without the property customEvents', () => {
  expect(compileWith({}).configuration).not.toHaveProperty('customEvents')
})

test.each([
  [[{ type: 'policy.create' }], "'policy.create' is not a type of a custom event"],
  [[{ type: 'custom.a' }, { type: 'custom.a' }], 'declared twice'],
  [[{ type: 'custom.a', products: ['car'] }], "There is no product 'car'"],
  [
    [{ type: 'custom.a', schedule: { anchor: 'policyEnd', cadence: { durationBasis: 'day' } } }],
    'repeat forever',
  ],
  [
    [{ type: 'custom.a', schedule: { ...yearly, cadence: { durationBasis: 'day', intervalDuration: 0 } } }],
    'from 1 to',
  ],
  [
    [{ type: 'custom.a', schedule: { ...yearly, cadence: { durationBasis: 'day', limit: 0 } } }],
    'A limit must be from 1',
  ],
  [
    [{ type: 'custom.a', schedule: { ...yearly, offset: { amount: 10_001 } } }],
    'An offset can be at most 10000',
  ],
  [[{ type: 'custom.a', schedule: { anchor: 'birth' } }], 'anchor'],
  [[{ type: 'custom.a', schedule: { ...yearly, suppressOnStatuses: ['sold'] } }], 'policyStart'],
  [
    Array.from({ length: 51 }, (_, n) => ({ type: `custom.e${n}`, schedule: yearly })),
    '51 events have a schedule',
  ],
])('the custom events %j are rejected', (customEvents, problem) => {
  const found = problems(customEvents).filter(one => one.startsWith('ERROR'))
  expect(found).toHaveLength(1)
  if (problem !== 'policyStart') expect(found[0]).toContain(problem)
})

test('an event with isPersisted false is persisted all the same, with a warning', () => {
  expect(problems([{ type: 'custom.a', isPersisted: false }])).toEqual([
    expect.stringContaining('WARNING customEventKept'),
  ])
})
