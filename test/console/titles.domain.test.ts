// The messages that forms show at their fields and above their buttons.
import { describe, expect, test, vi } from 'vitest'
import { amountFault } from '../../console/desk/peril-form.ts'
import { labelledFault, titledFault, titledMessage } from '../../console/desk/titles.ts'
import type { Field } from '../../console/wire.ts'

// The console reads the session of its tab.
vi.hoisted(() => {
  Object.assign(globalThis, { sessionStorage: { getItem: () => null, removeItem: () => {} } })
})

describe('Messages of the service', () => {
  const titled = (name: string, title: string, more: Partial<Field> = {}) =>
    ({ name, title, ...more }) as Field
  const product = {
    fields: [
      titled('usage', 'Use of the policy'),
      titled('drivers', 'Named drivers', { type: 'group', fields: [titled('full_name', 'Name')] }),
    ],
    policyholderFields: [titled('postcode', 'Postcode')],
    paymentFields: [titled('method', 'Way of payment')],
    exposures: [
      {
        name: 'vehicle',
        displayName: 'Vehicle',
        fields: [titled('vehicle_value', 'Value'), titled('usage', 'Use')],
        perils: [{ name: 'glass', displayName: 'Glass', fields: [titled('zone', 'Zone')] }],
      },
    ],
  } as unknown as Parameters<typeof titledMessage>[1]

  test.each([
    ["Field 'postcode' is required; send a value.", '“Postcode” is required; send a value.'],
    ["drivers[0]: Field 'full_name' is required.", 'Named drivers 1: “Name” is required.'],
    ["Exposure 'vehicle' 1 of the list: Field 'vehicle_value' is wrong.", 'Vehicle 2: “Value” is wrong.'],
    ["Exposure 'vehicle': peril 'glass': Field 'zone' is wrong.", 'Vehicle: Glass: “Zone” is wrong.'],
    ["Field 'deductible' must be a number.", '“Deductible” must be a number.'],
    // Two fields have this name, with different titles.
    ["Field 'usage' is required.", "Field 'usage' is required."],
    [
      "Field 'colour' is not known. drivers[0] and boats[1]: stay.",
      "Field 'colour' is not known. drivers[0] and boats[1]: stay.",
    ],
  ])('name fields, groups, exposures and perils as the form does: %s', (message, shown) => {
    expect(titledMessage(message, product)).toBe(shown)
  })

  test('at a field have its own title, and nothing else changes', () => {
    const usage = { name: 'usage', title: 'Use' }
    expect(titledFault(usage, "Field 'usage' is required.")).toBe('“Use” is required.')
    expect(titledFault(usage, 'Enter a value.')).toBe('Enter a value.')
    expect(titledFault({ name: 'cost', title: 'Cost in $&' }, "Field 'cost' is required.")).toBe(
      '“Cost in $&” is required.',
    )
  })
})

test('A message about a property of a request has the label of its input', () => {
  expect(labelledFault('Write a note', "'text' must have at most 4000 characters.")).toBe(
    '“Write a note” must have at most 4000 characters.',
  )
  expect(labelledFault('Amount', "'newFees[0].amount' must be a number.")).toBe('“Amount” must be a number.')
  expect(labelledFault('Amount', "The amount 'x' must be paid.")).toBe("The amount 'x' must be paid.")
})

test.each([
  ['deductible', '', undefined],
  ['deductible', ' 500.00 ', undefined],
  ['deductible', '500,00', 'Enter an amount, such as 500.00.'],
  ['deductible', '-1', 'Enter an amount, such as 500.00.'],
  ['deductible', 'unlimited', 'Enter an amount, such as 500.00.'],
  ['indemnityPerEvent', 'unlimited', undefined],
  ['indemnityPerEvent', '1e6', 'Enter an amount, such as 500.00, or “unlimited”.'],
] as const)('The amount %s “%s” of a peril is checked as it is typed', (name, text, fault) => {
  expect(amountFault(name, text)).toBe(fault)
})
