import { env } from 'cloudflare:workers'
import { z } from '@hono/zod-openapi'
import { beforeAll, describe, expect, it } from 'vitest'
import { issueToken } from '../../../src/access/access-tokens.ts'
import { newUuid } from '../../../src/kernel/locators.ts'
import { now } from '../../../src/kernel/time.ts'
import { type Upload, uploadedBytes } from '../../../src/platform/http/body/upload.ts'
import { forAdministration, type Route } from '../../../src/platform/http/route.ts'
import { filePart } from '../../../src/platform/wire.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { mounted } from './mounted.ts'

const call = mounted([
  forAdministration('Test').post('/upload', {
    permission: 'deployments.deploy',
    summary: '',
    form: {
      schema: z.object({ zipFile: filePart('zipFile'), suffix: z.string().optional() }),
      file: 'zipFile',
      largestFileBytes: 1_048_576,
    },
    answer: { description: '', schema: z.unknown() },
    handle: async ({ body, file }) => ({
      suffix: body.suffix,
      fileName: file?.fileName,
      mediaType: file?.mediaType,
      size: file?.bytes.length,
      text: file && file.bytes.length < 100 ? new TextDecoder().decode(file.bytes) : undefined,
    }),
  }),
])

/** Resolves when the uploads to `/hold` may be answered. */
let held = Promise.resolve()
/** How many uploads to `/hold` wait for `held` or have been answered. */
let holding = 0
const hold = mounted([
  forAdministration('Test').post('/hold', {
    permission: 'deployments.deploy',
    summary: '',
    form: { schema: z.object({ zipFile: z.unknown() }), file: 'zipFile', largestFileBytes: 8 * 1_048_576 },
    answer: { description: '', schema: z.unknown() },
    handle: async ({ file }) => {
      holding += 1
      await held
      return file?.bytes.length
    },
  }),
])

const streamRoute: Route = {
  method: 'post',
  path: '/stream',
  summary: '',
  tags: [],
  access: { kind: 'administration', permissions: ['deployments.deploy'] },
  upload: { largestBytes: 1_048_576 },
  answer: { description: '' },
  handle: async ({ file }: { file: Upload }) => {
    const text = new TextDecoder().decode(await uploadedBytes(file))
    return { fileName: file.fileName, mediaType: file.mediaType, size: text.length, text: text.slice(0, 99) }
  },
}
const streamed = mounted([streamRoute])
const stream = (body: BodyInit, type = 'multipart/form-data; boundary=XX') =>
  streamed('POST', '/stream', { body, headers: { authorization, 'content-type': type } })

let authorization = ''
beforeAll(async () => {
  await prepareDatabases({ tenants: 0 })
  const caller = { accountLocator: newUuid(0), username: 'administrator', accountType: 'account.internal' }
  const holder = { caller, accountName: 'Administrator', tenant: undefined, signedInAt: now() }
  authorization = (await issueToken(env, holder, now())).token
})

const upload = (body: BodyInit, type = 'multipart/form-data; boundary=XX') =>
  call('POST', '/upload', { body, headers: { authorization, 'content-type': type } })

const part = (headers: string, content: string) => `--XX\r\n${headers}\r\n\r\n${content}\r\n`
const SUFFIX = part('Content-Disposition: form-data; name="suffix"', 'motor')
const FILE = part(
  'Content-Disposition: form-data; name="zipFile"; filename="a.zip"\r\nContent-Type: application/zip',
  'PK',
)

/** The body byte by byte, without Content-Length. */
function byteByByte(text: string): ReadableStream {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, ++at))
      else controller.close()
    },
  })
}

describe('A multipart form', () => {
  it('is read with its parts in any order', async () => {
    for (const body of [`${SUFFIX}${FILE}--XX--`, `${FILE}${SUFFIX}--XX--\r\n`])
      expect((await upload(body)).json()).toEqual({
        suffix: 'motor',
        fileName: 'a.zip',
        mediaType: 'application/zip',
        size: 2,
        text: 'PK',
      })
  })

  it('is read byte by byte, without Content-Length and with an epilogue', async () => {
    const reply = await upload(byteByByte(`${SUFFIX}${FILE}--XX--\r\nepilogue`))
    expect(reply.json()).toMatchObject({ suffix: 'motor', size: 2 })
  })

  it('may begin with a preamble, even one that resembles its boundary', async () => {
    const preambles = ['Not the form.\r\n', '\r\n', `--X\r\n${'x--XX '.repeat(30_000)}\r\n--X\r\n`]
    for (const preamble of preambles)
      for (const body of [
        `${preamble}${SUFFIX}${FILE}--XX--`,
        byteByByte(`\r\n--X\r\n${SUFFIX}${FILE}--XX--`),
      ])
        expect((await upload(body)).json()).toMatchObject({ suffix: 'motor', size: 2 })
  })

  it('may have unknown parts with any content', async () => {
    const others = [
      part('Content-Disposition: form-data; name="file"; filename="b.zip"', 'x'.repeat(100_000)),
      part('Content-Disposition: form-data; name="note"', 'x'.repeat(70_000)),
      part('Content-Disposition: form-data; name="note"', 'again'),
      part('Content-Disposition: form-data; name="__proto__"', '{}'),
    ].join('')
    const binary = '--XX\r\nContent-Disposition: form-data; name="thumb"\r\n\r\n'
    const bytes = new TextEncoder()
    const whole = new Blob([
      bytes.encode(`${others}${binary}`),
      Uint8Array.of(0xff, 0xfe, 0x00),
      bytes.encode(`\r\n${SUFFIX}${FILE}--XX--`),
    ])
    expect((await upload(await whole.arrayBuffer())).json()).toMatchObject({ suffix: 'motor', size: 2 })
    const missing = (await upload(`${others}${SUFFIX}--XX--`)).json()
    expect(missing).toMatchObject({
      httpStatus: 400,
      message: "'zipFile' is missing; send the file as the part named zipFile.",
    })
  })

  it('may omit the content type and file name of the file part', async () => {
    const bare = part('Content-Disposition: form-data; name="zipFile"', 'PK')
    expect((await upload(`${bare}--XX--`)).json()).toEqual({ size: 2, text: 'PK' })
  })

  it('of a web client is read', async () => {
    const form = new FormData()
    form.set('suffix', 'größe')
    form.set('zipFile', new Blob([new Uint8Array(1_000_000)]), 'ü.zip')
    const reply = await call('POST', '/upload', { body: form, headers: { authorization } })
    expect(reply.json()).toMatchObject({ suffix: 'größe', size: 1_000_000 })
  })

  it('with too large a file is rejected with 413 before it ends', async () => {
    const big = part('Content-Disposition: form-data; name="zipFile"', 'x'.repeat(1_048_577))
    expect((await upload(`${big}--XX--`)).json()).toMatchObject({ code: 'tooLarge' })
    const endless = new ReadableStream({
      start: controller =>
        controller.enqueue(
          new TextEncoder().encode(part('Content-Disposition: form-data; name="zipFile"', '').slice(0, -2)),
        ),
      pull: controller => controller.enqueue(new Uint8Array(65_536)),
    })
    expect((await upload(endless)).status).toBe(413)
  })

  it.each([
    ['cut off', `${SUFFIX}--XX\r\nContent-Dispo`],
    ['empty', ''],
    ['of another boundary', '--YY\r\n\r\n--YY--'],
    ['with a part twice', `${SUFFIX}${SUFFIX}--XX--`],
    ['with a nameless part', `${part('Content-Type: text/plain', 'x')}--XX--`],
  ])('that is %s is rejected with 400', async (_, body) => {
    expect((await upload(body)).json()).toMatchObject({ httpStatus: 400, code: 'malformedMultipart' })
  })

  it('with too many parts or too long a text is rejected with 413', async () => {
    const many = Array.from({ length: 21 }, (_, at) =>
      part(`Content-Disposition: form-data; name="p${at}"`, ''),
    )
    expect((await upload(`${many.join('')}--XX--`)).status).toBe(413)
    const long = part('Content-Disposition: form-data; name="suffix"', 'x'.repeat(70_000))
    expect((await upload(`${long}--XX--`)).status).toBe(413)
  })

  it('is required: JSON is rejected with 415', async () => {
    expect((await upload('{}', 'application/json')).status).toBe(415)
    expect((await upload(SUFFIX, 'multipart/form-data')).status).toBe(400)
  })
})

describe('Large files', () => {
  const large = (chunked: boolean, bytes = 5 * 1_048_576) => {
    const form = new FormData()
    form.set('zipFile', new Blob([new Uint8Array(bytes)]), 'a.zip')
    const whole = new Response(form)
    const type = whole.headers.get('content-type')!
    const body = chunked ? whole.body! : whole.arrayBuffer()
    return Promise.resolve(body).then(body =>
      hold('POST', '/hold', { body, headers: { authorization, 'content-type': type } }),
    )
  }

  it.each([
    ['whole', false],
    ['in pieces', true],
  ])(
    'are held two at a time in an isolate, sent %s, while small and later ones are still read',
    async (_, chunked) => {
      const goOn = Promise.withResolvers<void>()
      held = goOn.promise
      holding = 0
      let replied = 0
      const all = Array.from({ length: 4 }, async () => {
        const reply = await large(chunked)
        replied += 1
        return reply
      })
      const small = large(chunked, 1_048_576)
      // The small file and two large ones are being handled, and the other two have been rejected.
      await expect.poll(() => ({ holding, replied })).toEqual({ holding: 3, replied: 2 })
      goOn.resolve()
      const replies = await Promise.all(all)
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 503, 503])
      const refused = replies.find(({ status }) => status === 503)!
      expect([refused.json().code, refused.headers.get('retry-after')]).toEqual(['overloaded', '5'])
      expect((await small).status).toBe(200)
      expect((await large(chunked)).status).toBe(200)
    },
  )
})

describe('A streamed upload', () => {
  const named = (name: string, content: string) =>
    part(
      `Content-Disposition: form-data; name="${name}"; filename="rates.csv"\r\nContent-Type: text/csv; charset=utf-8`,
      content,
    )
  const rates = { fileName: 'rates.csv', mediaType: 'text/csv', size: 7, text: 'a,b\n1,2' }

  it('is the part named file, or another part with a file name; text parts are ignored', async () => {
    for (const name of ['file', 'upload'])
      expect(
        (await stream(`preamble\r\n${SUFFIX}${named(name, 'a,b\n1,2')}${SUFFIX}--XX--\r\n`)).json(),
      ).toEqual(rates)
    const unlabelled = part('Content-Disposition: form-data; name="file"', 'a,b\n1,2')
    expect((await stream(`${unlabelled}--XX--`)).json()).toEqual({ size: 7, text: 'a,b\n1,2' })
  })

  it('may have its name only in the encoded form', async () => {
    for (const [name, fileName] of [
      ["filename*=UTF-8''f%C3%BCr%20Kfz.csv", 'für Kfz.csv'],
      [`filename="fur.csv"; filename*=utf-8'de'f%C3%BCr.csv`, 'für.csv'],
      ["filename*=utf-8''%ZZ.csv", '%ZZ.csv'],
    ] as const) {
      const body = part(`Content-Disposition: form-data; name="upload"; ${name}`, 'a,b\n1,2')
      expect((await stream(`${body}--XX--`)).json()).toEqual({ fileName, size: 7, text: 'a,b\n1,2' })
    }
  })

  it('is the whole body when the request is not a form', async () => {
    expect((await stream('a,b\n1,2', 'text/CSV; charset=utf-8')).json()).toEqual({
      mediaType: 'text/csv',
      size: 7,
      text: 'a,b\n1,2',
    })
  })

  it('arrives complete in chunks of any size, even with content that resembles its boundary', async () => {
    const content = '\r\n--X\r\n--Xa\r\n-'
    expect((await stream(byteByByte(`${named('file', content)}--XX--`))).json()).toMatchObject({
      text: content,
    })
    const long = `${'0123456789\r\n--X'.repeat(50_000)}`
    expect((await stream(`${named('file', long)}--XX--`)).json()).toMatchObject({ size: long.length })
  })

  it('is rejected when it is missing, cut off, sent twice or too long', async () => {
    const refused = async (body: BodyInit, type?: string) => {
      const { status, json } = await stream(body, type)
      return [status, json().code]
    }
    expect(await refused(`${SUFFIX}--XX--`)).toEqual([400, 'invalidRequest'])
    expect(await refused(named('file', 'a'))).toEqual([400, 'malformedMultipart'])
    expect(await refused('no boundary')).toEqual([400, 'malformedMultipart'])
    expect(await refused(`${named('file', 'a')}${named('other', 'b')}--XX--`)).toEqual([
      400,
      'malformedMultipart',
    ])
    const long = 'x'.repeat(1_048_577)
    expect(await refused(`${named('file', long)}--XX--`)).toEqual([413, 'tooLarge'])
    expect(await refused(long, 'text/csv')).toEqual([413, 'tooLarge'])
    expect(await refused(part(`X: ${'y'.repeat(9_000)}`, ''))).toEqual([413, 'tooLarge'])
  })
})
