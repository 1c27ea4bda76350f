import { describe, expect, it } from 'vitest'
import { isCommonPassword } from '../../src/access/password-rules/common.ts'
import {
  isTooOld,
  PLAIN_RULES,
  passwordProblems,
  requireGoodPassword,
  STRICT_RULES,
} from '../../src/access/password-rules/rules.ts'

const OWNER = { username: 'Alice.Adams.Broker', email: 'alice@example.com' }

describe('a password', () => {
  it('is accepted if it has twelve characters and is hard to guess', async () => {
    for (const password of ['vj4-Lk2p!xQz', 'correct horse battery staple', 'grüne Ölsardinen tauchen'])
      expect(await passwordProblems(password, PLAIN_RULES, OWNER)).toEqual([])
  })

  it('is measured in characters after normalization, not in bytes', async () => {
    const plain = { ...PLAIN_RULES, minimumLength: 12, maximumLength: 12 }
    expect(await passwordProblems('🦆🐢🦎🐍🦖🦕🐙🦑🦐🦞🦀🐡', plain, OWNER)).toEqual([])
    // Normalization expands ligatures: eleven characters become twelve.
    expect(await passwordProblems('xK7-vQ2-eﬀz', plain, OWNER)).toEqual([])
  })

  it('that breaks several rules gets one error that lists all of them and does not repeat the password', async () => {
    await expect(requireGoodPassword('PASSWORD', STRICT_RULES, OWNER)).rejects.toMatchObject({
      code: 'weakPassword',
      message:
        'The password must have at least 16 characters; it must have a digit; it must have a lower-case letter; it must have a character that is neither a letter nor a digit; it must not be a common password, because attackers try those first. Choose another.',
    })
    expect(await passwordProblems(`${'aB3-'.repeat(16)}x`, STRICT_RULES, OWNER)).toEqual([
      'must have at most 64 characters',
    ])
  })

  it('must not be the user name or the e-mail address', async () => {
    for (const password of ['alice.adams.broker', 'ALICE@example.com'])
      expect(await passwordProblems(password, PLAIN_RULES, OWNER)).toEqual([
        'must not be the user name or the e-mail address',
      ])
  })

  it('expires when the rules of the tenant limit its age, unless an archive set it', () => {
    const changed = 1_790_000_000_000
    const days = (count: number) => changed + count * 86_400_000
    expect(isTooOld(STRICT_RULES, changed, days(90) - 1)).toBe(false)
    expect(isTooOld(STRICT_RULES, changed, days(90))).toBe(true)
    expect(isTooOld(STRICT_RULES, null, days(900))).toBe(false)
    expect(isTooOld(PLAIN_RULES, changed, days(9_000))).toBe(false)
  })
})

describe('a common password', () => {
  it.each([
    'password1234',
    'P@ssw0rd2026!',
    'Passw0rdPassw0rd',
    'Welcome123456',
    'qwertyuiop12',
    '1q2w3e4r5t6y',
    'zyxwvutsrqpo',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
    '123456123456',
    '987654321098',
    'iloveyoubaby',
    'Summer-2026-Summer',
    'dragonmaster99',
    'Liverpool2005!',
    'michael&jordan',
    'l3tm31n12345',
    '2026-10-31-01',
  ])('is %s', password => {
    expect(isCommonPassword(password)).toBe(true)
  })

  it.each([
    'correct horse battery staple',
    'vj4-Lk2p!xQz',
    'Quittenmus4Tage',
    'a9f8-17bc-04de',
    '!7$_9(3)=2&8',
  ])('is not %s', password => {
    expect(isCommonPassword(password)).toBe(false)
  })
})
