// Media through HTTP: uploaded, named by fields, shown with addresses wherever they are named.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Media } from '../../src/documents/contract.ts'
import type { EndorsementResponse } from '../../src/endorsements/contract.ts'
import type { PolicyResponse } from '../../src/policies/contract/response.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { fileAt } from './waiting.ts'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('media')
})

const upload = async (
  content: string | Uint8Array<ArrayBuffer> = PNG,
  { query = '?fileName=front.png', name = 'upload', headers = {} as Record<string, string>, type = '' } = {},
) => {
  const form = new FormData()
  form.set('file', new Blob([content], { type }), name)
  return await callApi<Media>('POST', `/media/${query}`, { token: motor.token, body: form, headers })
}

/** The plain policy's exposures, its vehicle with these photographs. */
const withPhotos = (photos: string[]) => {
  const { exposures } = plainYear().request.policy as {
    exposures: { exposureName: string; fieldValues: object }[]
  }
  return {
    exposures: exposures.map(one =>
      one.exposureName === 'vehicle' ? { ...one, fieldValues: { ...one.fieldValues, photos } } : one,
    ),
  }
}

describe('POST /media and GET /media/{locator}', () => {
  it('answers with what the bytes are and an address where they are', async () => {
    const { status, body } = await upload(PNG, { type: 'text/html' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ fileName: 'front.png', mimeType: 'image/png' })
    const { headers, bytes } = await fileAt(body.url)
    expect([headers.get('content-type'), bytes]).toEqual(['image/png', PNG])
    const again = await motor.get<Media>(`/media/${body.locator}`)
    expect(again.body).toMatchObject({ locator: body.locator, fileName: 'front.png', mimeType: 'image/png' })
    expect((await fileAt(again.body.url)).bytes).toEqual(PNG)
  })

  it('takes the name of the part, and the client at its word for what has no mark', async () => {
    const { body } = await upload('a,b\n1,2\n', { query: '', name: '..\\list.csv', type: 'text/csv' })
    expect(body).toMatchObject({ fileName: 'list.csv', mimeType: 'text/csv' })
  })

  it('a repeat with the same key is the same medium', async () => {
    const headers = { 'idempotency-key': 'front-of-the-car' }
    const [first, again] = [await upload(PNG, { headers }), await upload(PNG, { headers })]
    expect(again.body.locator).toBe(first.body.locator)
  })

  it('an empty file is refused, one too large too, an unknown locator is not found', async () => {
    expect((await upload('')).status).toBe(400)
    expect((await upload(new Uint8Array(25 * 1024 * 1024 + 1))).status).toBe(413)
    expect((await motor.get(`/media/${crypto.randomUUID()}`)).status).toBe(404)
    expect((await motor.get('/media/nothing')).status).toBe(404)
  })

  it("is not another tenant's", async () => {
    const { body } = await upload()
    const other = await motorTenant('mediaother')
    expect((await other.get(`/media/${body.locator}`)).status).toBe(404)
  })
})

describe('media fields', () => {
  it('show what they name, with an address, in every answer', async () => {
    const { body: medium } = await upload()
    const created = await motor.createPolicy({ ...withPhotos([medium.locator]) })
    expect(created.status).toBe(200)
    const shown = (policy: PolicyResponse) =>
      policy.exposures.find(one => one.name === 'vehicle')!.characteristics[0]!.mediaByLocator
    expect(Object.keys(shown(created.body))).toEqual([medium.locator])
    const { body } = await motor.get<PolicyResponse>(`/policy/${created.body.locator}`)
    const [photo] = Object.values(shown(body))
    expect(photo).toMatchObject({ locator: medium.locator, fileName: 'front.png', mimeType: 'image/png' })
    expect((await fileAt(photo!.url)).bytes).toEqual(PNG)
    const others = body.exposures.flatMap(one => one.perils).flatMap(one => one.characteristics)
    expect(
      [body.characteristics, others].flat().every(one => Object.keys(one.mediaByLocator).length === 0),
    ).toBe(true)
  })

  it('two policies may name the same medium', async () => {
    const { body: medium } = await upload()
    for (let count = 0; count < 2; count += 1) {
      const { body } = await motor.createPolicy(withPhotos([medium.locator]))
      const read = await callOk<PolicyResponse>('GET', `/policy/${body.locator}`, { token: motor.token })
      expect(JSON.stringify(read)).toContain('front.png')
    }
  })

  it('an endorsement adds one', async () => {
    const { body: created } = await motor.createPolicy()
    const { body: policy } = await motor.post(`/policy/${created.locator}/issue`)
    const { body: medium } = await upload()
    const vehicle = policy.exposures.find(one => one.name === 'vehicle')!
    const { status } = await motor.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: Number(policy.originalContractStartTimestamp) + 86_400_000,
      updateExposures: [{ exposureLocator: vehicle.locator, fieldValues: { photos: [medium.locator] } }],
      state: 'issued',
    })
    expect(status).toBe(200)
    const { body } = await motor.get<PolicyResponse>(`/policy/${policy.locator}`)
    const segments = body.exposures.find(one => one.name === 'vehicle')!.characteristics
    expect(segments.map(one => Object.keys(one.mediaByLocator).length)).toContain(1)
  })

  it('a locator that nobody uploaded is refused, and nothing is written', async () => {
    const { status, body } = await motor.createPolicy(withPhotos([crypto.randomUUID()]))
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('POST /media')])
  })

  it('cost a read of their own only when they are new', async () => {
    const { body: medium } = await upload()
    const { body: created } = await motor.createPolicy({ finalize: false, ...withPhotos([medium.locator]) })
    await motor.get('/v1/ping/authorized')
    const finalized = await motor.post(`/policy/${created.locator}/finalize`)
    expect(roundTrips(finalized)).toMatchObject({ d1: 1 })
  })
})
