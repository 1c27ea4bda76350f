import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { issueToken, readToken, TOKEN_LIFE_MS, type TokenHolder, tokenOf } from '../../src/accounts/tokens.ts'
import type { Uuid } from '../../src/platform/locators.ts'
import type { Instant } from '../../src/platform/time.ts'

const SECRET = 'a secret of more than thirty-two characters'
const NOW = 1_790_000_000_000 as Instant
const HOLDER: TokenHolder = {
  caller: {
    accountLocator: '7a0c1f0e-5d5b-4a57-9d52-0a4a3c8d2b00' as Uuid,
    username: 'alice',
    accountType: 'account.tenant.employee',
  },
  accountName: 'Alice Adams',
  tenant: {
    locator: '5b8f6c0e-1111-4a57-9d52-0a4a3c8d2b00' as Uuid,
    name: 'admin-motor',
    type: 'test',
    generation: 3,
    tokenEpoch: 2,
    timeZone: 'Europe/Berlin',
  },
  signedInAt: NOW,
}

const header = (authorization: string) => new Request('http://x/', { headers: { authorization } })

describe('tokens', () => {
  it('carry the claims that clients read', async () => {
    const { token, expiresAt } = await issueToken(SECRET, HOLDER, NOW)
    expect(expiresAt).toBe(NOW + TOKEN_LIFE_MS)
    expect(decodeJwt(token)).toMatchObject({
      'account.name': 'Alice Adams',
      'account.type': 'account.tenant.employee',
      'account.uuid': HOLDER.caller.accountLocator,
      'tenant.name': 'admin-motor',
      'tenant.timezone': 'Europe/Berlin',
      'tenant.type': 'test',
      'tenant.uuid': HOLDER.tenant!.locator,
      sub: 'alice',
      iat: NOW / 1000,
      exp: expiresAt / 1000,
    })
  })

  it('are read back, without a tenant for the administration account', async () => {
    const { token } = await issueToken(SECRET, HOLDER, NOW)
    expect(await readToken(SECRET, token, NOW)).toEqual({
      caller: HOLDER.caller,
      tenant: { locator: HOLDER.tenant!.locator, generation: 3, tokenEpoch: 2 },
      signedInAt: NOW,
    })
    const administration = await issueToken(SECRET, { ...HOLDER, tenant: undefined }, NOW)
    expect((await readToken(SECRET, administration.token, NOW)).tenant).toBeUndefined()
  })

  it('end after an hour', async () => {
    const { token } = await issueToken(SECRET, HOLDER, NOW)
    await readToken(SECRET, token, (NOW + TOKEN_LIFE_MS - 1000) as Instant)
    await expect(readToken(SECRET, token, (NOW + TOKEN_LIFE_MS) as Instant)).rejects.toThrow(/has expired/)
  })

  it('of another secret, altered, unsigned or of another kind are refused alike', async () => {
    const { token } = await issueToken(SECRET, HOLDER, NOW)
    const [head, claims, signature] = token.split('.') as [string, string, string]
    const other = await issueToken(`${SECRET}!`, HOLDER, NOW)
    const unsigned = `${btoa('{"alg":"none"}').replaceAll('=', '')}.${claims}.${signature}`
    const altered = `${head}.${btoa(atob(claims).replace('alice', 'alicf')).replaceAll('=', '')}.${signature}`
    for (const forged of [other.token, unsigned, altered, `${head}.${claims}.AAAA`])
      await expect(readToken(SECRET, forged, NOW)).rejects.toMatchObject({
        code: 'unauthenticated',
        message: 'The token is not valid; sign in with POST /account/authenticate.',
      })
  })

  it('cannot be made with a short secret', async () => {
    await expect(issueToken('short', HOLDER, NOW)).rejects.toThrow(/TOKEN_SECRET/)
  })

  it('are read bare and after Bearer or JWT in any case', () => {
    for (const authorization of ['a.b.c', 'Bearer a.b.c', 'bearer  a.b.c', 'JWT a.b.c', 'jwt a.b.c'])
      expect(tokenOf(header(authorization))).toBe('a.b.c')
  })

  it('are missed with a message that says what to send', () => {
    for (const authorization of ['', 'Bearer', 'Basic YTpi', 'Bearer a.b', 'Digest a.b.c', 'a.b.c.d'])
      expect(() => tokenOf(header(authorization))).toThrow(/Authorization/)
  })
})
