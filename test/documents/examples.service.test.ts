// The documents of the examples as a customer receives them: each template's PDF is compared with its text and pages in golden/
// (see golden-pages.ts for how to renew them). Numbers of records, which differ from run to run, appear there as #.
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { deployExample } from '../support/examples.ts'
import { yearsOnOf } from '../support/motor.ts'
import { YEARS_ON } from '../support/years.ts'
import type { GoldenComparison } from './golden-pages.ts'
import { fileAt, whenMade } from './waiting.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const MONTH_MS = 30 * DAY_MS

beforeAll(async () => {
  await prepareDatabases({ tenants: 7 })
})

/** A test that is retried needs a tenant whose clock was not moved. */
let tries = 0

type Written = {
  policy: PolicyResponse
  post<T>(path: string, body?: unknown): Promise<T>
  get<T>(path: string): Promise<T>
  read(): Promise<PolicyResponse>
}

/** Issues the first worked policy of the example. */
async function written(example: string): Promise<Written> {
  tries += 1
  const { token } = await deployExample(example, `paper${tries}`)
  const { request } = yearsOnOf(example)
  const post = <T>(path: string, body?: unknown): Promise<T> => callOk('POST', path, { token, body })
  // Dates of today in the documents are the same in every run.
  await post('/test/clock', { timestamp: Date.UTC(2026 + YEARS_ON, 11, 15, 9) })
  const holder = await post<{ locator: string }>('/policyholder/create', {
    completed: true,
    values: request.policyholder.values,
  })
  const { locator } = await post<PolicyResponse>('/policy', {
    ...request.policy,
    policyholderLocator: holder.locator,
  })
  const policy = await post<PolicyResponse>(`/policy/${locator}/issue`)
  const get = <T>(path: string): Promise<T> => callOk('GET', path, { token })
  const read = () =>
    whenMade(
      () => get<PolicyResponse>(`/policy/${locator}`),
      one => [...one.documents, ...one.invoices.flatMap(invoice => invoice.documents)],
    )
  return { policy, post, get, read }
}

async function matchesGolden(
  name: string,
  documents: PolicyResponse['documents'],
  file: RegExp,
): Promise<void> {
  const document = documents.find(one => file.test(one.fileName))
  expect(document, name).toMatchObject({ state: 'ready', type: 'pdf' })
  const { bytes } = await fileAt(document!.url!)
  const reader = `http://127.0.0.1:${inject('pdfReaderPort')}/golden/${name}`
  const answer = await fetch(reader, { method: 'POST', body: bytes })
  // The reader reports once that its tools are not installed.
  if (answer.status === 501) return
  const { text, goldenText, differences } = (await answer.json()) as GoldenComparison
  expect(text, name).toBe(goldenText)
  expect(differences, name).toEqual([])
}

/** Renews the policy for another year up to the given state, and returns the documents of the renewal. */
async function renewed({ policy, post, get }: Written, state: string): Promise<PolicyResponse['documents']> {
  type Renewal = Pick<PolicyResponse, 'locator' | 'documents'>
  const { locator } = await post<Renewal>(`/policies/${policy.locator}/renewals`, {
    renewalEndTimestamp: Number(policy.originalContractEndTimestamp) + 12 * MONTH_MS,
    state,
  })
  const read = () => get<Renewal>(`/renewals/${locator}`)
  return (await whenMade(read, renewal => renewal.documents)).documents
}

describe('The motor example', () => {
  it('has schedule, invoice, endorsement and cancellation documents that match the golden pages', async () => {
    const { policy, post, read } = await written('motor')
    const start = Number(policy.originalContractStartTimestamp)
    await post(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: start + 2 * MONTH_MS,
      fieldValues: { claims_free_years: '7' },
      state: 'issued',
    })
    const { documents, invoices } = await read()
    await matchesGolden('motor_schedule', documents, /^schedule/)
    await matchesGolden('motor_endorsement', documents, /^endorsement/)
    await matchesGolden('motor_invoice', invoices[0]!.documents, /^invoice/)
    await post(`/policy/${policy.locator}/cancel`, { coverageEndTimestamp: start + 5 * MONTH_MS })
    const cancelled = await read()
    await matchesGolden('motor_cancellation', cancelled.documents, /^cancellation/)
    await matchesGolden('motor_refund', cancelled.invoices.at(-1)!.documents, /^invoice/)
  })

  it('has a reminder of the outstanding amount after a partial payment', async () => {
    const { policy, post, get, read } = await written('motor')
    const [invoice] = policy.invoices
    await post(`/invoice/${invoice!.locator}/pay`, { amount: 300, fieldValues: { method: 'card' } })
    await read()
    await post('/test/clock', { timestamp: Number(invoice!.dueTimestamp) + DAY_MS })
    type Listed = PolicyResponse['documents'][number] & { recordType: string }
    const reminders = async (): Promise<Listed[]> =>
      (await get<Listed[]>(`/policies/${policy.locator}/documents`)).filter(
        one => one.recordType === 'gracePeriod',
      )
    await matchesGolden('motor_reminder', await whenMade(reminders, list => list), /^gracePeriod/)
  })

  it('shows in an endorsement only the term it begins in when the policy is already renewed', async () => {
    const papers = await written('motor')
    await renewed(papers, 'issued')
    const { locator } = await papers.post<{ locator: string }>(
      `/policies/${papers.policy.locator}/endorsements`,
      {
        endorsementName: 'change_of_risk',
        startTimestamp: Number(papers.policy.originalContractStartTimestamp) + 2 * MONTH_MS,
        fieldValues: { claims_free_years: '7' },
        state: 'issued',
      },
    )
    const read = () => papers.get<Pick<PolicyResponse, 'documents'>>(`/endorsements/${locator}`)
    const { documents } = await whenMade(read, endorsement => endorsement.documents)
    await matchesGolden('motor_endorsement', documents, /^endorsement/)
  })
})

describe('A renewal document', () => {
  it('shows only the new term, even before the renewal is issued', async () => {
    await matchesGolden('motor_renewal_offer', await renewed(await written('motor'), 'quoted'), /^renewal/)
  })

  it('shows the same once the renewal is issued', async () => {
    await matchesGolden('home_renewal', await renewed(await written('home'), 'issued'), /^renewal/)
  })
})

describe('The home example', () => {
  it('has declarations, invoice and cancellation documents that match the golden pages', async () => {
    const { policy, post, read } = await written('home')
    const { documents, invoices } = await read()
    await matchesGolden('home_declarations', documents, /^declarations/)
    await matchesGolden('home_invoice', invoices[0]!.documents, /^invoice/)
    await post(`/policy/${policy.locator}/cancel`, {
      coverageEndTimestamp: Number(policy.originalContractStartTimestamp) + 5 * MONTH_MS,
    })
    await matchesGolden('home_cancellation', (await read()).documents, /^cancellation/)
  })
})
