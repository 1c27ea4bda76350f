import { z } from '@hono/zod-openapi'
import { describe, expect, it } from 'vitest'
import { DEEPEST_JSON, MOST_JSON_VALUES } from '../../../src/platform/http/body/json.ts'
import { publicRoutes } from '../../../src/platform/http/route.ts'
import { mounted } from './mounted.ts'

const Echo = z.unknown()
const route = { summary: '', answer: { description: '', schema: Echo } } as const
const call = mounted([
  publicRoutes('Test').post('/optional', {
    ...route,
    body: { schema: z.record(z.string(), z.unknown()), required: false },
    handle: async ({ body }) => body ?? 'none',
  }),
  publicRoutes('Test').post('/partly', {
    ...route,
    body: { schema: z.object({ name: z.string(), note: z.string().optional() }), required: false },
    handle: async ({ body }) => body ?? 'none',
  }),
  publicRoutes('Test').post('/defaults', {
    ...route,
    body: {
      schema: z.object({ count: z.int().default(3), note: z.string().nullish() }),
      required: true,
    },
    handle: async ({ body }) => body,
  }),
  publicRoutes('Test').put('/defaults', {
    ...route,
    body: { schema: z.object({ count: z.int().default(3) }), required: true },
    handle: async ({ body }) => body,
  }),
  publicRoutes('Test').post('/needed', {
    ...route,
    body: { schema: z.object({ name: z.string(), count: z.int() }), required: true, largestBytes: 1_000 },
    handle: async ({ body }) => body,
  }),
])

const utf8 = (text: string) => new TextEncoder().encode(text)

/** A body of unknown length, sent in chunks. */
const chunked = (...chunks: string[]) =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(utf8(chunk))
      controller.close()
    },
  })

const WITHOUT_BODY = [
  ['no body and no Content-Type', {}],
  ['no body with a JSON Content-Type', { headers: { 'content-type': 'application/json' } }],
  ['an empty body', { body: '' }],
  ['an empty JSON text', { body: '""', headers: { 'content-type': 'application/json' } }],
  ['null', { body: 'null' }],
  ['blanks', { body: ' \r\n' }],
] as const

describe('A request with', () => {
  it.each(WITHOUT_BODY)('%s has no optional body', async (_, init: RequestInit) => {
    expect(await call('POST', '/partly', init)).toMatchObject({ status: 200, text: '"none"' })
  })

  it.each(WITHOUT_BODY)(
    '%s is read as {} where all properties are optional',
    async (_, init: RequestInit) => {
      expect(await call('POST', '/optional', init)).toMatchObject({ status: 200, text: '{}' })
      expect(await call('POST', '/defaults', init)).toMatchObject({ status: 200, text: '{"count":3}' })
      expect(await call('POST', '/defaults', { body: '{}' })).toMatchObject({ text: '{"count":3}' })
    },
  )

  it.each(WITHOUT_BODY)('%s is rejected where it would replace a record', async (_, init: RequestInit) => {
    const { status, text } = await call('PUT', '/defaults', init)
    expect([status, JSON.parse(text).message]).toEqual([400, 'The request is missing; it must be an object.'])
    expect(await call('PUT', '/defaults', { body: '{}' })).toMatchObject({ text: '{"count":3}' })
  })

  it.each(WITHOUT_BODY)('%s is rejected where a property is required', async (_, init: RequestInit) => {
    const reply = await call('POST', '/needed', init)
    expect(reply.json()).toMatchObject({
      httpStatus: 400,
      code: 'invalidRequest',
      message: 'The request is missing; it must be an object.',
    })
  })
})

describe('A JSON body', () => {
  it.each([
    ['without Content-Type', { body: utf8('{"a":1}') }],
    ['labelled as text', { body: '{"a":1}' }],
    [
      'labelled as a form, as curl -d does',
      { body: utf8('{"a":1}'), headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ],
    ['with a byte-order mark', { body: utf8('\ufeff{"a":1}') }],
    ['in pieces without Content-Length', { body: chunked('{"a"', ':', '1}') }],
    ['with unknown headers', { body: '{"a":1}', headers: { 'x-anything': 'yes' } }],
  ])('is read %s', async (_, init: RequestInit) => {
    expect(await call('POST', '/optional', init)).toMatchObject({ status: 200, text: '{"a":1}' })
  })

  it('is rejected with the line and column when it is malformed', async () => {
    const reply = await call('POST', '/optional', { body: '{"a":\n 1,}' })
    expect(reply.status).toBe(400)
    expect(reply.json()).toMatchObject({
      httpStatus: 400,
      code: 'malformedJson',
      message: 'The body is not JSON: at line 2, column 4 a property name in double quotes is expected.',
    })
  })

  it('is rejected when it is not UTF-8', async () => {
    const reply = await call('POST', '/optional', { body: new Uint8Array([0x22, 0xff, 0x22]) })
    expect(reply.json()).toMatchObject({ code: 'malformedJson', httpStatus: 400 })
  })

  it('is rejected with 415 when it is a form or compressed', async () => {
    const form = new FormData()
    form.set('a', '1')
    for (const body of [form, new URLSearchParams({ 'values.first_name': 'Ada' })])
      expect((await call('POST', '/optional', { body })).json()).toMatchObject({
        httpStatus: 415,
        message: 'This path reads JSON. Send application/json, not a form.',
      })
    expect(
      (await call('POST', '/optional', { body: '{}', headers: { 'content-encoding': 'gzip' } })).status,
    ).toBe(415)
  })

  const MIB = new Uint8Array(1_048_576).fill(0x20)

  /** A body of this many MiB, and how many of them were read. */
  const large = (mebibytes: number) => {
    const sent = { mebibytes: 0 }
    const body = new ReadableStream({
      pull(controller) {
        if (sent.mebibytes === mebibytes) return controller.close()
        sent.mebibytes += 1
        controller.enqueue(MIB)
      },
    })
    return { sent, init: { body, headers: { 'content-length': '2' } } }
  }

  it.each([
    ['over the limit', '/needed', 413, 'tooLarge'],
    ['to an unknown path', '/nowhere', 404, 'unknownPath'],
    ['labelled as a form', '/optional', 415, 'unsupportedMediaType'],
  ])(
    'of 33 MiB %s is rejected only after all of it was read, whatever Content-Length says',
    async (_, path, status, code) => {
      const { sent, init } = large(33)
      const type = status === 415 ? 'multipart/form-data; boundary=X' : 'application/json'
      const reply = await call('POST', path, { ...init, headers: { ...init.headers, 'content-type': type } })
      expect([reply.status, reply.json().code]).toEqual([status, code])
      expect(sent.mebibytes).toBe(33)
    },
  )

  it('that never ends is rejected after 64 MiB', async () => {
    const { sent, init } = large(Number.POSITIVE_INFINITY)
    expect((await call('POST', '/needed', init)).json()).toMatchObject({
      code: 'tooLarge',
      apiErrorCode: 1008,
    })
    expect(sent.mebibytes).toBeLessThan(70)
  })

  it('may have half a million values, but no more', async () => {
    const list = (values: number) => `{"a":[${'1,'.repeat(values - 3)}1]}`
    expect((await call('POST', '/optional', { body: list(MOST_JSON_VALUES) })).status).toBe(200)
    expect((await call('POST', '/optional', { body: list(MOST_JSON_VALUES + 1) })).json()).toMatchObject({
      httpStatus: 413,
      code: 'tooLarge',
    })
  })

  it('may nest 64 levels deep, but no deeper', async () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    expect((await call('POST', '/optional', { body: nested(DEEPEST_JSON) })).status).toBe(200)
    expect((await call('POST', '/optional', { body: nested(DEEPEST_JSON + 1) })).json()).toMatchObject({
      code: 'malformedJson',
    })
    expect((await call('POST', '/optional', { body: '['.repeat(1_000_000) })).status).toBe(400)
  })

  it('is rejected when a text has NUL or half a surrogate pair; pairs and escapes are accepted', async () => {
    for (const [body, place] of [
      ['{"a":"x\\u0000"}', "'a'"],
      ['{"a":{"b":[1,"\\uD800x"]}}', "'a.b[1]'"],
      ['{"a":{"\\udc00":1}}', "'a['"],
      ['"\\ud800"', 'The request'],
    ])
      expect((await call('POST', '/optional', { body: body! })).json()).toMatchObject({
        httpStatus: 400,
        code: 'invalidRequest',
        message: expect.stringMatching(
          new RegExp(`^${place!.replace(/[[\].]/g, '\\$&')}.*NUL or half of a surrogate pair`),
        ),
      })
    for (const body of ['{"a":"\\ud83d\\ude00"}', '{"a":"\\\\u0000"}'])
      expect((await call('POST', '/optional', { body })).status).toBe(200)
  })

  it('is rejected when it has a property named __proto__, however it is escaped', async () => {
    for (const body of ['{"a":{"__proto__":{"b":1}}}', '{"a":[{"\\u005f_proto__":1}]}'])
      expect((await call('POST', '/optional', { body })).json()).toMatchObject({ code: 'invalidRequest' })
    expect((await call('POST', '/optional', { body: '{"a":"__proto__"}' })).status).toBe(200)
  })

  it('is rejected with every problem and its path when it does not match the contract', async () => {
    const reply = await call('POST', '/needed', { body: '{"count":"many"}' })
    expect(reply.status).toBe(400)
    expect(reply.json()).toMatchObject({
      code: 'invalidRequest',
      fieldErrors: [{ ontologyUri: 'name' }, { ontologyUri: 'count' }],
    })
    expect((await call('POST', '/needed', {})).json()).toMatchObject({
      code: 'invalidRequest',
      httpStatus: 400,
    })
  })
})
