// The papers of the examples as a customer gets them: each template's PDF against its text in golden/. What differs
// from run to run (numbers of records, the day on which an invoice is due) stands there as #.
import { beforeAll, describe, expect, it } from 'vitest'
import type { PolicyResponse } from '../../src/policies/contract/response.ts'
import { callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { deployExample } from '../support/examples.ts'
import { workedOf } from '../support/motor.ts'
import { pdfTextAt, whenMade } from './waiting.ts'

const GOLDEN = import.meta.glob('./golden/*.txt', {
  query: '?raw',
  import: 'default',
  eager: true,
}) as Record<string, string>

const MONTH_MS = 30 * 24 * 60 * 60 * 1000

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
})

/** What a customer reads there, without what differs from run to run; undefined where the tool is missing. */
async function textAt(url: string): Promise<string | undefined> {
  const text = await pdfTextAt(url)
  return text?.replace(/\b1\d{8}\b/g, '#').replace(/ by .*?\. Reference/g, ' by #. Reference')
}

type Written = {
  policy: PolicyResponse
  post<T>(path: string, body?: unknown): Promise<T>
  read(): Promise<PolicyResponse>
}

/** The first worked policy of the example, issued. */
async function written(example: string): Promise<Written> {
  const { token } = await deployExample(example, `paper${example}`)
  const { request } = workedOf(example)[0]!
  const post = <T>(path: string, body?: unknown): Promise<T> => callOk('POST', path, { token, body })
  const holder = await post<{ locator: string }>('/policyholder/create', {
    completed: true,
    values: request.policyholder.values,
  })
  const { locator } = await post<PolicyResponse>('/policy', {
    ...request.policy,
    policyholderLocator: holder.locator,
  })
  const policy = await post<PolicyResponse>(`/policy/${locator}/issue`)
  const read = () =>
    whenMade(
      () => callOk<PolicyResponse>('GET', `/policy/${locator}`, { token }),
      one => [...one.documents, ...one.invoices.flatMap(invoice => invoice.documents)],
    )
  return { policy, post, read }
}

async function matchesGolden(
  name: string,
  documents: PolicyResponse['documents'],
  file: RegExp,
): Promise<void> {
  const document = documents.find(one => file.test(one.fileName))
  expect(document, name).toMatchObject({ state: 'ready', type: 'pdf' })
  const text = await textAt(document!.url!)
  if (text !== undefined)
    expect(text, name).toBe(GOLDEN[`./golden/${name}.txt`]?.trim() ?? '(no golden text)')
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
    await matchesGolden('motor_cancellation', (await read()).documents, /^cancellation/)
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
