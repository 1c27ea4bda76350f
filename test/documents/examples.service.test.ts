// The papers of the examples as a customer gets them: each template's PDF against its text and its pages in golden/
// (golden-pages.ts says how they are renewed). Numbers of records, which differ from run to run, stand there as #.
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

/** A test that is tried again needs a tenant whose clock was not moved. */
let tries = 0

type Written = {
  policy: PolicyResponse
  post<T>(path: string, body?: unknown): Promise<T>
  get<T>(path: string): Promise<T>
  read(): Promise<PolicyResponse>
}

/** The first worked policy of the example, issued. */
async function written(example: string): Promise<Written> {
  tries += 1
  const { token } = await deployExample(example, `paper${tries}`)
  const { request } = yearsOnOf(example)
  const post = <T>(path: string, body?: unknown): Promise<T> => callOk('POST', path, { token, body })
  // Whatever the papers say of today is the same in every run.
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
  // Said once by the reader: its tools are not installed.
  if (answer.status === 501) return
  const { text, goldenText, differences } = (await answer.json()) as GoldenComparison
  expect(text, name).toBe(goldenText)
  expect(differences, name).toEqual([])
}

/** Renews the policy for another year, up to the state, and gives the renewal's papers. */
async function renewed({ policy, post, get }: Written, state: string): Promise<PolicyResponse['documents']> {
  type Renewal = Pick<PolicyResponse, 'locator' | 'documents'>
  const { locator } = await post<Renewal>(`/policies/${policy.locator}/renewals`, {
    renewalEndTimestamp: Number(policy.originalContractEndTimestamp) + 12 * MONTH_MS,
    state,
  })
  const read = () => get<Renewal>(`/renewals/${locator}`)
  return (await whenMade(read, renewal => renewal.documents)).documents
}

describe('motor', () => {
  it('has schedule, invoice, endorsement and cancellation', async () => {
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

  it('has a reminder of what is still owed', async () => {
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

  it('has an endorsement of the term that it begins in, though the policy is renewed already', async () => {
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

describe('what a renewal offers and confirms', () => {
  it('is the new term alone, before it is issued too', async () => {
    await matchesGolden('motor_renewal_offer', await renewed(await written('motor'), 'quoted'), /^renewal/)
  })

  it('is the same once it is issued', async () => {
    await matchesGolden('home_renewal', await renewed(await written('home'), 'issued'), /^renewal/)
  })
})

describe('home', () => {
  it('has declarations, invoice and cancellation', async () => {
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
