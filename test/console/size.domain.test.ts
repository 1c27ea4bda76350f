import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { consolePage } from '../../scripts/console-page.ts'
import { LIBRARY_FOLDER } from '../../scripts/local-worker.ts'
import { referenceModule } from '../../scripts/reference-page.ts'

/** What a browser loads before it shows the first page, and all that it may load, in compressed bytes. */
const MOST_BYTES = { first: 30 * 1_024, all: 120 * 1_024 }

test('the console is small, its first page is smaller, and its policy lists each of its scripts', async () => {
  const { html, policy, files, first } = await consolePage()
  const bytes = (names: readonly string[]): number =>
    [html, ...names.map(name => files[name]!)].reduce((sum, text) => sum + gzipSync(text).length, 0)
  expect(first.length).toBeGreaterThan(0)
  expect(bytes(first)).toBeLessThan(MOST_BYTES.first)
  expect(bytes(Object.keys(files))).toBeGreaterThan(bytes(first))
  expect(bytes(Object.keys(files))).toBeLessThan(MOST_BYTES.all)
  const scripts = /script-src (.*?); style-src 'sha256-[\w+/]{43}=';/.exec(policy)![1]!.split(' ')
  expect(scripts[0]).toMatch(/^'sha256-[\w+/]{43}='$/)
  expect(scripts.slice(1).sort()).toEqual(
    Object.keys(files)
      .map(name => `{origin}/console/${name}`)
      .sort(),
  )
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
  expect(policy).not.toMatch(/unsafe-|'self' 'sha|strict-dynamic/)
})

test('the reference page is small, never evaluates text as code, and keeps its library in separate files', async () => {
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

test('no source file of the console parses HTML, or imports contracts of the service except as types', () => {
  const files = readdirSync('console', { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.ts'),
  )
  expect(files.length).toBeGreaterThan(10)
  for (const name of files) {
    const source = readFileSync(join('console', name), 'utf8')
    expect(source, name).not.toMatch(
      /innerHTML|outerHTML|dangerously|insertAdjacentHTML|document\.write|eval\(|new Function/,
    )
    // Contracts are imported as types, which leave nothing behind.
    for (const [line] of source.matchAll(
      /^import .*from '(?:\.\.\/)+(?:policies|billing|events|quotes)\/.*$/gm,
    ))
      expect(line, name).toMatch(/^import type /)
  }
})
