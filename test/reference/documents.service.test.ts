// Static documents, fonts, templates and snippets through HTTP: every form of a body, what is rejected, and what is returned
// (resources brief 4.1).
import monoFont from 'dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf'
import { beforeAll, describe, expect, it } from 'vitest'
import { woff2Of, woffOf } from '../../packages/pdf/test/packed-fonts.ts'
import type { BasicResourceResponse, ResourceResponse } from '../../src/reference/contract.ts'
import { type Answer, type Call, callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

let motor: Motor
let base: string
let token: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('resource-documents')
  token = await motor.signIn('anna.admin')
  base = `/resource/${motor.tenantLocator}`
})

const call = <Body = BasicResourceResponse>(method: string, path: string, more: Call = {}) =>
  callApi<Body>(method, base + path, { token, ...more })

const form = (part: string, content: string | Uint8Array<ArrayBuffer>, fileName?: string): FormData => {
  const made = new FormData()
  if (fileName === undefined && typeof content === 'string') made.set(part, content)
  else made.set(part, new Blob([content]), fileName ?? 'upload')
  return made
}

const refusal = ({ status, body }: Answer<unknown>) => {
  const { code, message } = body as { code: string; message: string }
  return { status, code, message }
}

const raw = (contentType: string, body: string | Uint8Array): Call => ({
  body,
  headers: { 'content-type': contentType },
})

describe('static documents', () => {
  it('are accepted as a raw body with its Content-Type, and returned byte for byte with the same type', async () => {
    const made = await call(
      'POST',
      '/documents?name=terms_1&staticName=terms&jurisdiction=CA&jurisdiction=NY',
      {
        ...raw('application/pdf', '%PDF-1.7\nterms'),
      },
    )
    expect(made.status).toBe(200)
    expect(made.body).toMatchObject({
      name: 'terms_1',
      staticName: 'terms',
      resourceType: 'staticDocument',
      jurisdictions: ['CA', 'NY'],
    })
    const got = await call<string>('GET', '/documents/terms_1')
    expect(got.status).toBe(200)
    expect(got.body).toBe('%PDF-1.7\nterms')
    expect(got.headers.get('content-type')).toBe('application/pdf')
    expect(got.headers.get('x-resource-revision')).toBe(made.body.staticDocumentLocator)
    const shown = await call<ResourceResponse>('GET', '/resources/terms_1')
    expect(shown.body).toMatchObject({ format: 'pdf', rendering: 'prerendered' })
  })

  it.each([
    ['form_csv', form('file', 'a,b\n1,2', 'rates.csv'), undefined, 'csv', 'text/csv; charset=utf-8'],
    ['form_docx', form('anything', 'PK\x03\x04word', 'letter.DOCX'), undefined, 'docx', undefined],
    ['typed_html', '<p>hi</p>', 'text/html; charset=utf-8', 'html', 'text/html; charset=utf-8'],
    ['typed_text', 'plain', 'text/plain', 'text', 'text/plain; charset=utf-8'],
    ['sniffed_pdf', '%PDF-1.4 x', 'application/octet-stream', 'pdf', 'application/pdf'],
    ['sniffed_html', '<!DOCTYPE html><p>', 'application/octet-stream', 'html', 'text/html; charset=utf-8'],
  ])(
    'uploaded as %s have the format that type, name or bytes indicate',
    async (name, body, type, format, media) => {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
      const made = await call('POST', `/documents?name=${name}&staticName=${name}_static`, { body, headers })
      expect(made.status).toBe(200)
      expect((await call<ResourceResponse>('GET', `/resources/${name}`)).body.format).toBe(format)
      if (media !== undefined)
        expect((await call('GET', `/documents/${name}`)).headers.get('content-type')).toBe(media)
    },
  )

  it('are rejected if their content contradicts their type, their format is unknown or they are empty', async () => {
    const path = '/documents?name=wrong&staticName=wrong'
    const [fake, png, empty] = await Promise.all([
      call('POST', path, raw('application/pdf', 'no pdf')),
      call('POST', path, raw('image/png', '\x89PNG')),
      call('POST', path, { body: form('file', '', 'x.txt') }),
    ])
    expect(refusal(fake)).toMatchObject({ status: 400, code: 'invalidRequest' })
    expect(refusal(fake).message).toContain('declared as pdf')
    expect(refusal(png)).toMatchObject({ status: 415, code: 'unsupportedMediaType' })
    expect(refusal(empty)).toMatchObject({
      status: 400,
      message: 'The file is empty; send one with contents.',
    })
    expect((await call('GET', '/documents/wrong')).status).toBe(404)
  })

  it('larger than 25 MiB are rejected with 413, and nothing changes', async () => {
    const large = new Uint8Array(25 * 1_048_576 + 1).fill(65)
    const answer = await call('POST', '/documents?name=large&staticName=large', raw('text/plain', large))
    expect(refusal(answer)).toMatchObject({ status: 413, code: 'tooLarge' })
    expect((await call('GET', '/resources/large')).status).toBe(404)
  })

  it('are replaced as a whole, get a new locator and keep their name', async () => {
    const first = await call('POST', '/documents?name=notice&staticName=notice', raw('text/plain', 'one'))
    const second = await call('PATCH', '/documents/notice', raw('text/html', '<p>two</p>'))
    expect(second.status).toBe(200)
    expect(second.body.createdAt).toBe(first.body.createdAt)
    expect(second.body.staticDocumentLocator).not.toBe(first.body.staticDocumentLocator)
    const got = await call<string>('GET', '/documents/notice')
    expect([got.body, got.headers.get('content-type')]).toEqual(['<p>two</p>', 'text/html; charset=utf-8'])
    expect(
      refusal(await call('POST', '/documents?name=notice&staticName=other', raw('text/plain', 'x'))).code,
    ).toBe('alreadyExists')
    expect(refusal(await call('PATCH', '/documents/unknown', raw('text/plain', 'x'))).code).toBe('notFound')
  })

  it('are selected by static name and date', async () => {
    for (const [name, text] of [
      ['leaflet_old', 'old'],
      ['leaflet_new', 'new'],
    ] as const) {
      await call('POST', `/documents?name=${name}&staticName=leaflet`, raw('text/plain', text))
      const selectionStartTime = name === 'leaflet_old' ? '2026-01-01T00:00:00Z' : '2026-06-01T00:00:00Z'
      await call('POST', '/groups', { body: { name, selectionStartTime, resourceNames: [name] } })
    }
    const at = (date: string) => call<string>('GET', `/documents/leaflet?byStaticName=true&date=${date}`)
    expect((await at('2026-03-01T00:00:00Z')).body).toBe('old')
    expect((await at('2026-07-01T00:00:00Z')).body).toBe('new')
    expect((await at('2026-07-01T00:00:00Z')).headers.get('x-resource-name')).toBe('leaflet_new')
    expect(refusal(await at('2025-07-01T00:00:00Z'))).toMatchObject({
      status: 404,
      code: 'resourceNotInForce',
    })
  })

  it('are created once for an Idempotency-Key, and another file with the key gets 409', async () => {
    const send = (text: string) =>
      call('POST', '/documents?name=once&staticName=once', {
        body: text,
        headers: { 'content-type': 'text/plain', 'idempotency-key': 'once-1' },
      })
    const [first, again, other] = [await send('same'), await send('same'), await send('different')]
    expect(again.body).toEqual(first.body)
    expect(refusal(other)).toMatchObject({ status: 409, code: 'idempotencyConflict' })
    expect((await call('GET', '/documents/once')).body).toBe('same')
  })

  it('get 409 if the same bytes are sent with the same Idempotency-Key as another type', async () => {
    const send = (type: string) =>
      call('POST', '/documents?name=typed&staticName=typed', {
        body: '<p>Cover</p>',
        headers: { 'content-type': type, 'idempotency-key': 'typed-1' },
      })
    const [first, other] = [await send('text/plain'), await send('text/html')]
    expect([first.status, other.status]).toEqual([200, 409])
  })
})

describe('fonts', () => {
  const ttf = new Uint8Array(monoFont.slice(0))
  const otf = Uint8Array.from(ttf)
  otf.set(Buffer.from('OTTO'))

  it.each([
    ['ttf', ttf, 'font/ttf'],
    ['otf', otf, 'font/otf'],
    ['woff', woffOf(ttf), 'font/woff'],
    ['woff2', woff2Of(ttf), 'font/woff2'],
  ])('of type %s are recognized by their first bytes', async (ending, bytes, type) => {
    const body = form('file', bytes, `any.${ending}`)
    const made = await call('POST', `/fonts?name=font_${ending}&staticName=font_${ending}`, { body })
    expect(made.body).toMatchObject({ resourceType: 'customFont', fontLocator: expect.any(String) })
    expect((await call('GET', `/fonts/font_${ending}`)).headers.get('content-type')).toBe(type)
  })

  it('are replaced only by undamaged fonts', async () => {
    const replaced = await call('PATCH', '/fonts/font_ttf', raw('application/octet-stream', otf))
    expect(replaced.status).toBe(200)
    const text = await call('PATCH', '/fonts/font_ttf', raw('font/ttf', 'no font'))
    expect(refusal(text)).toMatchObject({ status: 400, code: 'invalidRequest' })
    for (const torn of [ttf.slice(0, ttf.length - 4), ttf.slice(0, 2_000), woff2Of(ttf).slice(0, 9_000)])
      expect(refusal(await call('PATCH', '/fonts/font_ttf', raw('font/ttf', torn)))).toMatchObject({
        status: 400,
        message: 'The font cannot be used: it is damaged. Send a complete font.',
      })
    const headless = Uint8Array.from(ttf)
    headless.set(Buffer.from('xxxx'), Buffer.from(ttf).indexOf('cmap'))
    expect(refusal(await call('PATCH', '/fonts/font_ttf', raw('font/ttf', headless))).message).toBe(
      "The font cannot be used: it lacks 'cmap'. Send a complete font.",
    )
    expect((await call('GET', '/fonts/font_ttf')).headers.get('content-type')).toBe('font/otf')
  })

  it('have static names of at most 120 characters, and a size of at most 10 MiB', async () => {
    const long = await call('POST', `/fonts?name=f&staticName=${'f'.repeat(121)}`, raw('font/ttf', ttf))
    expect(long.status).toBe(400)
    const large = new Uint8Array(10 * 1_048_576 + 1)
    expect((await call('POST', '/fonts?name=f&staticName=f', raw('font/ttf', large))).status).toBe(413)
  })
})

describe.each([
  ['templates', 'documentTemplate'],
  ['templateSnippets', 'documentTemplateSnippet'],
] as const)('%s', (segment, resourceType) => {
  it.each(['liquid', 'velocity'] as const)('in %s are accepted in every form of a body', async format => {
    const text = format === 'liquid' ? 'Hello {{ data.name }} ÄÖ' : 'Hello $data.name ÄÖ'
    const forms: Call[] = [
      raw('text/plain', text),
      raw('text/plain; charset=utf-8', text),
      { body: form('template', text) },
      { body: form('file', text) },
      { body: form('file', text, 'welcome.html') },
    ]
    for (const [index, body] of forms.entries()) {
      const name = `${segment}_${format}_${index}`
      const made = await call('POST', `/${segment}/${format}?name=${name}&staticName=${name}`, body)
      expect(made.status).toBe(200)
      expect(made.body).toMatchObject({ resourceType, templateFormat: format, template: expect.any(String) })
      const got = await call<string>('GET', `/${segment}/${name}`)
      expect([got.body, got.headers.get('content-type')]).toEqual([text, 'text/plain; charset=utf-8'])
    }
  })

  it('are rejected without a valid name or exactly one file, and for an unknown dialect', async () => {
    const at = (query: string, more: Call, dialect = 'velocity') =>
      call('POST', `/${segment}/${dialect}?${query}`, more).then(refusal)
    const named = `name=${segment}_x&staticName=${segment}_x`
    const two = form('file', 'x')
    two.set('template', 'y')
    expect(await at('staticName=a', raw('text/plain', 'x'))).toMatchObject({
      status: 400,
      message: "'name' is missing; it must be text.",
    })
    expect((await at('name=1a&staticName=a-b', raw('text/plain', 'x'))).message).toMatch(
      /^'name' must begin with .*'staticName' must begin with /,
    )
    expect(await at(named, {})).toMatchObject({
      status: 400,
      message: expect.stringContaining("contains no file; send it as the part 'file' of a form"),
    })
    expect(await at(named, raw('text/plain', ''))).toMatchObject({
      status: 400,
      message: expect.stringContaining("contains no file; send it as the part 'file' of a form"),
    })
    expect(await at(named, { body: form('file', new Uint8Array(0), 'empty') })).toMatchObject({
      status: 400,
      message: 'The file is empty; send one with contents.',
    })
    expect(await at(named, { body: two })).toMatchObject({ status: 400, code: 'malformedMultipart' })
    expect(await at(named, { body: form('other', 'text, and no file') })).toMatchObject({ status: 400 })
    expect(await at(named, raw('text/plain', 'x'), 'jinja')).toMatchObject({ status: 405 })
    expect((await call('GET', `/${segment}/${segment}_x`)).status).toBe(404)
  })

  it('are replaced in every form of a body, if the name exists', async () => {
    const name = `${segment}_velocity_1`
    const patch = (body: Call, to = name) => call('PATCH', `/${segment}/velocity?name=${to}`, body)
    for (const [index, body] of [
      raw('text/plain', 'text 0'),
      { body: form('template', 'text 1') },
      { body: form('file', 'text 2', 'any.vm') },
      raw('application/octet-stream', 'text 3'),
    ].entries()) {
      expect((await patch(body)).status).toBe(200)
      expect((await call('GET', `/${segment}/${name}`)).body).toBe(`text ${index}`)
    }
    expect(refusal(await patch(raw('text/plain', '#if($x)'))).status).toBe(400)
    expect((await call('GET', `/${segment}/${name}`)).body).toBe('text 3')
    expect(refusal(await patch(raw('text/plain', 'x'), 'nobody')).status).toBe(404)
  })

  it('that do not parse are rejected with every problem and its line and column', async () => {
    const liquid = await call('POST', `/${segment}/liquid?name=bad&staticName=bad`, {
      ...raw('text/plain', 'a\n{{ x | nofilter }}\n{% if y %}'),
    })
    expect(refusal(liquid)).toMatchObject({ status: 400, code: 'invalidRequest' })
    expect(refusal(liquid).message).toContain("line 2, column 8: There is no filter 'nofilter'.")
    expect(refusal(liquid).message).toContain("line 3, column 1: 'if' is not closed.")
    const velocity = await call('POST', `/${segment}/velocity?name=bad&staticName=bad`, {
      ...raw('text/plain', 'a\n  #set($x = )\n#if($y)\nb'),
    })
    expect(refusal(velocity).message).toContain('line 2, column 13: A value is missing.')
    expect(refusal(velocity).message).toContain(
      "line 3, column 1: The '#if' that begins here is never closed",
    )
    expect((await call('GET', `/${segment}/bad`)).status).toBe(404)
  })

  it('are replaced only in their own dialect', async () => {
    const name = `${segment}_liquid_0`
    expect((await call('PATCH', `/${segment}/liquid?name=${name}`, raw('text/plain', 'new'))).status).toBe(
      200,
    )
    expect((await call('GET', `/${segment}/${name}`)).body).toBe('new')
    const other = await call('PATCH', `/${segment}/velocity?name=${name}`, raw('text/plain', 'x'))
    expect(refusal(other)).toMatchObject({ status: 409, code: 'wrongState' })
  })

  it('are rejected if they are larger than 5 MB, JSON or not UTF-8', async () => {
    const path = `/${segment}/liquid?name=odd&staticName=odd`
    const [large, json, latin] = [
      await call('POST', path, raw('text/plain', 'x'.repeat(5_000_001))),
      await call('POST', path, raw('application/json', '{"template":"x"}')),
      await call('POST', path, raw('text/plain', Uint8Array.from([0x41, 0xe4]))),
    ]
    expect([large.status, json.status, latin.status]).toEqual([413, 415, 400])
    expect(refusal(large).message).toContain('larger than 5 MB')
  })

  it('cannot have the static name of a resource of another type', async () => {
    await call('POST', `/documents?name=${segment}_doc&staticName=${segment}_shared`, raw('text/plain', 'x'))
    const clash = await call('POST', `/${segment}/liquid?name=${segment}_t&staticName=${segment}_shared`, {
      ...raw('text/plain', 'x'),
    })
    expect(refusal(clash)).toMatchObject({ status: 409, code: 'alreadyExists' })
  })
})
