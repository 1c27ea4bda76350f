import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exactJson } from '../../src/kernel/json.ts'
import { readJson } from '../../src/platform/http/body/json.ts'

describe('exactJson', () => {
  it.each([
    ['12345678901234567890', '12345678901234567890'],
    ['9007199254740993', '9007199254740993'],
    ['-123456789012345.1234567', '-123456789012345.1234567'],
    ['0.12345678901234567891', '0.12345678901234567891'],
    [`1${'0'.repeat(400)}`, `1${'0'.repeat(400)}`],
  ])('keeps the digits of %s as text', (text, kept) => {
    expect(exactJson(`{"a": [${text}]}`)).toEqual({ a: [kept] })
  })

  it.each([
    ['9007199254740992', 9007199254740992],
    ['0.30000000000000004', 0.30000000000000004],
    ['12.500000000000000000', 12.5],
    ['1.2345678901234567890e5', 123456.78901234567],
    ['1e21', 1e21],
  ])('reads %s as a number', (text, number) => {
    expect(exactJson(`{"a": ${text}}`)).toEqual({ a: number })
  })

  it('does not change long digits in text and names', () => {
    const value = { '12345678901234567890': '12345678901234567890', b: 1 }
    expect(exactJson(JSON.stringify(value))).toEqual(value)
  })

  it('reads what JSON.stringify writes as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        expect(exactJson(text)).toEqual(JSON.parse(text))
      }),
      { seed: 20_261_130, numRuns: 300 },
    )
  })
})

describe('readJson', () => {
  const body = () =>
    new Request('https://example.com', { method: 'POST', body: '{"a":12345678901234567890}' })

  it('keeps every digit of a number, except in bodies that are passed on unchanged', async () => {
    expect((await readJson(body())).value).toEqual({ a: '12345678901234567890' })
    expect((await readJson(body(), { isPassedOn: true })).value).toEqual({ a: 12345678901234567000 })
  })
})
