import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CurrencyCode } from '../../../src/kernel/money.ts'
import type { Instant, Span, TimeZone } from '../../../src/kernel/time.ts'
import type { BookedPolicy } from '../../../src/servicing/impact/book-policy.ts'
import { termsBetween, termsOf } from '../../../src/servicing/impact/book-policy.ts'
import type { Compared } from '../../../src/servicing/impact/comparison.ts'
import { bandOf, compareGroups } from '../../../src/servicing/impact/groups.ts'
import { binsOf, changeBars, histogram } from '../../../src/servicing/impact/report/charts.ts'
import { csvHead, csvRow } from '../../../src/servicing/impact/report/csv.ts'
import { impactPage } from '../../../src/servicing/impact/report/page.ts'
import { amountText, changeText, type Head } from '../../../src/servicing/impact/report/words.ts'
import { type Pricing, pricingOf } from '../../../src/servicing/impact/risk.ts'
import { addToTotals, noTotals, quantile } from '../../../src/servicing/impact/totals.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const EUR = 'EUR' as CurrencyCode

const HEAD: Head = {
  oldName: 'motor@3',
  newName: 'motor <new> & "better"',
  bookName: 'book.ndjson',
  occasion: 'renewal',
  day: '2026-10-01',
  currency: EUR,
  madeOn: '2026-11-26',
}

const price = (total: number) => ({
  covers: new Map([['vehicle.theft', total - 1_250]]),
  premium: total - 1_250,
  taxes: 0,
  fees: 1_250,
  total,
})

const compared = (locator: string, old: number, now: number, group: string): Compared => ({
  locator,
  productName: 'private_motor',
  termStart: Date.UTC(2026, 11, 31, 23),
  termEnd: Date.UTC(2027, 11, 31, 23),
  groups: { region: group },
  old: price(old),
  new: price(now),
  decision: 'accept',
  notes: [],
  leftOut: [],
  reasons: [],
})

describe('the HTML page of an impact', () => {
  const totals = noTotals()
  for (let at = 0; at < 200; at += 1)
    addToTotals(totals, compared(`P${at}`, 10_000, 10_000 + (at - 60) * 25, at % 3 === 0 ? 'R1' : '<script>'))
  addToTotals(totals, {
    ...compared('refused', 1, 1, 'R1'),
    reasons: ['new: Field <b>x</b> must have a value.'],
  })
  const page = impactPage(totals, HEAD, new Map([['region', 'Region <i>of</i> risk']]))

  test('is a single file that loads and runs nothing, and escapes texts', () => {
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|url\(|@import/)
    expect(page.match(/https?:\/\/[^"' ]+/g)?.filter(one => one !== 'http://www.w3.org/2000/svg')).toEqual([])
    expect(page).toContain("default-src 'none'")
    expect(page).toContain('motor &#60;new&#62; &#38; &#34;better&#34;')
    expect(page).toContain('Region &#60;i&#62;of&#60;/i&#62; risk')
    expect(page).toContain('new: Field &#60;b&#62;x&#60;/b&#62; must have a value.')
  })

  test('shows totals, the distribution, covers, groups, single policies and rejections', () => {
    for (const title of [
      'Totals',
      'Distribution',
      'Premium by cover',
      'Who pays more, who pays less',
      'Single policies',
      'Underwriting and missing prices',
    ])
      expect(page).toContain(`<h2>${title}</h2>`)
    expect(page).toContain('id="histogram"')
    expect(page).toContain('id="group-region"')
    expect(page).toContain('>P199<')
  })

  test('has balanced tags', () => {
    const open: string[] = []
    for (const [, slash, name, rest] of page.matchAll(/<(\/?)([a-z]+[0-9]?)([^<>]*)>/g)) {
      if (['meta', 'rect', 'line'].includes(name!) || rest!.endsWith('/')) continue
      if (slash) expect(open.pop()).toBe(name)
      else open.push(name!)
    }
    expect(open).toEqual([])
  })

  test('exists for a book without policies too', () => {
    expect(impactPage(noTotals(), HEAD, new Map())).toContain('Every policy has both prices.')
  })
})

describe('charts of an impact', () => {
  test('bins are adjacent and contain every policy, with unchanged prices in their own bin', () => {
    const percents = fc.dictionary(
      fc.integer({ min: -2_000, max: 4_000 }).map(String),
      fc.integer({ min: 1, max: 50 }),
      { maxKeys: 60 },
    )
    fc.assert(
      fc.property(percents, counts => {
        const bins = binsOf(counts)
        const all = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0)
        expect(all(bins.map(({ policies }) => policies))).toBe(all(Object.values(counts)))
        expect(bins.filter(({ from, to }) => from === to).length).toBeLessThanOrEqual(1)
        expect(bins.filter(({ from, to }) => from === 0 && to === 0).map(one => one.policies)).toEqual(
          bins.length === 0 ? [] : [counts['0'] ?? 0],
        )
        for (const [at, bin] of bins.slice(1).entries()) expect(bin.from).toBeCloseTo(bins[at]!.to, 5)
        expect(bins.length).toBeLessThanOrEqual(43)
      }),
    )
  })

  test('are self-contained SVG images', () => {
    for (const picture of [
      histogram('h', binsOf({ '-20': 3, '0': 5, '31': 8 })),
      changeBars('b', 'By <region>', [
        { label: 'R&D', percent: -2, note: '3' },
        { label: 'x', percent: 0, note: '' },
      ]),
    ]) {
      expect(picture).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*<\/svg>$/)
      expect(picture).not.toContain('NaN')
      expect(picture).not.toContain('<region>')
    }
  })
})

describe('CSV rows of an impact', () => {
  const fields = [{ id: 'region' }]

  test('contain both prices with their difference, and days in the time zone', () => {
    expect(csvHead(fields)).toBe(
      'locator,product,term_start,term_end,region,old_premium,old_taxes,old_fees,old_total,new_premium,new_taxes,new_fees,new_total,change,percent,decision,reasons,left_out,notes\r\n',
    )
    expect(csvRow(compared('P1', 10_000, 9_750, 'R1'), fields, EUR, BERLIN)).toBe(
      'P1,private_motor,2027-01-01,2028-01-01,R1,87.50,0.00,12.50,100.00,85.00,0.00,12.50,97.50,-2.50,-2.50,accept,,,\r\n',
    )
  })

  test('leave a missing price empty, quote commas, and turn no text into a formula', () => {
    const { new: _, ...refused } = compared('=P1', 10_000, 0, '@SUM(A1), "x"')
    const row = csvRow({ ...refused, reasons: ['new: no', 'new: never'] }, fields, EUR, BERLIN)
    expect(row).toBe(
      `'=P1,private_motor,2027-01-01,2028-01-01,"'@SUM(A1), ""x""",87.50,0.00,12.50,100.00,,,,,,,accept,"new: no; new: never",,\r\n`,
    )
  })
})

describe('numbers and groups of an impact', () => {
  test.each([
    ['0', '0'],
    ['7', '7'],
    ['7.5', '7 to below 8'],
    ['23', '20 to below 30'],
    ['18450', '10000 to below 20000'],
    ['0.75', '0.7 to below 0.8'],
    ['-23', '-30 to below -20'],
    ['many', 'many'],
  ])('%s is in the band %s', (value, expected) => expect(bandOf(value)).toBe(expected))

  test('every number is within its band, and bands are in order', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), cents => {
        const value = cents / 100
        const [from, to] = bandOf(String(value)).split(' to below ').map(Number)
        expect(from).toBeLessThanOrEqual(value)
        if (to !== undefined) expect(to).toBeGreaterThan(value)
      }),
    )
    expect(['(none)', '10 to below 20', '9', 'b', 'a'].sort(compareGroups).at(-1)).toBe('(none)')
    expect(['20 to below 30', '9', '10 to below 20'].sort(compareGroups)).toEqual([
      '9',
      '10 to below 20',
      '20 to below 30',
    ])
  })

  test('quantiles are over policies, not over distinct values', () => {
    const counts = { '-10': 1, '0': 8, '50': 1 }
    expect([0.01, 0.1, 0.5, 0.9, 0.99].map(share => quantile(counts, share))).toEqual([-10, -10, 0, 0, 50])
    expect(quantile({}, 0.5)).toBeUndefined()
  })

  test('amounts and changes are formatted with separators, signs and percent', () => {
    expect(amountText(-123_456_789, EUR)).toBe('-1,234,567.89')
    expect(amountText(500, 'JPY' as CurrencyCode, true)).toBe('+500')
    expect([changeText(0, 5), changeText(100, 100), changeText(200, 150)]).toEqual([
      '-',
      '0.00 %',
      '-25.00 %',
    ])
  })
})

describe('the time and term at which a policy is priced', () => {
  const at = (day: string): Instant => Date.parse(`${day}T00:00:00+01:00`) as Instant
  const span = (start: string, end: string): Span => ({ start: at(start), end: at(end) })
  const policyOf = (terms: Span[], isCancelled = false): BookedPolicy => ({
    locator: 'P',
    productName: 'p',
    currency: 'EUR',
    policyholder: {},
    exposures: [],
    fees: [],
    isCancelled,
    terms,
    originalStart: terms[0]!.start,
    originalEnd: terms[0]!.end,
    end: terms.at(-1)!.end,
    parts: terms.map(term => ({ ...term, values: {}, groups: [], taxes: undefined })),
  })
  const year = policyOf([span('2026-02-01', '2027-02-01')])

  test('at renewal, a policy is priced on its last day for a term of the same length', () => {
    const pricing = pricingOf(year, { occasion: 'renewal', day: at('2026-12-01') }, BERLIN) as Pricing
    expect(pricing.at).toBe(at('2027-02-01') - 1)
    expect(pricing.term).toEqual(span('2027-02-01', '2028-02-01'))
    const halves = policyOf([span('2026-01-01', '2026-02-01'), span('2026-02-01', '2026-12-01')])
    expect(pricingOf(halves, { occasion: 'renewal', day: at('2026-02-05') }, BERLIN)).toMatchObject({
      present: span('2026-02-01', '2026-12-01'),
      term: { start: at('2026-12-01'), end: Date.parse('2027-10-01T00:00:00+02:00') },
    })
  })

  test('on a day, a policy is priced for a term from that day, and an irregular term keeps its length', () => {
    const odd = policyOf([span('2026-12-01', '2026-12-18')])
    expect(pricingOf(odd, { occasion: 'day', day: at('2026-12-05') }, BERLIN)).toEqual({
      at: at('2026-12-05'),
      present: span('2026-12-01', '2026-12-18'),
      term: span('2026-12-05', '2026-12-22'),
    })
  })

  test('a policy without cover on the day is not priced, nor a cancelled one at renewal', () => {
    expect(pricingOf(year, { occasion: 'renewal', day: at('2027-02-01') }, BERLIN)).toBe('notInForce')
    expect(pricingOf(year, { occasion: 'day', day: at('2026-01-31') }, BERLIN)).toBe('notInForce')
    const cancelled = policyOf([span('2026-02-01', '2027-02-01')], true)
    expect(pricingOf(cancelled, { occasion: 'renewal', day: at('2026-03-01') }, BERLIN)).toBe('cancelled')
    expect(pricingOf(cancelled, { occasion: 'day', day: at('2026-03-01') }, BERLIN)).toMatchObject({
      at: at('2026-03-01'),
    })
  })

  test('terms are derived from issued renewals', () => {
    const renewal = {
      name: 'modification.policy.renew',
      effectiveTimestamp: '200',
      policyEndTimestamp: '300',
    }
    const listed = (...modifications: object[]) =>
      termsOf({
        originalContractStartTimestamp: '100',
        effectiveContractEndTimestamp: '300',
        modifications: modifications as never,
      })
    expect(listed({ ...renewal, issuedTimestamp: '150' })).toEqual([
      { start: 100, end: 200 },
      { start: 200, end: 300 },
    ])
    expect(listed(renewal)).toEqual([{ start: 100, end: 300 }])
    expect(termsBetween([5], 9)).toEqual([{ start: 5, end: 9 }])
  })
})
