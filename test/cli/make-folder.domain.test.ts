import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makeFolder } from '../../cli/make-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-folder-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a folder is made with those above it, once and again, with the mode', () => {
  const deep = join(folder, 'a', 'b', 'c')
  makeFolder(deep, 0o700)
  makeFolder(deep)
  for (const path of [deep, join(folder, 'a')]) expect(statSync(path).mode & 0o777).toBe(0o700)
  makeFolder(folder)
  makeFolder('.')
})

test('a file in the way is left alone', () => {
  const file = join(folder, 'file')
  writeFileSync(file, 'mine')
  expect(() => makeFolder(file)).toThrow('EEXIST')
  expect(() => makeFolder(join(file, 'within'))).toThrow('ENOTDIR')
})

// In a process of its own, since a fault would not come back.
test.runIf(process.platform === 'linux').each([
  ['new', '/proc/none/boats'],
  ['schema', '--out', '/proc/none/schemas'],
  ['types', '--out', '/proc/none/types/api.d.ts'],
])('bindery %s below /proc, where nothing can be made, is a wrong use', (...args) => {
  const run = () =>
    execFileSync(process.execPath, ['cli/bin.mjs', ...args], {
      timeout: 20_000,
      stdio: 'pipe',
      encoding: 'utf8',
    })
  expect(run).toThrow(
    expect.objectContaining({
      status: 2,
      stderr: "bindery: '/proc/none' cannot be read or written: there is no such file or folder.\n",
    }),
  )
})
