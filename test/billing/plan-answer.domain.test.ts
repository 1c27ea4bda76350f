// Answers that a plugin may return for createInstallments, and the messages for all others.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PlanRequest, planFromAnswer } from '../../src/billing/plugin-plan.ts'
import { InstallmentsResult } from '../../src/extension/plugins/contract.ts'
import { readAnswer } from '../../src/extension/plugins/translation.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/locators.ts'
import { type CurrencyCode, minorDigits } from '../../src/kernel/money.ts'
import { add, endOfDay, type Instant, type Span, type TimeZone } from '../../src/kernel/time.ts'
import { installmentItems } from '../../src/policy/bills/items.ts'
import type { Installment } from '../../src/policy/records/invoice.ts'
import { chargeOf, EUR } from './charges.ts'
import { local } from './spans.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const at = (text: string): Instant => local(text, BERLIN)
const YEAR: Span = { start: at('2030-01-01'), end: at('2031-01-01') }
const NOW = at('2029-12-15')

const premium = chargeOf('premium', 10_000, YEAR, { id: 'p' })
const tax = chargeOf('tax', 1_900, YEAR, { id: 't' })
const commission = chargeOf('commission', 500, YEAR, { id: 'c' })

const PATH = 'main/installments.js'

const ASKED: PlanRequest = {
  operation: 'newBusiness',
  charges: [premium, tax, commission],
  overbilled: new Set(),
  product: {
    fees: [{ name: 'installment_fee', displayName: 'By installments', proration: 'flat' }],
    plugins: { createInstallments: { path: PATH, enabled: true } },
  },
  contract: YEAR,
  currency: EUR,
  timeZone: BERLIN,
  now: NOW,
  uuid: () => newUuid(0),
}

type Answer = Record<string, unknown>

/** An installment for a month of the year, by default with the whole of every charge. */
const installment = (month: number, more: Answer = {}): Answer => {
  const start = add(YEAR.start, month, 'month', BERLIN)
  return {
    startTimestamp: start,
    endTimestamp: add(start, 1, 'month', BERLIN),
    issueTimestamp: add(start, -10, 'day', BERLIN),
    dueTimestamp: start,
    invoiceItems: [
      { chargeId: 'p', amount: '100.00' },
      { chargeId: 't', amount: 19 },
      { chargeId: 'c', amount: 5 },
    ],
    ...more,
  }
}

const answered = (installments: Answer[], asked: Partial<PlanRequest> = {}): Installment[] =>
  planFromAnswer(readAnswer('createInstallments', InstallmentsResult, { installments }, PATH), {
    ...ASKED,
    ...asked,
  })

const refusal = (installments: Answer[], asked: Partial<PlanRequest> = {}): string => {
  try {
    answered(installments, asked)
  } catch (problem) {
    if (problem instanceof Refusal && problem.code === 'pluginFailed') return problem.message
    throw problem
  }
  throw new Error('It was not refused.')
}

const saying = (told: string): string =>
  `Plugin createInstallments (main/installments.js) returned an invalid answer: ${told}.`

describe('A valid answer of createInstallments', () => {
  it('can leave out an overcharge, which the first invoiced installment then gives back', () => {
    const over = chargeOf('premium', -9, YEAR, { id: 'o' })
    const asked = { charges: [premium, tax, commission, over], overbilled: new Set(['o']) }
    const only = (...invoiceItems: Answer[]) => ({ invoiceItems })
    const whole = { p: 10_000, t: 1_900, c: 500 }
    const part = (amount: string) => ({ chargeId: 'o', amount })
    const itemsOf = (installments: Answer[]) => answered(installments, asked).map(one => one.items)
    expect(itemsOf([installment(1, only()), installment(0)])).toEqual([{ ...whole, o: -9 }])
    expect(itemsOf([installment(0, { ...only(), writeOff: true }), installment(1)])).toEqual([
      { ...whole, o: -9 },
    ])
    const split = [installment(0), installment(1, only(part('-0.04'))), installment(2, only(part('-0.05')))]
    expect(itemsOf(split)).toEqual([whole, { o: -4 }, { o: -5 }])
    const refused = saying(
      "the items of charge 'o' (premium of collision) total 0.00 EUR, but its amount is -0.09",
    )
    const taken = [installment(0), installment(1, only(part('0.05'))), installment(2, only(part('-0.05')))]
    expect(refusal(taken, asked)).toBe(refused)
    expect(refusal([installment(0)], { ...asked, overbilled: new Set() })).toBe(refused)
  })

  it('can have fractions of a millisecond in times given as numbers, which are rounded down', () => {
    const day = YEAR.start + (YEAR.end - YEAR.start) / 365 + 1 / 3
    const [one] = answered([
      installment(0, { startTimestamp: day, issueTimestamp: day, dueTimestamp: day + 1 / 3 }),
    ])
    const whole = Math.floor(day)
    expect(one).toMatchObject({ start: whole, issueAt: whole, dueAt: whole })
    const told =
      "'installments.0.dueTimestamp' must be a time in milliseconds, as a whole number or its digits"
    expect(refusal([installment(0, { dueTimestamp: '1893452400000.5' })])).toContain(told)
  })

  it('becomes a plan in the order of issueTimestamp, with the given items and fees', () => {
    const parts = (p: number, t: string, c: number) => ({
      invoiceItems: [
        { chargeId: 'p', amount: p },
        { chargeId: 't', amount: t },
        { chargeId: 'c', amount: c },
      ],
    })
    const plan = answered([
      installment(2, { ...parts(60, '19', 0), writeOff: true }),
      installment(1, {
        ...parts(40, '0', 5),
        installmentFees: [
          { feeName: 'installment_fee', amount: '2.00' },
          { feeName: 'installment_fee', amount: 0 },
        ],
      }),
    ])
    expect(plan).toEqual([
      {
        number: 1,
        start: at('2030-02-01'),
        end: at('2030-03-01'),
        issueAt: at('2030-01-22'),
        dueAt: at('2030-02-01'),
        periods: [],
        items: { p: 4_000, c: 500 },
        fees: [
          {
            locator: expect.any(String),
            name: 'installment_fee',
            description: 'By installments',
            amount: { minor: 200, currency: 'EUR' },
          },
        ],
      },
      {
        number: 2,
        start: at('2030-03-01'),
        end: at('2030-04-01'),
        issueAt: at('2030-02-19'),
        dueAt: at('2030-03-01'),
        periods: [],
        items: { p: 6_000, t: 1_900 },
        writeOff: true,
      },
    ])
    const amounts = installmentItems(plan, ASKED.charges).map(items => items.map(one => one.amount.minor))
    expect(amounts).toEqual([
      [4_000, 500],
      [6_000, 1_900],
    ])
  })

  it('issues past installments now, with past due times moved to the end of today', () => {
    const [one] = answered([installment(0)], { now: at('2030-06-15') })
    expect([one!.issueAt, one!.dueAt]).toEqual([at('2030-06-15'), endOfDay(at('2030-06-15'), BERLIN)])
    const [other] = answered([installment(5)], { now: at('2030-05-30') })
    expect([other!.issueAt, other!.dueAt]).toEqual([at('2030-05-30'), at('2030-06-01')])
  })

  it('issues an installment now when its issue time is now, even years before cover begins', () => {
    const now = at('2026-11-30')
    const [one] = answered([installment(0, { issueTimestamp: now, dueTimestamp: now })], { now })
    expect(one).toMatchObject({ issueAt: now, dueAt: endOfDay(now, BERLIN) })
  })

  it('moves a due time at the moment of issue to the end of that day', () => {
    const now = at('2030-06-15')
    const [one] = answered([installment(0, { dueTimestamp: now })], { now })
    expect(one!.dueAt).toBe(endOfDay(now, BERLIN))
  })

  it('can list a charge twice, have tiny float errors, and include empty installments, which are dropped', () => {
    const [one, ...others] = answered([
      installment(0, {
        invoiceItems: [
          { chargeId: 'p', amount: 0.1 },
          { chargeId: 'p', amount: 0.1 + 0.2 },
          { chargeId: 'p', amount: 99.6 },
          { chargeId: 't', amount: '19.00000' },
          { chargeId: 'c', amount: '5' },
        ],
      }),
      installment(1, { invoiceItems: [] }),
      installment(2, { invoiceItems: [{ chargeId: 'p', amount: 0 }] }),
    ])
    expect(one!.items).toEqual({ p: 10_000, t: 1_900, c: 500 })
    expect(others).toEqual([])
  })

  it('can bill more than a charge and give it back elsewhere, if the sum is the whole charge', () => {
    const rest = installment(0).invoiceItems as Answer[]
    const plan = answered([
      installment(0, { invoiceItems: [...rest, { chargeId: 'p', amount: 10 }] }),
      installment(1, { invoiceItems: [{ chargeId: 'p', amount: -10 }] }),
    ])
    expect(plan.map(one => one.items)).toEqual([{ p: 11_000, t: 1_900, c: 500 }, { p: -1_000 }])
  })
})

describe('An invalid answer of createInstallments is rejected', () => {
  const whole = installment(0).invoiceItems as Answer[]
  const wrong: [what: string, told: string, answer: Answer[], asked?: Partial<PlanRequest>][] = [
    [
      'with less than a charge',
      "the items of charge 'p' (premium of collision) total 99.99 EUR, but its amount is 100.00",
      [installment(0, { invoiceItems: [...whole, { chargeId: 'p', amount: -0.01 }] })],
    ],
    [
      'without a charge',
      "the items of charge 't' (tax premium_tax of collision) total 0.00 EUR, but its amount is 19.00; the items of charge 'c' (commission of agency for collision) total 0.00 EUR, but its amount is 5.00",
      [installment(0, { invoiceItems: whole.slice(0, 1) })],
    ],
    [
      'with a charge that there is not',
      "installments.0.invoiceItems.3.chargeId 'x' is not among charges",
      [installment(0, { invoiceItems: [...whole, { chargeId: 'x', amount: 1 }] })],
    ],
    [
      'with parts of a cent',
      'installments.0.invoiceItems.0.amount 33.333 has more than the 2 decimal places of EUR',
      [installment(0, { invoiceItems: [{ chargeId: 'p', amount: 33.333 }, ...whole.slice(1)] })],
    ],
    [
      'with a fee that is not declared',
      "installments.0.installmentFees.0.feeName 'service' is not declared in fees.json",
      [installment(0, { installmentFees: [{ feeName: 'service', amount: 2 }] })],
    ],
    [
      'with a fee of parts of a cent',
      'installments.0.installmentFees.0.amount 2.005 has more than the 2 decimal places of EUR',
      [installment(0, { installmentFees: [{ feeName: 'installment_fee', amount: 2.005 }] })],
    ],
    [
      'with a negative fee',
      "'installments.0.installmentFees.0.amount' must not be negative",
      [installment(0, { installmentFees: [{ feeName: 'installment_fee', amount: -2 }] })],
    ],
    [
      'with an end before its start',
      `installments.0.endTimestamp ${YEAR.start} must be after startTimestamp ${YEAR.start}`,
      [installment(0, { endTimestamp: YEAR.start })],
    ],
    [
      'with what is due before it is issued',
      `installments.0.dueTimestamp ${NOW} must not be before issueTimestamp ${YEAR.start}`,
      [installment(0, { issueTimestamp: YEAR.start, dueTimestamp: NOW })],
    ],
    [
      'with seconds in the place of milliseconds',
      `installments.0.dueTimestamp 1893452400 is more than a year before the contract's start ${YEAR.start}; installments.0.dueTimestamp 1893452400 must not be before issueTimestamp ${add(YEAR.start, -10, 'day', BERLIN)}`,
      [installment(0, { dueTimestamp: YEAR.start / 1_000 })],
    ],
    [
      'with a time in ages to come',
      `installments.0.dueTimestamp ${at('2041-01-02')} is more than ten years after the contract's end ${YEAR.end}`,
      [installment(0, { dueTimestamp: at('2041-01-02') })],
    ],
    [
      'for an endorsement with nothing at first',
      'the first installment of an endorsement has no invoiceItems; it needs at least one',
      [installment(1), installment(0, { invoiceItems: [] })],
      { operation: 'endorsement' },
    ],
    ['without installments', "'installments' must have at least one installment", []],
    [
      'with more installments than a plan has',
      "'installments' must have at most 1200 installments",
      Array.from({ length: 1_201 }, () => installment(0)),
    ],
  ]
  it.each(wrong)('%s', (_what, told, answer, asked) => {
    expect(refusal(answer, asked)).toBe(saying(told))
  })

  it('with its first five problems and the number of others', () => {
    const answer = [
      installment(0, {
        invoiceItems: Array.from({ length: 7 }, (_, at) => ({ chargeId: `x${at}`, amount: 1 })),
      }),
    ]
    expect(refusal(answer)).toMatch(/'x4' is not among charges; and 5 more\.$/)
  })
})

it('in currencies of 0, 2 and 3 digits every charge is billed in full, and any difference is rejected', () => {
  const currencies = ['EUR', 'JPY', 'BHD'] as CurrencyCode[]
  const parts = fc.array(fc.integer({ min: -5_000, max: 90_000 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(
      fc.constantFrom(...currencies),
      fc.array(parts, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: -3, max: 3 }),
      (currency, split, off) => {
        const major = (minor: number) => minor / 10 ** minorDigits(currency)
        const charges = split.flatMap((minors, id) => {
          const whole = minors.reduce((sum, one) => sum + one, 0)
          return whole === 0 ? [] : [chargeOf('premium', whole, YEAR, { id: `${id}`, currency })]
        })
        fc.pre(charges.length > 0)
        const length = Math.max(...split.map(one => one.length))
        const answer = Array.from({ length }, (_, month) =>
          installment(month, {
            invoiceItems: charges
              .map(({ id }) => ({ chargeId: id, amount: major(split[Number(id)]![month] ?? 0) }))
              .map((one, index) =>
                month === 0 && index === 0 ? { ...one, amount: one.amount + major(off) } : one,
              ),
          }),
        )
        if (off !== 0) {
          expect(refusal(answer, { charges, currency })).toContain('but its amount is')
          return
        }
        const plan = answered(answer, { charges, currency })
        const items = installmentItems(plan, charges).flat()
        for (const { id, amount } of charges)
          expect(
            items.filter(one => one.charge.id === id).reduce((sum, one) => sum + one.amount.minor, 0),
          ).toBe(amount.minor)
      },
    ),
    { seed: 20261121, numRuns: 400 },
  )
})
