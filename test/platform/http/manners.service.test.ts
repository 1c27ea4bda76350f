// HTTP semantics of records: a reader need not receive again what it has, a writer does not overwrite what it has not seen, and the
// headers say where a new record is and where a list goes on.
import { beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../../../src/app.ts'
import { FILES_PATH } from '../../../src/platform/http/file-links.ts'
import { staticFirst } from '../../../src/platform/http/mount.ts'
import { filledPath, isTagged, SUCCESSORS, WRITES } from '../../../src/platform/http/records.ts'
import { type Answer, callApi, callOk } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { type Change, expectIfMatchChecked } from '../../support/if-match-check.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../../support/motor.ts'

let motor: Motor
let admin: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('manners')
  admin = await motor.signIn('anna.admin')
})

type Refused = { code: string; message: string; currentETag?: string }
type Located = { locator: string }

const send = <Body = Located>(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<Answer<Body>> => callApi(method, path, { token: admin, headers, body })

const tagOf = ({ headers }: Answer<unknown>): string => headers.get('etag')!

/** Reads the record and returns its ETag. */
const read = async (path: string): Promise<string> => {
  const answer = await send('GET', path)
  expect(answer.status, path).toBe(200)
  return tagOf(answer)
}

describe('A read', () => {
  it('responds with 304 to a client that has the record, at no more round trips', async () => {
    const { body } = await motor.createPolicy({ finalize: false })
    const path = `/policy/${body.locator}`
    const first = await send('GET', path)
    expect(tagOf(first)).toMatch(/^"[\w-]{22}"$/)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    expect(first.headers.get('vary')).toContain('authorization')
    for (const known of [tagOf(first), `W/${tagOf(first)}`, `"other", ${tagOf(first)}`, '*']) {
      const again = await send<string>('GET', path, { 'if-none-match': known })
      expect([again.status, again.body, tagOf(again)]).toEqual([304, '', tagOf(first)])
      expect(again.headers.get('content-type')).toBeNull()
      expect(roundTrips(again)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    }
    expect((await send('HEAD', path, { 'if-none-match': tagOf(first) })).status).toBe(304)
    expect((await send('HEAD', path)).headers.get('etag')).toBe(tagOf(first))
    await motor.post(`${path}/finalize`)
    const changed = await send('GET', path, { 'if-none-match': tagOf(first) })
    expect(changed.status).toBe(200)
    expect(tagOf(changed)).not.toBe(tagOf(first))
  })

  it('has a different ETag for a different query', async () => {
    const { body } = await motor.createPolicy()
    const plain = await read(`/policy/${body.locator}`)
    expect(await read(`/policy/${body.locator}?summarizeQuotes=true`)).not.toBe(plain)
  })

  it('with URLs of files has a weak ETag, which matches only while the URLs are valid', async () => {
    const file = await callOk<Located>('POST', '/media?fileName=a.txt', {
      token: motor.token,
      body: (() => {
        const form = new FormData()
        form.set('file', new File(['a'], 'a.txt', { type: 'text/plain' }))
        return form
      })(),
    })
    const tag = await read(`/media/${file.locator}`)
    expect(tag).toMatch(/^W\/"[\w-]{22}\.\w+"$/)
    expect((await send('GET', `/media/${file.locator}`, { 'if-none-match': tag })).status).toBe(304)
    const older = tag.replace(/\.\w+"$/, '.0"')
    expect((await send('GET', `/media/${file.locator}`, { 'if-none-match': older })).status).toBe(200)
  })
})

const heldAgainstItsTag = (change: Change): Promise<Answer<Located>> =>
  expectIfMatchChecked(change, () => admin)

describe('If-Match', () => {
  it('is checked on every kind of policy write, against the record that the path names', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const at = `/policy/${policy.locator}`
    const on = (path: string, body?: unknown): Change => ({ read: at, method: 'POST', path, body })
    const [first] = await callOk<Located[]>('GET', `/policies/${policy.locator}/quotes`, { token: admin })
    const quote = `/quotes/${first!.locator}`
    await heldAgainstItsTag({ read: quote, method: 'PATCH', path: quote, body: { name: 'first' } })
    const copy = await heldAgainstItsTag({ read: quote, method: 'POST', path: `${quote}/createNew` })
    expect(copy.headers.get('location')).toBe(`/quotes/${copy.body.locator}`)
    await heldAgainstItsTag(on(`${at}/finalize`))
    await heldAgainstItsTag(on(`${at}/issue`))
    const { effectiveContractEndTimestamp: end } = (await motor.get(at)).body
    const middle = String(Number(end) - 100 * 86_400_000)
    const endorsed = await heldAgainstItsTag(
      on(`/policies/${policy.locator}/endorsements`, {
        endorsementName: 'change_of_contact',
        startTimestamp: middle,
      }),
    )
    const endorsement = endorsed.headers.get('location')!
    expect(endorsement).toBe(`/endorsements/${endorsed.body.locator}`)
    expect(tagOf(endorsed)).toBe(await read(endorsement))
    await heldAgainstItsTag({
      read: endorsement,
      method: 'PATCH',
      path: endorsement,
      body: { action: 'discard' },
    })
    const cancelled = await heldAgainstItsTag(
      on(`/policies/${policy.locator}/cancellations`, {
        name: 'customer_request',
        cancellationCategory: 'other',
        effectiveTimestamp: middle,
      }),
    )
    const cancellation = cancelled.headers.get('location')!
    await heldAgainstItsTag({ read: cancellation, method: 'PATCH', path: `${cancellation}/issue` })
    const reinstated = await heldAgainstItsTag({
      read: cancellation,
      method: 'PATCH',
      path: `${cancellation}/reinstate`,
      body: {},
    })
    const reinstatement = reinstated.headers.get('location')!
    expect(tagOf(reinstated)).toBe(await read(reinstatement))
    const step = (path: string, body?: unknown): Change => ({
      read: reinstatement,
      method: 'PATCH',
      path,
      body,
    })
    await heldAgainstItsTag(step(reinstatement, {}))
    await heldAgainstItsTag(step(`${reinstatement}/accept`))
    await heldAgainstItsTag(step(`${reinstatement}/invalidate`))
    await heldAgainstItsTag(step(`${reinstatement}/accept`))
    const reissued = await heldAgainstItsTag(step(`${reinstatement}/issue`))
    expect(tagOf(reissued)).toBe(await read(reinstatement))
  })

  it('is checked on every transition of a quote, and the response has the ETag of the quote', async () => {
    const { body: policy } = await motor.createPolicy({ finalize: false })
    const [first] = await callOk<Located[]>('GET', `/policies/${policy.locator}/quotes`, { token: admin })
    const quote = `/quotes/${first!.locator}`
    const on = (action: string, body?: unknown): Change => ({
      read: quote,
      method: 'PATCH',
      path: `${quote}/${action}`,
      body,
    })
    await heldAgainstItsTag(on('quote'))
    for (const action of ['accept', 'invalidate']) {
      const shown = await heldAgainstItsTag(on(action))
      expect(tagOf(shown), action).toBe(await read(quote))
    }
    await heldAgainstItsTag({
      read: quote,
      method: 'POST',
      path: `${quote}/underwriting`,
      body: { decision: 'reject', notes: ['Looked at again.'] },
    })
    const copy = await send('POST', `${quote}/createNew`)
    const second = copy.headers.get('location')!
    await heldAgainstItsTag({ read: second, method: 'PATCH', path: `${second}/select` })
    await heldAgainstItsTag({ read: quote, method: 'PATCH', path: `${quote}/discard` })
  })

  it('is checked on a renewal from its creation to its issue', async () => {
    const { body: policy } = await motor.createPolicy()
    const at = `/policy/${policy.locator}`
    await motor.post(`${at}/issue`)
    const { effectiveContractEndTimestamp: end } = (await motor.get(at)).body
    const made = await heldAgainstItsTag({
      read: at,
      method: 'POST',
      path: `/policies/${policy.locator}/renewals`,
      body: { renewalEndTimestamp: String(Number(end) + 365 * 86_400_000) },
    })
    const renewal = made.headers.get('location')!
    expect([renewal, tagOf(made)]).toEqual([`/renewals/${made.body.locator}`, await read(renewal)])
    const update = { addFieldValues: { contact_phone: '+49 30 7654321' } }
    for (const action of [undefined, 'quote', 'accept', 'issue']) {
      const body = action === undefined ? { renewalUpdate: update } : { action }
      const done = await heldAgainstItsTag({ read: renewal, method: 'PATCH', path: renewal, body })
      expect(tagOf(done), action ?? 'update').toBe(await read(renewal))
    }
  })

  it('is checked on payments against the invoice, and on reversals against the payment', async () => {
    const { body: policy } = await motor.createPolicy()
    const issued = await motor.post(`/policy/${policy.locator}/issue`)
    const [bill] = issued.body.invoices
    const invoice = `/invoice/${bill!.locator}`
    const paid = await heldAgainstItsTag({
      read: invoice,
      method: 'POST',
      path: `${invoice}/pay`,
      body: { fieldValues: { method: 'card' } },
    })
    const payment = paid.headers.get('location')!
    expect(payment).toBe(`/payments/${paid.body.locator}`)
    await heldAgainstItsTag({ read: payment, method: 'POST', path: `${payment}/reverse` })
  })

  it('lets only one of several writers with the same ETag succeed', async () => {
    const { body } = await motor.createPolicy({ finalize: false })
    const path = `/policy/${body.locator}`
    const tag = await read(path)
    const { fieldValues } = plainYear().request.policy as { fieldValues?: object }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        send(`POST`, `${path}/update`, { 'if-match': tag }, { fieldValues, finalize: false }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412])
    const [winner] = answers.filter(({ status }) => status === 200)
    expect(tagOf(winner!)).toBe(await read(path))
  })

  it('lets one of several writers with different idempotency keys succeed, and repeats their responses', async () => {
    const { body } = await motor.createPolicy({ finalize: false })
    const path = `/policy/${body.locator}`
    const tag = await read(path)
    const write = (key: string) =>
      send('POST', `${path}/finalize`, { 'if-match': tag, 'idempotency-key': key })
    const keys = ['a', 'b', 'c']
    const first = await Promise.all(keys.map(write))
    expect(first.map(({ status }) => status).sort()).toEqual([200, 412, 412])
    const again = await Promise.all(keys.map(write))
    expect(again.map(({ status }) => status)).toEqual(first.map(({ status }) => status))
  })

  it('does not fail a repeated request whose ETag has become stale', async () => {
    const { body } = await motor.createPolicy({ finalize: false })
    const path = `/policy/${body.locator}`
    const headers = { 'if-match': await read(path), 'idempotency-key': 'once' }
    const first = await send('POST', `${path}/finalize`, headers)
    const again = await send('POST', `${path}/finalize`, headers)
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body])
  })

  it('is checked on auxiliary data by key, even on a key that does not exist yet', async () => {
    const key = '/auxData/desk/note'
    const put = (value: string, tag: string) =>
      send('PUT', '/auxData/desk', { 'if-match': tag }, { auxData: [{ key: 'note', value }] })
    const none = await read(key)
    const answers = await Promise.all(['a', 'b', 'c'].map(value => put(value, none)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412])
    await heldAgainstItsTag({
      read: key,
      method: 'PUT',
      path: '/auxData/desk',
      body: { auxData: [{ key: 'note', value: 'd' }] },
    })
    const two = { auxData: [{ key: 'note' }, { key: 'other' }] }
    expect((await send('PUT', '/auxData/desk', { 'if-match': none }, two)).status).toBe(400)
    await heldAgainstItsTag({ read: key, method: 'DELETE', path: key })
    expect(await read(key)).toBe(none)
  })

  it('is checked on policyholders, webhooks and resource groups', async () => {
    const locator = await motor.newPolicyholder()
    const updated = await heldAgainstItsTag({
      read: `/policyholder/${locator}`,
      method: 'POST',
      path: '/policyholder/update',
      body: { locator, version: 1, completed: true, values: { last_name: 'Held' } },
    })
    expect(tagOf(updated)).toBe(await read(`/policyholder/${locator}`))
    const hook = await send(
      'POST',
      `/event/${motor.tenantLocator}/webhooks`,
      {},
      {
        name: 'held',
        enabled: true,
        endpoint: { url: 'https://hooks.example.com/in' },
        eventTypes: ['policy.*'],
      },
    )
    const webhook = hook.headers.get('location')!
    expect(webhook).toBe(`/event/${motor.tenantLocator}/webhooks/${hook.body.locator}`)
    await heldAgainstItsTag({ read: webhook, method: 'PATCH', path: webhook, body: { enabled: false } })
    const groups = `/resource/${motor.tenantLocator}/groups`
    const made = await send(
      'POST',
      groups,
      {},
      { name: 'held', selectionStartTime: '2030-01-01T00:00:00Z', resourceNames: [] },
    )
    const group = made.headers.get('location')!
    expect(group, JSON.stringify(made.body)).toBe(`${groups}/${made.body.locator}`)
    await heldAgainstItsTag({ read: group, method: 'PATCH', path: `${group}/retire` })
  })

  it('is rejected with 400 where it is not supported, and where it is not a list of tags', async () => {
    const create = (tag: string) =>
      send<Refused>('POST', '/policyholder/create', { 'if-match': tag }, { completed: false, values: {} })
    expect((await create('*')).status).toBe(200)
    const answer = await create('"a"')
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      code: 'invalidParameter',
      message: expect.stringContaining('If-Match'),
    })
    const { body } = await motor.createPolicy({ finalize: false })
    for (const wrong of ['unquoted', '"a" "b"', '"'])
      expect(
        (await send('POST', `/policy/${body.locator}/finalize`, { 'if-match': wrong })).status,
        wrong,
      ).toBe(400)
    expect((await send('POST', `/policy/${body.locator}/finalize`, { 'if-match': '*' })).status).toBe(200)
    expect((await send('POST', '/policy/100000064999/finalize', { 'if-match': '*' })).status).toBe(404)
  })
})

describe('A list', () => {
  const linksOf = ({ headers }: Answer<unknown>): Record<string, string> =>
    Object.fromEntries(
      [...(headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="([\w-]+)"/g)].map(([, target, rel]) => [
        rel,
        target,
      ]),
    )

  it('leads from page to page by its links, and links to its first page from all later ones', async () => {
    for (let at = 0; at < 3; at += 1) await motor.newPolicyholder()
    const seen: string[] = []
    let path: string | undefined = '/policyholders?pageSize=2'
    while (path !== undefined) {
      const page: Answer<{ policyholders: Located[] }> = await send('GET', path)
      seen.push(...page.body.policyholders.map(({ locator }) => locator))
      expect(linksOf(page).first).toBe(path.includes('pagingToken') ? '/policyholders?pageSize=2' : undefined)
      path = linksOf(page).next
    }
    const whole = await send<{ policyholders: Located[] }>('GET', '/policyholders?pageSize=100')
    expect(seen).toEqual(whole.body.policyholders.map(({ locator }) => locator))
    expect(whole.headers.get('link')).toBeNull()
  })

  it('with offsets links in both directions', async () => {
    const list = '/account/v1/accounts/list'
    const first = linksOf(await send('GET', `${list}?count=1`))
    expect(first).toEqual({ next: `${list}?count=1&offset=1` })
    expect(linksOf(await send('GET', first.next!))).toMatchObject({
      prev: `${list}?count=1&offset=0`,
      first: `${list}?count=1`,
    })
  })

  it('of events always has a token, and ends with an empty page', async () => {
    const lists = [
      `/event/${motor.tenantLocator}/events/list?pageSize=1000`,
      '/eventstream/events?startTimestamp=0&pageSize=1000',
    ]
    for (const list of lists) {
      const page = await send<{ events: unknown[]; pagingToken: string }>('GET', list)
      expect(linksOf(page)).toEqual({ next: `${list.split('?')[0]}?pagingToken=${page.body.pagingToken}` })
      const after = await send<{ events: unknown[] }>('GET', linksOf(page).next!)
      expect([after.body.events, linksOf(after).next]).toEqual([[], undefined])
    }
  })
})

describe('A bookmark', () => {
  const of = ({ headers }: Answer<unknown>): string => headers.get('x-d1-bookmark')!

  it('of a write lets its client read the write at one round trip, and never goes back', async () => {
    const { headers, body } = await motor.createPolicy({ finalize: false })
    const first = headers.get('x-d1-bookmark')!
    expect(first).toMatch(/^[0-9a-f]{8}\.\d+\.0=[\w-]+$/)
    const path = `/policy/${body.locator}`
    const finalized = await send('POST', `${path}/finalize`, { 'x-d1-bookmark': first })
    expect(of(finalized) > first).toBe(true)
    const readBack = await send('GET', path, { 'x-d1-bookmark': of(finalized) })
    expect([readBack.status, tagOf(readBack)]).toEqual([200, tagOf(finalized)])
    expect(roundTrips(readBack)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    expect(of(readBack) >= of(finalized)).toBe(true)
    const refused = await send('POST', `${path}/finalize`, { 'x-d1-bookmark': of(readBack) })
    expect([refused.status, of(refused) >= of(readBack)]).toEqual([409, true])
    expect(of(await send('GET', '/v1/ping/authorized', { 'x-d1-bookmark': of(readBack) }))).toBe(of(readBack))
  })

  it('of another tenant or generation is ignored; a malformed one is rejected with 400', async () => {
    const { headers, body } = await motor.createPolicy()
    const [tenant, generation, rest] = headers.get('x-d1-bookmark')!.split('.')
    for (const other of [
      `00000000.${generation}.${rest}`,
      `${tenant}.99.${rest}`,
      `${tenant}.${generation}.63=0-0`,
    ]) {
      const answer = await send('GET', `/policy/${body.locator}`, { 'x-d1-bookmark': other })
      expect(answer.status, other).toBe(200)
      expect(of(answer).startsWith(`${tenant}.${generation}.0=`), other).toBe(true)
    }
    for (const wrong of ['', 'x', rest!, `${tenant}.1.0=a b`, `${tenant}.1.0=${'a'.repeat(200)}`]) {
      const answer = await send<Refused>('GET', `/policy/${body.locator}`, { 'x-d1-bookmark': wrong })
      expect([answer.status, answer.body.code], wrong).toEqual([400, 'invalidParameter'])
    }
  })
})

describe('The Accept header', () => {
  it.each(['application/json', '*/*', 'application/*;q=0.1', 'text/html, */*;q=0.5', ''])(
    'allows a response with %s',
    async accept => {
      expect((await send('GET', '/products', { accept })).status).toBe(200)
    },
  )

  it.each(['text/html', 'application/json;q=0, */*', 'application/xml'])(
    'rejects %s with 406 before anything is done',
    async accept => {
      const before = await read('/policyholders?pageSize=100')
      const answer = await send<Refused>('POST', '/policyholder/create', { accept }, { values: {} })
      expect([answer.status, answer.body.code]).toEqual([406, 'notAcceptable'])
      expect(await read('/policyholders?pageSize=100')).toBe(before)
    },
  )
})

describe('The tables of routes', () => {
  const names = new Set(ROUTES.map(({ method, path }) => `${method.toUpperCase()} ${path}`))
  const isRead = (path: string): boolean =>
    staticFirst(ROUTES).some(
      one =>
        one.method === 'get' &&
        new RegExp(`^${one.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path.replace(/\{\w+\}/g, 'x')),
    )

  it('name only existing writes, and records that can be read', () => {
    for (const [write, { changes, makes, shows }] of Object.entries(WRITES)) {
      expect(names, write).toContain(write)
      for (const path of [changes, makes])
        if (path !== undefined) expect(isRead(path), `${write}: ${path}`).toBe(true)
      expect(shows === undefined || (makes ?? changes) !== undefined).toBe(true)
    }
  })

  it('name successors only of deprecated paths, and only existing ones', () => {
    const paths = new Set(ROUTES.map(({ path }) => path.replace(/\{\w+\}/g, '{}')))
    for (const [name, successor] of Object.entries(SUCCESSORS)) {
      expect(
        ROUTES.find(({ method, path }) => `${method.toUpperCase()} ${path}` === name)?.deprecated,
        name,
      ).toBe(true)
      expect(paths, name).toContain(successor.replace(/\{\w+\}/g, '{}'))
    }
  })

  it('fill in a path, or return undefined when a parameter is missing', () => {
    expect(filledPath('/a/{b}/{c}', { b: 'x/y' }, { b: 'no', c: 7 })).toBe('/a/x%2Fy/7')
    expect(filledPath('/a/{b}', {})).toBeUndefined()
  })
})

describe('A deprecated path', () => {
  it('says since when it is deprecated, and links to its successor', async () => {
    const answer = await send('POST', '/policy/100000064/issueRenewal')
    expect(answer.headers.get('deprecation')).toMatch(/^@\d+$/)
    expect(answer.headers.get('link')).toBe(
      '</policies/100000064/renewals>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
    )
    expect(answer.headers.get('sunset')).toBeNull()
    expect((await send('GET', '/products')).headers.get('deprecation')).toBeNull()
  })
})

type Referring = { $ref?: string }
type Operation = {
  parameters?: Referring[]
  responses: Record<string, Referring & { headers?: Record<string, Referring> }>
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

describe('Every path', () => {
  const filled = (path: string): string =>
    path
      .replace('{tenantLocator}', motor.tenantLocator)
      .replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')
  const isJson = ({ answer }: (typeof ROUTES)[number]): boolean =>
    answer.schema !== undefined && answer.media === undefined

  it('returns request ids, timings, Vary and Cache-Control, also with a rejection', async () => {
    for (const { method, path, access, deprecated } of ROUTES) {
      const answer = await callApi(method.toUpperCase(), filled(path), {
        headers: { 'x-client-request-id': 'c-1' },
      })
      const headers = Object.fromEntries(answer.headers)
      expect(headers, `${method} ${path}`).toMatchObject({
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'x-client-request-id': 'c-1',
        'server-timing': expect.stringMatching(
          /^total;dur=\d+, d1;desc="\d+", object;desc="\d+", r2;desc="\d+", queue;/,
        ),
        'cache-control': expect.stringMatching(
          answer.status === 200 ? /no-cache|no-store|max-age/ : /^no-store$/,
        ),
      })
      if (access.kind !== 'public') expect(headers.vary, path).toContain('authorization')
      expect(answer.headers.has('deprecation'), path).toBe(deprecated === true)
    }
  })

  it('lists its methods, and responds with 405 to any other', async () => {
    const methods = new Map<string, string[]>()
    for (const { path, method } of ROUTES)
      methods.set(filled(path), [...(methods.get(filled(path)) ?? []), method.toUpperCase()])
    for (const [path, listed] of methods) {
      const options = await callApi('OPTIONS', path)
      const allowed = options.headers.get('allow')?.split(', ') ?? []
      expect([options.status, ...listed.filter(method => !allowed.includes(method))], path).toEqual([204])
      const other = ['PUT', 'DELETE', 'PATCH', 'POST'].find(method => !allowed.includes(method))!
      const refused = await callApi<Refused>(other, path)
      expect([refused.status, refused.headers.get('allow')], path).toEqual([
        405,
        options.headers.get('allow'),
      ])
    }
  })

  it('that returns JSON has an ETag, and responds with 304 at no more round trips', async () => {
    let known = 0
    for (const route of ROUTES) {
      if (route.method !== 'get' || !isJson(route) || route.access.kind !== 'tenant') continue
      const path = filled(route.path)
      const first = await send('GET', path)
      if (first.status !== 200) continue
      known += 1
      const again = await send('GET', path, { 'if-none-match': tagOf(first) })
      expect(again.status, path).toBe(304)
      expect(roundTrips(again).d1, path).toBeLessThanOrEqual(roundTrips(first).d1!)
      expect((await send<Refused>('GET', path, { accept: 'text/html' })).body.code, path).toBe(
        'notAcceptable',
      )
    }
    expect(known).toBeGreaterThanOrEqual(20)
  })

  it('documents its headers, and refers only to components that exist', async () => {
    const { paths, components } = await callOk<Document>('GET', '/openapi.json')
    for (const route of ROUTES) {
      const { method, path } = route
      const { parameters = [], responses } = paths[path]![method]!
      const answer = responses[route.answer.status ?? 200]!
      const referred = [...parameters, ...Object.values(responses), ...Object.values(answer.headers ?? {})]
      for (const { $ref } of referred) {
        if ($ref === undefined) continue
        const [kind, name] = $ref.replace('#/components/', '').split('/') as [string, string]
        expect(components[kind], $ref).toHaveProperty(name)
      }
      const named = Object.keys(answer.headers ?? {})
      expect(named, path).toEqual(expect.arrayContaining(['X-Request-Id', 'Server-Timing']))
      const write = WRITES[`${method.toUpperCase()} ${path}`]
      expect(named.includes('Location'), path).toBe(write?.makes !== undefined)
      // Files have their own tags and conditions.
      const isFile = path === FILES_PATH
      expect('412' in responses, path).toBe(isFile || write?.changes !== undefined)
      expect('304' in responses, path).toBe(isFile || (isTagged(route) && isJson(route)))
    }
  })
})
