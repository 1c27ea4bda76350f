import { describe, expect, test } from 'vitest'
import { failure, rendering } from './rendering.ts'

/** Returns the effects, with amounts as plain text. */
const effects = (source: string, data?: unknown) => {
  const { output, effects } = rendering(source, data)
  expect(output.trim()).toBe('')
  return JSON.parse(JSON.stringify(effects))
}

describe('filters with effects', () => {
  test('record premiums by kind, the last of each kind, and which kind was set last', () => {
    expect(effects('{{ 100 | set_year_premium }}{{ "120.55" | set_year_premium }}').premium).toEqual({
      yearly: '120.55',
      last: 'yearly',
    })
    expect(effects('{{ 100 | set_year_premium }}{{ 11.655 | set_month_premium }}').premium).toEqual({
      yearly: '100',
      monthly: '11.655',
      last: 'monthly',
    })
  })

  test('record an addition next to a rate, but as part of an exact premium, in either order', () => {
    expect(effects('{{ 3 | add_premium }}{{ 4 | add_premium }}').premium).toEqual({ exact: '7' })
    const [year, month, peril, add] = [
      '{{ 100 | set_year_premium }}',
      '{{ 9.5 | set_month_premium }}',
      '{{ 40.5 | set_peril_premium }}',
      '{{ 2.25 | add_premium }}',
    ] as const
    for (const source of [year + add, add + year])
      expect(effects(source).premium).toEqual({ yearly: '100', added: '2.25', last: 'yearly' })
    expect(effects(month + add + add).premium).toEqual({ monthly: '9.5', added: '4.5', last: 'monthly' })
    for (const source of [peril + add, add + peril])
      expect(effects(source).premium).toEqual({ exact: '42.75', last: 'exact' })
    expect(effects(year + add + peril).premium).toEqual({ yearly: '100', exact: '42.75', last: 'exact' })
    expect(effects(`${year}{{ 0 | set_peril_premium }}${add}`).premium).toMatchObject({ exact: '2.25' })
  })

  test('record technical premiums apart from premiums', () => {
    const source =
      '{{ 1 | set_year_technical_premium }}{{ 2 | set_month_technical_premium }}{{ 3 | set_peril_technical_premium }}'
    expect(effects(source)).toMatchObject({
      premium: {},
      technicalPremium: { yearly: '1', monthly: '2', exact: '3', last: 'exact' },
    })
  })

  test('record one commission line for each call', () => {
    const source =
      '{{ 10 | add_year_commission: "Agent1" }}{{ 2.5 | add_month_commission: "Agent1" }}{{ 7 | add_commission: "Broker" }}'
    expect(effects(source).commissions).toEqual([
      { recipient: 'Agent1', yearly: '10' },
      { recipient: 'Agent1', monthly: '2.5' },
      { recipient: 'Broker', exact: '7' },
    ])
  })

  test('set a tax and add to it', () => {
    expect(effects('{{ 5 | set_peril_tax }}{{ 6 | set_peril_tax: "State tax" }}').tax).toEqual({
      amount: '6',
      description: 'State tax',
    })
    expect(effects('{{ 1.10 | add_tax: "A" }}{{ 2 | add_tax }}').tax).toEqual({
      amount: '3.1',
      description: 'A',
    })
  })

  test('record fees in their order', () => {
    expect(
      effects('{{ 25 | add_fee: "policy_fee" }}{{ 1.5 | add_fee: "stamp", "Stamp duty" }}').fees,
    ).toEqual([
      { name: 'policy_fee', amount: '25' },
      { name: 'stamp', amount: '1.5', description: 'Stamp duty' },
    ])
  })

  test('record the last decision and all notes', () => {
    const source =
      '{{ "reject" | set_underwriting_decision }}{{ "Too old" | add_underwriting_note }}{{ " Accept " | set_underwriting_decision }}{{ 5 | append: " claims" | add_underwriting_note }}'
    expect(effects(source)).toMatchObject({ decision: 'accept', notes: ['Too old', '5 claims'] })
    expect(effects('')).toEqual({ premium: {}, technicalPremium: {}, commissions: [], fees: [], notes: [] })
  })

  test('replace the rendered document by a static one, and suppress it with nil', () => {
    expect(effects('{{ "terms.pdf" | render_static_document }}').staticDocument).toBe('terms.pdf')
    expect(effects('{{ nil | render_static_document }}').staticDocument).toBeNull()
    expect(effects('').staticDocument).toBeUndefined()
  })

  test.each([
    ['{{ nothing | set_year_premium }}', 'nothing'],
    ['{{ "abc" | add_fee: "f" }}', "'abc'"],
    ['{{ 1 | add_year_commission }}', 'recipient'],
    ['{{ 1 | add_fee: " " }}', 'fee name'],
    ['{{ "maybe" | set_underwriting_decision }}', 'maybe'],
  ])('fail instead of recording invalid input: %s', (source, message) => {
    const error = failure(source)
    expect(error.code).toBe('templateFailed')
    expect(error.message).toContain(message)
  })
})
