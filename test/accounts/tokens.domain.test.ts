import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { newTokenKey } from '../../scripts/token-key.ts'
import { issueToken, type TokenHolder } from '../../src/access/access-tokens.ts'
import { readToken, tokenOf } from '../../src/access/sign-in-check.ts'
import { TOKEN_LIFE_MS } from '../../src/access/tokens.ts'
import type { Uuid } from '../../src/kernel/locators.ts'
import { type Instant, instant } from '../../src/kernel/time.ts'
import { tokenKeys } from '../../src/platform/token-keys.ts'
import { signPreview } from '../../src/transactions/mechanism/preview-token.ts'

const KEYS = [newTokenKey(), newTokenKey(), newTokenKey()]
const keySet = (...keys: object[]) => ({ TOKEN_KEYS: JSON.stringify({ keys }) })
const SECRET = keySet(KEYS[0]!)
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

describe('access tokens', () => {
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

  it('are read back into the caller and tenant, without a tenant for the administration account', async () => {
    const { token } = await issueToken(SECRET, HOLDER, NOW)
    expect(await readToken(SECRET, token, NOW)).toEqual({
      caller: HOLDER.caller,
      accountEpoch: 0,
      isPasswordExpired: false,
      isAdministration: false,
      tenant: { locator: HOLDER.tenant!.locator, generation: 3, tokenEpoch: 2 },
      signedInAt: NOW,
    })
    const administration = await issueToken(SECRET, { ...HOLDER, tenant: undefined }, NOW)
    const read = await readToken(SECRET, administration.token, NOW)
    expect([read.tenant, read.isAdministration]).toEqual([undefined, true])
    // The same holds for an administration account that signed in to a tenant.
    const inTenant = await issueToken(SECRET, { ...HOLDER, isAdministration: true }, NOW)
    expect((await readToken(SECRET, inTenant.token, NOW)).isAdministration).toBe(true)
  })

  it('expire after an hour', async () => {
    const { token } = await issueToken(SECRET, HOLDER, NOW)
    await readToken(SECRET, token, (NOW + TOKEN_LIFE_MS - 1000) as Instant)
    const end = (NOW + TOKEN_LIFE_MS) as Instant
    await expect(readToken(SECRET, token, end)).rejects.toThrow(/has expired/)
    const unread = await issueToken(SECRET, { ...HOLDER, accountName: 'Alice Unread' }, NOW)
    await expect(readToken(SECRET, unread.token, end)).rejects.toThrow(/has expired/)
  })

  it('are rejected with the same error whether forged, altered, unsigned or signed with another algorithm', async () => {
    const { token } = await issueToken(SECRET, HOLDER, NOW)
    const [head, claims, signature] = token.split('.') as [string, string, string]
    const other = await issueToken(keySet(KEYS[1]!), HOLDER, NOW)
    const sameName = await issueToken(
      keySet({ ...KEYS[1]!, kid: decodeProtectedHeader(token).kid }),
      HOLDER,
      NOW,
    )
    const unsigned = `${btoa('{"alg":"none"}').replaceAll('=', '')}.${claims}.${signature}`
    const altered = `${head}.${btoa(atob(claims).replace('alice', 'alicf')).replaceAll('=', '')}.${signature}`
    const [shown] = (await tokenKeys(SECRET)).shown
    const withPublicKey = await new SignJWT(decodeJwt(token))
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: shown!.kid })
      .sign(new TextEncoder().encode(JSON.stringify(shown)))
    for (const forged of [
      other.token,
      sameName.token,
      withPublicKey,
      unsigned,
      altered,
      `${head}.${claims}.AAAA`,
    ])
      await expect(readToken(SECRET, forged, NOW)).rejects.toMatchObject({
        code: 'unauthenticated',
        message: 'The token is not valid; sign in with POST /account/authenticate.',
      })
  })

  it('do not include previews, although the same key signs them', async () => {
    const { caller, tenant } = HOLDER
    const preview = await signPreview(
      { env: SECRET, caller, tenant } as never,
      { operation: 'issue' } as never,
    )
    await expect(readToken(SECRET, preview.token, instant(Date.now())!)).rejects.toMatchObject({
      code: 'unauthenticated',
    })
  })

  it('are signed by the first key and verified by every key, so that keys can rotate without ending sessions', async () => {
    const [old, next] = [KEYS[0]!, KEYS[1]!]
    const stages = [keySet(old), keySet(old, next), keySet(next, old), keySet(next)]
    const signers = await Promise.all(
      stages.map(async keys => decodeProtectedHeader((await issueToken(keys, HOLDER, NOW)).token).kid),
    )
    const [first, second] = [
      (await tokenKeys(stages[0]!)).shown[0]!.kid,
      (await tokenKeys(stages[3]!)).shown[0]!.kid,
    ]
    expect(signers).toEqual([first, first, second, second])
    const { token } = await issueToken(stages[0]!, HOLDER, NOW)
    for (const keys of stages.slice(0, 3))
      expect((await readToken(keys, token, NOW)).caller.username).toBe('alice')
    await expect(readToken(stages[3]!, token, NOW)).rejects.toMatchObject({ code: 'unauthenticated' })
    const { token: newer } = await issueToken(stages[2]!, HOLDER, NOW)
    expect((await readToken(stages[1]!, newer, NOW)).caller.username).toBe('alice')
  })

  it('publish only the public half of their keys', async () => {
    const { shown } = await tokenKeys(keySet(KEYS[1]!, KEYS[2]!))
    expect(shown.map(key => Object.keys(key))).toEqual([
      ['kty', 'crv', 'x', 'kid', 'alg', 'use'],
      ['kty', 'crv', 'x', 'kid', 'alg', 'use'],
    ])
  })

  it('are rejected after they expire even if their verification is cached', async () => {
    const { token } = await issueToken(SECRET, HOLDER, NOW)
    await readToken(SECRET, token, NOW)
    await expect(readToken(SECRET, token, (NOW + TOKEN_LIFE_MS) as Instant)).rejects.toThrow(/has expired/)
  })

  it('carry the revocation count of the account and whether its password has expired', async () => {
    const holder = { ...HOLDER, accountEpoch: 4, isPasswordExpired: true }
    const { token } = await issueToken(SECRET, holder, NOW)
    expect(await readToken(SECRET, token, NOW)).toMatchObject({ accountEpoch: 4, isPasswordExpired: true })
  })

  it('cannot be issued with invalid keys, and the error does not show the keys', async () => {
    const { d, ...half } = newTokenKey() as Record<string, string>
    for (const TOKEN_KEYS of [
      '',
      'secret',
      '{}',
      '{"keys":[]}',
      '{"keys":["secret"]}',
      keySet(half).TOKEN_KEYS,
      keySet({ ...half, d, kid: '' }).TOKEN_KEYS,
      keySet({ ...half, d }, { ...half, d }).TOKEN_KEYS,
      keySet({ kty: 'RSA', n: 'secret', e: 'AQAB', d, kid: 'a' }).TOKEN_KEYS,
    ]) {
      const problem: Error = await issueToken({ TOKEN_KEYS }, HOLDER, NOW).then(
        () => new Error('was made'),
        thrown => thrown,
      )
      expect(problem.message).toMatch(/^TOKEN_KEYS must be/)
      expect(problem.message).not.toMatch(new RegExp(`secret|${d}`))
    }
  })

  it('are accepted without a scheme and after Bearer or JWT in any case', () => {
    for (const authorization of ['a.b.c', 'Bearer a.b.c', 'bearer  a.b.c', 'JWT a.b.c', 'jwt a.b.c'])
      expect(tokenOf(header(authorization))).toBe('a.b.c')
  })

  it('that are missing cause an error that says what to send', () => {
    for (const authorization of ['', 'Bearer', 'Basic YTpi', 'Bearer a.b', 'Digest a.b.c', 'a.b.c.d'])
      expect(() => tokenOf(header(authorization))).toThrow(/Authorization/)
  })

  it('are asked for by name when the header has something else, such as a variable that was not set', () => {
    for (const authorization of ['Bearer', 'Bearer undefined', 'Bearer x', 'Basic YTpi'])
      expect(() => tokenOf(header(authorization))).toThrow(
        'The Authorization header contains no token of Bindery; send `Bearer <token>`, or the token alone, with the token of POST /account/authenticate.',
      )
  })
})
