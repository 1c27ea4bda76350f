// A tenant whose dictionary has a field of every kind that these tests need, and a product whose templates print values of the
// policyholder wherever they can.
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import {
  type ArchiveFiles,
  type DeployedTenant,
  deployExample,
  motorWithoutPapers,
} from '../support/examples.ts'

const DICTIONARY = [
  { name: 'first_name', type: 'string', searchable: true },
  { name: 'last_name', type: 'string', searchable: true, maximumCount: 50 },
  { name: 'alias', type: 'string', searchable: true, repeatable: true },
  { name: 'date_of_birth', type: 'date', searchable: true },
  { name: 'gender', type: 'select', values: ['female', 'male', 'other'] },
  { name: 'email', type: 'email' },
  { name: 'children', type: 'number', decimalPlaces: 0 },
  { name: 'contact', type: 'string', repeatable: true },
  { name: 'notes', type: 'string', repeatable: true },
]

const USERS = [
  { username: 'alice.agent', password: 'password', roles: [] },
  { username: 'rita.reader', password: 'password', roles: [] },
  { username: 'anna.admin', password: 'password', roles: ['admin'] },
]

const POLICY = 'products/private_motor/policy'

const PRINTING: Record<string, string> = {
  [`${POLICY}/underwriting.guidelines.liquid`]: `{{ "accept" | set_underwriting_decision }}
    {% assign holder = data.policyholder.entity.values %}
    {% assign capitals = holder.last_name | upcase %}
    {{ "Asked by " | append: holder.last_name | append: ", that is " | append: capitals | add_underwriting_note }}`,
  [`${POLICY}/policy.calculations.liquid`]:
    '{{ 12.50 | add_fee: "policy_fee", data.policyholder.entity.values.last_name }}',
  [`${POLICY}/taxes/insurance_tax.premium.liquid`]: `{% assign payer = "Paid by " | append: data.policyholder.entity.values.last_name %}
    {{ data.peril_characteristics.premium | times: 0.19 | round: 2 | set_peril_tax: payer }}`,
}

const files = (): ArchiveFiles => ({
  ...motorWithoutPapers(),
  ...PRINTING,
  'policyholder/policyholder.dictionary.json': JSON.stringify(DICTIONARY),
  'security/test_users.json': JSON.stringify(USERS),
})

export type Refused = {
  code: string
  message: string
  fieldErrors?: { ontologyUri: string; code: number; validatorUri: string }[]
}

export type Holders = DeployedTenant & {
  create(body: unknown, headers?: Record<string, string>): Promise<Answer<PolicyholderResponse & Refused>>
  update(body: unknown, headers?: Record<string, string>): Promise<Answer<PolicyholderResponse & Refused>>
  overwrite(
    locator: string,
    overwrites: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<{ policyholderLocator: string } & Refused>>
  get(locator: string): Promise<Answer<PolicyholderResponse & Refused>>
  list(query?: string): Promise<Answer<Page & Refused>>
  /** Creates a completed policyholder. */
  made(values: object): Promise<PolicyholderResponse>
}

export type Page = { policyholders: PolicyholderResponse[]; pagingToken?: string }

/** Deploys the tenant and returns the calls that the tests use. */
export async function holdersTenant(suffix: string): Promise<Holders> {
  const tenant = await deployExample(files(), suffix)
  const { token } = tenant
  return {
    ...tenant,
    create: (body, headers = {}) => callApi('POST', '/policyholder/create', { token, body, headers }),
    update: (body, headers = {}) => callApi('POST', '/policyholder/update', { token, body, headers }),
    overwrite: (locator, overwrites, headers = {}) =>
      callApi('PATCH', `/policyholder/${locator}/overwriteData`, { token, body: { overwrites }, headers }),
    get: locator => callApi('GET', `/policyholder/${locator}`, { token }),
    list: (query = '') => callApi('GET', `/policyholders?${query}`, { token }),
    made: values => callOk('POST', '/policyholder/create', { token, body: { completed: true, values } }),
  }
}
