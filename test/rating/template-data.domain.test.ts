// The data that templates get from responses: names, times and amounts.
import { expect, test } from 'vitest'
import { output, rendering } from '../../packages/liquid/test/rendering.ts'
import { asPluginInput } from '../../src/extension/plugins/translation.ts'
import { templateRecord } from '../../src/rating/template-data.ts'

const RECORD = {
  premium: 879,
  premiumCurrency: 'EUR',
  monthPremium: 73,
  number: 7,
  issuedTimestamp: '1790838000000',
  fees: [{ feeName: 'policy', amount: 25, amountCurrency: 'EUR' }],
}

test('amounts and rates are decimals even when whole, so that dividing them does not round down', () => {
  const data = templateRecord(RECORD)
  const parts =
    '{{ data.premium | divided_by: 12 }} {{ data.month_premium | divided_by: 2 }} {{ data.fees[0].amount | divided_by: 2 }}'
  expect(output(parts, data)).toBe('73.25 36.5 12.5')
  expect(
    output('{{ data.number | divided_by: 2 }} {{ data.issued_timestamp | divided_by: 1000 }}', data),
  ).toBe('3 1790838000')
})

test('a technical premium next to a premium is an amount too', () => {
  const data = templateRecord({ ...RECORD, technicalPremium: 879 })
  expect(output('{{ data.technical_premium | divided_by: 12 }}', data)).toBe('73.25')
  expect(asPluginInput({ ...RECORD, technicalPremium: 879.5 })).toMatchObject({
    premium: '879.00',
    technicalPremium: '879.50',
    monthPremium: '73',
    number: '7',
  })
  const yen = { premium: 500, premiumCurrency: 'JPY', technicalPremium: 480 }
  expect(asPluginInput(yen)).toMatchObject({ premium: '500', technicalPremium: '480' })
})

test('a whole amount can still be printed, compared and added', () => {
  const data = templateRecord(RECORD)
  expect(
    output('{{ data.premium }} {{ data.premium | plus: 1 }} {{ data.fees | sum: "amount" }}', data),
  ).toBe('879 880 25')
  expect(output('{% if data.premium == 879 and data.premium > "878" %}yes{% endif %}', data)).toBe('yes')
  expect(output('{{ data.premium | format_number_currency: "en", "US" }}', data)).toBe('€879.00')
})

test('variables of a template contain amounts as numbers, also within records', () => {
  const data = templateRecord(RECORD)
  const variables = rendering('{% assign all = data %}{% assign one = data.premium %}', data).variables()
  expect(variables).toMatchObject({
    one: 879,
    all: { premium: 879, month_premium: 73, number: 7, fees: [{ amount: 25 }] },
  })
  expect(JSON.parse(output('{{ data.fees[0] }}', data))).toMatchObject({ amount: 25 })
})
