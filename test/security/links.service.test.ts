// Signed URLs of files, through HTTP: anyone with the URL can read that file for 30 minutes, and nothing else.
import { env, exports } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { now } from '../../src/kernel/time.ts'
import { type FileLink, linkToken, readLinkToken } from '../../src/platform/http/file-links.ts'
import { fileAt } from '../documents/waiting.ts'
import { callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

let mine: Motor
let theirs: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  mine = await motorTenant('links')
  theirs = await motorTenant('links-other')
})

async function uploaded({ token }: Motor, text: string): Promise<FileLink> {
  const form = new FormData()
  form.set('file', new Blob([text], { type: 'image/png' }), 'photo.png')
  const { locator } = await callOk<{ locator: string }>('POST', '/media?fileName=photo.png', {
    token,
    body: form,
  })
  const { url } = await callOk<{ url: string }>('GET', `/media/${locator}`, { token })
  return readLinkToken(env.TOKEN_SECRET, new URL(url).pathname.split('/').at(-1)!, now())!
}

const at = async (token: string): Promise<{ status: number; text: string }> => {
  const { status, bytes } = await fileAt(`http://bindery.test/files/${token}`)
  return { status, text: new TextDecoder().decode(bytes) }
}
const signed = (link: FileLink): string => linkToken(env.TOKEN_SECRET, link)

it('a signed URL returns its file, and 404 if it is altered, expired or signed for something else', async () => {
  const [link, other] = [await uploaded(mine, 'mine'), await uploaded(theirs, 'theirs')]
  const token = signed(link)
  expect(await at(token)).toEqual({ status: 200, text: 'mine' })
  const [fields, signature] = token.split('.') as [string, string]
  const wrong: Record<string, string> = {
    expired: signed({ ...link, expiresAt: (now() - 1) as FileLink['expiresAt'] }),
    'truncated by a letter': token.slice(0, -1),
    'without its signature': fields,
    'with an empty signature': `${fields}.`,
    'of another file, with the signature of this one': `${signed(other).split('.')[0]}.${signature}`,
    'changed by a letter': `A${token.slice(1)}`,
    'with more behind it': `${token}=`,
    'signed with another secret': linkToken('another secret', link),
    'signed for another generation of the tenant': signed({ ...link, generation: link.generation + 1 }),
    'signed for a tenant that is none': signed({
      ...link,
      tenantLocator: '00000000-0000-4000-8000-000000000000',
    }),
    // Even with a valid signature, a file is only read from the place of the tenant that the link names.
    "of another tenant's file": signed({ ...link, path: other.path }),
    'out of its place': signed({ ...link, path: ['..', other.tenantLocator, '1', ...other.path] }),
  }
  for (const [what, bad] of Object.entries(wrong)) {
    const { status, text } = await at(bad)
    expect(status, what).toBe(404)
    expect(text, what).not.toContain('theirs')
  }
})

describe('a file URL in a response', () => {
  type Settings = { readonly PUBLIC_ORIGIN: string; readonly ENVIRONMENT: string }
  const { PUBLIC_ORIGIN, ENVIRONMENT } = env as Settings
  const set = (settings: Settings): void => void Object.assign(env, settings)
  afterEach(() => set({ PUBLIC_ORIGIN, ENVIRONMENT }))

  /** Returns URLs of a medium that was requested with hosts that do not belong to the service. */
  async function addresses(): Promise<string[]> {
    const { path } = await uploaded(mine, 'mine')
    const forged: Record<string, string>[] = [
      {},
      { host: 'evil.example' },
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
      { forwarded: 'host=evil.example;proto=http', 'x-original-host': 'evil.example' },
    ]
    const found: string[] = []
    for (const headers of forged)
      for (const host of ['bindery.test', 'evil.example:8787']) {
        const request = new Request(`http://${host}/media/${path[1]}`, {
          headers: { ...headers, authorization: `Bearer ${mine.token}` },
        })
        const response = await exports.default.fetch(request)
        expect(response.status).toBe(200)
        found.push((await response.json<{ url: string }>()).url)
      }
    return found
  }
  const originsOf = (found: readonly string[]): string[] => [
    ...new Set(found.map(url => new URL(url).origin)),
  ]

  async function expectFile(address: string): Promise<void> {
    const { status, bytes } = await fileAt(`http://bindery.test${new URL(address).pathname}`)
    expect([status, new TextDecoder().decode(bytes)]).toEqual([200, 'mine'])
  }

  it('uses the configured origin, no matter which host the request names', async () => {
    set({ PUBLIC_ORIGIN: 'https://policies.example.com:8443/', ENVIRONMENT: 'production' })
    const found = await addresses()
    expect(originsOf(found)).toEqual(['https://policies.example.com:8443'])
    expect(found[0]).toMatch(/:8443\/files\//)
    await expectFile(found.at(-1)!)
  })

  it('uses the host of the tenant over https if no origin is configured', async () => {
    set({ PUBLIC_ORIGIN: '', ENVIRONMENT: 'production' })
    const row = await env.CONTROL.prepare('select host_name from tenant where locator = ?')
      .bind(mine.tenantLocator)
      .first<{ host_name: string }>()
    const found = await addresses()
    expect(originsOf(found)).toEqual([`https://${row!.host_name}`])
    await expectFile(found.at(-1)!)
  })

  it('uses the host of the request only if the service is local and has no configured origin', async () => {
    set({ PUBLIC_ORIGIN: '', ENVIRONMENT: 'local' })
    expect(originsOf(await addresses()).sort()).toEqual(['http://bindery.test', 'http://evil.example:8787'])
    set({ PUBLIC_ORIGIN: 'http://localhost:8787', ENVIRONMENT: 'local' })
    expect(originsOf(await addresses())).toEqual(['http://localhost:8787'])
  })
})
