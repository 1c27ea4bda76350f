// Documents of policies through HTTP: generated at their triggers, stored and linked, with failures on the record.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { now } from '../../src/kernel/time.ts'
import { linkToken, readLinkToken } from '../../src/platform/http/file-links.ts'
import type { PolicyDocumentResponse } from '../../src/policy/contract/documents.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { PolicyQuoteResponse } from '../../src/transactions/quotes/contract-quote.ts'
import type { ReinstatementResponse } from '../../src/transactions/reinstatements/contract.ts'
import type { RenewalResponse } from '../../src/transactions/renewals/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { fileAt, whenMade } from './waiting.ts'

const MONTH_MS = 30 * 24 * 60 * 60 * 1000

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('papers', exampleFiles('motor'))
})

const read = async <T>(path: string): Promise<T> => (await motor.get<T>(path)).body

const withDocumentsMade = (policy: string): Promise<PolicyResponse> =>
  whenMade(
    () => read<PolicyResponse>(`/policy/${policy}`),
    one => [...one.documents, ...one.invoices.flatMap(invoice => invoice.documents)],
  )

async function issued(changes: object = {}): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy(changes)
  await motor.post(`/policy/${body.locator}/issue`)
  return await withDocumentsMade(body.locator)
}

const names = (documents: readonly PolicyDocumentResponse[]): string[] =>
  documents.map(({ fileName, state }) => `${fileName} ${state}`)

describe('New business', () => {
  it('generates the documents of quote, acceptance and issue once each', async () => {
    const policy = await issued()
    expect(names(policy.documents)).toEqual([
      'offer.pdf ready',
      'insurance_card.html ready',
      'schedule.pdf ready',
      'general_conditions.pdf ready',
    ])
  })

  it('generates a document for every invoice, named by the invoice’s displayId', async () => {
    const policy = await issued()
    expect(policy.invoices.length).toBeGreaterThan(0)
    for (const invoice of policy.invoices)
      expect(names(invoice.documents)).toEqual([`invoice_${invoice.displayId}.pdf ready`])
  })

  it('returns before its documents are generated, with drafts that have no URL', async () => {
    const { body } = await motor.createPolicy()
    const { body: answer } = await motor.post<PolicyResponse>(`/policy/${body.locator}/issue`)
    const drafts = answer.documents.filter(one => one.state === 'draft')
    expect(names(answer.documents)).toContain('schedule.pdf draft')
    for (const draft of drafts) expect(draft).not.toHaveProperty('url')
  })

  it('generates the offer as soon as a quote is quoted', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const [quote] = await read<PolicyQuoteResponse[]>(`/policies/${policy.locator}/quotes`)
    expect(quote!.documents).toEqual([])
    await callApi('PATCH', `/quotes/${quote!.locator}/quote`, { token: motor.token })
    const quoted = await whenMade(
      () => read<PolicyQuoteResponse>(`/quotes/${quote!.locator}`),
      one => one.documents,
    )
    expect(names(quoted.documents)).toEqual(['offer.pdf ready'])
  })

  it('removes the documents of an acceptance when it is invalidated, and adds them again with the next', async () => {
    const { body: policy } = await motor.createPolicy()
    const [quote] = await read<PolicyQuoteResponse[]>(`/policies/${policy.locator}/quotes`)
    const patch = (action: string) =>
      callApi('PATCH', `/quotes/${quote!.locator}/${action}`, { token: motor.token })
    expect((await patch('invalidate')).status).toBe(200)
    const taken = await read<PolicyQuoteResponse>(`/quotes/${quote!.locator}`)
    expect(taken.documents.map(one => one.fileName)).toEqual(['offer.pdf'])
    expect((await patch('accept')).status).toBe(200)
    const again = await read<PolicyQuoteResponse>(`/quotes/${quote!.locator}`)
    expect(again.documents.map(one => one.fileName)).toEqual(['offer.pdf', 'insurance_card.html'])
  })
})

describe('Documents of endorsements and renewals', () => {
  it('are on an endorsement, and on the policy once it is issued', async () => {
    const policy = await issued()
    const { body: endorsement } = await motor.post<EndorsementResponse>(
      `/policies/${policy.locator}/endorsements`,
      {
        endorsementName: 'change_of_risk',
        startTimestamp: Number(policy.originalContractStartTimestamp) + 2 * MONTH_MS,
        fieldValues: { claims_free_years: '7' },
        state: 'issued',
      },
    )
    const after = await whenMade(
      () => read<EndorsementResponse>(`/endorsements/${endorsement.locator}`),
      one => one.documents,
    )
    expect(names(after.documents)).toEqual(['endorsement.pdf ready'])
    expect((await withDocumentsMade(policy.locator)).documents.map(one => one.fileName)).toContain(
      'endorsement.pdf',
    )
  })

  it('are an offer when a renewal is quoted and a schedule when it is issued', async () => {
    const policy = await issued()
    const end = Number(policy.effectiveContractEndTimestamp)
    const { body: renewal } = await motor.post<RenewalResponse>(`/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: end + 12 * MONTH_MS,
      state: 'quoted',
    })
    const path = `/renewals/${renewal.locator}`
    const documents = async () =>
      names(
        (
          await whenMade(
            () => read<RenewalResponse>(path),
            one => one.documents,
          )
        ).documents,
      )
    expect(await documents()).toEqual(['renewal_offer.pdf ready'])
    expect(names((await withDocumentsMade(policy.locator)).documents)).not.toContain(
      'renewal_offer.pdf ready',
    )
    await callApi('PATCH', path, { token: motor.token, body: { action: 'issue' } })
    expect(await documents()).toEqual(['renewal_offer.pdf ready', 'renewal_schedule.pdf ready'])
  })
})

describe('Documents of cancellations and reinstatements', () => {
  it('are those of their type, generated at the configured step', async () => {
    const policy = await issued()
    const { body: cancellation } = await motor.post<CancellationResponse>(
      `/policies/${policy.locator}/cancellations`,
      {
        name: 'customer_request',
        cancellationCategory: 'other',
        effectiveTimestamp: Number(policy.originalContractStartTimestamp) + 3 * MONTH_MS,
        issue: true,
      },
    )
    const path = `/cancellations/${cancellation.locator}`
    const after = await whenMade(
      () => read<CancellationResponse>(path),
      one => one.documents,
    )
    expect(names(after.documents)).toEqual(['cancellation.pdf ready'])
    const { body: reinstatement } = await callApi<ReinstatementResponse>('PATCH', `${path}/reinstate`, {
      token: motor.token,
      body: {},
    })
    expect(reinstatement.documents).toEqual([])
    const step = (action: string) =>
      callApi('PATCH', `/reinstatements/${reinstatement.locator}/${action}`, { token: motor.token })
    await step('accept')
    const again = `/reinstatements/${reinstatement.locator}`
    expect((await read<ReinstatementResponse>(again)).documents).toEqual([])
    await step('issue')
    const issuedAgain = await whenMade(
      () => read<ReinstatementResponse>(again),
      one => one.documents,
    )
    expect(names(issuedAgain.documents)).toEqual(['reinstatement.pdf ready'])
  })

  it('use the cancellation template for a legacy cancellation, and are on the policy too', async () => {
    const policy = await issued()
    await motor.post(`/policy/${policy.locator}/cancel`, {
      coverageEndTimestamp: Number(policy.originalContractStartTimestamp) + 3 * MONTH_MS,
    })
    const { documents } = await withDocumentsMade(policy.locator)
    expect(names(documents).at(-1)).toMatch(/^cancellation_\d+\.pdf ready$/)
    const [cancellation] = await read<CancellationResponse[]>(`/policies/${policy.locator}/cancellations`)
    expect(names(cancellation!.documents)).toEqual(names(documents).slice(-1))
  })
})

describe('The file of a document', () => {
  it('is a PDF at a URL valid for 30 minutes, with support for ranges and If-None-Match', async () => {
    const { documents } = await issued()
    const schedule = documents.find(one => one.fileName === 'schedule.pdf')!
    const life = Number(schedule.urlExpirationTimestamp) - now()
    expect(life).toBeGreaterThan(29 * 60_000)
    expect(life).toBeLessThanOrEqual(30 * 60_000)
    const { status, headers, bytes } = await fileAt(schedule.url!)
    expect([status, headers.get('content-type')]).toEqual([200, 'application/pdf'])
    expect(headers.get('content-disposition')).toContain('schedule.pdf')
    expect(new TextDecoder().decode(bytes.slice(0, 5))).toBe('%PDF-')
    const part = await fileAt(schedule.url!, { range: 'bytes=0-4' })
    expect([part.status, new TextDecoder().decode(part.bytes)]).toEqual([206, '%PDF-'])
    const known = await fileAt(schedule.url!, { 'if-none-match': headers.get('etag')! })
    expect([known.status, known.bytes.length]).toEqual([304, 0])
  })

  it('is not found at a URL that was changed or has expired', async () => {
    const { documents } = await issued()
    const token = documents[0]!.url!.split('/files/')[1]!
    const link = readLinkToken(env.TOKEN_SECRET, token, now())!
    expect(link.path).toEqual(['documents', documents[0]!.locator])
    const other = linkToken('another secret', link)
    expect((await fileAt(`http://bindery.test/files/${other}`)).status).toBe(404)
    const expired = linkToken(env.TOKEN_SECRET, { ...link, expiresAt: (now() - 1) as typeof link.expiresAt })
    expect((await fileAt(`http://bindery.test/files/${expired}`)).status).toBe(404)
  })

  it('is the static document when the template names one', async () => {
    const { documents } = await issued()
    const conditions = documents.find(one => one.fileName === 'general_conditions.pdf')!
    const { bytes } = await fileAt(conditions.url!)
    expect(new TextDecoder().decode(bytes.slice(0, 5))).toBe('%PDF-')
  })

  it('is a separate page with the policy’s data for type html', async () => {
    const policy = await issued()
    const card = policy.documents.find(one => one.fileName === 'insurance_card.html')!
    const { headers, bytes } = await fileAt(card.url!)
    const html = new TextDecoder().decode(bytes)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(html).toContain(policy.displayId)
    expect(html).not.toContain('bindery-')
  })

  it('has new URLs when the request is repeated with the same key', async () => {
    const { body: created } = await motor.createPolicy()
    const path = `/policy/${created.locator}/issue`
    const key = { 'idempotency-key': `issue-${created.locator}` }
    await motor.post(path, undefined, key)
    await withDocumentsMade(created.locator)
    const { status, body } = await motor.post<PolicyResponse>(path, undefined, key)
    expect(status).toBe(200)
    for (const one of body.documents) expect(one.url ?? 'http://').toMatch(/^http:\/\//)
  })
})

it('every document that is generated emits document.ready', async () => {
  const policy = await issued()
  const { events } = await read<{ events: { type: string; data: Record<string, string> }[] }>(
    `/event/${motor.tenantLocator}/events/list?pageSize=1000&type=document.ready`,
  )
  const documentEvents = events.filter(one => one.data.policyLocator === policy.locator)
  const all = [...policy.documents, ...policy.invoices.flatMap(one => one.documents)]
  expect(documentEvents.map(one => one.data.documentLocator).sort()).toEqual(
    all.map(one => one.locator).sort(),
  )
})
