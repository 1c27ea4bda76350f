import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { type FileLink, linkedKey, linkToken, readLinkToken } from '../../src/platform/http/file-links.ts'
import type { Tenant } from '../../src/platform/tenancy.ts'

const secret = 'a secret that only this test knows'

const link: FileLink = {
  tenantLocator: 'a',
  generation: 3,
  path: ['archives', 'x.zip'],
  fileName: 'Überblick 1.zip',
  expiresAt: 1_000 as Instant,
}

const at = (ms: number): Instant => ms as Instant

test('a link can be read back until it expires, and only with its secret', () => {
  const token = linkToken(secret, link)
  expect(readLinkToken(secret, token, at(999))).toEqual(link)
  expect(readLinkToken(secret, token, at(1_000))).toBeUndefined()
  expect(readLinkToken('another secret', token, at(0))).toBeUndefined()
})

test('no other text is accepted as a link', () => {
  const token = linkToken(secret, link)
  const changed = fc
    .tuple(fc.nat(token.length - 1), fc.constantFrom(...'AZaz09-_.'))
    .map(([place, letter]) => token.slice(0, place) + letter + token.slice(place + 1))
  for (const more of ['=', '!', ' ', '.', '.x', 'A', '\n'])
    expect(readLinkToken(secret, token + more, at(0))).toBeUndefined()
  for (let length = 0; length < token.length; length += 1)
    expect(readLinkToken(secret, token.slice(0, length), at(0))).toBeUndefined()
  // The last base64 letter has unused bits: no other letter may be accepted in its place.
  for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
    if (!token.endsWith(letter))
      expect(readLinkToken(secret, token.slice(0, -1) + letter, at(0))).toBeUndefined()
  fc.assert(
    fc.property(changed, text => {
      if (text !== token) expect(readLinkToken(secret, text, at(0))).toBeUndefined()
    }),
    { seed: 20261121, numRuns: 500 },
  )
  fc.assert(
    fc.property(fc.string(), text => {
      expect(readLinkToken(secret, text, at(0))).toBeUndefined()
    }),
    { seed: 20261121, numRuns: 500 },
  )
})

test('a link leads only to the tenant and generation for which it was created', () => {
  const tenant = { locator: 'a', generation: 3 } as unknown as Tenant
  expect(linkedKey(link, tenant)).toBe('a/3/archives/x.zip')
  expect(linkedKey(link, { ...tenant, generation: 4 })).toBeUndefined()
  expect(linkedKey({ ...link, tenantLocator: 'b' }, tenant)).toBeUndefined()
  expect(linkedKey(link, undefined)).toBeUndefined()
})
