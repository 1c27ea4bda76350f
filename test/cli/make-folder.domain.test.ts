import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makeFolder } from '../../cli/make-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-folder-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('makeFolder creates a folder and its parents with the mode, and accepts existing ones', () => {
  const deep = join(folder, 'a', 'b', 'c')
  makeFolder(deep, 0o700)
  makeFolder(deep)
  for (const path of [deep, join(folder, 'a')]) expect(statSync(path).mode & 0o777).toBe(0o700)
  makeFolder(folder)
  makeFolder('.')
})

test('makeFolder fails on a file in its path, and leaves the file alone', () => {
  const file = join(folder, 'file')
  writeFileSync(file, 'mine')
  expect(() => makeFolder(file)).toThrow('EEXIST')
  expect(() => makeFolder(join(file, 'within'))).toThrow('ENOTDIR')
})

// In a separate process, because a fault would never return.
test.runIf(process.platform === 'linux').each([
  ['new', '/proc/none/boats'],
  ['schema', '--out', '/proc/none/schemas'],
  ['types', '--out', '/proc/none/types/api.d.ts'],
])('bindery %s exits with 2 below /proc, where no folder can be created', (...args) => {
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
