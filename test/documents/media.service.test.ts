// Media through HTTP: uploaded, named by fields, and shown with URLs wherever they are named.
import { env, exports } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { PaymentResponse, PolicyInvoiceResponse } from '../../src/policy/contract/billing.ts'
import type { Media } from '../../src/policy/contract/documents.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { deployExample, exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips, workedOf } from '../support/motor.ts'
import { fileAt } from './waiting.ts'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('media', exampleFiles('motor'))
})

const upload = async (
  content: string | Uint8Array<ArrayBuffer> = PNG,
  {
    query = '?fileName=front.png',
    name = 'upload',
    headers = {} as Record<string, string>,
    type = '',
    token = motor.token,
  } = {},
) => {
  const form = new FormData()
  form.set('file', new Blob([content], { type }), name)
  return await callApi<Media>('POST', `/media/${query}`, { token, body: form, headers })
}

/** The exposures of the plain policy, with these photographs for the vehicle. */
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
  it('return the media type of the content and a URL of the file', async () => {
    const { status, body } = await upload(PNG, { type: 'text/html' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ fileName: 'front.png', mimeType: 'image/png' })
    const { headers, bytes } = await fileAt(body.url)
    expect([headers.get('content-type'), bytes]).toEqual(['image/png', PNG])
    const again = await motor.get<Media>(`/media/${body.locator}`)
    expect(again.body).toMatchObject({ locator: body.locator, fileName: 'front.png', mimeType: 'image/png' })
    expect((await fileAt(again.body.url)).bytes).toEqual(PNG)
  })

  it('use the file name of the form part, and the client’s media type where the content has no signature', async () => {
    const { body } = await upload('a,b\n1,2\n', { query: '', name: '..\\list.csv', type: 'text/csv' })
    expect(body).toMatchObject({ fileName: 'list.csv', mimeType: 'text/csv' })
  })

  it('remove characters that change the text direction from file names', async () => {
    const turned = '\u2066bill\u2069\u202egnp.exe'
    for (const given of [{ query: '', name: turned }, { query: `?fileName=${encodeURIComponent(turned)}` }])
      expect((await upload(PNG, given)).body).toMatchObject({
        fileName: 'billgnp.exe',
        mimeType: 'image/png',
      })
  })

  it('derive the media type from the file name when the part has none or a generic one', async () => {
    const boundary = 'the-boundary'
    const sent = async (query: string, name: string, type: string) => {
      const lines = [
        `--${boundary}`,
        `Content-Disposition: form-data; name="file"; filename="${name}"`,
        ...(type === '' ? [] : [`Content-Type: ${type}`]),
        '',
        'a,b',
        `--${boundary}--`,
        '',
      ]
      const { status, body } = await callApi<Media>('POST', `/media/${query}`, {
        token: motor.token,
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: lines.join('\r\n'),
      })
      expect(status).toBe(200)
      expect((await fileAt(body.url)).headers.get('content-type')).toBe(body.mimeType)
      return body.mimeType
    }
    const unknown = 'application/octet-stream'
    expect(await sent('', 'List.CSV', '')).toBe('text/csv')
    expect(await sent('', 'list.csv', unknown)).toBe('text/csv')
    expect(await sent('?fileName=letter.docx', 'upload', unknown)).toMatch(/wordprocessingml/)
    expect(await sent('?fileName=letter', 'photo.heic', '')).toBe('image/heic')
    expect(await sent('', 'list.csv', 'text/plain; charset=utf-8')).toBe('text/plain')
    expect(await sent('', 'list.constructor', '')).toBe(unknown)
    expect(await sent('', 'list', unknown)).toBe(unknown)
  })

  it('shorten a long file name but keep its extension, and never cut within a character', async () => {
    for (const [given, kept] of [
      [`${'a'.repeat(1_000)}.png`, `${'a'.repeat(196)}.png`],
      [`${'a'.repeat(195)}\u{1f697}${'b'.repeat(50)}.png`, `${'a'.repeat(195)}.png`],
      [`${'a'.repeat(199)}\u{1f697}`, 'a'.repeat(199)],
    ] as const) {
      const { status, body } = await upload(PNG, { query: '', name: given })
      expect([status, body.fileName]).toEqual([200, kept])
    }
  })

  it('offer the file for saving under its name, in any script', async () => {
    for (const [name, disposition] of [
      ['front.png', 'attachment; filename="front.png"'],
      ['photo (1).png', 'attachment; filename="photo (1).png"'],
      [
        "Tür (1) *don't*.png",
        `attachment; filename="T_r (1) *don't*.png"; filename*=UTF-8''T%C3%BCr%20%281%29%20%2Adon%27t%2A.png`,
      ],
    ] as const) {
      const { body } = await upload(PNG, { query: '', name })
      expect((await fileAt(body.url)).headers.get('content-disposition')).toBe(disposition)
    }
  })

  it('ignore a malformed If-None-Match and return 400 for a malformed If-Match', async () => {
    const { body } = await upload()
    const tag = (await fileAt(body.url)).headers.get('etag')!
    const statusOf = async (headers: Record<string, string>) => (await fileAt(body.url, headers)).status
    for (const text of ['x', 'x"', '"x', ',', `${tag} ${tag}`, '*, *', 'W/x', 'W/'])
      for (const range of [{}, { range: 'bytes=0-4' }] as Record<string, string>[]) {
        expect(await statusOf({ ...range, 'if-none-match': text })).toBe('range' in range ? 206 : 200)
        expect(await statusOf({ ...range, 'if-match': text })).toBe(400)
      }
    for (const text of [tag, `W/${tag}`, `"x" , ${tag}`, `${tag},`, `, ,"x",,${tag} ,`, '*', ' * '])
      expect(await statusOf({ 'if-none-match': text })).toBe(304)
    for (const text of ['"x"', 'W/"x"', '"x","y"', '""'])
      expect(await statusOf({ 'if-none-match': text })).toBe(200)
    const wanted = [tag, `${tag},`, `,"x", ,${tag}`, '"x"', '*']
    expect(await Promise.all(wanted.map(text => statusOf({ 'if-match': text })))).toEqual([
      200, 200, 200, 412, 200,
    ])
  })

  it('evaluate If-Match before If-None-Match, and If-Unmodified-Since before If-Modified-Since', async () => {
    const { body } = await upload()
    const tag = (await fileAt(body.url)).headers.get('etag')!
    const statusOf = async (headers: Record<string, string>) => (await fileAt(body.url, headers)).status
    const past = 'Sun, 01 Jan 2023 00:00:00 GMT'
    const later = 'Tue, 01 Jan 2075 00:00:00 GMT'
    for (const known of [{ 'if-none-match': tag }, { 'if-modified-since': later }] as Record<
      string,
      string
    >[]) {
      expect(await statusOf({ ...known, 'if-match': '"x"' })).toBe(412)
      expect(await statusOf({ ...known, 'if-unmodified-since': past })).toBe(412)
      expect(await statusOf({ ...known, 'if-match': tag })).toBe(304)
      expect(await statusOf({ ...known, 'if-match': '*', 'if-unmodified-since': past })).toBe(304)
      expect(await statusOf({ ...known, 'if-unmodified-since': later, range: 'bytes=0-1' })).toBe(304)
    }
    // Each date counts only when the corresponding tag is not sent.
    expect(await statusOf({ 'if-match': tag, 'if-unmodified-since': past })).toBe(200)
    expect(await statusOf({ 'if-none-match': '"x"', 'if-modified-since': later })).toBe(200)
    expect(await statusOf({ 'if-match': '"x"', 'if-none-match': '"x"' })).toBe(412)
  })

  it('return 416 only for a range beyond the file, and 503 when the store fails', async () => {
    const { body } = await upload()
    const statusOf = async (range: string) => (await fileAt(body.url, { range })).status
    const ranges = ['bytes=0-4', 'bytes=10-', 'bytes=-1', 'bytes=11-', 'bytes=-0']
    const expected = [206, 206, 206, 416, 416]
    for (const [index, range] of ranges.entries()) {
      expect(await statusOf(range)).toBe(expected[index])
      const failing = vi
        .spyOn(Object.getPrototypeOf(env.FILES) as R2Bucket, 'get')
        .mockRejectedValueOnce(new Error('get: We encountered an internal error. (10001)'))
      expect(await statusOf(range)).toBe(expected[index] === 416 ? 416 : 503)
      failing.mockRestore()
    }
  })

  it('keep the address of a file out of the log when the store fails: anyone who has it can read the file', async () => {
    const { body } = await upload()
    const logged = vi.spyOn(console, 'error').mockReturnValue(undefined)
    const failing = vi
      .spyOn(Object.getPrototypeOf(env.FILES) as R2Bucket, 'get')
      .mockRejectedValueOnce(new Error('get: We encountered an internal error. (10001)'))
    expect((await fileAt(body.url)).status).toBe(503)
    const text = JSON.stringify(logged.mock.calls)
    failing.mockRestore()
    logged.mockRestore()
    expect(text).toContain('/files/{token}')
    expect(text).not.toContain(new URL(body.url).pathname)
  })

  it('ignore Range for HEAD, which describes the whole file', async () => {
    const { body } = await upload()
    for (const range of ['bytes=0-4', 'bytes=100-']) {
      const request = new Request(body.url, { method: 'HEAD', headers: { range } })
      const { status, headers } = await exports.default.fetch(request)
      expect([status, headers.get('content-length'), headers.get('content-range')]).toEqual([
        200,
        String(PNG.length),
        null,
      ])
    }
  })

  it('return the same medium when the request is repeated with the same key', async () => {
    const headers = { 'idempotency-key': 'front-of-the-car' }
    const [first, again] = [await upload(PNG, { headers }), await upload(PNG, { headers })]
    expect(again.body.locator).toBe(first.body.locator)
  })

  it('return 400 for an empty file, 413 for a large one and 404 for an unknown locator', async () => {
    expect((await upload('')).status).toBe(400)
    expect((await upload(new Uint8Array(25 * 1024 * 1024 + 1))).status).toBe(413)
    expect((await motor.get(`/media/${crypto.randomUUID()}`)).status).toBe(404)
    expect((await motor.get('/media/nothing')).status).toBe(404)
  })

  it('return 404 for a medium of another tenant', async () => {
    const { body } = await upload()
    const other = await motorTenant('mediaother', exampleFiles('motor'))
    expect((await other.get(`/media/${body.locator}`)).status).toBe(404)
  })
})

describe('Media fields of policies', () => {
  it('show the named media with URLs in every response', async () => {
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

  it('can name the same medium in two policies', async () => {
    const { body: medium } = await upload()
    for (let count = 0; count < 2; count += 1) {
      const { body } = await motor.createPolicy(withPhotos([medium.locator]))
      const read = await callOk<PolicyResponse>('GET', `/policy/${body.locator}`, { token: motor.token })
      expect(JSON.stringify(read)).toContain('front.png')
    }
  })

  it('can be extended by an endorsement, whose modification shows only its own new media', async () => {
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
    const [creation, endorsement] = body.modifications.map(one => one.mediaByLocator)
    expect(creation).toEqual({})
    expect(Object.keys(endorsement!)).toEqual([medium.locator])
    expect(endorsement![medium.locator]).toMatchObject({ fileName: 'front.png', mimeType: 'image/png' })
    expect((await fileAt(endorsement![medium.locator]!.url)).bytes).toEqual(PNG)
    expect(body.modifications.map(one => one.fieldValues)).toEqual([{}, {}])
    const { body: other } = await upload()
    await motor.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: Number(policy.originalContractStartTimestamp) + 2 * 86_400_000,
      updateExposures: [
        { exposureLocator: vehicle.locator, fieldValues: { photos: [medium.locator, other.locator] } },
      ],
      state: 'issued',
    })
    const { body: now } = await motor.get<PolicyResponse>(`/policy/${policy.locator}`)
    expect(now.modifications.map(one => Object.keys(one.mediaByLocator))).toEqual([
      [],
      [medium.locator],
      [other.locator],
    ])
  })

  it('reject a locator that was not uploaded with 400', async () => {
    const { status, body } = await motor.createPolicy(withPhotos([crypto.randomUUID()]))
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('POST /media')])
  })

  it('cost a separate read only when they are new', async () => {
    const { body: medium } = await upload()
    const { body: created } = await motor.createPolicy({ finalize: false, ...withPhotos([medium.locator]) })
    await motor.get('/v1/ping/authorized')
    const finalized = await motor.post(`/policy/${created.locator}/finalize`)
    expect(roundTrips(finalized)).toMatchObject({ d1: 1 })
  })
})

describe('Media fields of payments', () => {
  let token: string
  let policy: PolicyResponse

  const pay = <Body = PaymentResponse>(receipt: string) =>
    callApi<Body>('POST', `/invoice/${policy.invoices[0]!.locator}/pay`, {
      token,
      body: { fieldValues: { method: 'card', receipt } },
    })
  const get = <Body>(path: string) => callOk<Body>('GET', path, { token })

  // Payments of the home example may name a scanned receipt.
  beforeAll(async () => {
    token = (await deployExample('home', 'mediapayments')).token
    const { request } = workedOf('home')[0]!
    const holder = await callOk<PolicyholderResponse>('POST', '/policyholder/create', {
      token,
      body: { completed: true, values: request.policyholder.values },
    })
    const created = await callOk<PolicyResponse>('POST', '/policy', {
      token,
      body: { ...request.policy, policyholderLocator: holder.locator },
    })
    policy = await callOk<PolicyResponse>('POST', `/policy/${created.locator}/issue`, { token })
  })

  it('reject with 400 media that were not uploaded to this tenant, and nothing is paid', async () => {
    const { body: elsewhere } = await upload()
    for (const locator of [crypto.randomUUID(), elsewhere.locator]) {
      const { status, body } = await pay<{ message: string }>(locator)
      expect([status, body.message]).toEqual([
        400,
        `There is no media file '${locator}'; upload the file with POST /media first.`,
      ])
    }
    const invoice = await get<PolicyInvoiceResponse>(`/invoice/${policy.invoices[0]!.locator}`)
    expect([invoice.settlementStatus, invoice.payments]).toEqual(['outstanding', []])
  })

  it('show the named media wherever the payment is shown, even after its reversal', async () => {
    const { body: receipt } = await upload(PNG, { token })
    const paid = await pay(receipt.locator.toUpperCase())
    expect(paid.status, JSON.stringify(paid.body)).toBe(200)
    const shown = {
      [receipt.locator]: {
        locator: receipt.locator,
        fileName: 'front.png',
        mimeType: 'image/png',
        url: expect.any(String),
        expiresTimestamp: expect.any(String),
      },
    }
    expect(paid.body.mediaByLocator).toEqual(shown)
    expect((await fileAt(paid.body.mediaByLocator[receipt.locator]!.url)).bytes).toEqual(PNG)
    const { locator, invoiceLocator } = paid.body
    const payment = await get<PaymentResponse>(`/payments/${locator}`)
    const invoice = await get<PolicyInvoiceResponse>(`/invoice/${invoiceLocator}`)
    const { invoices } = await get<PolicyResponse>(`/policy/${policy.locator}`)
    const ofHolder = await get<PolicyInvoiceResponse[]>(
      `/policyholder/${policy.policyholderLocator}/invoices`,
    )
    const payments = [invoice, invoices[0]!, ofHolder[0]!].flatMap(one => one.payments)
    expect([payment, ...payments].map(one => one.mediaByLocator)).toEqual([shown, shown, shown, shown])
    const reversed = await callOk<PaymentResponse>('POST', `/payments/${locator}/reverse`, { token })
    expect(reversed.mediaByLocator).toEqual(shown)
  })
})
