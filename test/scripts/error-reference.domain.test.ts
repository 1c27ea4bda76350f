import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ERROR_KINDS } from '../../src/kernel/errors.ts'
import { ERRORS_PAGE, withErrors } from '../../tools/error-reference.ts'

const page = readFileSync(ERRORS_PAGE, 'utf8')

test('docs/errors.md lists the current codes; npm run docs:errors writes them', () => {
  // The formatter sets the widths of columns.
  const plain = (text: string): string => text.replace(/ +\|/g, ' |').replace(/-{3,}/g, '---')
  expect(plain(page)).toBe(plain(withErrors(page)))
})

test.each(Object.keys(ERROR_KINDS))('docs/errors.md says what causes %s and what to do', code => {
  const row = page.split('\n').find(line => line.includes(`\`${code}\` `))
  const [, , , , cause, remedy] = row!.split('|').map(cell => cell.trim())
  expect(cause).toMatch(/^\S.{10,}[.]$/)
  expect(remedy).toMatch(/^\S.{10,}[.)]/)
})

test('each code has its own apiErrorCode, and the table is in their order', () => {
  const numbers = Object.values(ERROR_KINDS).map(({ api }) => api)
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
})

test('a page without markers is rejected', () => {
  expect(() => withErrors('nothing')).toThrow('errors:begin')
})
