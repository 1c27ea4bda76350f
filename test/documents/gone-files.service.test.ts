// Files of documents that no longer exist, through HTTP: they are deleted with their records, and not earlier.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid, type PolicyLocator, type Uuid } from '../../src/kernel/locators.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { type RequestContext, SYSTEM_CALLER } from '../../src/platform/context.ts'
import { RECORDED_WITHIN_MS } from '../../src/platform/events/timers.ts'
import type { ReadyAnswer } from '../../src/platform/http/route.ts'
import { findTenant, tenantNow } from '../../src/platform/tenancy.ts'
import type { PolicyDocumentResponse } from '../../src/policy/contract/documents.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { UnplacedDocument } from '../../src/policy/records/transactions.ts'
import type { ClockResponse } from '../../src/tenants/routes.ts'
import { withStoredFile } from '../../src/transactions/documents/job-store.ts'
import { operate } from '../../src/transactions/policies/service.ts'
import type { PolicyQuoteResponse } from '../../src/transactions/quotes/contract-quote.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { fileAt, whenMade } from './waiting.ts'

const PDF = '%PDF-1.4\n%%EOF\n'
const FOLDER = 'products/private_motor/policy'

/** The motor example with a document at every step, each one line of HTML. */
function withLines(): ArchiveFiles {
  const files = motorWithoutPapers()
  const policy = JSON.parse(files[`${FOLDER}/policy.json`] as string) as object
  const documents = ['quote', 'accept', 'issue'].map(generatingEvent => ({
    displayName: generatingEvent,
    fileName: `${generatingEvent}.html`,
    templateName: 'line.template.liquid',
    type: 'html',
    generatingEvent,
  }))
  return {
    ...files,
    [`${FOLDER}/policy.json`]: JSON.stringify({ ...policy, documents }),
    [`${FOLDER}/line.template.liquid`]: '<p>{{ data.policy.locator }}</p>',
  }
}

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('gone-files', withLines())
})

type Problem = { code: string }

/** The locators of the documents whose files are stored. */
async function storedFiles(): Promise<string[]> {
  const { objects } = await env.FILES.list({ prefix: `${motor.tenantLocator}/` })
  return objects.flatMap(({ key }) => /\/documents\/([0-9a-f-]{36})$/.exec(key)?.[1] ?? [])
}

async function halfAnHourOn(): Promise<void> {
  const advance = { amount: 31, unit: 'minute' }
  const { body } = await motor.post<ClockResponse>('/test/clock', { advance })
  expect([body.completed, body.failed]).toEqual([true, 0])
}

async function anHourOn(): Promise<void> {
  const token = await motor.signIn('alice.agent')
  const advance = { amount: 61, unit: 'minute' }
  const body = await callOk<ClockResponse>('POST', '/test/clock', { token, body: { advance } })
  expect([body.completed, body.failed]).toEqual([true, 0])
}

/** Moves real time forward by an hour: a document that is not recorded by then never will be. */
async function recordedByNow(): Promise<void> {
  const real = Date.now
  Date.now = () => real() + RECORDED_WITHIN_MS
  try {
    await anHourOn()
  } finally {
    Date.now = real
  }
}

/** Makes the store fail once, before or after it carries out the call. */
function failsOnce(name: 'put' | 'delete', when: 'before' | 'after'): void {
  const files = Object.getPrototypeOf(env.FILES) as Record<string, (...given: unknown[]) => Promise<unknown>>
  const own = files[name]!
  files[name] = async function (this: R2Bucket, ...given: unknown[]) {
    files[name] = own
    if (when === 'after') await own.apply(this, given)
    throw new Error(`${name}: We encountered an internal error. (10001)`)
  }
}

const upload = <Body = PolicyResponse>(
  policy: string,
  content: string,
  key?: string,
): Promise<Answer<Body>> => {
  const form = new FormData()
  form.set('document', new Blob([content]), 'terms.pdf')
  return callApi('POST', `/policy/${policy}/addDocument?displayName=Terms&documentType=terms`, {
    token: motor.token,
    body: form,
    headers: key === undefined ? {} : { 'idempotency-key': key },
  })
}

const draft = async (): Promise<string> => (await motor.createPolicy({ finalize: false })).body.locator

/** Expects exactly these files to be left by `work`. Files are deleted after the response. */
async function expectLeft(work: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const before = new Set(await storedFiles())
  const left = await work()
  await expect.poll(async () => (await storedFiles()).filter(one => !before.has(one))).toEqual(left)
  return left
}

const quotesOf = async (policy: string): Promise<PolicyQuoteResponse[]> =>
  (await motor.get<PolicyQuoteResponse[]>(`/policies/${policy}/quotes`)).body

const documentsOfQuotes = (policy: string): Promise<PolicyDocumentResponse[]> =>
  whenMade(
    async () => (await quotesOf(policy)).flatMap(one => one.documents),
    documents => documents,
  )

describe('The file of a rendering by renderPolicyDocument', () => {
  it('is deleted within the hour, but not before its URL expires', async () => {
    const policyLocator = await draft()
    const [document] = await expectLeft(async () => {
      const before = new Set(await storedFiles())
      const request = { policyLocator, template: 'x', type: 'html' }
      expect((await motor.post('/document/renderPolicyDocument', request)).status).toBe(200)
      return (await storedFiles()).filter(one => !before.has(one))
    })
    expect(document).toBeDefined()
    await halfAnHourOn()
    expect(await storedFiles()).toContain(document)
    await recordedByNow()
    await expect.poll(storedFiles).not.toContain(document)
  })
})

describe('The file of an upload', () => {
  it('is stored once for repeated requests, and deleted again when a removed upload is repeated', async () => {
    const policy = await draft()
    const [documentLocator] = await expectLeft(async () => {
      await upload(policy, PDF, `once-${policy}`)
      await upload(policy, PDF, `once-${policy}`)
      const { documents } = (await motor.get(`/policy/${policy}`)).body
      expect(documents).toHaveLength(1)
      return documents.map(one => one.locator)
    })
    await motor.post(`/policy/${policy}/removeDocument`, { documentLocator })
    const again = await upload(policy, PDF, `once-${policy}`)
    expect([again.status, again.body.documents.map(one => one.locator)]).toEqual([200, [documentLocator]])
    expect((await motor.get(`/policy/${policy}`)).body.documents).toEqual([])
    await expect.poll(storedFiles).not.toContain(documentLocator)
  })

  it('is deleted when the upload is rejected, with or without an idempotency key', async () => {
    const policy = await draft()
    await upload(policy, PDF, `other-${policy}`)
    const discarded = await draft()
    await motor.post(`/policy/${discarded}/discard`)
    await expectLeft(async () => {
      const refused = [
        await upload<Problem>(policy, `${PDF} `, `other-${policy}`),
        await upload<Problem>(discarded, PDF, `late-${discarded}`),
        await upload<Problem>(discarded, PDF),
      ]
      expect(refused.map(one => [one.status, one.body.code])).toEqual([
        [409, 'idempotencyConflict'],
        [409, 'wrongState'],
        [409, 'wrongState'],
      ])
      return []
    })
  })

  it('is deleted later when it cannot be deleted immediately', async () => {
    const discarded = await draft()
    await motor.post(`/policy/${discarded}/discard`)
    const before = new Set(await storedFiles())
    failsOnce('delete', 'before')
    expect((await upload(discarded, PDF)).status).toBe(409)
    const [left] = (await storedFiles()).filter(one => !before.has(one))
    expect(left).toBeDefined()
    await recordedByNow()
    expect(await storedFiles()).not.toContain(left)
  })

  it('is deleted later when it was stored but the store’s response was lost', async () => {
    const policy = await draft()
    const before = new Set(await storedFiles())
    failsOnce('put', 'after')
    expect((await upload(policy, PDF)).status).toBe(503)
    const [left] = (await storedFiles()).filter(one => !before.has(one))
    expect(left).toBeDefined()
    // Moving the tenant's clock is not enough: a request in progress may still record the file.
    await anHourOn()
    expect(await storedFiles()).toContain(left)
    await recordedByNow()
    expect(await storedFiles()).not.toContain(left)
  })

  it('is kept or deleted later, when it is clear whether its document was recorded', async () => {
    const policy = await draft()
    const tenant = (await findTenant(env, { locator: motor.tenantLocator as Uuid }, noCalls()))!
    const waiting: Promise<unknown>[] = []
    const context: RequestContext = {
      env,
      tenant,
      caller: SYSTEM_CALLER,
      requestId: newUuid(0),
      idempotency: undefined,
      now: tenantNow(tenant),
      calls: noCalls(),
      later: work => void waiting.push(work),
    }
    const words = { displayName: 'Terms', documentType: 'terms' }
    const file = {
      bytes: Uint8Array.from(PDF, character => character.charCodeAt(0)),
      fileName: 'terms.pdf',
      mediaType: undefined,
    }
    const cutOff = async (isRecorded: boolean): Promise<string> => {
      let stored = ''
      const add = async (document: UnplacedDocument): Promise<ReadyAnswer> => {
        stored = document.locator
        const own = { ...document, subject: 'policy' as const, subjectLocator: policy }
        if (isRecorded)
          await operate(context, Number(policy) as PolicyLocator, { kind: 'addDocument', document: own })
        throw new Error('The object went away.')
      }
      const upload = withStoredFile(
        context,
        Number(policy) as PolicyLocator,
        { query: words, form: { ...words, document: '' }, file },
        add,
      )
      await expect(upload).rejects.toThrow('went away')
      return stored
    }
    const [lost, kept] = [await cutOff(false), await cutOff(true)]
    await Promise.all(waiting)
    expect(await storedFiles()).toEqual(expect.arrayContaining([lost, kept]))
    await recordedByNow()
    expect(await storedFiles()).not.toContain(lost)
    expect(await storedFiles()).toContain(kept)
    expect((await motor.get(`/policy/${policy}`)).body.documents.map(one => one.locator)).toEqual([kept])
  })
})

describe('The file of a generated document', () => {
  it('is deleted with an invalidated acceptance, once its URLs have expired', async () => {
    const { body } = await motor.createPolicy()
    const documents = await documentsOfQuotes(body.locator)
    expect(documents.map(one => one.fileName)).toEqual(['quote.html', 'accept.html'])
    const [quoted, accepted] = documents as [PolicyDocumentResponse, PolicyDocumentResponse]
    const [quote] = await quotesOf(body.locator)
    const { status } = await callApi('PATCH', `/quotes/${quote!.locator}/invalidate`, { token: motor.token })
    expect(status).toBe(200)
    expect((await documentsOfQuotes(body.locator)).map(one => one.locator)).toEqual([quoted.locator])
    expect((await fileAt(accepted.url!)).status).toBe(200)
    await halfAnHourOn()
    expect((await fileAt(accepted.url!)).status).toBe(404)
    expect((await fileAt(quoted.url!)).status).toBe(200)
  })

  it('is kept with a discarded quote, which still shows it, as do earlier snapshots', async () => {
    const { body: policy } = await motor.createPolicy()
    const [quoted] = await documentsOfQuotes(policy.locator)
    const asOfTimestamp = policy.updatedTimestamp
    await motor.post(`/policy/${policy.locator}/discard`)
    await halfAnHourOn()
    const [quote] = await quotesOf(policy.locator)
    expect(quote!.state).toBe('discarded')
    expect(quote!.documents.map(one => one.locator)).toContain(quoted!.locator)
    const { body: then } = await motor.post(`/policies/${policy.locator}/snapshot`, { asOfTimestamp })
    const shown = then.documents.find(one => one.locator === quoted!.locator)
    expect((await fileAt(shown!.url!)).status).toBe(200)
  })
})
