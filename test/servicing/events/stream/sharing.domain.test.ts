// The events of a commit that share a row.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newUuid, type PolicyLocator } from '../../../../src/kernel/locators.ts'
import type { NewEvent } from '../../../../src/platform/events/outbox.ts'
import { cellsOf, groupIntoRows, MOST_IN_ROW } from '../../../../src/platform/events/rows.ts'
import { isStreamed } from '../../../../src/platform/events/types.ts'
import { size } from '../../../support/sizes.ts'

const [anna, ben] = [newUuid(0), newUuid(0)]
const anEvent: fc.Arbitrary<NewEvent> = fc.record(
  {
    type: fc.constantFrom<NewEvent['type']>(
      ...([
        'policy.issue',
        'policy.create',
        'invoice.issue',
        'document.ready',
        'document.failed',
        'custom.x',
      ] as const),
    ),
    data: fc.constant({}),
    policyLocator: fc.constantFrom(100_000_001 as PolicyLocator, 100_000_065 as PolicyLocator),
    policyholderLocator: fc.constantFrom(anna, ben),
  },
  { requiredKeys: ['type', 'data'] },
)

/** Whether an erasure may have to change the event. */
const hasText = (type: string): boolean => type.startsWith('custom.') || type === 'document.failed'

test('rows keep the order of events, and separate policies and events that an erasure may change', () => {
  fc.assert(
    fc.property(fc.array(anEvent, { maxLength: 200 }), happened => {
      const rows = groupIntoRows(happened)
      expect(rows.flat()).toEqual(happened)
      for (const row of rows) {
        expect(row.length).toBeLessThanOrEqual(MOST_IN_ROW)
        expect(row.length === 1 || !row.some(({ type }) => hasText(type))).toBe(true)
        const kinds = row.map(({ type, policyLocator, policyholderLocator }) =>
          [isStreamed(type), policyLocator, policyholderLocator].join(),
        )
        expect(new Set(kinds).size).toBe(1)
      }
    }),
    { numRuns: size(70, 2_000) },
  )
})

test('a row stores common data once, and its list of types does not depend on the order of events', () => {
  const of = (type: NewEvent['type'], data: Record<string, string>): NewEvent => ({
    type,
    data: { policyLocator: '100000001', policyholderLocator: anna, ...data },
    policyLocator: 100_000_001 as PolicyLocator,
    policyholderLocator: anna,
  })
  const issued = of('policy.issue', { productName: 'motor' })
  const invoiced = of('invoice.issue', { productName: 'motor', totalDue: '1.00' })
  const locator = newUuid(0)
  expect(cellsOf([issued, invoiced, issued], locator)).toEqual([
    3,
    locator,
    ['invoice.issue', 'policy.issue'],
    ['billing.invoice.generate', 'policy.quote.issue'],
    {
      common: { policyLocator: 0, policyholderLocator: 0, productName: 'motor' },
      events: [
        [1, {}],
        [0, { totalDue: '1.00' }],
        [1, {}],
      ],
    },
    anna,
    100_000_001,
  ])
  expect(cellsOf([invoiced, issued], locator)[2]).toEqual(['invoice.issue', 'policy.issue'])
})
