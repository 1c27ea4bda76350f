// Documents that users upload, and renderings for authors of templates, through HTTP.
import { beforeAll, describe, expect, it } from 'vitest'
import type { RenderedDocumentResponse } from '../../src/policy/contract/documents.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { type Answer, callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'
import { fileAt, whenMade } from './waiting.ts'

const PDF = '%PDF-1.4\n%%EOF\n'
const HTML = '\uFEFF<!DOCTYPE html><p>Terms</p>'

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('uploads', exampleFiles('motor'))
})

type Problem = { code: string; message: string }

const draft = async (): Promise<string> => (await motor.createPolicy({ finalize: false })).body.locator

const upload = <Body = PolicyResponse>(
  policy: string,
  content: string | Uint8Array<ArrayBuffer>,
  {
    query = '?displayName=My%20terms&documentType=terms',
    fields = {},
    name = 'terms.pdf',
    headers = {},
  }: {
    query?: string
    fields?: Record<string, string>
    name?: string
    headers?: Record<string, string>
  } = {},
): Promise<Answer<Body>> => {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.set(field, value)
  form.set('document', new Blob([content]), name)
  return callApi('POST', `/policy/${policy}/addDocument${query}`, { token: motor.token, body: form, headers })
}

describe('POST /policy/{locator}/addDocument', () => {
  it('adds a PDF with its names in the query, and creates no transaction', async () => {
    const policy = await draft()
    const before = (await motor.get<PolicyResponse>(`/policy/${policy}`)).body
    const { status, body } = await upload(policy, PDF)
    expect(status).toBe(200)
    expect(body.documents).toMatchObject([
      { displayName: 'My terms', fileName: 'terms.pdf', type: 'pdf', state: 'ready' },
    ])
    expect(body.modifications).toEqual(before.modifications)
    const { headers, bytes } = await fileAt(body.documents[0]!.url!)
    expect([headers.get('content-type'), new TextDecoder().decode(bytes)]).toEqual(['application/pdf', PDF])
  })

  it('returns 409 when the idempotency key is repeated with another file name', async () => {
    const policy = await draft()
    const headers = { 'idempotency-key': 'one-file-only' }
    for (const [name, status] of [
      ['a.pdf', 200],
      ['a.pdf', 200],
      ['b.pdf', 409],
    ] as const)
      expect((await upload(policy, PDF, { name, headers })).status).toBe(status)
    expect((await motor.get<PolicyResponse>(`/policy/${policy}`)).body.documents).toHaveLength(1)
  })

  it('costs two D1 round trips, one call to the object and one to R2 when the policy was read before', async () => {
    const policy = await draft()
    expect(roundTrips(await upload(policy, PDF))).toMatchObject({ d1: 2, object: 1, r2: 1 })
  })

  it('adds HTML with its names in the form, and derives the extension from the content', async () => {
    const { body } = await upload(await draft(), HTML, {
      query: '',
      fields: { displayName: 'Page', documentType: 'html' },
      name: 'C:\\temp\\page',
    })
    expect(body.documents).toMatchObject([{ displayName: 'Page', fileName: 'page.html', type: 'html' }])
  })

  it('recognizes HTML after blanks, a declaration and comments', async () => {
    const before = '\n<?xml version="1.0"?> <!-- <p> --><!---->\n<!-- a\n--> '
    const { body } = await upload(await draft(), `${before}<html><p>Terms</p></html>`)
    expect(body.documents).toMatchObject([{ type: 'html' }])
  })

  it('recognizes HTML that begins with any element of a text', async () => {
    for (const fragment of ['<b>Terms</b>', '<ul><li>Terms</li></ul>', '<center>Terms</center>']) {
      const { body } = await upload(await draft(), fragment)
      expect(body.documents).toMatchObject([{ type: 'html' }])
    }
  })

  it('shortens a long file name without cutting a character', async () => {
    const { status, body } = await upload(await draft(), PDF, { name: `${'a'.repeat(199)}\u{1f697}.pdf` })
    expect([status, body.documents[0]?.fileName]).toEqual([200, `${'a'.repeat(196)}.pdf`])
  })

  it.each([
    ['a picture', '\x89PNG\r\n', {}, 'neither a PDF nor HTML'],
    ['plain text', 'Dear Sir', {}, 'neither a PDF nor HTML'],
    ['comments and nothing else', `${'<!---->'.repeat(9_000)}x`, {}, 'neither a PDF nor HTML'],
    ['a comment that does not end', `<!-- ${HTML}`, {}, 'neither a PDF nor HTML'],
    ['nothing', '', {}, 'missing or empty'],
    ['HTML that is said to be a PDF', HTML, { query: '?displayName=x&documentType=pdf' }, 'the file is html'],
    [
      'a PDF that is said to be for Word',
      PDF,
      { query: '?displayName=x&documentType=docx' },
      'the file is pdf',
    ],
    [
      'a PDF that is said to be a picture',
      PDF,
      { query: '?displayName=x&documentType=image%2Fpng' },
      'documentType is image/png, but the file is pdf; correct one of them.',
    ],
    [
      'a file without a name for people',
      PDF,
      { query: '?documentType=x' },
      'The displayName of the document is missing',
    ],
    [
      'a file without its kind',
      PDF,
      { query: '?displayName=x' },
      'The documentType of the document is missing',
    ],
  ])('rejects %s with 400', async (_, content, options, message) => {
    const { status, body } = await upload<Problem>(await draft(), content, options)
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)])
  })

  it('rejects a file over 25 MiB with 413, and an unknown policy with 404', async () => {
    const large = new Uint8Array(25 * 1024 * 1024 + 1)
    large.set(new TextEncoder().encode(PDF))
    expect((await upload(await draft(), large)).status).toBe(413)
    expect((await upload('100000000064', PDF)).status).toBe(404)
  })

  it('adds the document once when the request is repeated with the same key', async () => {
    const policy = await draft()
    const headers = { 'idempotency-key': `terms-${policy}` }
    const first = await upload(policy, PDF, { headers })
    const again = await upload(policy, PDF, { headers })
    expect([first.status, again.status]).toEqual([200, 200])
    const { body } = await motor.get<PolicyResponse>(`/policy/${policy}`)
    expect(body.documents).toHaveLength(1)
    expect(again.body.documents[0]!.locator).toBe(first.body.documents[0]!.locator)
    expect((await upload(policy, `${PDF} `, { headers })).status).toBe(409)
    const { bytes } = await fileAt(first.body.documents[0]!.url!)
    expect(new TextDecoder().decode(bytes)).toBe(PDF)
  })

  it('accepts documents on an issued policy, but not on a discarded one (409)', async () => {
    const { body } = await motor.createPolicy()
    await motor.post(`/policy/${body.locator}/issue`)
    expect((await upload(body.locator, PDF)).status).toBe(200)
    const discarded = await draft()
    await motor.post(`/policy/${discarded}/discard`)
    expect((await upload(discarded, PDF)).status).toBe(409)
  })
})

describe('POST /policy/{locator}/removeDocument', () => {
  const remove = <Body = PolicyResponse>(policy: string, documentLocator: string) =>
    motor.post<Body>(`/policy/${policy}/removeDocument`, { documentLocator })

  it('removes an uploaded document and its file', async () => {
    const policy = await draft()
    const { body } = await upload(policy, PDF)
    const [document] = body.documents
    const { status, body: after } = await remove(policy, document!.locator)
    expect([status, after.documents]).toEqual([200, []])
    expect((await fileAt(document!.url!)).status).toBe(404)
  })

  it('rejects generated and unknown documents, and any document once the policy is issued', async () => {
    const { body: policy } = await motor.createPolicy()
    const { locator } = (await upload(policy.locator, PDF)).body.documents.at(-1)!
    const { body } = await motor.get<PolicyResponse>(`/policy/${policy.locator}`)
    const offer = body.documents.find(one => one.fileName === 'offer.pdf')!
    expect((await remove<Problem>(policy.locator, offer.locator)).status).toBe(409)
    expect((await remove<Problem>(policy.locator, 'nothing')).status).toBe(404)
    await motor.post(`/policy/${policy.locator}/issue`)
    const refused = await remove<Problem>(policy.locator, locator)
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('is issued')])
  })
})

describe('POST /document/renderPolicyDocument', () => {
  const render = async (request: object) => {
    const response = await callApi<string>('POST', '/document/renderPolicyDocument', {
      token: motor.token,
      body: request,
      headers: { accept: 'application/pdf, text/html' },
    })
    return { status: response.status, type: response.headers.get('content-type'), body: response.body }
  }

  const ask = <Body>(policyLocator: string, request: object, headers: Record<string, string> = {}) =>
    motor.post<Body>('/document/renderPolicyDocument', { policyLocator, ...request }, headers)

  it('returns a URL of the file that needs no token, and adds no document to the policy', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const before = Date.now()
    const answer = await ask<RenderedDocumentResponse>(policy.locator, { templateName: 'schedule' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(answer.body).toEqual({
      displayName: 'schedule',
      fileName: 'schedule.pdf',
      type: 'pdf',
      url: expect.stringMatching(/^http:.*\/files\//),
      urlExpirationTimestamp: expect.stringMatching(/^\d{13}$/),
    })
    const life = Number(answer.body.urlExpirationTimestamp) - before
    expect(life).toBeGreaterThan(29 * 60_000)
    expect(life).toBeLessThan(31 * 60_000)
    const { headers, bytes } = await fileAt(answer.body.url)
    expect([headers.get('content-type'), new TextDecoder().decode(bytes.subarray(0, 5))]).toEqual([
      'application/pdf',
      '%PDF-',
    ])
    expect((await motor.get<PolicyResponse>(`/policy/${policy.locator}`)).body.documents).toEqual([])
  })

  it('adds one D1 and one R2 round trip when it stores the file instead of returning it', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const request = { template: 'x', type: 'html' }
    await ask(policy.locator, request)
    const file = roundTrips(await ask(policy.locator, request, { accept: 'text/html' }))
    const named = roundTrips(await ask(policy.locator, request, { accept: '*/*' }))
    expect(named).toEqual({ ...file, d1: file.d1! + 1, r2: file.r2! + 1 })
  })

  it('stores the file in the same place when the request is repeated with the same key', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const place = async (key: string): Promise<string> => {
      const { body } = await ask<RenderedDocumentResponse>(
        policy.locator,
        { template: 'x', type: 'html' },
        { 'idempotency-key': key },
      )
      const [link] = new URL(body.url).pathname.split('/').at(-1)!.split('.')
      return (JSON.parse(Buffer.from(link!, 'base64url').toString()) as [string, number, string[]])[2]!.join(
        '/',
      )
    }
    const [first, repeat, other] = [await place('once'), await place('once'), await place('twice')]
    expect(repeat).toBe(first)
    expect(other).not.toBe(first)
  })

  it.each([
    ['application/json', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['*/*', 'application/json'],
    ['application/pdf;q=0.5, application/json', 'application/json'],
    ['application/pdf', 'application/pdf'],
    ['application/pdf, application/json;q=0.5', 'application/pdf'],
    ['image/png', undefined],
  ])('answers Accept: %s with %s', async (accept, type) => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const answer = await ask(policy.locator, { template: '<p>x' }, { accept })
    expect([answer.status, answer.headers.get('content-type')]).toEqual(
      type === undefined ? [406, 'application/json'] : [200, type],
    )
  })

  it('renders a template of the configuration as a PDF', async () => {
    const { body } = await motor.createPolicy()
    const answer = await render({ policyLocator: body.locator, templateName: 'schedule' })
    expect([answer.status, answer.type, answer.body.slice(0, 5)]).toEqual([200, 'application/pdf', '%PDF-'])
  })

  it('renders a text over an invoice as HTML, with exact amounts', async () => {
    const { body: created } = await motor.createPolicy()
    const { body } = await motor.post(`/policy/${created.locator}/issue`)
    const [invoice] = (
      await whenMade(
        async () => (await motor.get<PolicyResponse>(`/policy/${body.locator}`)).body,
        one => one.invoices.flatMap(each => each.documents),
      )
    ).invoices
    const answer = await render({
      policyLocator: body.locator,
      invoiceLocator: invoice!.locator,
      type: 'html',
      template:
        '{% assign sum = 0 %}{% for one in data.invoice_financials.financial_transactions %}{% unless one.type == "commission" %}{% assign sum = sum | plus: one.amount %}{% endunless %}{% endfor %}{{ sum }} {{ data.invoice_financials.total_due }} {{ data.invoice.display_id }}',
    })
    expect(answer.type).toBe('text/html; charset=utf-8')
    expect(answer.body).toBe(`${invoice!.totalDue} ${invoice!.totalDue} ${invoice!.displayId}`)
  })

  it('shows the fields that an endorsement changes', async () => {
    const { body: created } = await motor.createPolicy()
    const { body: policy } = await motor.post(`/policy/${created.locator}/issue`)
    const { body: endorsement } = await motor.post<{ locator: string }>(
      `/policies/${policy.locator}/endorsements`,
      {
        endorsementName: 'change_of_risk',
        startTimestamp: Number(policy.originalContractStartTimestamp) + 60 * 24 * 3_600_000,
        fieldValues: { claims_free_years: '3' },
        state: 'quoted',
      },
    )
    const { fieldValues } = policy.characteristics[0]!
    const answer = await render({
      policyLocator: policy.locator,
      endorsementLocator: endorsement.locator,
      type: 'html',
      template:
        '{{ data.endorsement.name }}:{% for change in data.endorsement.policy_updates.updated_field_values %} {{ change[0] }} {{ change[1].old_value }}>{{ change[1].new_value }} {{ change[1].endorsement_effect }}{% endfor %} {{ data.endorsement.policy_updates.all_field_values.region_class.endorsement_effect }}',
    })
    expect(answer.body).toBe(
      `change_of_risk: claims_free_years ${fieldValues.claims_free_years![0]}>3 updated unchanged`,
    )
  })

  it('shows what a renewal changes, without exposures that continue unchanged', async () => {
    const { body: created } = await motor.createPolicy()
    const { body: policy } = await motor.post(`/policy/${created.locator}/issue`)
    const { body: renewal } = await motor.post<{ locator: string }>(`/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: Number(policy.effectiveContractEndTimestamp) + 365 * 24 * 3_600_000,
      fieldValues: { claims_free_years: '3' },
      state: 'quoted',
    })
    const answer = await render({
      policyLocator: policy.locator,
      renewalLocator: renewal.locator,
      type: 'html',
      template:
        '{% for change in data.renewal.policy_updates.updated_field_values %}{{ change[0] }} {{ change[1].old_value }}>{{ change[1].new_value }} {{ change[1].endorsement_effect }}{% endfor %} {{ data.renewal.policy_updates.updated_exposures.size }}',
    })
    const { fieldValues } = policy.characteristics[0]!
    expect(answer.body).toBe(`claims_free_years ${fieldValues.claims_free_years![0]}>3 updated 0`)
  })

  it('shows the perils that an endorsement adds, ends and changes, below their exposure', async () => {
    const { body: created } = await motor.createPolicy()
    const { body: policy } = await motor.post(`/policy/${created.locator}/issue`)
    const [exposure] = policy.exposures
    const perilLocator = (name: string) => exposure!.perils.find(peril => peril.name === name)!.locator
    const { body: endorsement } = await motor.post<{ locator: string }>(
      `/policies/${policy.locator}/endorsements`,
      {
        endorsementName: 'change_of_risk',
        startTimestamp: Number(policy.originalContractStartTimestamp) + 60 * 24 * 3_600_000,
        updateExposures: [
          {
            exposureLocator: exposure!.locator,
            addPerils: [{ name: 'theft' }],
            endPerils: [perilLocator('theft')],
            updatePerils: [
              { perilLocator: perilLocator('own_damage'), deductible: 2_500 },
              { perilLocator: perilLocator('glass'), fieldValues: { original_parts: 'yes' } },
            ],
          },
        ],
        state: 'quoted',
      },
    )
    const answer = await render({
      policyLocator: policy.locator,
      endorsementLocator: endorsement.locator,
      type: 'html',
      template: `{% for kind in data.endorsement.policy_updates.updated_exposures %}{% for exposure in kind[1] -%}
        {{ kind[0] }} {{ exposure.endorsement_effect }} {{ exposure.updated_field_values.size }}:
        {%- for peril in exposure.updated_perils %}{% for one in peril[1] %} {{ peril[0] }} {{ one.endorsement_effect }} {{ one.deductible.new_value }} {{ one.updated_field_values.original_parts.new_value }}{% endfor %}{% endfor %}
        {%- endfor %}{% endfor %}`,
    })
    expect(String(answer.body).replace(/\s+/g, ' ').trim()).toBe(
      'vehicle updated 0: own_damage updated 2500 theft removed theft added 150 glass updated 0 yes',
    )
  })

  it('accepts a policy’s display id and a transaction type, the names of published clients', async () => {
    const { body } = await motor.createPolicy()
    const template = '{{ data.policy.display_id }}'
    const named = await render({ policyDisplayId: body.displayId, template, type: 'html' })
    expect([named.status, named.body]).toEqual([200, body.displayId])
    const nobody = await render({ template })
    expect([nobody.status, nobody.body]).toMatchObject([
      400,
      { message: 'The request must have policyLocator or policyDisplayId.' },
    ])
    const transactionType = 'endorsement'
    const missing = await render({
      policyDisplayId: body.displayId,
      template,
      transactionType,
      transactionLocator: '100000001',
    })
    expect([missing.status, missing.body]).toMatchObject([
      404,
      { message: `Policy ${body.locator} has no endorsement '100000001'.` },
    ])
    expect((await render({ policyDisplayId: body.displayId, template, transactionType })).status).toBe(400)
  })

  it('returns 422 with the line of the failure, 404 for unknown records and 400 for a bad request', async () => {
    const { body } = await motor.createPolicy()
    const of = (request: object) => render({ policyLocator: body.locator, ...request })
    const failing = await of({ template: 'x\n{{ 1 | divided_by: 0 }}' })
    expect([failing.status, failing.body]).toMatchObject([
      422,
      { code: 'templateFailed', message: expect.stringContaining('preview:2:8') },
    ])
    expect((await of({ template: '{% if %}' })).status).toBe(422)
    expect((await of({ template: '{% for i in (1..9999999) %}{% endfor %}' })).status).toBe(422)
    expect((await of({ templateName: 'nothing' })).status).toBe(404)
    expect((await of({ template: 'x', invoiceLocator: 'nothing' })).status).toBe(404)
    expect((await of({ template: 'x', templateName: 'schedule' })).status).toBe(400)
    expect((await of({})).status).toBe(400)
  })
})
