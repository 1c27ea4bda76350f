import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { pricedOffline } from '../../../cli/offline/price.ts'
import { Refusal } from '../../../src/kernel/errors.ts'
import { type CurrencyCode, money } from '../../../src/kernel/money.ts'
import type { Instant, TimeZone } from '../../../src/kernel/time.ts'
import type { Configuration } from '../../../src/product/configuration.ts'
import type { BookedPolicy } from '../../../src/servicing/impact/book-policy.ts'
import type { Compared } from '../../../src/servicing/impact/comparison.ts'
import { requestedFields } from '../../../src/servicing/impact/groups.ts'
import { resultOrReasons } from '../../../src/servicing/impact/reasons.ts'
import { recordedPrice } from '../../../src/servicing/impact/recorded-price.ts'
import { type Occasion, type Pricing, pricingOf, riskAt } from '../../../src/servicing/impact/risk.ts'
import { addToTotals, noTotals, type Totals } from '../../../src/servicing/impact/totals.ts'
import { size } from '../../support/sizes.ts'
import {
  asCase,
  BOOK_DAY,
  exampleConfiguration,
  type Gone,
  impactOf,
  madeUpBook,
  policiesOf,
  withFactors,
  withProduct,
} from './book.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const EUR = 'EUR' as CurrencyCode

describe('the impact on a generated book', { timeout: size(60_000, 600_000) }, () => {
  // In a full run, a book of 10,000 accounts.
  const folder = madeUpBook(size(60, 10_000))
  let motor: Configuration
  let dearer: Configuration
  let policies: BookedPolicy[]

  const asked = (now: Configuration, occasion: Occasion, old?: Configuration) => ({
    old,
    new: now,
    fields: requestedFields(now, undefined),
    question: { occasion, day: BOOK_DAY },
  })

  beforeAll(
    async () => {
      motor = await exampleConfiguration('motor')
      // Raises the factor of region R1 from 0.86 to 0.97, and lowers that of R6 from 1.29 to 1.05.
      dearer = withFactors(motor, 'region_factor', (key, value) =>
        key === 'R1' ? '0.97' : key === 'R6' ? '1.05' : value,
      )
      policies = await policiesOf(folder, motor)
    },
    size(60_000, 600_000),
  )

  test.each(['renewal', 'day'] as const)(
    'at %s, its sums equal pricing each policy separately as a new one with the same data',
    async occasion => {
      const { totals, all } = await impactOf(policies, asked(dearer, occasion, motor))
      const sums = { old: 0, new: 0, premium: 0, taxes: 0, fees: 0, policies: 0 }
      for (const policy of policies) {
        const pricing = pricingOf(policy, { occasion, day: BOOK_DAY }, BERLIN)
        if (typeof pricing === 'string') continue
        const one = asCase(riskAt(policy, pricing.at)!, pricing)
        const [before, after] = [await pricedOffline(motor, one), await pricedOffline(dearer, one)]
        sums.policies += 1
        sums.old += money(before.price.total, EUR).minor
        sums.new += money(after.price.total, EUR).minor
        sums.premium += money(after.price.grossPremium, EUR).minor
        sums.taxes += money(after.price.grossTaxes, EUR).minor
        sums.fees += money(after.price.grossFees, EUR).minor
      }
      expect(totals.unpriced).toBe(0)
      expect(totals.compared.policies).toBe(sums.policies)
      expect(sums.policies).toBeGreaterThan(size(40, 8_000))
      expect(totals.old.total).toBe(sums.old)
      const { premium, taxes, fees } = sums
      expect(totals.new).toEqual({ premium, taxes, fees, total: sums.new })
      expect(totals.policies).toBe(all.length)
    },
  )

  test('its parts add up: by field, cover and product, and by winners and losers', async () => {
    const { totals } = await impactOf(policies, asked(dearer, 'renewal', motor))
    const { compared } = totals
    expect(compared.losers).toBeGreaterThan(0)
    expect(compared.winners).toBeGreaterThan(0)
    expect(compared.new - compared.old).toBe(compared.more - compared.less)
    const sumOf = (list: readonly { old: number; new: number; policies: number }[]) =>
      list.reduce(
        (sum, one) => ({
          old: sum.old + one.old,
          new: sum.new + one.new,
          policies: sum.policies + one.policies,
        }),
        { old: 0, new: 0, policies: 0 },
      )
    const { old, new: now, policies: count } = compared
    for (const groups of [...Object.values(totals.groups), totals.products])
      expect(sumOf(Object.values(groups))).toEqual({ old, new: now, policies: count })
    const covers = sumOf(Object.values(totals.covers))
    expect([covers.old, covers.new]).toEqual([totals.old.premium, totals.new.premium])
    const counts = (record: Readonly<Record<string, number>>) =>
      Object.values(record).reduce((sum, one) => sum + one, 0)
    expect(counts(totals.percents)).toBe(count)
    expect(counts(totals.amounts)).toBe(count)
    const region = totals.groups.region_class!
    expect(region.R1!.winners + region.R2!.winners + region.R2!.losers).toBe(0)
    expect(region.R6!.losers).toBe(0)
  })

  test('comparing a configuration with itself changes nothing', async () => {
    const { totals } = await impactOf(policies, asked(motor, 'renewal', motor))
    expect(totals.compared).toMatchObject({ losers: 0, winners: 0, more: 0, less: 0 })
    expect(totals.old).toEqual(totals.new)
    expect(Object.keys(totals.percents)).toEqual(['0'])
  })

  test('the recorded price equals that of the configuration for terms without changes', async () => {
    let found = 0
    for (const policy of policies) {
      const present = policy.terms.at(-1)!
      const isPlain = [
        policy.parts,
        ...policy.exposures.flatMap(one => one.perils.map(peril => peril.parts)),
      ].every(parts => {
        const own = parts.filter(part => part.end > present.start)
        return own.length === 1 && own[0]!.start === present.start && own[0]!.end === present.end
      })
      if (!isPlain) continue
      const pricing: Pricing = { at: (present.end - 1) as Instant, present, term: present }
      const recorded = recordedPrice(policy, pricing, EUR, BERLIN)!
      const priced = await pricedOffline(motor, asCase(riskAt(policy, pricing.at)!, pricing))
      expect(recorded.premium, policy.locator).toBe(money(priced.price.grossPremium, EUR).minor)
      // The generated book rounds the tax of a policy, the product the tax of each peril.
      expect(Math.abs(recorded.taxes - money(priced.price.grossTaxes, EUR).minor)).toBeLessThanOrEqual(5)
      found += 1
      if (found === 40) break
    }
    expect(found).toBeGreaterThan(10)
  })

  test('the recorded price of a part of less than a month is its own amount', () => {
    const { currency, exposures, ...policy } = policies[0]!
    const present = policy.terms.at(-1)!
    const instant = { start: present.start, end: (present.start + 100) as Instant }
    const [exposure] = exposures
    const peril = { ...exposure!.perils[0]!, parts: [{ ...exposure!.perils[0]!.parts[0]!, ...instant }] }
    delete peril.parts[0]!.monthPremium
    peril.parts[0]!.premium = 12
    const only = { ...policy, currency, fees: [], parts: [], exposures: [{ ...exposure!, perils: [peril] }] }
    expect(recordedPrice(only, { at: present.start, present }, EUR, BERLIN)).toMatchObject({ premium: 1_200 })
  })

  test('the recorded price in the middle of a change is scaled to the term by months', async () => {
    const changed = policies.filter(({ parts, terms, isCancelled }) => {
      const present = terms.at(-1)!
      return !isCancelled && parts.filter(part => part.start >= present.start).length === 2
    })
    expect(changed.length).toBeGreaterThan(0)
    for (const policy of changed.slice(0, 20)) {
      const pricing = pricingOf(
        policy,
        { occasion: 'renewal', day: policy.parts.at(-1)!.start },
        BERLIN,
      ) as Pricing
      const recorded = recordedPrice(policy, pricing, EUR, BERLIN)!
      const again = await pricedOffline(motor, asCase(riskAt(policy, pricing.at)!, { term: pricing.present }))
      // Factors by age count from the start of the rated term, so the two may differ by some cents or by a birthday.
      expect(Math.abs(recorded.premium - money(again.price.grossPremium, EUR).minor)).toBeLessThan(
        0.25 * recorded.premium,
      )
    }
  })

  describe('counts what the new configuration does not accept, with reasons', () => {
    const product = 'private_motor'
    const goneWith = (now: Configuration): Promise<Gone> => impactOf(policies, asked(now, 'renewal', motor))
    const priced = (gone: Gone) => gone.all.filter((one): one is Compared => typeof one !== 'string')

    test('a new required field', async () => {
      const field = { ...motor.products[product]!.fields[0]!, name: 'garage_code', type: 'string' as const }
      delete (field as { values?: unknown }).values
      const gone = await goneWith(
        withProduct(motor, product, ({ fields }) => ({ fields: [...fields, field] })),
      )
      expect(gone.totals.unpriced).toBe(priced(gone).length)
      const [[reason, count], ...others] = Object.entries(gone.totals.reasons) as [[string, number]]
      expect(others).toEqual([])
      expect(reason).toMatch(/^new: Field 'garage_code' /)
      expect(count).toBe(priced(gone).length)
      expect(priced(gone).every(({ old, new: now }) => old !== undefined && now === undefined)).toBe(true)
    })

    test('a removed option, only for policies that have it', async () => {
      const now = withProduct(motor, product, ({ fields }) => ({
        fields: fields.map(one => (one.name === 'channel' ? { ...one, values: ['direct', 'broker'] } : one)),
      }))
      const before = await goneWith(motor)
      const { totals } = await goneWith(now)
      const affected = before.totals.groups.channel!.comparison_portal!.policies
      expect(affected).toBeGreaterThan(0)
      expect(totals.unpriced).toBe(affected)
      expect(Object.values(totals.reasons)).toEqual([affected])
      expect(Object.keys(totals.reasons)[0]).toMatch(/^new: Field 'channel' /)
    })

    test('removed fields and perils are left out, and the rest is priced', async () => {
      const now = withProduct(motor, product, ({ fields, exposures }) => ({
        fields: fields.filter(({ name }) => name !== 'contact_phone'),
        exposures: exposures.map(one => ({
          ...one,
          perils: one.perils.filter(({ name }) => name !== 'glass'),
        })),
      }))
      const { totals } = await goneWith(now)
      const before = await goneWith(motor)
      expect(totals.unpriced).toBe(0)
      expect(totals.leftOut["peril 'glass' of exposure 'vehicle'"]).toBe(
        before.totals.covers['vehicle.glass']!.policies,
      )
      expect(totals.leftOut["field 'contact_phone'"]).toBeGreaterThan(0)
      expect(totals.covers['vehicle.glass']!.new).toBe(0)
      expect(before.totals.new.premium - totals.new.premium).toBe(before.totals.covers['vehicle.glass']!.new)
    })

    test('a template that fails, a missing product, another currency, and an external rater', async () => {
      const fails = withProduct(motor, product, () => ({
        calculations: { path: 'policy.calculations.liquid', source: '{{ 1 | add_fee: "no_such_fee" }}' },
      }))
      const without = { ...motor, products: {} }
      const francs = { ...motor, currency: 'CHF' as CurrencyCode }
      const external = withProduct(motor, product, () => ({ externalRater: 'elsewhere' }))
      for (const [now, says] of [
        [fails, "adds the fee 'no_such_fee'"],
        [without, "has no product 'private_motor'"],
        [francs, 'The policy is in EUR, but the configuration is in CHF.'],
        [external, "The external rater 'elsewhere' prices the product, and comparisons do not call it"],
      ] as const) {
        const { totals } = await goneWith(now)
        expect(totals.compared.policies).toBe(0)
        expect(Object.keys(totals.reasons)).toEqual([expect.stringContaining(says)])
      }
    })

    test('the decisions of its underwriting', async () => {
      const now = withProduct(motor, product, () => ({
        underwriting: {
          path: 'underwriting.guidelines.liquid',
          source:
            '{% if data.policy.characteristics.last.field_values.channel == "broker" %}{{ "reject" | set_underwriting_decision }}{% else %}{{ "accept" | set_underwriting_decision }}{% endif %}',
        },
      }))
      const { totals } = await goneWith(now)
      expect(totals.decisions.reject).toBe(totals.groups.channel!.broker!.policies)
      expect(totals.decisions.reject).toBeGreaterThan(0)
    })
  })

  test('passes the operation and the original start of the policy to premium formulas', async () => {
    const source =
      '{% assign months = data.policy.original_contract_start_timestamp | divided_by: 1000000000 %}{% if data.operation == "renewal" %}{{ months | set_year_premium }}{% else %}{{ 1 | set_year_premium }}{% endif %}'
    const now = withProduct(motor, 'private_motor', ({ exposures }) => ({
      exposures: exposures.map(one => ({
        ...one,
        perils: one.perils.map(peril => ({ ...peril, premium: { path: `${peril.name}.liquid`, source } })),
      })),
    }))
    const [policy] = policies.filter(
      one => typeof pricingOf(one, { occasion: 'renewal', day: BOOK_DAY }, BERLIN) !== 'string',
    )
    const { all } = await impactOf([policy!], asked(now, 'renewal'))
    const perils = (all[0] as Compared).new!.covers
    const expected = money(Math.floor(policy!.originalStart / 1e9), EUR).minor
    expect([...perils.values()].every(minor => minor % expected === 0)).toBe(true)
  })
})

describe('the totals of an impact', () => {
  const compared = fc
    .record({
      old: fc.integer({ min: 0, max: 500_000 }),
      new: fc.integer({ min: 0, max: 500_000 }),
      group: fc.constantFrom('a', 'b', '(none)'),
      outcome: fc.constantFrom('priced', 'priced', 'priced', 'refused', 'skipped'),
      locator: fc.uuid(),
    })
    .map(({ old, new: now, group, outcome, locator }): Compared | 'cancelled' => {
      const price = (total: number) => ({
        covers: new Map([['thing.cover', total]]),
        premium: total,
        taxes: 0,
        fees: 0,
        total,
      })
      if (outcome === 'skipped') return 'cancelled'
      return {
        locator,
        productName: 'p',
        termStart: 0,
        termEnd: 1,
        notes: [],
        leftOut: [],
        groups: { field: group },
        old: price(old),
        ...(outcome === 'priced'
          ? { new: price(now), decision: 'accept', reasons: [] }
          : { reasons: ['new: no'] }),
      }
    })
  const totalOf = (list: readonly (Compared | 'cancelled')[]): Totals => {
    const totals = noTotals()
    for (const one of list) addToTotals(totals, one)
    return totals
  }

  test('do not depend on the order of the policies or on an interruption', () => {
    fc.assert(
      fc.property(fc.array(compared, { maxLength: 40 }), fc.nat(40), (list, cut) => {
        const whole = totalOf(list)
        expect(totalOf([...list].reverse())).toEqual(whole)
        const paused = JSON.parse(JSON.stringify(totalOf(list.slice(0, cut)))) as Totals
        for (const one of list.slice(cut)) addToTotals(paused, one)
        expect(paused).toEqual(whole)
        expect(whole.policies).toBe(list.length)
        expect(whole.policies).toBe(whole.compared.policies + whole.unpriced + whole.skipped.cancelled)
      }),
    )
  })

  test('stay small: a field with many values has 200 groups, and one for all others', () => {
    const totals = noTotals()
    for (let at = 0; at < 2_000; at += 1)
      addToTotals(totals, {
        locator: `${at}`,
        productName: 'p',
        termStart: 0,
        termEnd: 1,
        notes: [],
        leftOut: [],
        reasons: [],
        groups: { plate: `plate ${at}` },
        old: { covers: new Map(), premium: 100 + at, taxes: 0, fees: 0, total: 100 + at },
        new: { covers: new Map(), premium: 200 + at * 7, taxes: 0, fees: 0, total: 200 + at * 7 },
      })
    const groups = totals.groups.plate!
    expect(Object.keys(groups)).toHaveLength(201)
    expect(groups['(others)']!.policies).toBe(1_800)
    expect(JSON.stringify(totals).length).toBeLessThan(100_000)
  })
})

test('a temporary error is not a reason of a policy but is thrown, so that the portion is retried', async () => {
  const refused = (problem: Refusal) => resultOrReasons(async () => Promise.reject(problem))
  const busy = new Refusal('unavailable', 'The plugin runner is busy; try again.', {}, 1)
  await expect(refused(busy)).rejects.toBe(busy)
  expect(await refused(new Refusal('pluginFailed', 'Plugin getPerilRates failed: no rate.'))).toEqual([
    'Plugin getPerilRates failed: no rate.',
  ])
})
