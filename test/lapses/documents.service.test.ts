// Documents of an unpaid policy, through HTTP: those generated when its grace period begins, when it lapses and when it is
// reinstated, and those that people upload to its reinstatement (brief 0.6, 1.7, 5.1).
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyDocumentResponse } from '../../src/policy/contract/documents.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import type { ClockResponse } from '../../src/tenants/routes.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type {
  GraceLapseReinstatementResponse,
  GracePeriodResponse,
  LapseReinstatementResponse,
  LapseResponse,
} from '../../src/transactions/lapses/contract.ts'
import { fileAt, pdfTextAt, whenMade } from '../documents/waiting.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, type DeployedTenant, deployExample, exampleFiles } from '../support/examples.ts'
import { roundTrips, workedOf } from '../support/motor.ts'

const PDF = '%PDF-1.4\n%%EOF\n'
const HTML = '<!DOCTYPE html><p>No known losses</p>'
const DAY_MS = 24 * 60 * 60 * 1_000

let deployed = 0
let home: DeployedTenant

beforeAll(() => prepareDatabases({ tenants: 15 }))
beforeEach(async () => {
  deployed += 1
  home = await deployExample('home', `papers${deployed}`)
})

type Problem = { code: string; message: string }

const get = <T>(path: string) => callOk<T>('GET', path, { token: home.token })
const post = <T>(path: string, body?: object): Promise<Answer<T>> =>
  callApi('POST', path, { token: home.token, body })

async function moveTo(timestamp: number): Promise<void> {
  const { body } = await post<ClockResponse>('/test/clock', { timestamp })
  expect([body.completed, body.failed]).toEqual([true, 0])
}

/** Issues a policy with one unpaid invoice. */
async function unpaid(): Promise<PolicyResponse> {
  const { policy, policyholder } = workedOf('home')[0]!.request
  const holder = await post<PolicyholderResponse>('/policyholder/create', {
    completed: true,
    values: policyholder.values,
  })
  const created = await post<PolicyResponse>('/policy', {
    ...policy,
    policyStartTimestamp: undefined,
    policyEndTimestamp: undefined,
    policyholderLocator: holder.body.locator,
    paymentScheduleName: 'full_pay',
  })
  return (await post<PolicyResponse>(`/policy/${created.body.locator}/issue`)).body
}

/** Returns a lapsed policy and a reinstatement that was opened for it. */
async function reinstating(): Promise<{ policy: PolicyResponse; path: string; locator: string }> {
  const policy = await unpaid()
  await moveTo(Number(policy.invoices[0]!.dueTimestamp) + 20 * DAY_MS)
  const { body } = await post<LapseReinstatementResponse>(`/policy/${policy.locator}/createReinstatement`)
  return { policy, path: `/reinstatement/${body.locator}`, locator: body.locator }
}

const lapseOf = async ({ locator }: PolicyResponse): Promise<LapseResponse> =>
  (await get<GraceLapseReinstatementResponse[]>(`/policy/${locator}/graceLapseReinstatements`))[0]!.lapse!

/** Invoices a reinstatement from the time of the lapse. */
async function invoiced(policy: PolicyResponse, path: string): Promise<LapseReinstatementResponse> {
  const { lapseTimestamp: reinstatementTimestamp } = await lapseOf(policy)
  return (await post<LapseReinstatementResponse>(`${path}/invoice`, { reinstatementTimestamp })).body
}

/** Invoices and pays a reinstatement, which issues it. */
async function issued(policy: PolicyResponse, path: string): Promise<void> {
  const { invoiceLocator } = await invoiced(policy, path)
  const paid = await post(`/invoice/${invoiceLocator}/pay`, { fieldValues: { method: 'card' } })
  expect(paid.status).toBe(200)
}

/** Returns the record once its document is generated. */
const withDocumentMade = <T>(
  path: string,
  documentOf: (record: T) => PolicyDocumentResponse | undefined,
): Promise<T> =>
  whenMade(
    () => get<T>(path),
    record => [documentOf(record) ?? []].flat(),
  )

/** Expects a PDF at the document's URL, with these words where its text can be read. */
async function expectPdf(document: PolicyDocumentResponse | undefined, words: string): Promise<void> {
  const { status, headers, bytes } = await fileAt(document!.url!)
  expect([status, headers.get('content-type')]).toEqual([200, 'application/pdf'])
  expect(new TextDecoder().decode(bytes.slice(0, 5))).toBe('%PDF-')
  const text = await pdfTextAt(document!.url!)
  if (text !== undefined) expect(text).toContain(words)
}

describe('Generated documents', () => {
  it('are created for the grace period, the lapse and the reinstatement when each happens', async () => {
    const policy = await unpaid()
    const [invoice] = policy.invoices
    await moveTo(Number(invoice!.dueTimestamp) + 60_000)
    const [begun] = await get<GracePeriodResponse[]>(`/policy/${policy.locator}/gracePeriods`)
    const grace = await withDocumentMade<GracePeriodResponse>(
      `/gracePeriod/${begun!.locator}`,
      one => one.document,
    )
    expect(grace.document).toMatchObject({
      displayName: `Grace period ${invoice!.displayId}`,
      fileName: `gracePeriod_${invoice!.displayId}.pdf`,
      type: 'pdf',
      state: 'ready',
    })
    await expectPdf(grace.document, `Of the invoice ${invoice!.displayId}, $`)

    await moveTo(Number(grace.endTimestamp) + 60_000)
    const { locator } = await lapseOf(policy)
    const lapse = await withDocumentMade<LapseResponse>(`/lapse/${locator}`, one => one.document)
    const { modifications } = await get<PolicyResponse>(`/policy/${policy.locator}`)
    const lapsing = modifications.at(-1)!
    expect(lapse.document).toMatchObject({
      displayName: `Lapse ${lapsing.displayId}`,
      fileName: `lapse_${lapsing.displayId}.pdf`,
      type: 'pdf',
      state: 'ready',
      policyModificationLocator: lapsing.locator,
    })
    await expectPdf(lapse.document, 'Your policy has lapsed')

    const opened = await post<LapseReinstatementResponse>(`/policy/${policy.locator}/createReinstatement`)
    const path = `/reinstatement/${opened.body.locator}`
    const waiting = await invoiced(policy, path)
    expect([opened.body, waiting].map(one => one.reinstatementDocument)).toEqual([undefined, undefined])
    await post(`/invoice/${waiting.invoiceLocator}/pay`, { fieldValues: { method: 'card' } })
    const back = await withDocumentMade<LapseReinstatementResponse>(path, one => one.reinstatementDocument)
    const reinstated = (await get<PolicyResponse>(`/policy/${policy.locator}`)).modifications.at(-1)!
    expect([back.currentStatus, back.uploadedDocuments]).toEqual(['issued', []])
    expect(back.reinstatementDocument).toMatchObject({
      displayName: `Reinstatement ${reinstated.displayId}`,
      fileName: `reinstatement_${reinstated.displayId}.pdf`,
      type: 'pdf',
      state: 'ready',
      policyModificationLocator: reinstated.locator,
    })
    await expectPdf(back.reinstatementDocument, 'Your policy is in force again')
    const [story] = await get<GraceLapseReinstatementResponse[]>(
      `/policy/${policy.locator}/graceLapseReinstatements`,
    )
    expect([
      story!.gracePeriod.document!.locator,
      story!.lapse!.document!.locator,
      story!.reinstatements[0]!.reinstatementDocument!.locator,
    ]).toEqual([grace.document!.locator, lapse.document!.locator, back.reinstatementDocument!.locator])
  })

  it('of a lapse by cancellation without a type use the lapse template, or else the cancellation template', async () => {
    const folder = 'products/homeowners/policy'
    const types = { cancellationTypes: [{ name: 'request', title: 'On request', documents: [] }] }
    const files: ArchiveFiles = {
      ...exampleFiles('home'),
      [`${folder}/cancellations.json`]: JSON.stringify(types),
      [`${folder}/cancellation.template.liquid`]: 'Cancelled {{ data.lapse.locator }}',
      [`${folder}/lapse.template.liquid`]:
        'Lapsed {{ data.lapse.lapse_timestamp | minus: data.cancellation.effective_timestamp }} {{ data.cancellation.name }}',
    }
    const lapsed = async (suffix: string): Promise<CancellationResponse> => {
      home = await deployExample(files, suffix)
      const policy = await unpaid()
      await moveTo(Number(policy.invoices[0]!.dueTimestamp) + 20 * DAY_MS)
      const [begun] = await get<CancellationResponse[]>(`/policies/${policy.locator}/cancellations`)
      return await withDocumentMade(`/cancellations/${begun!.locator}`, one => one.documents[0])
    }
    const own = await lapsed(`own${deployed}`)
    expect(own.documents).toMatchObject([{ fileName: `lapse_${own.locator}.pdf`, state: 'ready' }])
    await expectPdf(own.documents[0], 'Lapsed 0 lapse')

    delete files[`${folder}/lapse.template.liquid`]
    const general = await lapsed(`general${deployed}`)
    expect(general.documents).toMatchObject([{ displayName: `Cancellation ${general.locator}` }])
    await expectPdf(general.documents[0], `Cancelled ${general.locator}`)
  })

  it('receive the reinstatement as `data.reinstatement`', async () => {
    const { policy, path, locator } = await reinstating()
    const { invoiceLocator, reinstatementTimestamp } = await invoiced(policy, path)
    const { status, body } = await callApi<string>('POST', '/document/renderPolicyDocument', {
      token: home.token,
      headers: { accept: 'text/html' },
      body: {
        policyLocator: policy.locator,
        reinstatementLocator: locator,
        type: 'html',
        template:
          '{% assign it = data.reinstatement %}{{ it.locator }} {{ it.current_status }} {{ it.invoice_locator }} {{ it.effective_timestamp | minus: it.reinstatement_timestamp }} ' +
          `{{ it.reinstatement_timestamp | minus: ${reinstatementTimestamp} }}`,
      },
    })
    expect([status, body]).toEqual([200, `${locator} invoiced ${invoiceLocator} 0 0`])
  })

  it('can be previewed for a grace period and a lapse, with their own templates or a given text', async () => {
    const { policy } = await reinstating()
    const [story] = await get<GraceLapseReinstatementResponse[]>(
      `/policy/${policy.locator}/graceLapseReinstatements`,
    )
    const [grace, lapse] = [story!.gracePeriod, story!.lapse!]
    const render = (request: object) =>
      callApi<string>('POST', '/document/renderPolicyDocument', {
        token: home.token,
        body: { policyLocator: policy.locator, ...request },
        headers: { accept: 'application/pdf, text/html' },
      })
    const ofGrace = await render({
      gracePeriodLocator: grace.locator,
      type: 'html',
      template:
        '{{ data.grace_period.locator }} {{ data.grace_period.invoice.locator }} ' +
        `{{ data.grace_period.end_timestamp | minus: ${grace.endTimestamp} }}`,
    })
    expect([ofGrace.status, ofGrace.body]).toEqual([200, `${grace.locator} ${grace.invoiceLocator} 0`])
    const ofLapse = await render({
      lapseLocator: lapse.locator,
      type: 'html',
      template: `{{ data.lapse.locator }} {{ data.lapse.lapse_timestamp | minus: ${lapse.lapseTimestamp} }}`,
    })
    expect([ofLapse.status, ofLapse.body]).toEqual([200, `${lapse.locator} 0`])
    const pages = [
      await render({ gracePeriodLocator: grace.locator, templateName: 'gracePeriod' }),
      await render({ lapseLocator: lapse.locator, templateName: 'lapse' }),
    ]
    expect(pages.map(({ status, body }) => [status, body.slice(0, 5)])).toEqual([
      [200, '%PDF-'],
      [200, '%PDF-'],
    ])
    const refused = [
      await render({ gracePeriodLocator: lapse.locator, templateName: 'gracePeriod' }),
      await render({ lapseLocator: grace.locator, templateName: 'lapse' }),
    ]
    expect(refused.map(one => one.status)).toEqual([404, 404])
  })
})

const upload = <Body = LapseReinstatementResponse>(
  path: string,
  content: string | Uint8Array<ArrayBuffer>,
  {
    query = '?displayName=Statement&documentType=no_loss',
    fields = {},
    name = 'statement.pdf',
    headers = {},
    token = home.token,
  }: {
    query?: string
    fields?: Record<string, string>
    name?: string
    headers?: Record<string, string>
    token?: string
  } = {},
): Promise<Answer<Body>> => {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.set(field, value)
  form.set('document', new Blob([content]), name)
  return callApi('POST', `${path}/addDocument${query}`, { token, body: form, headers })
}

const remove = <Body = LapseReinstatementResponse>(path: string, documentLocator: string) =>
  post<Body>(`${path}/removeDocument`, { documentLocator })

describe('Documents uploaded to a reinstatement', () => {
  it('are listed in order with their files, and change nothing else', async () => {
    const { policy, path } = await reinstating()
    const before = await get<LapseReinstatementResponse>(path)
    const first = await upload(path, PDF)
    expect(first.status, JSON.stringify(first.body)).toBe(200)
    const second = await upload(path, HTML, {
      query: '',
      fields: { displayName: 'Page', documentType: 'html' },
      name: 'C:\\temp\\page',
    })
    const answered = second.body.uploadedDocuments
    expect(answered).toMatchObject([
      { displayName: 'Statement', fileName: 'statement.pdf', type: 'pdf', state: 'ready' },
      { displayName: 'Page', fileName: 'page.html', type: 'html', state: 'ready' },
    ])
    const files = await Promise.all(answered.map(one => fileAt(one.url!)))
    expect(
      files.map(({ headers, bytes }) => [headers.get('content-type'), new TextDecoder().decode(bytes)]),
    ).toEqual([
      ['application/pdf', PDF],
      ['text/html; charset=utf-8', HTML],
    ])
    const after = await get<LapseReinstatementResponse>(path)
    expect(after.uploadedDocuments.map(one => one.locator)).toEqual(answered.map(one => one.locator))
    expect({ ...after, uploadedDocuments: [] }).toEqual(before)
    const [story] = await get<GraceLapseReinstatementResponse[]>(
      `/policy/${policy.locator}/graceLapseReinstatements`,
    )
    expect(story!.reinstatements[0]!.uploadedDocuments).toHaveLength(2)
    const { documents } = await get<PolicyResponse>(`/policy/${policy.locator}`)
    expect(documents.filter(one => answered.some(({ locator }) => locator === one.locator))).toEqual([])
  })

  it('are added once when the request is repeated with the same key', async () => {
    const { path } = await reinstating()
    const headers = { 'idempotency-key': 'statement' }
    const first = await upload(path, PDF, { headers })
    const again = await upload(path, PDF, { headers })
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body.uploadedDocuments[0]!.locator).toBe(first.body.uploadedDocuments[0]!.locator)
    expect((await upload<Problem>(path, `${PDF} `, { headers })).status).toBe(409)
    expect((await get<LapseReinstatementResponse>(path)).uploadedDocuments).toHaveLength(1)
    expect(new TextDecoder().decode((await fileAt(first.body.uploadedDocuments[0]!.url!)).bytes)).toBe(PDF)
  })

  it('cost three D1 round trips, one call to the object and one to R2', async () => {
    const { path } = await reinstating()
    const added = await upload(path, PDF)
    expect(roundTrips(added)).toMatchObject({ d1: 3, object: 1, r2: 1 })
  })

  it('are rejected when invalid, too large, not permitted or of an unknown reinstatement', async () => {
    const { policy, path } = await reinstating()
    const large = new Uint8Array(25 * 1024 * 1024 + 1)
    large.set(new TextEncoder().encode(PDF))
    const reader = await home.signIn('rita.reader')
    const refused = [
      await upload<Problem>(path, 'Dear Sir'),
      await upload<Problem>(path, ''),
      await upload<Problem>(path, HTML, { query: '?displayName=x&documentType=pdf' }),
      await upload<Problem>(path, PDF, { query: '?documentType=x' }),
      await upload<Problem>(path, PDF, { query: '?displayName=x' }),
      await upload<Problem>(path, large),
      await upload<Problem>(path, PDF, { token: reader }),
      await upload<Problem>(`/reinstatement/${policy.invoices[0]!.locator}`, PDF),
      await upload<Problem>('/reinstatement/x', PDF),
    ]
    expect(refused.map(one => one.status)).toEqual([400, 400, 400, 400, 400, 413, 403, 404, 404])
    expect((await get<LapseReinstatementResponse>(path)).uploadedDocuments).toEqual([])
  })

  it('can be removed with their files until the reinstatement is issued, and then not (409)', async () => {
    const { policy, path, locator } = await reinstating()
    await upload(path, HTML)
    const [gone, kept] = (await upload(path, PDF)).body.uploadedDocuments
    const after = await remove(path, gone!.locator)
    expect([after.status, after.body.uploadedDocuments.map(one => one.locator)]).toEqual([
      200,
      [kept!.locator],
    ])
    expect((await fileAt(gone!.url!)).status).toBe(404)
    const ofPolicy = `/policy/${policy.locator}`
    const elsewhere = await upload<PolicyResponse>(ofPolicy, PDF)
    const letter = elsewhere.body.documents.at(-1)!
    const generated = elsewhere.body.documents[0]!
    const refused = [
      await remove<Problem>(path, gone!.locator),
      await remove<Problem>(path, 'nothing'),
      await remove<Problem>(path, letter.locator),
      await remove<Problem>(ofPolicy, kept!.locator),
      await remove<Problem>(path, generated.locator),
    ]
    expect(refused.map(one => [one.status, one.body.message])).toEqual([
      [404, `Reinstatement ${locator} has no document '${gone!.locator}'.`],
      [404, `Reinstatement ${locator} has no document 'nothing'.`],
      [404, `Reinstatement ${locator} has no document '${letter.locator}'.`],
      [404, `Policy ${policy.locator} has no document '${kept!.locator}'.`],
      [
        409,
        `Document ${generated.locator} was generated by the service; only uploaded documents can be removed.`,
      ],
    ])
    await issued(policy, path)
    const late = await remove<Problem>(path, kept!.locator)
    expect([late.status, late.body.message]).toEqual([
      409,
      `Reinstatement ${locator} is issued; its documents could be removed only before that.`,
    ])
    const more = await upload(path, HTML)
    expect([more.status, more.body.uploadedDocuments.length]).toEqual([200, 2])
  })

  it('cannot be added to a closed reinstatement (409), but can still be removed', async () => {
    const { path, locator } = await reinstating()
    const { uploadedDocuments } = (await upload(path, PDF)).body
    await post(`${path}/close`)
    const refused = await upload<Problem>(path, PDF)
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `Reinstatement ${locator} is closed; no more documents can be added to it.`,
    ])
    const { status, body } = await remove(path, uploadedDocuments[0]!.locator)
    expect([status, body.currentStatus, body.uploadedDocuments]).toEqual([200, 'closed', []])
  })
})
