import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { consoleModule } from '../../scripts/console-page.ts'
import { LIBRARY_FOLDER } from '../../scripts/local-worker.ts'
import { referenceModule } from '../../scripts/reference-page.ts'

const MOST_BYTES = 40 * 1_024

test('the page is small, and its policy names what it runs by hash alone', async () => {
  const text = await consoleModule()
  expect(gzipSync(text).length).toBeLessThan(MOST_BYTES)
  expect(text).toMatch(/script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}=';/)
  expect(text).not.toContain('unsafe-')
})

test('the page of the reference is small, and runs no text as code; its library is in files that only it loads', async () => {
  const text = await referenceModule()
  expect(gzipSync(text).length).toBeLessThan(5 * 1_024)
  const policy = /export const policy = "(.*)"/.exec(text)![1]!
  expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/]{43}='; /)
  expect(policy).toMatch(/connect-src 'self'; /)
  expect(policy).not.toMatch(/unsafe-eval|https?:/)
  const files = readdirSync(LIBRARY_FOLDER, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.includes('.'),
  )
  const bytes = files.reduce((sum, name) => sum + statSync(join(LIBRARY_FOLDER, name)).size, 0)
  expect(files.filter(name => !name.endsWith('.js'))).toEqual([])
  expect(bytes).toBeLessThan(6 * 1_024 * 1_024)
})

test('nothing of it parses markup or knows a way past the interface', () => {
  const files = readdirSync('console', { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.ts'),
  )
  expect(files.length).toBeGreaterThan(10)
  for (const name of files) {
    const source = readFileSync(join('console', name), 'utf8')
    expect(source, name).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/,
    )
    // Contracts are imported as types, which leave nothing behind.
    for (const [line] of source.matchAll(
      /^import .*from '(?:\.\.\/)+(?:policies|billing|events|quotes)\/.*$/gm,
    ))
      expect(line, name).toMatch(/^import type /)
  }
})
