// Erasure reaches everything: a name that occurs nowhere else is put wherever the service can put names, then overwritten, and
// then searched for in every column of every table and in every object of the tenant.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import type { PolicyDocumentResponse } from '../../src/policy/contract/documents.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import type { AccountMigrationResponse, MigrationResponse } from '../../src/servicing/migration/contract.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { fileAt, pdfTextAt, whenMade } from '../documents/waiting.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, motorWithoutPapers } from '../support/examples.ts'
import { migratedInvoice, migratedPolicy } from '../support/migrated.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { externallyRated, openRater, register } from '../support/rater.ts'
import { rememberTenant, restoreTo } from '../support/time-travel.ts'
import { withPlugins } from '../support/with-plugins.ts'

const MARKER = 'Zzyzxgrimm'
const FOLDER = 'products/private_motor/policy'
const NAME = '{{ data.policyholder.entity.values.last_name }}'

/** Writes the name to the log, an event, and auxiliary data of the policy. Reads it from global auxiliary data. */
const PLUGIN = `
exports.getPostIssuanceResult = data => {
  const name = socotraApi.getAuxData('global', 'name')
  console.log('issued for', name)
  socotraApi.createCustomEvent('custom.issued', { for: 'It is ' + name + '.' })
  socotraApi.setAuxData(data.policy ? data.policy.locator : 'nowhere', 'said', name)
  return {}
}
exports.getDataAutofill = () => ({})`

/** A lambda of the tenant that returns the name in its request. */
const LAMBDA =
  'exports.executeLambda = (operation, payload) => { console.log(payload.name); return { about: payload.name } }'

function files(): ArchiveFiles {
  const archive = motorWithoutPapers()
  const policy = JSON.parse(archive[`${FOLDER}/policy.json`] as string)
  policy.documents = [
    { displayName: 'Letter', fileName: 'letter.pdf', templateName: 'letter.template.liquid', type: 'pdf' },
    { displayName: 'Page', fileName: 'page.html', templateName: 'page.template.liquid', type: 'html' },
  ]
  archive[`${FOLDER}/policy.json`] = JSON.stringify(policy)
  archive[`${FOLDER}/letter.template.liquid`] = `<p>Dear ${NAME}</p>`
  archive[`${FOLDER}/page.template.liquid`] = `<p>Dear ${NAME}</p>`
  archive[`${FOLDER}/underwriting.guidelines.liquid`] =
    `{{ "accept" | set_underwriting_decision }}{% assign name = data.policyholder.entity.values.last_name %}{{ name | append: " asks" | add_underwriting_note }}`
  archive[`${FOLDER}/policy.calculations.liquid`] =
    '{{ 12.50 | add_fee: "policy_fee", data.policyholder.entity.values.last_name }}'
  archive['scripts/lambda/lambda.js'] = LAMBDA
  return externallyRated('Rater', withPlugins({ getPostIssuanceResult: PLUGIN }, archive))
}

let motor: Motor
let admin: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('erase-all', files())
  admin = await motor.signIn('anna.admin')
  await register(motor, 'Rater', await openRater())
}, 120_000)

/** The places that contain the marker: `table.column`, and the first part of object names. */
async function places(marker: string): Promise<string[]> {
  const database = boundDatabase(poolBinding(1))
  const { results: tables } = await database
    .prepare(`select name from sqlite_master where type = 'table' and substr(name, 1, 3) <> '_cf'`)
    .all<{ name: string }>()
  const found = new Set<string>()
  const has = (text: string): boolean => text.toLowerCase().includes(marker.toLowerCase())
  for (const { name } of tables) {
    const { results } = await database.prepare(`select * from "${name}"`).all<Record<string, unknown>>()
    for (const row of results)
      for (const [column, value] of Object.entries(row))
        if (has(String(value))) found.add(`${name}.${column}`)
  }
  const { results: control } = await env.CONTROL.prepare('select * from tenant').all()
  if (has(JSON.stringify(control))) found.add('control')
  const { objects } = await env.FILES.list({ prefix: `${motor.tenantLocator}/` })
  for (const { key } of objects)
    if (has((await (await env.FILES.get(key))?.text()) ?? '')) found.add(key.split('/')[2]!)
  return [...found].sort()
}

type Known = { holder: string; policy: string; documents: readonly PolicyDocumentResponse[] }

const documentsOf = (policy: string) =>
  whenMade(
    () => callOk<PolicyResponse>('GET', `/policy/${policy}`, { token: motor.token }),
    ({ documents }) => documents,
  )

/** Creates a policyholder of that name and performs every operation that may store the name. */
async function everythingOf(marker: string): Promise<Known> {
  const { token } = motor
  const key = () => ({ 'idempotency-key': crypto.randomUUID() })
  await callOk('PUT', '/auxData/global', { token, body: { auxData: [{ key: 'name', value: marker }] } })
  const { locator: holder } = await callOk<PolicyholderResponse>('POST', '/policyholder/create', {
    token,
    headers: key(),
    body: { completed: true, values: { last_name: marker, first_name: 'Ada' } },
  })
  const request = { ...plainYear().request.policy, policyholderLocator: holder }
  await callOk('POST', `/policy/${motor.tenantLocator}/quickquotes`, { token, headers: key(), body: request })
  const { locator: policy } = await callOk<PolicyResponse>('POST', '/policy', {
    token,
    headers: key(),
    body: request,
  })
  await callOk('POST', `/policy/${policy}/price`, { token, headers: key() })
  const issued = await callOk<PolicyResponse>('POST', `/policy/${policy}/issue`, { token, headers: key() })
  const renewal = await callOk<EndorsementResponse>('POST', `/policies/${policy}/renewals`, {
    token,
    headers: key(),
    body: { renewalEndTimestamp: Number(issued.effectiveContractEndTimestamp) + 365 * 86_400_000 },
  })
  await callOk('PATCH', `/renewals/${renewal.locator}`, { token, headers: key(), body: { action: 'quote' } })
  const asked = { token, headers: key(), body: { name: marker } }
  await callOk('POST', '/lambda/about', asked)
  const { documents } = await documentsOf(policy)
  return { holder, policy, documents }
}

const TABLES_OF_POLICIES = [
  'exposure',
  'peril',
  'quote',
  'modification',
  'endorsement',
  'fee',
  'invoice',
  'installment',
  'payment',
  'document',
]

/** The locators of the records in the response: values of `locator`, `…Locator`, `…Locators`, and names in `…ByLocator`. */
function locatorsIn(answer: unknown, name = ''): string[] {
  if (typeof answer === 'string')
    return /^locator$|Locators?$/.test(name) && !/^(product|config|user)/.test(name) ? [answer] : []
  if (typeof answer !== 'object' || answer === null) return []
  if (Array.isArray(answer)) return answer.flatMap(one => locatorsIn(one, name))
  return Object.entries(answer).flatMap(([property, value]) => [
    ...(name.endsWith('ByLocator') ? [property] : []),
    ...locatorsIn(value, property),
  ])
}

const textOf = async (document: PolicyDocumentResponse): Promise<string | undefined> =>
  document.type === 'html'
    ? new TextDecoder().decode((await fileAt(document.url!)).bytes)
    : pdfTextAt(document.url!)

describe('PATCH /policyholder/{locator}/overwriteData', () => {
  it('removes the value from every table and every object', async () => {
    const { holder, policy, documents } = await everythingOf(MARKER)
    // The places where the test must find the name first. Without them, the final check would prove nothing.
    await expect
      .poll(() => places(MARKER), { timeout: 10_000 })
      .toEqual([
        'aux_data.value',
        'documents',
        'endorsement.underwriting',
        'event.data',
        'fee.description',
        'integration-calls',
        'modification.underwriting',
        'plugin_log.lines',
        'policyholder.entity',
        'policyholder_term.term',
        'quick_quote.answer',
        'quote.underwriting',
        'write.answer',
      ])
    for (const document of documents) {
      const text = await textOf(document)
      if (text !== undefined) expect(text).toContain(`Dear ${MARKER}`)
    }

    // Global auxiliary data belongs to no policyholder, so the client that wrote it must delete it.
    await callOk('PUT', '/auxData/global', {
      token: motor.token,
      body: { auxData: [{ key: 'name', value: '-' }] },
    })
    await callOk('PATCH', `/policyholder/${holder}/overwriteData`, {
      token: motor.token,
      body: { overwrites: { last_name: 'Erased' } },
    })
    // Objects in R2 are deleted by a timer of the same commit.
    await callOk('POST', '/test/clock', {
      token: motor.token,
      body: { advance: { amount: 1, unit: 'minute' } },
    })
    await expect.poll(() => places(MARKER), { timeout: 60_000, interval: 250 }).toEqual([])

    // Documents are generated again with the current name, and earlier URLs return them too.
    const after = (await documentsOf(policy)).documents
    expect(after.map(({ displayName, state }) => `${displayName} ${state}`)).toEqual(
      documents.map(({ displayName, state }) => `${displayName} ${state}`),
    )
    for (const document of [...after, ...documents]) {
      const text = await textOf(document)
      if (text !== undefined) expect(text).toContain('Dear Erased')
    }
    const trail = await callApi<{ events: { type: string; data: Record<string, string> }[] }>(
      'GET',
      '/eventstream/events?eventType=custom.issued',
      { token: admin },
    )
    expect(JSON.stringify(trail.body)).toContain('It is Erased.')
    const aux = await callOk<{ value: string }>('GET', `/auxData/${policy}/said`, { token: motor.token })
    expect(aux.value).toBe('Erased')
  }, 180_000)

  it('reaches auxiliary data of every record of the policies, and events that a restore saved', async () => {
    const marker = 'Wolpertinger'
    const { token } = motor
    const { holder, policy } = await everythingOf(marker)
    const shown = await callOk<PolicyResponse>('GET', `/policy/${policy}`, { token })
    await callOk('POST', `/invoice/${shown.invoices[0]!.locator}/pay`, {
      token,
      body: { fieldValues: { method: 'card' } },
    })
    const database = boundDatabase(poolBinding(1))
    const rows = await database.batch<{ locator: string }>(
      TABLES_OF_POLICIES.map(table =>
        database
          .prepare(`select cast(locator as text) as locator from ${table} where policy_locator = ?`)
          .bind(Number(policy)),
      ),
    )
    const results = rows.flatMap(table => table.results)
    expect(results.length).toBeGreaterThan(15)
    for (const { locator } of results)
      await callOk('PUT', `/auxData/${locator}`, {
        token,
        body: { auxData: [{ key: 'said', value: `by ${marker}` }] },
      })
    // A restore that was interrupted after its end, or one of an earlier release, leaves the events that it saved.
    await restoreTo(motor.tenantLocator, await rememberTenant(motor.tenantLocator))
    expect(await places(marker)).toEqual(expect.arrayContaining(['aux_data.value', 'restores']))
    await callOk('PUT', '/auxData/global', { token, body: { auxData: [{ key: 'name', value: '-' }] } })
    await callOk('PATCH', `/policyholder/${holder}/overwriteData`, {
      token,
      body: { overwrites: { last_name: 'Erased' } },
    })
    await callOk('POST', '/test/clock', { token, body: { advance: { amount: 1, unit: 'minute' } } })
    await expect.poll(() => places(marker), { timeout: 60_000, interval: 250 }).toEqual([])
  }, 180_000)

  it('reaches auxiliary data of records without rows, such as characteristics, changes and taxes', async () => {
    const marker = 'Basilisk'
    const { token } = motor
    const key = () => ({ 'idempotency-key': crypto.randomUUID() })
    const { holder, policy } = await everythingOf(marker)
    const shown = () => callOk<PolicyResponse>('GET', `/policy/${policy}`, { token })
    const { originalContractStartTimestamp: start } = await shown()
    const named = new Set<string>()
    const name = async (paths: readonly string[]) => {
      for (const path of paths)
        for (const one of locatorsIn(await callOk('GET', path, { token }))) named.add(one)
    }
    const paths = [`/policy/${policy}`, `/policy/${policy}/checkInvoices`, `/policyholder/${holder}`]
    // One after the other: the second moves runs that the first cut, and is then invalidated.
    for (const [days, state] of [
      [100, 'issued'],
      [40, 'accepted'],
    ] as const) {
      const { locator } = await callOk<EndorsementResponse>('POST', `/policies/${policy}/endorsements`, {
        token,
        headers: key(),
        body: {
          endorsementName: 'change_of_risk',
          fieldValues: { claims_free_years: '3' },
          startTimestamp: String(Number(start) + days * 86_400_000),
          conflictHandling: 'invalidate',
          state,
        },
      })
      await name(paths)
      if (state === 'accepted')
        await callOk('PATCH', `/endorsements/${locator}`, {
          token,
          headers: key(),
          body: { action: 'invalidate' },
        })
    }
    await name(paths)
    const versions = new Set([...named].map(one => (one.includes('-') ? one[14] : 'digits')))
    expect([...versions].sort()).toEqual(['4', '5', '8', 'digits'])
    for (const locator of named)
      await callOk('PUT', `/auxData/${locator}`, {
        token,
        body: { auxData: [{ key: 'said', value: `by ${marker}` }] },
      })
    await callOk('PUT', '/auxData/global', { token, body: { auxData: [{ key: 'name', value: '-' }] } })
    const overwritten = await callApi('PATCH', `/policyholder/${holder}/overwriteData`, {
      token,
      body: { overwrites: { last_name: 'Erased' } },
    })
    // Four as for a policyholder without policies, one for the policy, and one for the data under its locators.
    expect([overwritten.status, roundTrips(overwritten).d1]).toEqual([200, 6])
    const values = await Promise.all(
      [...named].map(one => callOk<{ value: string }>('GET', `/auxData/${one}/said`, { token })),
    )
    expect(values.filter(({ value }) => value !== 'by Erased')).toEqual([])
  }, 180_000)

  it('generates a document again with the earlier data, except for the overwritten values', async () => {
    const { token } = motor
    const { holder, policy } = await everythingOf('Formername')
    await callOk('POST', '/policyholder/update', {
      token,
      body: { locator: holder, version: 1, completed: true, values: { last_name: 'Latername' } },
    })
    await callOk('PATCH', `/policyholder/${holder}/overwriteData`, {
      token,
      body: { overwrites: { first_name: 'Erased' } },
    })
    const page = (await documentsOf(policy)).documents.find(({ type }) => type === 'html')!
    expect(await textOf(page)).toContain('Dear Formername')
  })

  it('of a common word does not change data of others or the event data of the service', async () => {
    const { token } = motor
    const created = await motor.createPolicy({ finalize: false })
    const { locator: holder } = await callOk<PolicyholderResponse>('POST', '/policyholder/create', {
      token,
      body: { completed: true, values: { last_name: '1' } },
    })
    const aux = (locator: string) =>
      callOk('PUT', `/auxData/${locator}`, { token, body: { auxData: [{ key: 'n', value: 'no. 1' }] } })
    for (const locator of [created.body.locator, 'global', holder]) await aux(locator)
    await callOk('PATCH', `/policyholder/${holder}/overwriteData`, {
      token,
      body: { overwrites: { last_name: 'Erased' } },
    })
    const read = async (locator: string) =>
      (await callOk<{ value: string }>('GET', `/auxData/${locator}/n`, { token })).value
    expect(await read(holder)).toBe('no. Erased')
    expect([await read(created.body.locator), await read('global')]).toEqual(['no. 1', 'no. 1'])
    const { results } = await boundDatabase(poolBinding(1))
      .prepare(`select data from ${EVERY_EVENT} where policyholder_locator = ? order by sequence`)
      .bind(holder)
      .all<{ data: string }>()
    expect(results.map(({ data }) => JSON.parse(data).version)).toEqual(['1', '2'])
  })

  it('changes nothing of another policyholder', async () => {
    const other = await everythingOf('Otherperson')
    const before = await places('Otherperson')
    const { locator: holder } = await callOk<PolicyholderResponse>('POST', '/policyholder/create', {
      token: motor.token,
      body: { completed: true, values: { last_name: 'Somebody' } },
    })
    await callOk('PATCH', `/policyholder/${holder}/overwriteData`, {
      token: motor.token,
      body: { overwrites: { last_name: 'Erased' } },
    })
    await expect.poll(() => places('Somebody')).toEqual([])
    // Calls of services without a policy cannot be attributed to a policyholder, so they are deleted. Those of the other policy
    // remain.
    expect(await places('Otherperson')).toEqual(before)
    expect((await documentsOf(other.policy)).documents.map(({ url }) => url !== undefined)).toEqual([
      true,
      true,
    ])
  }, 180_000)

  it('reaches the requests of an unfinished migration, which can still be corrected', async () => {
    const marker = 'Quixthorpe'
    const root = `/migration/${motor.tenantLocator}/migrations`
    const data = { ...plainYear().request.policyholder.values, last_name: marker }
    const broken = (product: string) => {
      const policy = structuredClone(migratedPolicy('P2', 'I2', { productName: product }))
      const [driver] = policy.terms[0]!.transactions[0]!.segment.rootElement.data.named_drivers
      driver!.full_name = `Ada ${marker}`
      return policy
    }
    const account = (id: string, values: object, policies: object[]) => ({
      accountData: { id, data: values },
      policies,
      invoices: policies.map((_, at) => migratedInvoice(`I${at + 1}`)),
    })
    const { locator } = await callOk<MigrationResponse>('POST', root, {
      token: admin,
      body: [
        account('first', plainYear().request.policyholder.values, [migratedPolicy('P1', 'I1')]),
        account('erased', data, [migratedPolicy('P1', 'I1'), broken('unknown')]),
        account('last', plainYear().request.policyholder.values, [migratedPolicy('P1', 'I9')]),
      ],
    })
    const failed = () =>
      expect
        .poll(
          async () =>
            (await callOk<MigrationResponse>('GET', `${root}/${locator}`, { token: admin })).migrationState,
          {
            timeout: 60_000,
          },
        )
        .toBe('failed')
    await failed()
    const { items } = await callOk<{ items: AccountMigrationResponse[] }>(
      'GET',
      `${root}/${locator}/accounts/list`,
      {
        token: admin,
      },
    )
    const [, { accountLocator }, last] = items as [
      unknown,
      AccountMigrationResponse,
      AccountMigrationResponse,
    ]
    const patch = (body: object) =>
      callOk('PATCH', `${root}/${locator}`, { token: admin, body: { accountLocator, ...body } })
    // Corrected once, and still wrong: it is in two files now.
    await patch({ policies: { P2: broken('unheard') } })
    await failed()
    expect(await places(marker)).toEqual(['migrations', 'policyholder.entity', 'policyholder_term.term'])
    await callOk('PATCH', `/policyholder/${accountLocator}/overwriteData`, {
      token: motor.token,
      body: { overwrites: { last_name: 'Erased' } },
    })
    expect(await places(marker)).toEqual([])
    // The other accounts of the migration remain unchanged.
    await callOk('PATCH', `${root}/${locator}`, {
      token: admin,
      body: { accountLocator: last.accountLocator, policies: { P1: migratedPolicy('P1', 'I1') } },
    })
    await patch({ policies: { P2: migratedPolicy('P2', 'I2') } })
    await expect
      .poll(
        async () =>
          (await callOk<MigrationResponse>('GET', `${root}/${locator}`, { token: admin })).migrationState,
      )
      .toBe('finished')
  }, 180_000)
})
