// What was built from sources is built again when one of them has changed, and only then (scripts/source-key.ts).
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sourceKey } from '../../scripts/source-key.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-sources-'))
afterAll(() => rmSync(folder, { recursive: true }))

const sources = join(folder, 'sources')
const config = join(folder, 'config.toml')
const keyNow = (more?: string): string => sourceKey([sources, join(folder, 'absent')], [config], more)

test('the key changes with any content, name, addition or removal, and with nothing else', () => {
  mkdirSync(join(sources, 'within'), { recursive: true })
  const [one, two] = [join(sources, 'one.ts'), join(sources, 'within', 'two.ts')]
  writeFileSync(one, 'one')
  writeFileSync(two, 'two')
  writeFileSync(config, 'name = 1')
  const first = keyNow()
  expect(first).toMatch(/^[0-9a-f]{24}$/)
  utimesSync(one, 1, 1)
  writeFileSync(two, 'two')
  expect(keyNow()).toBe(first)
  const keys = [first, keyNow('another entry')]
  const change = (make: () => void): void => {
    make()
    keys.push(keyNow())
  }
  change(() => writeFileSync(two, 'to'))
  change(() => renameSync(two, join(sources, 'within', 'three.ts')))
  change(() => writeFileSync(config, 'name = 2'))
  change(() => writeFileSync(join(sources, 'empty.ts'), ''))
  change(() => rmSync(config))
  change(() => rmSync(one))
  expect(new Set(keys).size).toBe(keys.length)
  const last = keyNow()
  symlinkSync('..', join(sources, 'within', 'up'))
  expect(keyNow()).toBe(last)
  const alone = (): string => sourceKey([sources], [], '', /\.bundle\.mjs$/)
  const before = alone()
  writeFileSync(join(sources, 'made.bundle.mjs'), 'made')
  expect(alone()).toBe(before)
})
