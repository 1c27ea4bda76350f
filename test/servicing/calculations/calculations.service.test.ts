// Trying premium formulas through HTTP: deployed formulas give the same as in a policy, and errors show their line.
import { beforeAll, describe, expect, it } from 'vitest'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import type { CalculationResponse } from '../../../src/servicing/calculations/contract.ts'
import { callApi } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'
import {
  type ArchiveFiles,
  type DeployedTenant,
  deployExample,
  exampleFiles,
  motorWithoutPapers,
} from '../../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips, workedOf } from '../../support/motor.ts'
import type { WorkedPolicy } from '../../support/worked.ts'

let motor: Motor
let home: DeployedTenant

const USERS = 'security/test_users.json'

const withClaimsUser = (files: ArchiveFiles): ArchiveFiles => {
  const text = files[USERS] as string
  const users = JSON.parse(text) as object[]
  const claims = { username: 'cora.claims', name: 'Cora', password: 'password', roles: ['claims'] }
  const reader = { username: 'rita.reader', name: 'Rita', password: 'password', roles: ['read_only'] }
  return { ...files, [USERS]: JSON.stringify([...users, claims, reader]) }
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('calculations', withClaimsUser(motorWithoutPapers()))
  home = await deployExample('home', 'calculations-home')
})

const formulaOf = (example: string, product: string, exposure: string, peril: string): string => {
  const path = `products/${product}/policy/exposures/${exposure}/perils/${peril}.premium.liquid`
  return new TextDecoder().decode(exampleFiles(example)[path])
}

type Groups = { fieldName: string; fieldValues: Record<string, unknown> }[] | undefined

/** Values and groups of a policy request as characteristics, with each group under a locator. */
function characteristics(fieldValues: Record<string, unknown> = {}, groups: Groups = []) {
  const values: Record<string, unknown> = { ...fieldValues }
  const byLocator: Record<string, unknown> = {}
  for (const [at, group] of groups.entries()) {
    values[group.fieldName] = [...((values[group.fieldName] as string[]) ?? []), `group-${at}`]
    byLocator[`group-${at}`] = group.fieldValues
  }
  return { fieldValues: values, fieldGroupsByLocator: byLocator }
}

const check = (token: string, body: object) =>
  callApi<CalculationResponse & { message: string; code: string }>('POST', '/calculation/checkPerilPremium', {
    token,
    body,
  })

const checkExisting = (body: object, token = motor.token) =>
  callApi<CalculationResponse & { message: string; code: string }>(
    'POST',
    '/calculation/checkExistingPerilPremium',
    { token, body },
  )

type WorkedExposure = WorkedPolicy['request']['policy']['exposures'][number]

const requestFor = (
  { request: { policy } }: WorkedPolicy,
  exposure: WorkedExposure,
  perilName: string,
  calculation: string,
) => {
  const peril = exposure.perils.find(one => one.name === perilName) ?? { name: perilName }
  const { name: _, fieldValues, ...amounts } = peril
  return {
    calculation,
    productName: policy.productName,
    policyCharacteristics: {
      policyStartTimestamp: policy.policyStartTimestamp,
      policyEndTimestamp: policy.policyEndTimestamp,
      ...characteristics(policy.fieldValues, policy.fieldGroups),
    },
    exposureName: exposure.exposureName,
    exposureCharacteristics: characteristics(exposure.fieldValues, exposure.fieldGroups),
    perilName,
    perilCharacteristics: { ...characteristics(fieldValues), ...amounts },
  }
}

const OWN_DAMAGE = formulaOf('motor', 'private_motor', 'vehicle', 'own_damage')

const vehicle = (): WorkedExposure => plainYear().request.policy.exposures[0]!

const ofPlainYear = (calculation: string) => requestFor(plainYear(), vehicle(), 'own_damage', calculation)

describe('a premium formula with values of the request', () => {
  const worked = ['motor', 'home'].flatMap(example =>
    workedOf(example).map(one => [`${example}: ${one.name}`, example, one] as const),
  )
  it.each(worked)('gives the worked premiums to the cent: %s', async (_name, example, one) => {
    const { policy } = one.request
    const token = example === 'motor' ? motor.token : home.token
    let taxes = 0
    for (const { exposure: at, peril, premium, technicalPremium } of one.expected.perils) {
      const exposure = policy.exposures[at]!
      const formula = formulaOf(example, policy.productName, exposure.exposureName, peril)
      const { status, body } = await check(token, requestFor(one, exposure, peril, formula))
      expect([peril, status, body.message]).toEqual([peril, 200, undefined])
      expect([peril, body.premium.toFixed(2)]).toEqual([peril, premium])
      if (technicalPremium !== undefined) expect(body.technicalPremium?.toFixed(2)).toBe(technicalPremium)
      for (const tax of body.taxGroups) taxes += Math.round(tax.amount * 100)
      expect(body.warnings).toEqual([])
    }
    expect((taxes / 100).toFixed(2)).toBe(one.expected.grossTaxes)
  })

  it('returns premiums, commissions, taxes and the assigned variables', async () => {
    const { body } = await check(
      motor.token,
      ofPlainYear(`{% assign value = data.exposure_characteristics.field_values.vehicle_value %}
{% assign rate = 0.02 %}
{% assign premium = value | times: rate %}
{% assign parts = "a,b" | split: "," %}
{% assign driver_locators = data.policy_characteristics.field_values.named_drivers %}
{% assign driver = data.policy_characteristics.field_groups_by_locator[driver_locators[0]] %}
{% assign none = data.nothing %}
{% assign deductible = data.peril_characteristics.deductible %}
{% capture said %}{{ driver.full_name }} pays {{ premium }}{% endcapture %}
{{ premium | set_year_premium }}
{{ 240 | set_year_technical_premium }}
{{ 12 | add_year_commission: "B-1" }}
{{ 6 | add_year_commission: "B-1" }}
{{ 1 | add_commission: "house" }}`),
    )
    expect(body).toEqual({
      premium: 490,
      premiumCurrency: 'EUR',
      monthPremium: 40.8333333,
      technicalPremium: 240,
      technicalPremiumCurrency: 'EUR',
      monthTechnicalPremium: 20,
      commissions: [
        { recipient: 'B-1', amount: 18, amountCurrency: 'EUR' },
        { recipient: 'house', amount: 1, amountCurrency: 'EUR' },
      ],
      taxGroups: [{ name: 'insurance_tax', amount: 93.1, amountCurrency: 'EUR' }],
      assignedVariables: {
        value: '24500',
        rate: 0.02,
        premium: 490,
        parts: ['a', 'b'],
        driver_locators: ['group-0'],
        driver: { full_name: 'Greta Lindner', birth_date: 487_634_400_000, licence_withdrawn: 'no' },
        none: null,
        deductible: '500',
        said: 'Greta Lindner pays 490',
      },
      warnings: [],
    })
  })

  it('reads the amounts of the peril and the span of the policy from the request', async () => {
    const request = ofPlainYear(
      `{{ data.peril_characteristics.deductible | set_year_premium }}{% assign unlimited = data.peril_characteristics.indemnity_per_event %}`,
    )
    const start = 1_798_758_000_000
    const { body } = await check(motor.token, {
      ...request,
      policyCharacteristics: {
        ...request.policyCharacteristics,
        policyStartTimestamp: String(start),
        policyEndTimestamp: start + 181 * 86_400_000 - 3_600_000,
      },
      perilCharacteristics: { deductible: 300 },
    })
    // Six whole months of twelve, although March has one hour less.
    expect(body).toMatchObject({
      premium: 150,
      monthPremium: 25,
      assignedVariables: { unlimited: 'unlimited' },
    })
  })

  it('that sets nothing has a premium of zero', async () => {
    const { body } = await check(motor.token, ofPlainYear(''))
    expect(body).toMatchObject({ premium: 0, monthPremium: 0, commissions: [], assignedVariables: {} })
    expect(body).not.toHaveProperty('technicalPremium')
  })

  it('returns a warning with line and column for a doubled pipe', async () => {
    const { status, body } = await check(motor.token, ofPlainYear('{{ 12 | | set_year_premium }}'))
    expect(status).toBe(200)
    expect(body.premium).toBe(12)
    expect(body.warnings).toEqual([{ line: 1, column: expect.any(Number), message: expect.any(String) }])
  })

  it('is rejected with 422 and the name of the peril if the amount is out of range', async () => {
    const { status, body } = await check(
      motor.token,
      ofPlainYear(`{{ ${'9'.repeat(20)} | set_year_premium }}`),
    )
    expect([status, body.code]).toEqual([422, 'amountOutOfRange'])
    expect(body.message).toMatch(/^Peril 'own_damage' of 'vehicle': /)
  })

  it('returns a variable that looks like a file name as text, not as a URL', async () => {
    const url = 'file:documents/00000000-0000-4000-8000-00000000aa00/policy.pdf'
    const { body } = await check(
      motor.token,
      ofPlainYear(`{% assign url = "${url}" %}{% assign urlExpirationTimestamp = "0" %}`),
    )
    expect(body.assignedVariables).toEqual({ url, urlExpirationTimestamp: '0' })
  })

  it('returns the assigned variables abbreviated if they are very large', async () => {
    const { status, body } = await check(
      motor.token,
      ofPlainYear(
        `{% assign all = data.policy %}{% assign list = "${'a,'.repeat(3_000)}" | split: "," %}{% assign long = "0123456789" %}{% for a in (1..15) %}{% assign long = long | append: long %}{% endfor %}`,
      ),
    )
    expect([status, body.message]).toEqual([200, undefined])
    expect(JSON.stringify(body.assignedVariables).length).toBeLessThan(250_000)
    expect(JSON.stringify(body.assignedVariables)).toContain('…')
  })
})

describe('a faulty formula', () => {
  const wrong: [what: string, formula: string, code: string, message: RegExp][] = [
    [
      'does not parse',
      '{% assign a = 1 %}\n{% if a %}\n{{ a | set_year_premium }}',
      'templateFailed',
      /^calculation:2:1: /,
    ],
    [
      'has filters that there are not, all told',
      '{{ 1 | plus: 1 }}\n\n  {{ 1 | set_daily_premium }}\n{{ 2 | set_hourly_premium }}',
      'templateFailed',
      /^calculation:3:\d+: .*set_daily_premium.* calculation:4:\d+: .*set_hourly_premium/,
    ],
    [
      'divides by zero',
      '\n\n{{ 1 | divided_by: 0 | set_year_premium }}',
      'templateFailed',
      /^calculation:3: /,
    ],
    [
      'asks a table for what is not there',
      '{% assign r = "own_damage_rate" | lookup: "nobody" %}',
      'templateFailed',
      /^calculation:1: /,
    ],
    [
      'never ends',
      '{% for a in (1..9999) %}{% for b in (1..9999) %}{{ b }}{% endfor %}{% endfor %}',
      'templateLimit',
      /^calculation:1: The template needs more than 200000 rendered nodes/,
    ],
    [
      'builds too much',
      '{% assign s = "0123456789" %}{% for a in (1..40) %}{% assign s = s | append: s %}{% endfor %}',
      'templateLimit',
      /^calculation:1: /,
    ],
  ]
  it.each(wrong)('%s: 422 with its line', async (_what, formula, code, message) => {
    const { status, body } = await check(motor.token, ofPlainYear(formula))
    expect(body.message).toMatch(message)
    expect(status).toBe(422)
    expect(body.code).toBe(code)
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const existing = await checkExisting({
      calculation: formula,
      perilDisplayId: policy.exposures[0]!.perils[1]!.displayId,
    })
    expect([existing.status, existing.body.message]).toEqual([422, body.message])
  })
})

describe('a calculation request', () => {
  const request = () => ofPlainYear(OWN_DAMAGE)
  const wrong: [what: string, change: () => object, status: number, message: RegExp][] = [
    ['an unknown product', () => ({ productName: 'boat' }), 400, /There is no product 'boat'/],
    [
      'an unknown exposure',
      () => ({ exposureName: 'boat' }),
      400,
      /Product 'private_motor' has no exposure 'boat'; it has/,
    ],
    [
      'an unknown peril',
      () => ({ perilName: 'fire' }),
      400,
      /Exposure 'vehicle' has no peril 'fire'; it has/,
    ],
    ['no calculation', () => ({ calculation: null }), 400, /'calculation' must be text/],
    ['an unknown version', () => ({ configVersion: 99 }), 400, /no configuration version 99/],
    [
      'an unknown field',
      () => ({ exposureCharacteristics: { fieldValues: { wings: 2 } } }),
      400,
      /Exposure 'vehicle'.*wings/,
    ],
    [
      'a value that its field does not take',
      () => ({ policyCharacteristics: { fieldValues: { region_class: 'R9' } } }),
      400,
      /region_class/,
    ],
    [
      'a group that is listed and not there',
      () => ({ policyCharacteristics: { fieldValues: { named_drivers: ['d1'] } } }),
      400,
      /named_drivers.* lists 'd1', but fieldGroupsByLocator has no values for it/,
    ],
    [
      'a group that nothing lists',
      () => ({ policyCharacteristics: { fieldGroupsByLocator: { d1: { full_name: 'A' } } } }),
      400,
      /has 'd1', which no field of type group lists/,
    ],
    [
      'an end before its start',
      () => ({ policyCharacteristics: { policyStartTimestamp: 2, policyEndTimestamp: 1 } }),
      400,
      /must be after/,
    ],
    ['a negative deductible', () => ({ perilCharacteristics: { deductible: -1 } }), 400, /deductible/],
  ]
  it.each(wrong)('is rejected for %s', async (_what, change, status, message) => {
    const answer = await check(motor.token, { ...request(), ...change() })
    expect(answer.body.message).toMatch(message)
    expect(answer.status).toBe(status)
  })

  it('may omit values, as a draft may', async () => {
    const { status, body } = await check(motor.token, {
      ...request(),
      calculation: '{{ 12 | set_year_premium }}',
      policyCharacteristics: {},
      exposureCharacteristics: {},
      perilCharacteristics: {},
    })
    expect(status).toBe(200)
    expect(body.premium).toBe(12)
  })
})

describe('a premium formula for an existing peril', () => {
  const DAY = 86_400_000

  const compared = async (policy: PolicyResponse) => {
    for (const exposure of policy.exposures)
      for (const peril of exposure.perils) {
        const calculation = formulaOf('motor', 'private_motor', exposure.name, peril.name)
        for (const one of peril.characteristics.filter(each => !each.replacedTimestamp)) {
          const { status, body } = await checkExisting({
            calculation,
            perilDisplayId: peril.displayId,
            perilCharacteristicsLocator: one.locator,
          })
          expect([status, body.message]).toEqual([200, undefined])
          expect(body).toMatchObject({
            premium: one.premium,
            monthPremium: one.monthPremium,
            technicalPremium: one.technicalPremium,
          })
        }
      }
  }

  it('gives the premiums of the policy after new business, endorsements and renewals', async () => {
    const { body: created } = await motor.createPolicy()
    const { locator } = created
    await compared(created)
    expect((await motor.post(`/policy/${locator}/issue`)).status).toBe(200)
    const start = Number(created.originalContractStartTimestamp)
    const endorsed = await motor.post(`/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: start + 100 * DAY,
      state: 'issued',
      updateExposures: [
        { exposureLocator: created.exposures[0]!.locator, fieldValues: { vehicle_value: 40_000 } },
      ],
    })
    expect(endorsed.status).toBe(200)
    const renewed = await motor.post(`/policies/${locator}/renewals`, {
      renewalEndTimestamp: Number(created.originalContractEndTimestamp) + 365 * DAY,
      fieldValues: { region_class: 'R5' },
      state: 'issued',
    })
    expect(renewed.status).toBe(200)
    const { body: after } = await motor.get(`/policy/${locator}`)
    const later = { ...after, exposures: after.exposures.map(one => ({ ...one, perils: one.perils })) }
    // Characteristics before the endorsement have a share of an older price, which no formula gives.
    for (const exposure of later.exposures)
      for (const peril of exposure.perils)
        peril.characteristics = peril.characteristics.filter(
          one => Number(one.coverageStartTimestamp) > start,
        )
    expect(later.exposures[0]!.perils).toHaveLength(8)
    await compared(later)
    const operations = await Promise.all(
      later.exposures[0]!.perils.map(async peril => {
        const { body } = await checkExisting({
          calculation:
            '{% assign operation = data.operation %}{% assign value = data.exposure_characteristics.field_values.vehicle_value %}',
          perilDisplayId: Number(peril.displayId),
        })
        return body.assignedVariables
      }),
    )
    expect(operations.slice(0, 4)).toEqual(Array(4).fill({ operation: 'endorsement', value: '40000' }))
    expect(operations.slice(4)).toEqual(Array(4).fill({ operation: 'renewal', value: '40000' }))
  })

  it('finds the peril by displayId or locator, and reads the policyholder', async () => {
    const { body: draft } = await motor.createPolicy({ finalize: false })
    const peril = draft.exposures[0]!.perils[1]!
    const calculation = `{% assign name = data.policyholder.entity.values.last_name %}{% assign mine = data.policy_characteristics.policy_locator %}{{ 120 | set_year_premium }}`
    for (const perilDisplayId of [peril.displayId, peril.locator, peril.locator.toUpperCase()]) {
      const { body } = await checkExisting({ calculation, perilDisplayId })
      expect(body).toMatchObject({
        premium: 120,
        assignedVariables: { name: 'Lindner', mine: draft.locator },
      })
    }
  })

  it('returns 404 for an unknown peril and for a peril of another tenant', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const [first, second] = policy.exposures[0]!.perils
    const of = (perilDisplayId: unknown, more = {}) =>
      checkExisting({ calculation: '', perilDisplayId, ...more })
    const unknown = await of('199999999')
    expect([unknown.status, unknown.body.message]).toEqual([404, "There is no peril '199999999'."])
    for (const name of ['x', '0', policy.locator, crypto.randomUUID()])
      expect((await of(name)).status).toBe(404)
    const others = { perilCharacteristicsLocator: second!.characteristics[0]!.locator }
    expect((await of(first!.displayId, others)).status).toBe(404)
    const elsewhere = await checkExisting({ calculation: '', perilDisplayId: first!.displayId }, home.token)
    expect(elsewhere.status).toBe(404)
  })
})

describe('checking a premium formula', () => {
  it('needs one round trip and stores nothing', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    await motor.get('/v1/ping/authorized')
    const made = await check(motor.token, ofPlainYear(OWN_DAMAGE))
    expect(roundTrips(made)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    const existing = await checkExisting({
      calculation: OWN_DAMAGE,
      perilDisplayId: policy.exposures[0]!.perils[1]!.displayId,
    })
    expect(existing.body.premium).toBe(453.25)
    expect(roundTrips(existing)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    const { body: after } = await motor.get(`/policy/${policy.locator}`)
    expect(after).toEqual(policy)
  })

  it('requires the permission to check calculations: claims users have it, read-only users do not', async () => {
    const claims = await motor.signIn('cora.claims')
    const reader = await motor.signIn('rita.reader')
    expect((await check(claims, ofPlainYear(OWN_DAMAGE))).status).toBe(200)
    expect((await check(reader, ofPlainYear(OWN_DAMAGE))).status).toBe(403)
    expect((await checkExisting({ calculation: '', perilDisplayId: '1' }, reader)).status).toBe(403)
  })
})
