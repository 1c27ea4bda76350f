// The policy data by which reports group lines is that of the transactions that count.
import { expect, it } from 'vitest'
import type { Uuid } from '../../src/kernel/locators.ts'
import { LATEST, type TimeZone } from '../../src/kernel/time.ts'
import { type PolicySegment, putRecords } from '../../src/policy/records/aggregate.ts'
import type { ReportedPolicy, ReportParameters } from '../../src/reporting/kind.ts'
import { retention } from '../../src/reporting/kinds/business.ts'
import { earnedPremium } from '../../src/reporting/kinds/premiums.ts'
import { month } from '../support/boat-product.ts'
import { BOOK_CONFIGURATION, Boat } from '../support/twelve-boats.ts'

const SURROUNDINGS = {
  configuration: BOOK_CONFIGURATION,
  timeZone: 'Europe/Berlin' as TimeZone,
  knownAt: LATEST,
}

const PARAMETERS: ReportParameters = {
  from: month(0),
  to: month(24),
  at: month(24),
  by: [],
  products: [],
  earning: 'product',
  sums: [],
  columns: [],
}

const reported = ({ loaded: { aggregate }, posted }: Boat): ReportedPolicy => ({
  policy: aggregate.policy,
  records: aggregate,
  journal: posted.map((row, id) => ({ ...row, id: id + 1, closedUntil: month(0) })),
  segments: new Map(),
})

it('the retention report reads no data of other quotes or of transactions that are not issued', async () => {
  const boat = await Boat.made()
  const { aggregate } = boat.loaded
  const [own] = [...aggregate.segments.values()]
  const locator = '00000000-0000-4000-8000-000000000001' as Uuid
  const other: PolicySegment = {
    ...own!,
    locator,
    madeBy: locator,
    data: { ...own!.data, values: { kind: ['other'] } },
  }
  boat.loaded = {
    ...boat.loaded,
    aggregate: { ...aggregate, segments: putRecords(aggregate.segments, [other]) },
  }
  const [line] = retention.lines(reported(boat), PARAMETERS, SURROUNDINGS)
  expect(line?.data).toEqual(own!.data)
})

it('the earned premium of a period reads no data of transactions that are booked after it', async () => {
  const boat = await Boat.made()
  await boat.endorse(month(2), month(9), 2_400)
  const kindOf = (to: ReportParameters['to']) =>
    [...earnedPremium.lines(reported(boat), { ...PARAMETERS, to }, SURROUNDINGS)].map(({ row }) => row?.kind)
  expect(kindOf(month(7))).toEqual(['creation'])
  expect(kindOf(month(10))).toEqual(['endorsement'])
})
