// Scripts that run once for a policy see the endorsement or renewal that they run for (brief 5.3): a renewal has other fees than
// new business, and guidelines evaluate the changes of an endorsement.
import { beforeAll, expect, it } from 'vitest'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { RenewalResponse } from '../../src/transactions/renewals/contract.ts'
import { type Boats, boatTenant } from '../support/boat.ts'
import { month } from '../support/boat-product.ts'
import { prepareDatabases } from '../support/databases.ts'

let of: Boats

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  of = await boatTenant('scriptsee', 'EUR', {
    files: {
      'products/boat/policy/policy.calculations.liquid': `
{% unless data.renewal %}{{ 30 | add_fee: "mooring" }}
{% else %}
  {% assign until = data.renewal.renewal_end_timestamp | timestamp_millis_print: "YYYY" %}
  {{ 12 | add_fee: "reminder", until }}
{% endunless %}`,
      'products/boat/policy/underwriting.guidelines.liquid': `
{{ "accept" | set_underwriting_decision }}
{% for changed in data.endorsement.policy_updates.updated_exposures.hull[0].updated_field_values %}
  {{ changed[1].title | append: ": " | append: changed[1].old_value | append: " to " | append: changed[1].new_value | add_underwriting_note }}
{% endfor %}
{% if data.endorsement.name == "change" and data.endorsement.start_timestamp > data.policy.original_contract_start_timestamp %}
  {{ "During the term." | add_underwriting_note }}
{% endif %}
{% if data.renewal.state %}{{ "Renewed." | add_underwriting_note }}{% endif %}`,
    },
  })
})

it('the transaction determines a renewal’s fees and an endorsement’s underwriting notes', async () => {
  const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'upfront' })
  expect(policy.fees.map(one => [one.name, one.amount])).toEqual([['mooring', 30]])
  const { notes } = policy.modifications[0]!.automatedUnderwritingResult!
  expect(notes).toEqual([])

  const exposureLocator = policy.exposures[0]!.locator
  const endorsed = await of.ok<EndorsementResponse>('POST', `/policies/${policy.locator}/endorsements`, {
    endorsementName: 'change',
    startTimestamp: month(6),
    updateExposures: [{ exposureLocator, fieldValues: { yearly: '1800' } }],
    state: 'issued',
  })
  expect(endorsed.automatedUnderwritingResult!.notes).toEqual([
    'A year costs: 1200 to 1800',
    'During the term.',
  ])

  const renewed = await of.ok<RenewalResponse>('POST', `/policies/${policy.locator}/renewals`, {
    renewalEndTimestamp: month(24),
    state: 'issued',
  })
  expect(renewed.automatedUnderwritingResult!.notes).toEqual(['Renewed.'])
  const { fees } = await of.read(policy as PolicyResponse)
  expect(fees.map(one => [one.name, one.description, one.amount])).toEqual([
    ['mooring', 'Mooring', 30],
    ['reminder', '2032', 12],
  ])
  const { grossFees } = await of.ok<PolicyPriceResponse>('POST', `/policy/${policy.locator}/price`)
  expect(grossFees).toBe(42)
})
