import { describe, expect, it } from 'vitest'
import { urlWithStoredValues } from '../../src/extension/integrations/service.ts'
import {
  looksSecret,
  MASK,
  maskedHeaders,
  maskedUrl,
  secretsOf,
  withoutSecrets,
} from '../../src/platform/outbound/masking.ts'

const SECRET: [name: string, value: string][] = [
  ['Authorization', 'x'],
  ['proxy-authorization', 'x'],
  ['X-Api-Key', '1'],
  ['Ocp-Apim-Subscription-Key', '1'],
  ['x-functions-key', '1'],
  ['X-Auth-Token', '1'],
  ['Cookie', 'a=b'],
  ['X-Client-Secret', '1'],
  ['x-password', '1'],
  ['X-Caller', 'Bearer abc'],
  ['X-Caller', 'Basic dXNlcjpwYXNz'],
  ['X-Caller', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln'],
  ['X-Caller', '9f86d081884c7d659a2feaa0c55ad015'],
]

const PLAIN: [name: string, value: string][] = [
  ['Accept-Language', 'de-AT'],
  ['X-Tenant', 'acme'],
  ['X-Region', 'eu-central-1'],
  ['X-Host', 'rating-v2.internal.example.com'],
  ['Accept', 'application/vnd.acme.rates+json; version=2'],
  ['X-Purpose', 'rating of private motor'],
]

describe('looksSecret', () => {
  it.each(SECRET)('is true for %s: %s', (name, value) => expect(looksSecret(name, value)).toBe(true))
  it.each(PLAIN)('is false for %s: %s', (name, value) => expect(looksSecret(name, value)).toBe(false))

  it('decides what is masked in headers and in the query of a URL', () => {
    expect(maskedHeaders({ 'X-Api-Key': 'k-1', 'X-Region': 'eu' })).toEqual({
      'X-Api-Key': MASK,
      'X-Region': 'eu',
    })
    expect(maskedUrl('https://r.example.com/rate?code=abc&lang=de')).toBe(
      `https://r.example.com/rate?code=${MASK}&lang=de`,
    )
    expect(maskedUrl('https://r.example.com/rate?b=%20x&a=1')).toBe('https://r.example.com/rate?b=%20x&a=1')
  })
})

it('a masked URL that is sent back keeps its original values, even of a repeated name', () => {
  const address = 'https://r.example.com/rate?b=%20x&key=one%2F1&&key=two~2&sig=a+b=&flag&c=1#part?key=x'
  const shown = maskedUrl(address)
  expect(shown).toBe(
    `https://r.example.com/rate?b=%20x&key=${MASK}&&key=${MASK}&sig=${MASK}&flag&c=1#part?key=x`,
  )
  expect(urlWithStoredValues(shown, address)).toBe(address)
  expect(urlWithStoredValues(`https://r.example.com/rate?key=new&key=${MASK}`, address)).toBe(
    'https://r.example.com/rate?key=new&key=two~2',
  )
  expect(() => urlWithStoredValues(`${shown}&key=${MASK}`, 'https://r.example.com/rate?key=one')).toThrow(
    "'url?key'",
  )
})

it('withoutSecrets removes every secret of the connection from a text, even where JSON escapes it', () => {
  const secrets = secretsOf({
    url: 'https://r.example.com/?code=of-the-address',
    headers: { Authorization: 'Bearer of-the-header', 'X-Region': 'eu-central', 'X-Api-Key': '1' },
    security: { hmacEnabled: true, secureSsl: true, secret: 'of "the" signature' },
  })
  const text = JSON.stringify({
    echo: ['Bearer of-the-header', 'of-the-header', 'of "the" signature', 'of-the-address', 'eu-central', 1],
  })
  expect(withoutSecrets(text, secrets)).toBe(
    JSON.stringify({ echo: [MASK, MASK, MASK, MASK, 'eu-central', 1] }),
  )
})
