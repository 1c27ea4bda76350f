// Listing the documents of a policy with their records, and generating them again after their template was repaired.
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../src/kernel/locators.ts'
import type { RecordDocumentResponse } from '../../src/policy/contract/documents.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { administratorToken } from '../product/deploying.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, archiveOf, deployForm, exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'
import { fileAt, whenMade } from './waiting.ts'

const FOLDER = 'products/private_motor/policy'

/** The motor example with one document for each of these templates when a policy is issued, and no others. */
function filesWith(templates: Record<string, string>): ArchiveFiles {
  const files: Record<string, string | Uint8Array> = exampleFiles('motor')
  const policy = JSON.parse(new TextDecoder().decode(files[`${FOLDER}/policy.json`] as Uint8Array))
  policy.documents = Object.keys(templates).map(name => ({
    displayName: name,
    fileName: `${name}.html`,
    templateName: `${name}.template.liquid`,
    type: 'html',
  }))
  files[`${FOLDER}/policy.json`] = JSON.stringify(policy)
  for (const [name, source] of Object.entries(templates)) files[`${FOLDER}/${name}.template.liquid`] = source
  delete files[`${FOLDER}/invoice.template.liquid`]
  return files
}

const TEMPLATES = {
  schedule: '<p>Schedule of {{ data.policy.display_id }}</p>',
  broken: '<p>{{ 1 | divided_by: 0 }}</p>',
}

let motor: Motor
let policy: PolicyResponse

const path = (rest = ''): string => `/policies/${policy.locator}/documents${rest}`
const listed = async (query = ''): Promise<RecordDocumentResponse[]> =>
  (await motor.get<RecordDocumentResponse[]>(path(query))).body
const settled = () => whenMade(listed, list => list)
const named = (list: readonly RecordDocumentResponse[], name: string) =>
  list.find(one => one.displayName === name)!
const textOf = async ({ url }: RecordDocumentResponse): Promise<string> =>
  new TextDecoder().decode((await fileAt(url!)).bytes)

async function repairWith(templates: Record<string, string>): Promise<void> {
  const body = deployForm(archiveOf(filesWith(templates)), { tenantName: motor.tenantName, version: '1' })
  const answer = await callApi<{ success: boolean }>('POST', '/configuration/studio/repair', {
    token: await administratorToken(),
    body,
  })
  expect(answer.body.success).toBe(true)
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('madeagain', filesWith(TEMPLATES))
  const { body } = await motor.createPolicy()
  const upload = new FormData()
  upload.set('document', new Blob(['<p>Proof of address</p>'], { type: 'text/html' }), 'proof.html')
  await motor.post(`/policy/${body.locator}/addDocument?displayName=Proof&documentType=html`, upload)
  policy = (await motor.post(`/policy/${body.locator}/issue`)).body
}, 60_000)

describe('The documents of a policy', () => {
  it('are listed with their records in one round trip', async () => {
    const list = await settled()
    const own = { recordType: 'policy', recordLocator: policy.locator }
    expect(list.map(one => [one.displayName, one.state])).toEqual([
      ['Proof', 'ready'],
      ['schedule', 'ready'],
      ['broken', 'renderError'],
    ])
    expect(named(list, 'Proof')).toMatchObject({ ...own, isUploaded: true })
    expect(named(list, 'schedule')).toMatchObject({ ...own, isUploaded: false })
    expect(await textOf(named(list, 'schedule'))).toContain('Schedule of')
    const answer = await motor.get<RecordDocumentResponse[]>(path('?failed=true'))
    expect(answer.body.map(one => [one.displayName, one.url])).toEqual([['broken', undefined]])
    expect(roundTrips(answer)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    expect(await listed('?recordType=invoice')).toEqual([])
    expect((await listed(`?recordLocator=${policy.locator}`)).length).toBe(3)
  })

  it('fail again while their template is broken, and are generated once it is repaired', async () => {
    const before = named(await settled(), 'broken')
    const again = await motor.post<RecordDocumentResponse[]>(path('/makeAgain'))
    expect([again.status, again.body.map(one => one.state)]).toEqual([200, ['ready', 'ready', 'draft']])
    expect(roundTrips(again)).toMatchObject({ object: 1, r2: 0 })
    expect(named(await settled(), 'broken').state).toBe('renderError')

    await repairWith({ ...TEMPLATES, broken: '<p>Mended for {{ data.policy.display_id }}</p>' })
    await motor.post(path('/makeAgain'))
    const mended = named(await settled(), 'broken')
    expect([mended.state, mended.locator, mended.failureMessage]).toEqual([
      'ready',
      before.locator,
      undefined,
    ])
    expect(await textOf(mended)).toContain('Mended for')
    expect((await motor.get<{ items: unknown[] }>('/workLists/failedDocuments')).body.items).toEqual([])
    const { body } = await motor.get<{ events: { type: string; data: { documentLocator: string } }[] }>(
      `/event/${motor.tenantLocator}/events/list?pageSize=1000`,
    )
    const of = body.events.filter(one => one.data.documentLocator === before.locator).map(one => one.type)
    expect(of).toEqual(['document.failed', 'document.failed', 'document.ready'])
  })

  it('can be generated again by locator although they are ready, and keep their locator', async () => {
    await repairWith({ ...TEMPLATES, schedule: '<p>New layout</p>' })
    const { locator } = named(await settled(), 'schedule')
    const answer = await motor.post<RecordDocumentResponse[]>(path('/makeAgain'), {
      documentLocators: [locator],
    })
    expect(named(answer.body, 'schedule')).toMatchObject({ locator, state: 'draft' })
    expect(named(answer.body, 'broken').state).toBe('ready')
    expect(await textOf(named(await settled(), 'schedule'))).toContain('New layout')
  })

  it('are unchanged by makeAgain when none failed', async () => {
    const list = await settled()
    const key = { 'idempotency-key': 'again' }
    const once = await motor.post<RecordDocumentResponse[]>(path('/makeAgain'), {}, key)
    const twice = await motor.post<RecordDocumentResponse[]>(path('/makeAgain'), {}, key)
    const states = (all: readonly RecordDocumentResponse[]) =>
      all.map(({ locator, state }) => [locator, state])
    expect(states(once.body)).toEqual(states(list))
    expect(states(twice.body)).toEqual(states(list))
  })

  it('cannot be generated again when uploaded (409), unknown (404) or badly requested (400)', async () => {
    const refusal = async (body: object) => {
      const answer = await motor.post<{ code: string }>(path('/makeAgain'), body)
      return [answer.status, answer.body.code]
    }
    const { locator } = named(await settled(), 'Proof')
    expect(await refusal({ documentLocators: [locator] })).toEqual([409, 'wrongState'])
    expect(await refusal({ documentLocators: [policy.locator] })).toEqual([404, 'notFound'])
    expect(await refusal({ documentLocators: [newUuid(0)] })).toEqual([404, 'notFound'])
    expect(await refusal({ documentLocators: [] })).toEqual([400, 'invalidRequest'])
    expect(await refusal({ documentLocators: 'x' })).toEqual([400, 'invalidRequest'])
    for (const policyLocator of ['1', 'x', '99999999999999999999']) {
      expect((await motor.get(`/policies/${policyLocator}/documents`)).status).toBe(404)
      expect((await motor.post(`/policies/${policyLocator}/documents/makeAgain`)).status).toBe(404)
    }
    expect((await motor.get(path('?recordType=boat'))).status).toBe(400)
    expect((await motor.get(path('?failed=perhaps'))).status).toBe(400)
  })
})
