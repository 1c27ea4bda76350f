// The time and place of a transaction. Templates, plugins, documents, constraints and price previews all use the same tables:
// those for its dates and its jurisdiction.
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { TableUseResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { EvaluationResponse } from '../../src/reference/constraints/contract.ts'
import type { CalculationResponse } from '../../src/servicing/calculations/contract.ts'
import type { QuickQuoteResponse } from '../../src/servicing/quick-quotes/contract.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import { fileAt, whenMade } from '../documents/waiting.ts'
import { type Answer, callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { withPlugins } from '../support/with-plugins.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const POLICY = 'products/private_motor/policy/'
const KEY = '0603-BTP'

/** Notes what the table of the price says during underwriting. */
const UNDERWRITER = `
exports.getUnderwritingResult = () => ({
  decision: 'accept',
  notes: [socotraApi.tableLookup(0, 'own_damage_rate', '${KEY}')],
})`

/** Fills the contact phone with what the table says, if the request asks for it. */
const AUTOFILL = `
exports.getDataAutofill = ({ updates }) =>
  (updates.fieldValues || {}).contact_phone && String(updates.fieldValues.contact_phone).includes('fill')
    ? { fieldValues: { contact_phone: 'filled ' + socotraApi.tableLookup(0, 'own_damage_rate', '${KEY}') } }
    : {}`

const LAMBDA = `
exports.executeLambda = (operation, key) => [
  socotraApi.tableLookup(0, 'own_damage_rate', key.of),
  (socotraApi.rangeLookup('ages', [], '20') || {}).factor || '',
  socotraApi.tableLookup(0, 'classes', ['CA', '1.0'], 'rate'),
  socotraApi.tableLookup(0, 'classes', ['CA', 2], 'name'),
  socotraApi.tableLookup(0, 'classes', ['CA', 3], 'name'),
]`

const document = (generatingEvent: string) => ({
  displayName: 'Rate',
  fileName: 'rate.html',
  templateName: 'rate.template.liquid',
  type: 'html',
  generatingEvent,
})

/** The motor example with the region of a policy as its jurisdiction, and a document that prints a rate. */
function placedMotor() {
  const files = withPlugins(
    { getUnderwritingResult: UNDERWRITER, getDataAutofill: AUTOFILL, executeLambda: LAMBDA },
    motorWithoutPapers(),
  )
  const change = <Content>(path: string, changed: (content: Content) => unknown): void => {
    const file = files[path]!
    const text = typeof file === 'string' ? file : new TextDecoder().decode(file)
    files[path] = JSON.stringify(changed(JSON.parse(text)))
  }
  change<object>('config.json', config => ({
    ...config,
    tables: {
      classes: {
        columns: {
          state: { isKey: true },
          class: { dataType: 'int', isKey: true },
          rate: { dataType: 'decimal' },
          name: {},
        },
      },
    },
    jurisdictions: Object.fromEntries(['R1', 'R2', 'R3', 'R4', 'R5', 'R6'].map(name => [name, {}])),
  }))
  change<{ fields: object[] }>(`${POLICY}policy.json`, policy => ({
    ...policy,
    jurisdictionField: 'region_class',
    requiresJurisdiction: true,
    documents: [document('issue')],
    fields: [
      ...policy.fields.map(field =>
        (field as { name: string }).name === 'contact_phone' ? { ...field, type: 'string' } : field,
      ),
      {
        name: 'tariff',
        type: 'string',
        optional: true,
        constraint: { table: 'tariffs', column: 'tariff', where: {} },
      },
    ],
  }))
  change<{ endorsements: { name: string }[] }>(`${POLICY}endorsements.json`, ({ endorsements }) => ({
    endorsements: endorsements.map(one =>
      one.name === 'change_of_risk' ? { ...one, documents: [document('issue')] } : one,
    ),
  }))
  files[`${POLICY}rate.template.liquid`] = `<p>{{ "own_damage_rate" | lookup: "${KEY}" }}</p>`
  return files
}

let motor: Motor
let root = ''

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('place', placedMotor())
  const token = await motor.signIn('anna.admin')
  motor = {
    ...motor,
    token,
    get: path => callApi('GET', path, { token }),
    post: (path, body, headers = {}) => callApi('POST', path, { token, body, headers }),
  }
  root = `/resource/${motor.tenantLocator}`
})

const upload = <Body = { lookupTableLocator: string }>(
  kind: 'tables' | 'rangeTables' | 'constraints',
  name: string,
  staticName: string,
  content: string,
  place = '',
): Promise<Answer<Body>> => {
  const body = new FormData()
  body.set('file', new Blob([content]), 'table.csv')
  const query = `name=${name}&staticName=${staticName}${place && `&jurisdiction=${place}`}`
  return callApi('POST', `${root}/${kind}?${query}`, { token: motor.token, body })
}

const group = (name: string, start: number, resourceNames: string[]) =>
  motor.post(`${root}/groups`, { name, selectionStartTime: new Date(start).toISOString(), resourceNames })

const premiumsOf = (policy: PolicyResponse): (number | undefined)[] =>
  policy.exposures[0]!.perils.find(one => one.name === 'own_damage')!
    .characteristics.filter(one => !one.replacedTimestamp)
    .map(one => one.premium)

const valuesIn = (region: string, more: object = {}) => ({
  ...(plainYear().request.policy.fieldValues as object),
  region_class: region,
  ...more,
})

const START = plainYear().request.policy.policyStartTimestamp as unknown as Instant
const from = (months: number): Instant => add(START, months, 'month', BERLIN)

describe('tables for the time and place of a transaction', () => {
  beforeAll(async () => {
    // For the whole country and for region R5, in force from July.
    for (const [name, rate, place] of [
      ['rate_july', '0.0200', ''],
      ['rate_july_r5', '0.0250', 'R5'],
    ] as const)
      expect(
        (await upload('tables', name, 'own_damage_rate', `key,value\n${KEY},${rate}\n`, place)).status,
      ).toBe(200)
    expect((await group('july', from(6), ['rate_july', 'rate_july_r5'])).status).toBe(200)
  })

  it('are used by templates, plugins and documents of a policy bound before they begin and endorsed after it', async () => {
    const { body: bound } = await motor.createPolicy({ finalize: true })
    await motor.post(`/policy/${bound.locator}/issue`)
    const endorse = async (months: number, fieldValues: object) => {
      const answer = await motor.post<{ locator: string; automatedUnderwritingResult: { notes: string[] } }>(
        `/policies/${bound.locator}/endorsements`,
        { endorsementName: 'change_of_risk', startTimestamp: from(months), state: 'issued', fieldValues },
      )
      expect(answer.status).toBe(200)
      return answer.body.automatedUnderwritingResult.notes
    }
    const notes = [
      (await motor.get<{ notes: string[] }>(`/policy/${bound.locator}/automatedUnderwritingResult`)).body
        .notes,
      await endorse(3, { claims_free_years: '9' }),
      await endorse(6, { claims_free_years: '10' }),
      await endorse(9, { region_class: 'R5' }),
    ]
    // The plugin sees what the time and place of each transaction select: the configuration's until July, and then R5 has its
    // own.
    expect(notes).toEqual([['0.0185'], ['0.0185'], ['0.0200'], ['0.0250']])
    const { body: policy } = await motor.get<PolicyResponse>(`/policy/${bound.locator}`)
    // 24,500 × the rate × three of twelve months; in R5, times its factor of 1.17.
    expect(premiumsOf(policy)).toEqual([113.31, 113.31, 122.5, 179.16])
    // Each transaction has a document printed with its tables, no matter when it is printed.
    const { documents } = await whenMade(
      async () => (await motor.get<PolicyResponse>(`/policy/${bound.locator}`)).body,
      one => one.documents,
    )
    const papers = await Promise.all(
      documents.map(
        async ({ url }) => /0\.\d{4}/.exec(Buffer.from((await fileAt(url!)).bytes).toString())![0],
      ),
    )
    expect(papers.sort()).toEqual(['0.0185', '0.0185', '0.0200', '0.0250'])
    // The tables that rated each transaction can be read, no matter what looked them up.
    const { body: uses } = await motor.get<TableUseResponse[]>(`/policy/${bound.locator}/tableRevisions`)
    expect(
      policy.modifications.map(({ locator }) =>
        uses.filter(use => use.modificationLocator === locator).map(({ name }) => name),
      ),
    ).toEqual([[], [], ['rate_july'], ['rate_july_r5']])
  })

  it('are used for each segment that an endorsement rates again', async () => {
    const { body: bound } = await motor.createPolicy({
      policyStartTimestamp: from(6),
      policyEndTimestamp: from(18),
      finalize: true,
    })
    await motor.post(`/policy/${bound.locator}/issue`)
    const endorse = (months: number, changes: object) =>
      motor.post(`/policies/${bound.locator}/endorsements`, {
        endorsementName: 'change_of_risk',
        startTimestamp: from(months),
        state: 'issued',
        ...changes,
      })
    expect((await endorse(12, { fieldValues: { region_class: 'R5' } })).status).toBe(200)
    const updateExposures = [
      { exposureLocator: bound.exposures[0]!.locator, fieldValues: { vehicle_value: '49000' } },
    ]
    expect((await endorse(9, { updateExposures })).status).toBe(200)
    const { body: policy } = await motor.get<PolicyResponse>(`/policy/${bound.locator}`)
    // 24,500 × 0.02 / 4; 49,000 × 0.02 / 4; and, in R5 since the first endorsement, 49,000 × 0.025 × 1.17 / 2.
    expect(premiumsOf(policy)).toEqual([122.5, 245, 716.63])
  })

  it('are used by previews, prices of drafts, quick quotes and formulas', async () => {
    const later = { policyStartTimestamp: from(6), policyEndTimestamp: from(18) }
    const request = { ...later, fieldValues: valuesIn('R5') }
    const { body: draft } = await motor.createPolicy(request)
    const price = (
      await motor.get<{ exposurePrices: { perilPrices: { name: string; premium: number }[] }[] }>(
        `/policy/${draft.locator}/price`,
      )
    ).body
    const ofPeril = (list: { name: string; premium: number }[]) =>
      list.find(one => one.name === 'own_damage')!.premium
    expect(ofPeril(price.exposurePrices[0]!.perilPrices)).toBe(716.63)
    const { body: quick } = await motor.post<QuickQuoteResponse>(
      `/policy/${motor.tenantLocator}/quickquotes`,
      {
        ...plainYear().request.policy,
        ...request,
        policyholderLocator: await motor.newPolicyholder(),
      },
    )
    expect(ofPeril(quick.price!.exposurePrices[0]!.perilPrices as never)).toBe(716.63)
    const { policy } = plainYear().request
    const exposure = policy.exposures[0]!
    const { body: formula } = await motor.post<CalculationResponse>('/calculation/checkPerilPremium', {
      calculation: new TextDecoder().decode(
        exampleFiles('motor')[`${POLICY}exposures/vehicle/perils/own_damage.premium.liquid`],
      ),
      productName: policy.productName,
      policyCharacteristics: { ...later, fieldValues: valuesIn('R5'), fieldGroupsByLocator: {} },
      exposureName: exposure.exposureName,
      exposureCharacteristics: { fieldValues: exposure.fieldValues, fieldGroupsByLocator: {} },
      perilName: 'own_damage',
      perilCharacteristics: { fieldValues: {}, fieldGroupsByLocator: {} },
    })
    expect(formula.premium).toBe(716.63)
    const { body: bound } = await motor.createPolicy({ finalize: true })
    await motor.post(`/policy/${bound.locator}/issue`)
    const asked = {
      endorsementName: 'change_of_risk',
      startTimestamp: from(6),
      fieldValues: { region_class: 'R5' },
    }
    const { body: preview } = await motor.post<PolicyPreviewResponse>(`/policies/${bound.locator}/preview`, {
      kind: 'endorsement',
      endorsement: asked,
    })
    const { body: made } = await motor.post<{ locator: string }>(`/policies/${bound.locator}/endorsements`, {
      ...asked,
      state: 'quoted',
    })
    const { body: change } = await motor.get<{ totalChange: number }>(`/endorsements/${made.locator}/price`)
    expect(preview.price).toEqual(change)
  })

  it('are used by autofill plugins, and by lambda functions at the present time', async () => {
    const created = (start: number, region: string) =>
      motor.createPolicy({
        policyStartTimestamp: start,
        policyEndTimestamp: add(start as Instant, 12, 'month', BERLIN),
        fieldValues: valuesIn(region, { contact_phone: 'fill' }),
      })
    const phoneOf = async (answer: Promise<Answer<PolicyResponse>>) =>
      (await answer).body.characteristics[0]!.fieldValues.contact_phone
    expect([
      await phoneOf(created(from(0), 'R5')),
      await phoneOf(created(from(6), 'R3')),
      await phoneOf(created(from(6), 'R5')),
    ]).toEqual([['filled 0.0185'], ['filled 0.0200'], ['filled 0.0250']])
    expect((await upload('tables', 'rate_now', 'own_damage_rate', `key,value\n${KEY},0.0190\n`)).status).toBe(
      200,
    )
    expect(
      (await upload('rangeTables', 'ages_now', 'ages', 'rangeStart,rangeEnd,factor\n18,25,1.4\n')).status,
    ).toBe(200)
    const classes = 'state,class,rate,name\nCA,1,12.5,small\nCA,2,20,large\n'
    expect((await upload('tables', 'classes_now', 'classes', classes)).status).toBe(200)
    await group('now', Date.UTC(2025, 0, 1), ['rate_now', 'ages_now', 'classes_now'])
    const lambda = await motor.post('/lambda/rates', { of: KEY })
    expect([lambda.status, lambda.body]).toEqual([200, ['0.0190', '1.4', '12.5', 'large', '']])
    // These tables are cached by now, so the look-ups make no round trips. The account is read again after 5 s.
    const trips = async () => roundTrips(await motor.post('/lambda/rates', { of: KEY })).d1!
    expect(Math.min(await trips(), await trips(), await trips())).toBe(1)
  })
})

describe('a table with several keys and columns', () => {
  const formula = async (calculation: string) => {
    const { policy } = plainYear().request
    const exposure = policy.exposures[0]!
    const { body } = await motor.post<CalculationResponse & { message: string }>(
      '/calculation/checkPerilPremium',
      {
        calculation,
        productName: policy.productName,
        policyCharacteristics: {
          policyStartTimestamp: START,
          policyEndTimestamp: from(12),
          fieldValues: valuesIn('R3'),
          fieldGroupsByLocator: {},
        },
        exposureName: exposure.exposureName,
        exposureCharacteristics: { fieldValues: exposure.fieldValues, fieldGroupsByLocator: {} },
        perilName: 'own_damage',
        perilCharacteristics: { fieldValues: {}, fieldGroupsByLocator: {} },
      },
    )
    return body.message ?? body.premium
  }

  it('is looked up in a template by its keys and the name of a column', async () => {
    expect(await formula('{{ "classes" | lookup: "CA", "1.0", column: "rate" | set_year_premium }}')).toBe(
      12.5,
    )
    const at = Date.UTC(2026, 0, 1)
    expect(
      await formula(
        `{{ "classes" | lookup_effective: "CA", "2", ${at}, column: "rate" | set_year_premium }}`,
      ),
    ).toBe(20)
    expect(await formula('{{ "classes" | lookup: "CA", "9", column: "rate" | set_year_premium }}')).toContain(
      "The table 'classes' has no key 'CA, 9 (rate)'.",
    )
    expect(await formula('{{ "classes" | lookup: "CA" | set_year_premium }}')).toContain(
      "A look-up in the table 'classes_now' needs 2 keys (state, class), but got 1.",
    )
    expect(await formula('{{ "classes" | lookup: "CA", "1" | set_year_premium }}')).toContain(
      "must name a column: none is named 'value'",
    )
    expect(await formula('{{ "classes" | lookup: "CA", "1", column: "no" | set_year_premium }}')).toContain(
      "names the column 'no', but it has 'state', 'class', 'rate', 'name'.",
    )
  })
})

describe('a jurisdiction', () => {
  it('cannot have resources if config.json does not declare it, and may be required by a product', async () => {
    const refused = await upload<{ code: string; message: string }>(
      'tables',
      'rate_r9',
      'own_damage_rate',
      'key,value\na,1\n',
      'R9',
    )
    expect([refused.status, refused.body.code, refused.body.message]).toEqual([
      400,
      'invalidParameter',
      "config.json does not declare the jurisdictions 'R9'; it has 'R1', 'R2', 'R3', 'R4', 'R5', 'R6'. Correct them, or declare them under 'jurisdictions'.",
    ])
    const { region_class: _, ...without } = valuesIn('R3')
    const unplaced = await motor.createPolicy({ fieldValues: without, finalize: true })
    expect([unplaced.status, (unplaced.body as unknown as { message: string }).message]).toEqual([
      400,
      expect.stringContaining('region_class'),
    ])
  })

  it('selects the constraint table of a policy', async () => {
    for (const [name, tariff, place] of [
      ['tariffs_all', 'basic', ''],
      ['tariffs_r5', 'coastal', 'R5'],
    ] as const)
      expect((await upload('constraints', name, 'tariffs', `tariff\n${tariff}\n`, place)).status).toBe(200)
    await group('tariffs', Date.UTC(2025, 0, 1), ['tariffs_all', 'tariffs_r5'])
    const created = async (region: string, tariff: string) =>
      (await motor.createPolicy({ fieldValues: valuesIn(region, { tariff }) })).status
    expect([
      await created('R3', 'basic'),
      await created('R3', 'coastal'),
      await created('R5', 'coastal'),
      await created('R5', 'basic'),
    ]).toEqual([200, 400, 200, 400])
    const { body: policy } = await motor.createPolicy({ fieldValues: valuesIn('R5') })
    const options = await motor.post<EvaluationResponse>(
      `/policy/${motor.tenantLocator}/transactions/${policy.modifications[0]!.locator}/elements/constraints/evaluate`,
      {},
    )
    expect(options.body).toEqual({ [policy.locator]: { tariff: ['coastal'] } })
  })
})
