import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ERRORS_IF_STRICT, findingCodes } from '../../../../src/product/check/report.ts'
import { PLANTED } from './planted.ts'

const TEXT = readFileSync('docs/strict.md', 'utf8')

test('docs/strict.md names every code that strict makes an error, and no unknown code', () => {
  const planted = Object.entries(PLANTED)
    .filter(([kind]) => kind !== 'repairs of untidy templates')
    .flatMap(([, all]) => all.map(one => one.code))
  const wanted = new Set<string>([...planted, ...ERRORS_IF_STRICT])
  // A look-up in a table of choices is an error in every product.
  wanted.delete('notALookupTable')
  const named = new Set([...TEXT.matchAll(/`([a-z]+[A-Z][A-Za-z]+)`/g)].map(([, word]) => word!))
  expect([...wanted].filter(code => !named.has(code))).toEqual([])
  const codes = [...TEXT.matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code!)
  expect(codes.filter(code => !(code in findingCodes))).toEqual([])
  expect(codes.length).toBeGreaterThan(15)
})
