import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MASK, withoutSecrets } from '../../../src/platform/outbound/masking.ts'

describe('withoutSecrets', () => {
  it.each(['abcd', 'abcde', 'kö/"+ß', 'a b+c/d=e', '1234', '密码密码'])(
    'masks a secret in every encoding: %s',
    secret => {
      const json = JSON.stringify(secret)
      const forms = [
        secret,
        json.slice(1, -1),
        JSON.stringify(json),
        encodeURIComponent(secret),
        encodeURIComponent(secret).toLowerCase(),
        new URLSearchParams({ secret }).toString(),
        Buffer.from(secret).toString('base64'),
        Buffer.from(secret).toString('base64url'),
      ]
      for (const form of forms) {
        const shown = withoutSecrets(`<${form}>`, [secret])
        expect(shown).toContain(MASK)
        expect(shown).not.toContain(form)
      }
    },
  )

  it('masks secrets of four characters or more, and the longest one when they overlap', () => {
    expect(withoutSecrets('abc abcd abcdef', ['abc', 'abcd', 'abcdef'])).toBe(`abc ${MASK} ${MASK}`)
    expect(withoutSecrets('xx-abcd-yy', ['abcd', 'xx-abcd-yy'])).toBe(MASK)
  })

  it('leaves no end of overlapping secrets', () => {
    expect(withoutSecrets('[abcdefgh]', ['abcdef', 'efgh'])).toBe(`[${MASK}]`)
    expect(withoutSecrets('abababab', ['abab'])).toBe(MASK)
    expect(withoutSecrets('abcdabcd', ['abcd'])).toBe(MASK + MASK)
  })

  it('leaves no beginning of a secret where the text is cut off', () => {
    expect(withoutSecrets('key: abcdefg', ['abcdefgh'], true)).toBe('key: ')
    expect(withoutSecrets('key: abcdefgh', ['abcdefgh'], true)).toBe(`key: ${MASK}`)
    expect(withoutSecrets('key: abcdabcdef', ['abcd', 'abcdefgh'], true)).toBe(`key: ${MASK}${MASK}`)
    expect(withoutSecrets('key: abcdefg', ['abcdefgh'])).toBe('key: abcdefg')
  })

  it('leaves other text unchanged, and no secret in any text', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '1'), maxLength: 60 })
    const secret = fc.string({ unit: fc.constantFrom('a', 'b', '1'), minLength: 4, maxLength: 8 })
    fc.assert(
      fc.property(text, fc.array(secret, { maxLength: 4 }), (before, secrets) => {
        const shown = withoutSecrets(before, secrets)
        for (const one of secrets) expect(shown).not.toContain(one)
        if (!secrets.some(one => before.includes(one))) {
          const base64 = secrets.map(one => Buffer.from(one).toString('base64').replace(/=+$/, ''))
          if (!base64.some(one => before.includes(one))) expect(shown).toBe(before)
        }
      }),
    )
  })
})
