// A failure of a document is recorded on the document and says what went wrong. The transaction stands.
import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import monoFont from 'dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf'
import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { packedZeros, pngAddress } from '../../packages/pdf/test/png-files.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import type { PolicyLocator } from '../../src/kernel/locators.ts'
import { now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { callForReply, dispatcherObject } from '../../src/platform/objects.ts'
import { findTenant, shardName, type Tenant } from '../../src/platform/tenancy.ts'
import type { PolicyDocumentResponse } from '../../src/policy/contract/documents.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { TemplateEnvironment } from '../../src/product/templates/effects.ts'
import { documentResources } from '../../src/reference/templates/document-resources.ts'
import { consumeDocumentHints } from '../../src/servicing/documents/job.ts'
import { dispatchDue } from '../../src/servicing/events/dispatch.ts'
import type { DocumentHint } from '../../src/transactions/documents/job-store.ts'
import { TURN_MS } from '../../src/transactions/documents/turns.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { fileAt, pdfTextAt, whenMade } from './waiting.ts'

const FOLDER = 'products/private_motor/policy'

/** Deploys the motor example with one document for each of these templates when a policy is issued, and no others. */
async function tenantWith(suffix: string, templates: Record<string, string>): Promise<Motor> {
  const files: Record<string, string | Uint8Array> = exampleFiles('motor')
  const policy = JSON.parse(new TextDecoder().decode(files[`${FOLDER}/policy.json`] as Uint8Array))
  policy.documents = Object.keys(templates).map(name => ({
    displayName: name,
    fileName: name,
    templateName: `${name}.template.liquid`,
    type: name.endsWith('.html') ? 'html' : 'pdf',
  }))
  files[`${FOLDER}/policy.json`] = JSON.stringify(policy)
  for (const [name, source] of Object.entries(templates)) files[`${FOLDER}/${name}.template.liquid`] = source
  files[`${FOLDER}/static_documents/mono.ttf`] = new Uint8Array(monoFont)
  delete files[`${FOLDER}/invoice.template.liquid`]
  return await motorTenant(suffix, files)
}

async function issued(motor: Motor): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy()
  const answer = await motor.post(`/policy/${body.locator}/issue`)
  expect(answer.status).toBe(200)
  return answer.body
}

const read = async (motor: Motor, { locator }: PolicyResponse): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body

const withDocumentsMade = (motor: Motor, policy: PolicyResponse) =>
  whenMade(
    () => read(motor, policy),
    one => one.documents,
  )

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
})

describe('Templates that fail', () => {
  it('are each recorded on their own document, and affect neither the transaction nor other documents', async () => {
    const motor = await tenantWith('failing', {
      good: '<p>{{ data.policy.display_id }}</p>',
      endless: '{% for i in (1..1000000) %}{% for j in (1..1000000) %}x{% endfor %}{% endfor %}',
      hungry:
        '{% assign s = "xxxxxxxxxx" %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}{{ s }}',
      wordy:
        '{% assign s = "xxxxxxxxxx" %}{% for i in (1..18) %}{% assign s = s | append: s %}{% endfor %}{{ 1 | format_number: "en", s }}',
      dividing: 'x\n{{ 1 | divided_by: 0 }}',
      selfish: '{% assign name = "selfish" %}{% include name %}',
      heavy: '{% for i in (1..7000) %}<br>{% endfor %}',
      picture: '<img src="{{ "none.png" | image_url }}">',
      missing: '{{ "conditions_of_nobody.pdf" | append: "" | render_static_document }}',
      silent: '{{ nil | render_static_document }}',
      letters: '<p>日本語</p>',
      font: '<style>@font-face { font-family: Own; src: url("mono.ttf") }</style><p style="font-family: Own">x</p>',
      drawing: '<svg width="9" height="9"><circle r="4"/></svg><p dir="rtl">שלום (1)</p>',
      fontless: '<style>@font-face { font-family: Own; src: url("none.ttf") }</style>',
      bomb: `<img src="${pngAddress(10, 10, 6, packedZeros(50_000_000))}">`,
      wide: `<table>{% for i in (1..300) %}<tr><td colspan="60">{% endfor %}</table>`,
      pages: '{% for i in (1..2000) %}<p style="page-break-after:always">x{% endfor %}',
    })
    const policy = await issued(motor)
    const { documents, issuedTimestamp } = await withDocumentsMade(motor, policy)
    expect(issuedTimestamp).toBeDefined()
    const of = (name: string): PolicyDocumentResponse | undefined =>
      documents.find(one => one.fileName === name)
    expect(Object.fromEntries(documents.map(one => [one.fileName, one.state]))).toEqual({
      good: 'ready',
      endless: 'renderError',
      hungry: 'renderError',
      wordy: 'renderError',
      dividing: 'renderError',
      selfish: 'renderError',
      heavy: 'conversionError',
      picture: 'renderError',
      missing: 'renderError',
      letters: 'ready',
      font: 'ready',
      drawing: 'ready',
      fontless: 'renderError',
      bomb: 'conversionError',
      wide: 'conversionError',
      pages: 'conversionError',
    })
    const { body: work } = await motor.get<{ items: { locator: string; state: string }[] }>(
      '/workLists/failedDocuments',
    )
    const failed = documents.filter(({ state }) => state !== 'ready')
    expect(work.items.map(({ locator, state }) => [locator, state]).sort()).toEqual(
      failed.map(({ locator, state }) => [locator, state]).sort(),
    )
    expect(of('endless')!.failureMessage).toMatch(/endless\.template\.liquid:1:28: .*more than/)
    expect(of('hungry')!.failureMessage).toContain('memory')
    expect(of('wordy')!.failureMessage!.length).toBeLessThanOrEqual(1_000)
    expect(of('dividing')!.failureMessage).toContain('dividing.template.liquid:2:')
    expect(of('heavy')!.failureMessage).toContain('more than 6000 elements')
    expect(of('letters')!.failureMessage).toContain('no font has 日 (U+65E5), 本 (U+672C), 語 (U+8A9E)')
    expect(of('font')!.failureMessage).toBeUndefined()
    expect(of('fontless')!.failureMessage).toContain("no font 'none.ttf'")
    expect(of('bomb')!.failureMessage).toContain('The pixel data of a PNG does not match its size')
    expect(of('wide')!.failureMessage).toContain('more than 12000 cells')
    expect(of('pages')!.failureMessage).toContain('more than 1000 pages')
    expect(of('picture')!.failureMessage).toContain("no image 'none.png'")
    expect(of('missing')!.failureMessage).toContain('conditions_of_nobody.pdf')
    for (const one of documents) expect('url' in one).toBe(one.state === 'ready')
    const { body } = await motor.get<{ events: { data: Record<string, string> }[] }>(
      `/event/${motor.tenantLocator}/events/list?pageSize=1000&type=document.failed`,
    )
    expect(body.events).toHaveLength(12)
  })
})

describe('Interrupted generation of documents', () => {
  let motor: Motor
  let tenant: Tenant

  beforeAll(async () => {
    motor = await tenantWith('between', { 'page.html': 'of {{ data.policy.display_id }}', page: '<p>x</p>' })
    tenant = (await findTenant(env, { name: motor.tenantName }, noCalls()))!
  })

  const jobs = async () =>
    (
      await (env as unknown as Record<string, D1Database>)
        [tenant.shards[0]!]!.prepare('select * from document_job')
        .all()
    ).results as {
      policy_locator: number
      attempts: number
      due_at: number
      retry_at: number
      lease_until: number
    }[]
  const run = (text: string) =>
    (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!.prepare(text).run()

  /** A policy whose documents were never announced, as when the message is lost. */
  async function untold(): Promise<PolicyResponse> {
    const policy = await withDocumentsMade(motor, await issued(motor))
    await run(`update document set state = 'draft' where policy_locator = ${policy.locator}`)
    await run(
      `insert into document_job (policy_locator, attempts, due_at, lease_until) values (${policy.locator}, 0, ${now() - 1}, 0)`,
    )
    // The policy's object remembers the documents as ready; a new instance would not.
    await run(`update policy set version = version + 1 where locator = ${policy.locator}`)
    return policy
  }

  const batchOf = (...hints: DocumentHint[]): MessageBatch<unknown> =>
    ({
      queue: 'bindery-documents',
      messages: hints.map(body => ({ body, retry: () => {}, ack: () => {} })),
    }) as unknown as MessageBatch<unknown>

  const hintOf = ({ locator }: PolicyResponse): DocumentHint => ({
    ...shardName(tenant, 0),
    policyLocator: Number(locator) as PolicyLocator,
  })

  it('leaves no job once all documents are ready', async () => {
    await withDocumentsMade(motor, await issued(motor))
    expect(await jobs()).toEqual([])
  })

  it('is repaired by the dispatcher when a message is lost', async () => {
    const policy = await untold()
    await dispatchDue(env, shardName(tenant, 0))
    const { documents } = await withDocumentsMade(motor, policy)
    expect(documents.map(one => one.state)).toEqual(['ready', 'ready'])
    expect(await jobs()).toEqual([])
  })

  it('generates nothing twice when a message arrives twice', async () => {
    const policy = await untold()
    await Promise.all([
      consumeDocumentHints(batchOf(hintOf(policy), hintOf(policy)), env),
      consumeDocumentHints(batchOf(hintOf(policy)), env),
    ])
    await withDocumentsMade(motor, policy)
    const { body } = await motor.get<{ events: { data: Record<string, string> }[] }>(
      `/event/${motor.tenantLocator}/events/list?pageSize=1000&type=document.ready`,
    )
    expect(body.events.filter(one => one.data.policyLocator === policy.locator)).toHaveLength(4)
  })

  it('comes again when the batch has sent as many statements as it should', async () => {
    const [first, second] = [await untold(), await untold()]
    const retried: unknown[] = []
    const { messages, ...batch } = batchOf(hintOf(first), hintOf(second))
    const noted = messages.map(one => ({ ...one, retry: () => retried.push(one.body) }))
    const all = { ...batch, messages: noted } as unknown as MessageBatch<unknown>
    // As if earlier messages had left room for one more policy.
    await consumeDocumentHints(all, env, { ...noCalls(), statements: 499 })
    expect((await read(motor, first)).documents.map(one => one.state)).toEqual(['ready', 'ready'])
    expect((await read(motor, second)).documents.map(one => one.state)).toEqual(['draft', 'draft'])
    expect(retried).toEqual([hintOf(second)])
    await consumeDocumentHints(batchOf(hintOf(second)), env)
    expect((await read(motor, second)).documents.map(one => one.state)).toEqual(['ready', 'ready'])
  })

  it('costs the rest of the turn when an attempt is cut off, and the next turn counts the attempt', async () => {
    const policy = await untold()
    const dispatcher = dispatcherObject(env, tenant, 0)
    const waiting = { policyLocator: hintOf(policy).policyLocator }
    // A consumer begins and disappears.
    expect(await callForReply(noCalls(), () => dispatcher.beginDocuments(waiting, false))).toBe(true)
    await run(`update document_job set due_at = 0`)
    await runDurableObjectAlarm(dispatcher)
    await consumeDocumentHints(batchOf(hintOf(policy), { ...hintOf(policy), again: true }), env)
    expect((await read(motor, policy)).documents.map(one => one.state)).toEqual(['draft', 'draft'])
    expect(await jobs()).toMatchObject([{ attempts: 0, lease_until: 0 }])

    vi.setSystemTime(now() + TURN_MS)
    await run(`update document_job set due_at = 0`)
    await consumeDocumentHints(batchOf({ ...hintOf(policy), again: true }), env)
    vi.useRealTimers()
    const { documents } = await read(motor, policy)
    expect(documents.map(one => one.state)).toEqual(['ready', 'ready'])
    expect(await jobs()).toEqual([])
  })

  it('follows the lease in the row when the dispatcher is of an earlier release or missing', async () => {
    const policy = await untold()
    const without = {
      ...env,
      DISPATCHER: {
        idFromName: () => undefined,
        get: () => ({
          beginDocuments: () =>
            Promise.reject(new TypeError('The RPC receiver does not implement the method.')),
        }),
      },
    } as unknown as Env
    await run(`update document_job set lease_until = ${now() + 60_000}`)
    await consumeDocumentHints(batchOf(hintOf(policy)), without)
    expect((await read(motor, policy)).documents.map(one => one.state)).toEqual(['draft', 'draft'])
    await run('update document_job set lease_until = 0')
    await consumeDocumentHints(batchOf(hintOf(policy)), without)
    expect((await read(motor, policy)).documents.map(one => one.state)).toEqual(['ready', 'ready'])
    expect(await jobs()).toEqual([])
  })

  it('passes over a malformed message, and one for an earlier generation of the tenant', async () => {
    const policy = await untold()
    await consumeDocumentHints(
      batchOf({ ...hintOf(policy), generation: 99 }, { nonsense: true } as never),
      env,
    )
    expect((await jobs()).map(job => job.attempts)).toEqual([0])
    expect((await read(motor, policy)).documents.map(one => one.state)).toEqual(['draft', 'draft'])
    await consumeDocumentHints(batchOf(hintOf(policy)), env)
    expect((await read(motor, policy)).documents.map(one => one.state)).toEqual(['ready', 'ready'])
  })

  it('retries a file that cannot be stored with growing delays, and fails the document after five tries', async () => {
    const policy = await untold()
    const broken = {
      ...env,
      FILES: { get: (key: string) => env.FILES.get(key), put: () => Promise.reject(new Error('R2 is away')) },
    } as unknown as Env
    // The hint of the change comes first, and the dispatcher repeats it.
    const again = { ...hintOf(policy), again: true }
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await consumeDocumentHints(batchOf(attempt === 1 ? hintOf(policy) : again), broken)
      const [job] = await jobs()
      expect(job!.attempts).toBe(attempt)
      expect(job!.retry_at - now()).toBeGreaterThan(5_000 * 3 ** (attempt - 1) - 5_000)
      await run('update document_job set retry_at = 0')
    }
    expect((await read(motor, policy)).documents.map(one => one.state)).toEqual(['draft', 'draft'])
    await consumeDocumentHints(batchOf(again), broken)
    const [first, second] = (await read(motor, policy)).documents
    expect([first!.state, second!.state]).toEqual(['conversionError', 'draft'])
    expect(first!.failureMessage).toContain('5 attempts')
    await run('update document_job set retry_at = 0')
    await consumeDocumentHints(batchOf(again), env)
    expect((await read(motor, policy)).documents[1]!.state).toBe('ready')
  })

  it('rethrows a refused read of snippets, so that the document is retried instead of failing', async () => {
    const context = { env, tenant, calls: noCalls() }
    const renderingWhere = (problem: Refusal) =>
      documentResources(context, {
        expect: () => Promise.reject(problem),
        inForce: () => Promise.reject(problem),
      }).rendered(
        { name: 'page', format: 'liquid', source: '{% include "terms" %}' },
        () => ({ at: now(), jurisdiction: undefined }),
        {},
        { timeZone: 'UTC', currency: 'USD', now: now() } as TemplateEnvironment,
        undefined,
      )
    for (const code of ['unavailable', 'tenantSuspended', 'tenantMoved'] as const) {
      const problem = new Refusal(code, 'The tenant is elsewhere.')
      await expect(renderingWhere(problem)).rejects.toBe(problem)
    }
    expect(await renderingWhere(new Refusal('templateLimit', 'Too many snippets.'))).toEqual({
      failure: 'Too many snippets.',
      isLimit: true,
    })
  })

  /** The environment of the service with Browser Run answering at the path. */
  const withBrowser = (path: string): Env =>
    ({
      ...env,
      BROWSER: {
        quickAction: (_: string, options: unknown) =>
          fetch(`http://127.0.0.1:${inject('browserRunPort')}${path}`, {
            method: 'POST',
            body: JSON.stringify(options),
          }),
      },
    }) as unknown as Env

  it.runIf(inject('hasBrowser'))('uses Browser Run for PDFs where it is bound', async () => {
    const policy = await untold()
    await consumeDocumentHints(batchOf(hintOf(policy)), withBrowser('/pdf'))
    const { documents } = await read(motor, policy)
    expect(documents.map(one => one.state)).toEqual(['ready', 'ready'])
    const { url } = documents.find(one => one.type === 'pdf')!
    expect(new TextDecoder().decode((await fileAt(url!)).bytes.subarray(0, 1_000))).toContain('%PDF-1.4')
    const text = await pdfTextAt(url!)
    if (text !== undefined) expect(text).toBe('x')
  })

  it('leaves documents as drafts while Browser Run is busy, and retries them', async () => {
    const policy = await untold()
    await consumeDocumentHints(batchOf(hintOf(policy)), withBrowser('/busy'))
    expect((await read(motor, policy)).documents.map(one => one.state)).toContain('draft')
    await run('update document_job set retry_at = 0')
    await consumeDocumentHints(batchOf(hintOf(policy)), env)
    const { documents } = await withDocumentsMade(motor, policy)
    expect(documents.map(one => one.state)).toEqual(['ready', 'ready'])
  })

  it('shows the policy as it was when the document was requested', async () => {
    const policy = await issued(motor)
    const { documents } = await withDocumentsMade(motor, policy)
    const html = documents.find(one => one.fileName === 'page.html')!
    const { bytes } = await fileAt(html.url!)
    expect(new TextDecoder().decode(bytes)).toBe(`of ${policy.displayId}`)
  })
})
