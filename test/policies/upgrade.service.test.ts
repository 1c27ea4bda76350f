// Upgrading policies to another configuration version, through HTTP (brief 5.1, resources brief 10.5).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyListResponse } from '../../src/policy/list/contract.ts'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { PolicyQuoteResponse } from '../../src/transactions/quotes/contract-quote.ts'
import type { PolicyUpgradeResponse } from '../../src/transactions/upgrade/contract.ts'
import { deploy } from '../product/deploying.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, deployExample, deployNextVersion } from '../support/examples.ts'
import { roundTrips } from '../support/motor.ts'
import { YEARS_ON } from '../support/years.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const FOLDER = 'products/boat/policy'

const text = (name: string, more: object = {}) => ({ name, title: name, type: 'string', ...more })

const HARBOUR = text('harbour', { search: true })
const FIELDS = [
  HARBOUR,
  text('insured_before', { optional: true }),
  { name: 'built', title: 'Built', type: 'date', precision: 'day', optional: true },
  { ...text('crew', { optional: true, repeatable: true, type: 'group' }), fields: [text('sailor')] },
]
const SETTINGS = {
  paymentSchedules: [
    { type: 'total', name: 'upfront', displayName: 'At once' },
    { type: 'monthly', name: 'monthly', displayName: 'Monthly' },
  ],
  invoicing: { generatingEvent: 'issue' },
}

/** A boat with a dinghy, whose hull is covered for sinking and theft at this yearly premium. */
const boat = (yearPremium: number, changes: ArchiveFiles = {}, fields: object[] = FIELDS): ArchiveFiles => ({
  'config.json': JSON.stringify({ timezone: BERLIN, currency: 'EUR' }),
  [`${FOLDER}/policy.json`]: JSON.stringify({ ...SETTINGS, fields }),
  ...exposure('hull', [text('registration', { search: true })], ['sinking', 'theft'], yearPremium),
  ...exposure('dinghy', [], ['loss'], 12),
  [`${FOLDER}/endorsements.json`]: JSON.stringify({
    endorsements: ['change', 'odd'].map(name => ({
      name,
      displayName: name,
      reprice: 'always',
      documents: [],
    })),
  }),
  [`${FOLDER}/cancellations.json`]: JSON.stringify({
    cancellationTypes: ['sold', 'sunk'].map(name => ({ name, title: name, documents: [] })),
  }),
  [`${FOLDER}/underwriting.guidelines.liquid`]: `{{ "accept" | set_underwriting_decision }}
    {% if data.policy.characteristics.last.field_values.insured_before == "no" %}
      {{ "none" | set_underwriting_decision }}{% endif %}`,
  'security/test_users.json': JSON.stringify([{ username: 'sam', name: 'Sam', password: 'password' }]),
  ...changes,
})

const exposure = (name: string, fields: object[], perils: string[], yearPremium: number): ArchiveFiles => ({
  [`${FOLDER}/exposures/${name}/exposure.json`]: JSON.stringify({ name, displayName: name, fields }),
  ...Object.fromEntries(
    perils.flatMap(peril => {
      const path = `${FOLDER}/exposures/${name}/perils/${peril}`
      return [
        [`${path}.json`, JSON.stringify({ name: peril, fields: [] })],
        [`${path}.premium.liquid`, `{{ ${yearPremium} | set_year_premium }}`],
      ]
    }),
  ),
})

/** The files without those under these paths. */
const without = (files: ArchiveFiles, ...paths: string[]): ArchiveFiles =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !paths.some(one => path.startsWith(one))))

type Problem = { message: string; code: string; policyFieldErrors?: unknown }

/** A tenant with these configuration versions, and the calls of the tests. */
async function tenantWith(suffix: string, first: ArchiveFiles, ...later: ArchiveFiles[]) {
  const { token, tenantName, tenantLocator } = await deployExample(first, suffix)
  for (const files of later) await deployNextVersion(tenantName, files)
  const call = <Body = PolicyResponse>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> => callApi<Body>(method, path, { token, body, headers })
  const { locator: policyholderLocator } = await callOk<PolicyholderResponse>(
    'POST',
    '/policyholder/create',
    {
      token,
      body: { completed: true, values: {} },
    },
  )
  const create = async (more: object = {}): Promise<PolicyResponse> => {
    const request = {
      policyholderLocator,
      productName: 'boat',
      policyStartTimestamp: START,
      fieldValues: { harbour: 'Kiel' },
      exposures: [
        {
          exposureName: 'hull',
          fieldValues: { registration: 'K-1' },
          perils: [{ name: 'sinking' }, { name: 'theft' }],
        },
        { exposureName: 'dinghy', perils: [{ name: 'loss' }] },
      ],
      configVersion: 1,
      ...more,
    }
    const { status, body } = await call('POST', '/policy', request)
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  const read = async ({ locator }: { locator: string }): Promise<PolicyResponse> =>
    (await call('GET', `/policy/${locator}`)).body
  return {
    tenantName,
    tenantLocator,
    call,
    create,
    read,
    issued: async (more: object = {}): Promise<PolicyResponse> => {
      const { locator } = await create(more)
      return (await call('POST', `/policy/${locator}/issue`)).body
    },
    endorse: (policy: PolicyResponse, body: object) =>
      call<EndorsementResponse>('POST', `/policies/${policy.locator}/endorsements`, {
        endorsementName: 'change',
        startTimestamp: months(6),
        ...body,
      }),
    upgrade: <Body = PolicyUpgradeResponse>(policy: PolicyResponse, body?: object): Promise<Answer<Body>> =>
      call<Body>('POST', `/policy/${policy.locator}/upgrade`, body),
    found: async (field: string, value: string): Promise<string[]> => {
      const { body } = await call<PolicyListResponse>(
        'GET',
        `/policies?searchField=${field}&searchValue=${value}`,
      )
      return body.policies.map(one => one.locator)
    },
  }
}

type Tenant = Awaited<ReturnType<typeof tenantWith>>

const START = Date.UTC(2027 + YEARS_ON, 0, 1) as Instant
const months = (count: number): Instant => add(START, count, 'month', BERLIN)

const CLEAN = { hasErrors: false, exposureValidationErrors: [], cancellationValidationErrors: [] }

let dearer: Tenant

beforeAll(async () => {
  await prepareDatabases({ tenants: 8 })
  const second = boat(2_400, {
    ...exposure('hull', [text('registration')], ['sinking', 'theft'], 2_400),
    [`${FOLDER}/policy.json`]: JSON.stringify({
      ...SETTINGS,
      fields: [HARBOUR, text('insured_before', { optional: true, search: true }), ...FIELDS.slice(2)],
      endReminders: [{ name: 'renewal_offer', daysBefore: 30 }],
    }),
    [`${FOLDER}/endorsements.json`]: JSON.stringify({
      endorsements: [{ name: 'change', displayName: 'Change', reprice: 'always', documents: [] }],
    }),
    [`${FOLDER}/cancellations.json`]: JSON.stringify({
      cancellationTypes: [{ name: 'sold', title: 'Sold', documents: [] }],
    }),
  })
  dearer = await tenantWith('dearer', boat(1_200), second)
})

describe('POST /policy/{locator}/upgrade', () => {
  it('moves a policy to the latest version, keeps its records, and rates later changes by it', async () => {
    const { upgrade, issued, read, call, endorse } = dearer
    const policy = await issued()
    const { body: before } = await call<PolicyPriceResponse>('POST', `/policy/${policy.locator}/price`)
    expect(before.grossPremium).toBe(2_412)
    const { status, body } = await upgrade(policy)
    expect(status).toBe(200)
    expect(body).toEqual({
      policyLocator: policy.locator,
      fromConfigVersion: 1,
      toConfigVersion: 2,
      upgraded: true,
      validationErrors: CLEAN,
      conflicts: [],
    })
    const now = await read(policy)
    expect(now.configVersion).toBe(2)
    expect((await call('POST', `/policy/${policy.locator}/price`)).body).toEqual(before)
    expect({ ...now, updatedTimestamp: '', configVersion: 1 }).toEqual({ ...policy, updatedTimestamp: '' })
    await endorse(policy, { fieldValues: { harbour: 'Eckernförde' }, state: 'issued' })
    const { body: after } = await call<PolicyPriceResponse>('POST', `/policy/${policy.locator}/price`)
    // Half a year of 1,200 and half a year of 2,400 for each peril of the hull, and 12 for the dinghy.
    expect(after.grossPremium).toBe(2 * (600 + 1_200) + 12)
    expect((await read(policy)).modifications.map(one => one.configVersion)).toEqual([1, 2])
    const { body: stream } = await call<{ events: { type: string; data: Record<string, string> }[] }>(
      'GET',
      '/eventstream/events?startTimestamp=0&pageSize=1000',
    )
    const upgradeEvents = stream.events.filter(
      one => one.type === 'policy.upgrade' && one.data.policyLocator === policy.locator,
    )
    expect(upgradeEvents.map(one => one.data)).toEqual([
      expect.objectContaining({ fromConfigVersion: '1', toConfigVersion: '2', productName: 'boat' }),
    ])
  })

  it('is visible to snapshots: before it, the policy has its former version', async () => {
    const { upgrade, issued, call } = dearer
    const policy = await issued()
    await new Promise(resolve => setTimeout(resolve, 5))
    const asOfTimestamp = Number(policy.updatedTimestamp)
    await upgrade(policy)
    const { body } = await call('POST', `/policies/${policy.locator}/snapshot`, { asOfTimestamp })
    expect(body).toEqual(policy)
  })

  it('changes the fields by which the policy is found to those of the new version', async () => {
    const { upgrade, issued, found } = dearer
    const fieldValues = { harbour: 'Flensburg', insured_before: 'since-1999' }
    const hull = {
      exposureName: 'hull',
      fieldValues: { registration: 'FL-7' },
      perils: [{ name: 'sinking' }],
    }
    const kept = await issued({ exposures: [hull] })
    const policy = await issued({ fieldValues, exposures: [hull] })
    const other = await issued({ configVersion: 2, fieldValues, exposures: [hull] })
    expect(await found('insured_before', 'since-1999')).toEqual([other.locator])
    expect(await found('registration', 'FL-7')).toEqual([kept.locator, policy.locator])
    await upgrade(policy)
    expect(await found('insured_before', 'since-1999')).toEqual([policy.locator, other.locator])
    expect(await found('registration', 'FL-7')).toEqual([kept.locator])
    expect(await found('harbour', 'Flensburg')).toEqual([policy.locator, other.locator])
  })

  it('is respected by lists, which read each policy with its own version', async () => {
    const { upgrade, issued, call } = dearer
    const [kept, moved] = [await issued(), await issued()]
    await upgrade(moved)
    const { body } = await call<PolicyResponse[]>('GET', `/policyholder/${kept.policyholderLocator}/policies`)
    const versions = new Map(body.map(one => [one.locator, one.configVersion]))
    expect([kept, moved].map(one => versions.get(one.locator))).toEqual([1, 2])
    const { body: list } = await call<PolicyListResponse>('GET', '/policies?pageSize=1000')
    const listed = new Map(list.policies.map(one => [one.locator, one]))
    expect(listed.get(moved.locator)).toMatchObject({ configVersion: 2, grossPremium: 2_412 })
    const summary = await call('POST', `/policies/${moved.locator}/coverageSummary`, {
      effectiveTimestamp: months(1),
    })
    expect(summary.body).toMatchObject({ grossPremium: 2_412 })
  })

  it('sets the reminders of the new version, except for a cancelled policy', async () => {
    const { upgrade, issued, call } = dearer
    const [policy, ended] = [await issued(), await issued()]
    await call('POST', `/policy/${ended.locator}/cancel`, { coverageEndTimestamp: months(3) })
    await upgrade(policy)
    await upgrade(ended)
    const { results } = await boundDatabase(poolBinding(1))
      .prepare("select subject, due_at from timer where kind = 'policy.end.reminder'")
      .all<{ subject: string; due_at: number }>()
    const due = results.filter(one => [policy.locator, ended.locator].includes(one.subject))
    expect(due).toEqual([{ subject: policy.locator, due_at: add(months(12), -30, 'day', BERLIN) }])
  })

  it('of a draft requires no missing values, and the draft is priced by the new version', async () => {
    const { upgrade, create, call } = dearer
    const draft = await create({ finalize: false, fieldValues: {} })
    expect((await upgrade(draft)).body).toMatchObject({ upgraded: true })
    await call('POST', `/policy/${draft.locator}/update`, {
      finalize: false,
      fieldValues: { harbour: 'Kiel' },
    })
    const { body } = await call<PolicyPriceResponse>('POST', `/policy/${draft.locator}/price`)
    expect(body.grossPremium).toBe(4_812)
    const { body: finalized } = await call('POST', `/policy/${draft.locator}/finalize`)
    expect(finalized.modifications.map(one => one.configVersion)).toEqual([2])
  })

  it('can return to an earlier version, and does nothing for the present one', async () => {
    const { upgrade, issued, read } = dearer
    const policy = await issued()
    await upgrade(policy, { configVersion: 2 })
    const upgraded = await read(policy)
    const again = await upgrade(policy)
    expect(again.status).toBe(200)
    expect(again.body).toEqual({
      policyLocator: policy.locator,
      fromConfigVersion: 2,
      toConfigVersion: 2,
      upgraded: false,
      validationErrors: CLEAN,
      conflicts: [],
    })
    expect(await read(policy)).toEqual(upgraded)
    const { body: back } = await upgrade(policy, { configVersion: 1 })
    expect(back).toMatchObject({ fromConfigVersion: 2, toConfigVersion: 1, upgraded: true })
    expect((await read(policy)).configVersion).toBe(1)
  })

  it('leaves the policy subject to later repairs of its new version', async () => {
    const [first, second] = [boat(1_200), boat(2_400)]
    const { issued, upgrade, endorse, call, tenantName } = await tenantWith('mended', first, second)
    const policy = await issued()
    await upgrade(policy)
    const fields = { tenantName, version: '2' }
    const { body: repaired } = await deploy('/configuration/studio/repair', fields, boat(3_600))
    expect(repaired.success).toBe(true)
    await endorse(policy, { fieldValues: { harbour: 'Husum' }, state: 'issued' })
    const { body: price } = await call<PolicyPriceResponse>('POST', `/policy/${policy.locator}/price`)
    expect(price.grossPremium).toBe(2 * (600 + 1_800) + 12)
  })

  it('returns the original response when it is repeated with the same key', async () => {
    const { issued, read, call } = dearer
    const policy = await issued()
    const path = `/policy/${policy.locator}/upgrade`
    const once = () => call('POST', path, { configVersion: 2 }, { 'idempotency-key': 'upgrade-once' })
    const first = await once()
    const repeat = await once()
    expect(repeat.body).toEqual(first.body)
    expect(first.body).toMatchObject({ upgraded: true })
    expect((await read(policy)).configVersion).toBe(2)
  })

  it('takes one read of the version and one write when warm', async () => {
    const { upgrade, issued, call } = dearer
    await upgrade(await issued())
    const policy = await issued()
    await call('GET', '/v1/ping/authorized')
    expect(roundTrips(await upgrade(policy, { dryRun: true }))).toEqual({ d1: 1, object: 1, r2: 0, queue: 0 })
    expect(roundTrips(await upgrade(policy))).toMatchObject({ d1: 2, r2: 0 })
  })
})

describe('A pending transaction', () => {
  it('blocks an upgrade with 409 and its locator, unless the upgrade may invalidate it', async () => {
    const { upgrade, issued, endorse, read, call } = dearer
    const policy = await issued()
    const { body: quoted } = await endorse(policy, { fieldValues: { harbour: 'Husum' }, state: 'quoted' })
    const refused = await upgrade<Problem>(policy)
    expect(refused.status).toBe(409)
    expect(refused.body.message).toContain(quoted.locator)
    const conflicts = [{ kind: 'endorsement', locator: quoted.locator, state: 'quoted' }]
    expect((await upgrade(policy, { dryRun: true })).body).toMatchObject({ upgraded: false, conflicts })
    expect((await read(policy)).configVersion).toBe(1)
    expect((await upgrade(policy, { conflictHandling: 'invalidate' })).body).toMatchObject({ upgraded: true })
    const { body: gone } = await call<EndorsementResponse>('GET', `/endorsements/${quoted.locator}`)
    expect(gone.state).toBe('invalidated')
  })

  it('that is a priced quote must be discarded first', async () => {
    const { upgrade, create, call, read } = dearer
    const draft = await create({ finalize: false })
    const { body: quotes } = await call<PolicyQuoteResponse[]>('GET', `/policies/${draft.locator}/quotes`)
    const { body: copy } = await call<PolicyQuoteResponse>(
      'POST',
      `/quotes/${quotes[0]!.locator}/createNew`,
      {},
    )
    await call('PATCH', `/quotes/${copy.locator}/quote`)
    const refused = await upgrade<Problem>(draft, { conflictHandling: 'invalidate' })
    expect(refused.status).toBe(409)
    expect(refused.body.message).toContain(`priced by version 1: ${copy.locator}. Discard them`)
    expect((await upgrade(draft, { dryRun: true })).body.conflicts).toEqual([
      { kind: 'quote', locator: copy.locator, state: 'quoted' },
    ])
    await call('PATCH', `/quotes/${copy.locator}/discard`)
    expect((await upgrade(draft)).status).toBe(200)
    expect((await read(draft)).configVersion).toBe(2)
  })

  it('that is an application stays, but loses a person’s decision, and cannot be quoted if its type is gone', async () => {
    const { upgrade, issued, endorse, call } = dearer
    const policy = await issued()
    const { body: applied } = await endorse(policy, { fieldValues: { insured_before: 'no' } })
    const { body: odd } = await endorse(policy, { endorsementName: 'odd' })
    const path = `/endorsements/${applied.locator}`
    await call('POST', `${path}/underwriting`, { decision: 'accept' })
    await upgrade(policy)
    const { body } = await call<EndorsementResponse>('GET', path)
    expect(body.state).toBe('application')
    expect(body.automatedUnderwritingResult).toBeUndefined()
    expect((await call('PATCH', path, { action: 'quote' })).status).toBe(409)
    const refused = await call<Problem>('PATCH', `/endorsements/${odd.locator}`, { action: 'quote' })
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain("no longer has an endorsement 'odd'; discard this one")
    expect((await call('PATCH', `/endorsements/${odd.locator}`, { action: 'discard' })).status).toBe(200)
  })

  it('that is a draft cancellation of a removed type makes the upgrade fail with 400', async () => {
    const { upgrade, issued, call } = dearer
    const policy = await issued()
    const { body: draft } = await call<{ locator: string }>(
      'POST',
      `/policies/${policy.locator}/cancellations`,
      {
        effectiveTimestamp: months(3),
        name: 'sunk',
      },
    )
    const { status, body } = await upgrade<Problem>(policy)
    expect(status).toBe(400)
    expect(body.policyFieldErrors).toEqual({
      ...CLEAN,
      hasErrors: true,
      cancellationValidationErrors: [
        {
          name: 'sunk',
          code: 'INVALID_VALUE',
          message: `Version 2 has no cancellation 'sunk'; rescind ${draft.locator}, or give it a different name.`,
        },
      ],
    })
    await call('PATCH', `/cancellations/${draft.locator}/rescind`)
    expect((await upgrade(policy)).status).toBe(200)
  })
})

describe('An upgrade to a version that rejects the policy', () => {
  it('returns 400 with all problems by policy, exposure and peril, and changes nothing', async () => {
    const files = boat(1_200, exposure('hull', [text('registration'), text('flag')], ['sinking'], 1_200), [
      { ...text('built', { type: 'string' }) },
      { ...text('crew', { optional: true, repeatable: true, type: 'group' }), fields: [text('name')] },
      text('insured_before'),
    ])
    const tenant = await tenantWith(
      'strict',
      boat(1_200),
      without(files, `${FOLDER}/exposures/hull/perils/theft`, `${FOLDER}/exposures/dinghy`),
    )
    const policy = await tenant.issued({
      fieldValues: { harbour: 'Kiel', built: '1999-05-01' },
      fieldGroups: [{ fieldName: 'crew', fieldValues: { sailor: 'Ahab' } }],
    })
    // An endorsement splits everything into more than one segment.
    await tenant.endorse(policy, { fieldValues: { harbour: 'Husum' }, state: 'issued' })
    const before = await tenant.read(policy)
    const { body: dry } = await tenant.upgrade(policy, { dryRun: true })
    const { status, body } = await tenant.upgrade<Problem>(policy)
    expect([status, body.code]).toEqual([400, 'policyValidation'])
    expect(body.policyFieldErrors).toEqual(dry.validationErrors)
    const [hull, dinghy] = policy.exposures
    const [crew] = policy.characteristics[0]!.fieldValues.crew!
    const error = (fieldName: string, code: string) => expect.objectContaining({ fieldName, code })
    expect(dry).toMatchObject({ fromConfigVersion: 1, toConfigVersion: 2, upgraded: false })
    expect(dry.validationErrors).toEqual({
      hasErrors: true,
      policyFieldErrors: {
        hasErrors: true,
        errors: [
          error('built', 'INVALID_TYPE'),
          error('insured_before', 'MISSING'),
          error('harbour', 'INVALID_FIELD'),
        ],
        fieldGroupErrors: [
          {
            fieldName: 'crew',
            locator: crew,
            index: 0,
            errors: [error('name', 'MISSING'), error('sailor', 'INVALID_FIELD')],
          },
        ],
      },
      exposureValidationErrors: [
        {
          exposureName: 'hull',
          exposureLocator: hull!.locator,
          hasErrors: true,
          exposureFieldErrors: { hasErrors: true, errors: [error('flag', 'MISSING')], fieldGroupErrors: [] },
          perilValidationErrors: [
            {
              name: 'theft',
              hasErrors: true,
              message: expect.stringContaining("no longer has a peril 'theft'"),
            },
          ],
        },
        {
          exposureName: 'dinghy',
          exposureLocator: dinghy!.locator,
          hasErrors: true,
          message: expect.stringContaining("no longer has an exposure 'dinghy'"),
          perilValidationErrors: [
            {
              name: 'loss',
              hasErrors: true,
              message: expect.stringContaining("no longer has a peril 'loss'"),
            },
          ],
        },
      ],
      cancellationValidationErrors: [],
    })
    expect(await tenant.read(policy)).toEqual(before)
  })

  it('reports a different currency, time zone or payment schedule, or a missing product', async () => {
    const other = boat(1_200, {
      'config.json': JSON.stringify({ timezone: 'Europe/London', currency: 'GBP' }),
      [`${FOLDER}/policy.json`]: JSON.stringify({ fields: FIELDS, invoicing: SETTINGS.invoicing }),
    })
    const gone = Object.fromEntries(
      Object.entries(boat(1_200)).map(([path, file]) => [path.replace('/boat/', '/yacht/'), file]),
    )
    const tenant = await tenantWith('elsewhere', boat(1_200), other, gone)
    const policy = await tenant.issued({ paymentScheduleName: 'monthly' })
    const namesOf = async (configVersion: number): Promise<string[]> => {
      const { status, body } = await tenant.upgrade<Problem>(policy, { configVersion })
      expect(status).toBe(400)
      const { policyFieldErrors } = body.policyFieldErrors as PolicyUpgradeResponse['validationErrors']
      return policyFieldErrors!.errors.map(one => `${one.fieldName}: ${one.message}`)
    }
    expect(await namesOf(2)).toEqual([
      'currency: The policy is in EUR, but version 2 is in GBP.',
      'timezone: The policy counts days and months in Europe/Berlin, but version 2 uses Europe/London.',
      "paymentScheduleName: Version 2 has no payment schedule 'monthly'.",
    ])
    expect(await namesOf(3)).toEqual(["productName: Version 3 has no product 'boat'."])
    expect((await tenant.read(policy)).configVersion).toBe(1)
  })
})

describe('An invalid upgrade', () => {
  it('returns 400 for an unknown version, 404 for an unknown policy and 409 in the wrong state', async () => {
    const { upgrade, issued, create, call } = dearer
    const policy = await issued()
    const unknown = await upgrade<Problem>(policy, { configVersion: 9 })
    expect([unknown.status, unknown.body.code]).toEqual([400, 'unknownConfigVersion'])
    expect((await upgrade<Problem>(policy, { configVersion: 0 })).status).toBe(400)
    expect((await call('POST', '/policy/100000000/upgrade')).status).toBe(404)
    const finalized = await create()
    for (const dryRun of [true, false]) {
      const refused = await upgrade<Problem>(finalized, { dryRun })
      expect(refused.status).toBe(409)
      expect(refused.body.message).toContain('is finalized and cannot be upgraded; it allows issue, discard')
    }
    await call('POST', `/policy/${policy.locator}/withdraw`)
    expect((await upgrade(policy)).status).toBe(409)
  })
})

describe('Constraints of the new version', () => {
  it('are checked by the tables in force, except values that the former version rejects too', async () => {
    const held = (more: object) =>
      boat(
        120,
        {
          'security/test_users.json': JSON.stringify([
            { username: 'sam', name: 'Sam', password: 'password', roles: ['admin'] },
          ]),
        },
        FIELDS.map(one => (one === HARBOUR ? { ...one, ...more } : one)),
      )
    const constraint = { constraint: { table: 'harbours', column: 'harbour', where: {} } }
    const tenant = await tenantWith(
      'upgrade-constraints',
      held({}),
      held(constraint),
      held({ ...constraint, search: false }),
    )
    const policy = await tenant.issued()
    const moved = await tenant.issued()
    await tenant.endorse(moved, { state: 'issued', fieldValues: { harbour: 'Rostock' } })
    const dryRun = async (of: PolicyResponse, configVersion = 2) => {
      const { status, body } = await tenant.upgrade(of, { dryRun: true, configVersion })
      expect(status).toBe(200)
      return (body.validationErrors.policyFieldErrors?.errors ?? []).map(one => one.message)
    }
    // No table says what is allowed.
    expect(await dryRun(policy)).toEqual([
      expect.stringContaining("no constraint table 'harbours' is in force"),
    ])
    const root = `/resource/${tenant.tenantLocator}`
    const upload = (name: string, harbours: string[]) => {
      const form = new FormData()
      form.set('file', new Blob([`harbour\n${harbours.join('\n')}\n`]), 'harbours.csv')
      return tenant.call('POST', `${root}/constraints?name=${name}&staticName=harbours`, form)
    }
    const group = (name: string, selectionStartTime: string) =>
      tenant.call('POST', `${root}/groups`, { name, selectionStartTime, resourceNames: [name] })
    expect((await upload('north', ['Kiel', 'Husum'])).status).toBe(200)
    expect((await group('north', '2020-01-01T00:00:00Z')).status).toBe(200)
    expect(await dryRun(policy)).toEqual([])
    // The value that an endorsement sets for half of the term.
    expect(await dryRun(moved)).toEqual([
      "Field 'harbour' must be a value that the table 'harbours' permits: 'Kiel', 'Husum'; choose one of them.",
    ])
    const refused = await tenant.upgrade<Problem>(moved, { configVersion: 2 })
    expect([refused.status, refused.body.code]).toEqual([400, 'policyValidation'])
    expect((await tenant.upgrade(policy, { configVersion: 2 })).body.upgraded).toBe(true)
    // The table no longer has the value, so version 2 rejects it as version 3 does.
    await upload('south', ['Husum'])
    await group('south', '2021-01-01T00:00:00Z')
    expect(await dryRun(policy, 3)).toEqual([])
    const fresh = await tenant.issued()
    expect(await dryRun(fresh, 3)).toHaveLength(1)
  })
})
