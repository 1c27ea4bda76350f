// What a strict product rejects when a policy is priced, through HTTP. Issued policies are not affected.
import { beforeAll, describe, expect, test } from 'vitest'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import { deploy } from '../product/deploying.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, type DeployedTenant, deployExample } from '../support/examples.ts'

const VALUES = '{% assign values = data.exposure_characteristics.field_values %}\n'

/** Scripts whose mistakes only show with a policy. */
const PREMIUMS = {
  sinking: `${VALUES}{% assign rate = "rates" | lookup: values.code %}\n{{ rate | times: 100 | set_year_premium }}`,
  named: `${VALUES}{% assign part = values.part %}\n{{ values[part] | times: 2 | plus: 1 | set_year_premium }}`,
  sometimes: `${VALUES}{% for exposure in data.policy.exposures %}
  {% if values.code == "A1" %}{{ 10 | set_year_premium }}{% endif %}
{% endfor %}`,
  forgetful: `${VALUES}{% for exposure in data.policy.exposures %}
  {% if values.code == "A1" %}{% assign rate = 0.5 %}{% endif %}
{% endfor %}
{% if rate %}{% endif %}
{{ rate | default: 1 | times: 2 | plus: rate | set_year_premium }}`,
}

const RATER = `exports.getPerilRates = data => {
  const pricedPerilCharacteristics = {}
  for (const exposure of data.policy.exposures)
    for (const peril of exposure.perils)
      for (const one of peril.characteristics) {
        const [code] = exposure.characteristics[0].fieldValues.code
        pricedPerilCharacteristics[one.locator] = { yearlyPremium: Number(socotraApi.tableLookup(0, 'rates', code)) * 100 }
      }
  return { pricedPerilCharacteristics }
}
`

function product(name: string, strict: boolean, plugins?: object): ArchiveFiles {
  const folder = `products/${name}/policy`
  const hull = `${folder}/exposures/hull`
  const files: ArchiveFiles = {
    [`${folder}/policy.json`]: JSON.stringify({ strict, ...(plugins && { plugins }) }),
    [`${folder}/cancellations.json`]: JSON.stringify({
      cancellationTypes: [{ name: 'wish', title: 'Wish', reinstatement: { defaultDeadlineDays: 30 } }],
    }),
    [`${folder}/underwriting.guidelines.liquid`]: '{{ "accept" | set_underwriting_decision }}',
    [`${folder}/tables/rates.csv`]: 'key,value\nA1,1.5\nB2,2.5\n',
    [`${hull}/exposure.json`]: JSON.stringify({
      fields: [
        { name: 'code', type: 'string' },
        { name: 'part', type: 'string', optional: true, informational: plugins !== undefined },
        { name: 'length', type: 'number', optional: true, informational: true },
      ],
    }),
  }
  for (const [peril, premium] of Object.entries(plugins ? { sinking: '' } : PREMIUMS)) {
    files[`${hull}/perils/${peril}.json`] = JSON.stringify({ fields: [] })
    if (premium !== '') files[`${hull}/perils/${peril}.premium.liquid`] = premium
  }
  return files
}

const ARCHIVE: ArchiveFiles = {
  'config.json': JSON.stringify({ timezone: 'Europe/Berlin', currency: 'EUR' }),
  'policyholder/policyholder.dictionary.json': '[{ "name": "last_name", "type": "string" }]',
  'security/test_users.json': JSON.stringify([{ username: 'ann', password: 'password', roles: ['agent'] }]),
  'security/roles.json': JSON.stringify({ agent: 'Agent' }),
  'scripts/main/rater.js': RATER,
  ...product('boat', true),
  ...product('dinghy', false),
  ...product('ship', true, { getPerilRates: { path: 'main/rater.js' } }),
}

const PERILS = 'products/boat/policy/exposures/hull/perils'

let tenant: DeployedTenant
let holder: string
beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  tenant = await deployExample(ARCHIVE, 'strict')
  const made = await call<{ locator: string }>('POST', '/policyholder/create', {
    completed: true,
    values: { last_name: 'Berg' },
  })
  holder = made.body.locator
})

const call = <Body>(method: string, path: string, body?: unknown) =>
  callApi<Body>(method, path, { token: tenant.token, body })

type Problem = { code: string; message: string }

const START = Date.UTC(2027, 0, 1, 11)
const END = Date.UTC(2028, 0, 1, 11)

const policyOf = (productName: string, peril: string, fieldValues: object) =>
  call<PolicyResponse & Problem>('POST', '/policy', {
    productName,
    policyholderLocator: holder,
    policyStartTimestamp: START,
    policyEndTimestamp: END,
    exposures: [{ exposureName: 'hull', fieldValues, perils: [{ name: peril }] }],
  })

const premiumOf = ({ exposures }: PolicyResponse): number | undefined =>
  exposures[0]?.perils[0]?.characteristics[0]?.premium

describe('A strict product', () => {
  test('rejects pricing with 422 when a table has no row, and names file, line, table and key', async () => {
    const { status, body } = await policyOf('boat', 'sinking', { code: 'C3' })
    expect([status, body.code]).toEqual([422, 'templateFailed'])
    expect(body.message).toBe(
      `${PERILS}/sinking.premium.liquid:2: The table 'rates' has no key 'C3'. Add a row for it.`,
    )
    expect(premiumOf((await policyOf('boat', 'sinking', { code: 'B2' })).body)).toBe(250)
  })

  test('rejects pricing with 422 when a script reads an unknown field by a name from the policy', async () => {
    const { status, body } = await policyOf('boat', 'named', { code: 'A1', part: 'lenght' })
    expect([status, body.code]).toEqual([422, 'templateFailed'])
    expect(body.message).toBe(
      `${PERILS}/named.premium.liquid:3: There is no field 'lenght' ('values.lenght'), and the product is strict. Correct the name. Did you mean 'length'?`,
    )
    expect(premiumOf((await policyOf('dinghy', 'named', { code: 'A1', part: 'lenght' })).body)).toBe(1)
  })

  test('treats a declared field without a value as nothing', async () => {
    const { status, body } = await policyOf('boat', 'named', { code: 'A1', part: 'length' })
    expect([status, premiumOf(body)]).toEqual([200, 1])
    const given = await policyOf('boat', 'named', { code: 'A1', part: 'length', length: 12 })
    expect(premiumOf(given.body)).toBe(25)
  })

  test('rejects pricing with 422 when nothing sets a premium, and names file, peril and exposure', async () => {
    const { status, body } = await policyOf('boat', 'sometimes', { code: 'B2' })
    expect([status, body.code]).toEqual([422, 'templateFailed'])
    expect(body.message).toBe(
      `${PERILS}/sometimes.premium.liquid: nothing sets a premium for the peril 'sometimes' of 'hull', and the product is strict. Set one on every path, even 0.`,
    )
    expect(premiumOf((await policyOf('boat', 'sometimes', { code: 'A1' })).body)).toBe(10)
    expect(premiumOf((await policyOf('dinghy', 'sometimes', { code: 'B2' })).body)).toBe(0)
  })

  test('rejects pricing with 422 when no branch has set a variable, but not for a test whether it is set', async () => {
    const { status, body } = await policyOf('boat', 'forgetful', { code: 'B2' })
    expect([status, body.code]).toEqual([422, 'templateFailed'])
    expect(body.message).toBe(
      `${PERILS}/forgetful.premium.liquid:6: Nothing sets 'rate' before this point, and the product is strict. Correct the name, or set it on every path.`,
    )
    expect(premiumOf((await policyOf('boat', 'forgetful', { code: 'A1' })).body)).toBe(1.5)
    expect(premiumOf((await policyOf('dinghy', 'forgetful', { code: 'B2' })).body)).toBe(2)
  })

  test('rejects pricing with 422 when a plugin looks up a missing row, and names file, line, table and key', async () => {
    const { status, body } = await policyOf('ship', 'sinking', { code: 'C3' })
    expect([status, body.code]).toEqual([422, 'pluginFailed'])
    expect(body.message).toContain('main/rater.js:7')
    expect(body.message).toContain(
      "the table 'rates' has no row 'C3', and the product is strict; add the row",
    )
    expect(premiumOf((await policyOf('ship', 'sinking', { code: 'A1' })).body)).toBe(150)
  })
})

test('POST /calculation/checkPerilPremium applies the rules of a strict product', async () => {
  const tried = (calculation: string) =>
    call<Problem>('POST', '/calculation/checkPerilPremium', {
      calculation,
      productName: 'boat',
      exposureName: 'hull',
      perilName: 'sinking',
      policyCharacteristics: { policyStartTimestamp: START, policyEndTimestamp: END },
      exposureCharacteristics: { fieldValues: { code: 'A1', length: 3 } },
      perilCharacteristics: {},
    })
  expect(
    (await tried('{{ data.exposure_characteristics.field_values.length | set_year_premium }}')).status,
  ).toBe(200)
  const wrong = await tried(
    '\n{{ data.exposure_characteristics.field_value.length | plus: 1 | set_year_premium }}',
  )
  expect([wrong.status, wrong.body.message]).toEqual([
    422,
    expect.stringMatching(
      /:2: There is no 'data\.exposure_characteristics\.field_value', and the product is strict\. Correct the path\. Did you mean 'field_values'\?$/,
    ),
  ])
  expect((await tried('{{ 1 | times: 2 }}')).status).toBe(422)
})

test('an issued policy can be read, cancelled and reinstated after its table lost the row', async () => {
  const { body: policy } = await policyOf('boat', 'sinking', { code: 'B2' })
  const issued = await call<PolicyResponse>('POST', `/policy/${policy.locator}/issue`)
  expect([issued.status, premiumOf(issued.body)]).toEqual([200, 250])

  const rates = 'products/boat/policy/tables/rates.csv'
  const fields = { tenantName: tenant.tenantName, version: '1' }
  const files = { ...ARCHIVE, [rates]: 'key,value\nA1,1.5\n' }
  const repaired = await deploy('/configuration/studio/repair', fields, files)
  expect(repaired.body.success, repaired.body.logfile).toBe(true)
  expect((await policyOf('boat', 'sinking', { code: 'B2' })).status).toBe(422)

  const read = await call<PolicyResponse>('GET', `/policy/${policy.locator}`)
  expect([read.status, premiumOf(read.body)]).toEqual([200, 250])
  expect((await call('POST', `/policy/${policy.locator}/price`)).status).toBe(200)
  const cancelled = await call<CancellationResponse & Problem>(
    'POST',
    `/policies/${policy.locator}/cancellations`,
    { name: 'wish', effectiveTimestamp: Date.UTC(2027, 6, 1, 11), issue: true },
  )
  expect([cancelled.status, cancelled.body.message]).toEqual([200, undefined])
  expect(cancelled.body.price!.grossPremiumChange).toBeLessThan(0)
  const back = await call<Problem>('PATCH', `/cancellations/${cancelled.body.locator}/reinstate`, {
    issue: true,
  })
  expect([back.status, back.body.message]).toEqual([200, undefined])
  expect((await call<PolicyResponse>('GET', `/policy/${policy.locator}`)).status).toBe(200)
})

test('deploying a strict product with mistakes fails and logs them as errors, and otherwise as warnings', async () => {
  const rates = 'products/boat/policy/tables/rates.csv'
  const slip = { ...ARCHIVE, [rates]: 'key,value\nA1,1.5\nB2,2.O\n' }
  const refused = await deploy('/configuration/deployTest', { tenantNameSuffix: 'slip' }, slip)
  expect(refused.body.success).toBe(false)
  expect(refused.body.logfile).toContain(
    `ERROR ${rates}:3 badNumber '2.O' is not a number, and ${PERILS}/sinking.premium.liquid:3 adds it up: it counts as 0. It has a letter that looks like a digit: write '2.0'.`,
  )
  const policy = 'products/boat/policy/policy.json'
  const lenient = { ...slip, [policy]: '{}' }
  const deployed = await deploy('/configuration/deployTest', { tenantNameSuffix: 'slip' }, lenient)
  expect(deployed.body.success).toBe(true)
  expect(deployed.body.logfile).toContain(`WARNING ${rates}:3 badNumber '2.O' is not a number`)
})
