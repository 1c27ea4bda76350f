// Signed addresses of files, through HTTP: whoever has one gets that file for 30 minutes, and nothing else with it.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { type FileLink, linkToken, readLinkToken } from '../../src/platform/signed-links.ts'
import { now } from '../../src/platform/time.ts'
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

it('a signed address gives its file, and no other one gives any', async () => {
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
    // Were it ever signed so: a file is looked for in the place of the tenant that the link names.
    "of another tenant's file": signed({ ...link, path: other.path }),
    'out of its place': signed({ ...link, path: ['..', other.tenantLocator, '1', ...other.path] }),
  }
  for (const [what, bad] of Object.entries(wrong)) {
    const { status, text } = await at(bad)
    expect(status, what).toBe(404)
    expect(text, what).not.toContain('theirs')
  }
})
