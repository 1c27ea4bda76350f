// Archives and uploads as existing clients send them (brief 0.8 and 0.12). Each of these forms must work.
import { exports } from 'cloudflare:workers'
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate'
import { beforeAll, describe, expect, it } from 'vitest'
import { prepareDatabases } from '../support/databases.ts'
import { archiveOf, type DeployAnswer, exampleFiles } from '../support/examples.ts'
import { administrator } from '../support/sign-in.ts'

beforeAll(() => prepareDatabases({ tenants: 1 }), 120_000)

describe('Deploys from existing clients', () => {
  const BOUNDARY = 'a boundary of the client'
  const SUFFIX = formPart('name="tenantNameSuffix"', 'archives')
  const motorZip = (): Uint8Array => archiveOf(exampleFiles('motor'))
  const zipPart = (zip: Uint8Array, type = ''): Uint8Array =>
    formPart(`name="zipFile"; filename="configuration.zip"${type}`, zip)

  function formPart(label: string, content: string | Uint8Array): Uint8Array {
    return joined([`--${BOUNDARY}\r\nContent-Disposition: form-data; ${label}\r\n\r\n`, content, '\r\n'])
  }

  /** Deploys the form in chunks, and so without Content-Length. The deploy must succeed. */
  async function expectDeployed(...parts: Uint8Array[]): Promise<DeployAnswer> {
    const body = joined([...parts, `--${BOUNDARY}--\r\n`])
    const pieces = Array.from({ length: Math.ceil(body.length / 7_001) }, (_, at) =>
      body.slice(at * 7_001, (at + 1) * 7_001),
    )
    const request = new Request('http://bindery.test/configuration/deployTest', {
      method: 'POST',
      headers: {
        authorization: await administrator(),
        'content-type': `multipart/form-data; boundary="${BOUNDARY}"`,
      },
      body: new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of pieces) controller.enqueue(piece)
          controller.close()
        },
      }),
    })
    expect(request.headers.has('content-length')).toBe(false)
    const response = await exports.default.fetch(request)
    expect(response.status).toBe(200)
    const answer = (await response.json()) as DeployAnswer
    expect(answer.success, answer.logfile).toBe(true)
    return answer
  }

  it('accepts a form in chunks, with its parts in any order and with or without a Content-Type', async () => {
    await expectDeployed(SUFFIX, zipPart(motorZip()))
    await expectDeployed(zipPart(motorZip()), SUFFIX)
    await expectDeployed(SUFFIX, zipPart(motorZip(), '\r\nContent-Type: application/octet-stream'))
  })

  it('accepts a zip written to a pipe, with sizes only in data descriptors and the central directory', async () => {
    const pieces: Uint8Array[] = []
    const zip = new Zip((problem, piece) => {
      if (problem) throw problem
      pieces.push(piece)
    })
    for (const [path, content] of [
      ['products/', new Uint8Array()] as const,
      ...Object.entries(exampleFiles('motor')),
    ]) {
      const entry = /\/$|\.csv$/.test(path) ? new ZipPassThrough(path) : new ZipDeflate(path)
      zip.add(entry)
      entry.push(content, true)
    }
    zip.end()
    const archive = joined(pieces)
    expect(archive[6]! & 8).toBe(8)
    await expectDeployed(SUFFIX, zipPart(archive))
  })

  it('accepts files with a byte-order mark and CR LF', async () => {
    const files = Object.entries(exampleFiles('motor')).map(([path, content]) => [
      path,
      /\.(json|csv|liquid)$/.test(path)
        ? `\uFEFF${new TextDecoder().decode(content).replaceAll('\n', '\r\n')}`
        : content,
    ])
    await expectDeployed(SUFFIX, zipPart(archiveOf(Object.fromEntries(files))))
  })

  it('removes one wrapping folder, and silently ignores the files that macOS adds', async () => {
    const files = Object.entries(exampleFiles('motor')).map(([path, content]) => [
      `My files/${path}`,
      content,
    ])
    const added = [
      '.DS_Store',
      'My files/.DS_Store',
      'My files/products/.DS_Store',
      '__MACOSX/My files/._config.json',
    ]
    const { logfile } = await expectDeployed(
      SUFFIX,
      zipPart(
        archiveOf({ ...Object.fromEntries(files), ...Object.fromEntries(added.map(path => [path, '\0'])) }),
      ),
    )
    expect(logfile).toContain('0 errors, 0 warnings')
  })
})

function joined(pieces: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const all = pieces.map(piece => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece))
  const whole = new Uint8Array(all.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of all) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
