import { describe, expect, it } from 'vitest'
import {
  hashPassword,
  MOST_HASHES_IN_LINE,
  needsRehash,
  verifyPassword,
  withVerifier,
} from '../../src/access/passwords.ts'

const PEPPER = 'pepper'

/** Takes a place in the queue without hashing. */
const idle = (): Promise<string> => withVerifier(PEPPER, () => 'done')

describe('passwords', () => {
  it('verify only against their own hash and pepper', async () => {
    const hash = await hashPassword('correct horse', PEPPER)
    expect(hash).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(await verifyPassword('correct horse', hash, PEPPER)).toBe(true)
    expect(await verifyPassword('correct horsf', hash, PEPPER)).toBe(false)
    expect(await verifyPassword('correct horse', hash, 'another pepper')).toBe(false)
    expect(needsRehash(hash)).toBe(false)
  })

  it('match in composed and decomposed Unicode forms', async () => {
    const hash = await hashPassword('caf\u00e9', PEPPER)
    expect(await verifyPassword('cafe\u0301', hash, PEPPER)).toBe(true)
  })

  it('never match for an unknown user or an unreadable hash', async () => {
    expect(await verifyPassword('x', undefined, PEPPER)).toBe(false)
    expect(await verifyPassword('x', 'plain text', PEPPER)).toBe(false)
  })

  it('hashed at another cost need a new hash', () => {
    expect(needsRehash('$scrypt$ln=13,r=8,p=5$c2FsdA$aGFzaA')).toBe(true)
    expect(needsRehash('$2b$10$abcdefghijklmnopqrstuv')).toBe(true)
  })

  it('beyond the queue limit are rejected with 429 and Retry-After, and the queue drains', async () => {
    const inLine = Array.from({ length: MOST_HASHES_IN_LINE - 1 }, idle)
    const tries = [hashPassword('x', PEPPER), verifyPassword('x', undefined, PEPPER), idle()]
    const outcomes = await Promise.allSettled([hashPassword('x', PEPPER), ...inLine, ...tries])
    const refused = outcomes.filter(outcome => outcome.status === 'rejected')
    expect(refused).toHaveLength(3)
    for (const { reason } of refused)
      expect(reason).toMatchObject({ code: 'tooManyRequests', retryAfterSeconds: 1 })
    expect(await verifyPassword('x', undefined, PEPPER)).toBe(false)
  })

  it('of a sign-in that could mean two accounts take one place in the queue', async () => {
    const hash = await hashPassword('x', PEPPER)
    const tries = Array.from({ length: MOST_HASHES_IN_LINE }, (_, at) =>
      withVerifier(PEPPER, verify => (at === 0 ? [verify('x', undefined), verify('x', hash)] : [false])),
    )
    const ninth = verifyPassword('x', hash, PEPPER)
    await expect(ninth).rejects.toMatchObject({ code: 'tooManyRequests' })
    const outcomes = await Promise.all(tries)
    expect(outcomes[0]).toEqual([false, true])
    expect(outcomes).toHaveLength(MOST_HASHES_IN_LINE)
  })
})
