// Changed records are merged into the file of an export from a second file next to it.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ChangedRecords } from '../../cli/export/changed-records.ts'

const folder = mkdtempSync(join(tmpdir(), 'export-'))
afterAll(() => rmSync(folder, { recursive: true }))

const keyOf = (line: string): string => (JSON.parse(line) as { key: string }).key
const line = (key: string, text: string): string => JSON.stringify({ key, text })

it('merging replaces each changed record by its last version, and appends new ones', async () => {
  const path = join(folder, 'records.ndjson')
  writeFileSync(path, ['a', 'b', 'c'].map(key => `${line(key, 'old')}\n`).join(''))
  const changed = new ChangedRecords(path)
  const long = 'ü'.repeat(700_000)
  changed.add('b', line('b', 'between'))
  changed.add('d', line('d', long))
  changed.add('e', line('e', long))
  changed.add('b', line('b', 'new'))
  expect(await changed.merge(keyOf)).toBe(3)
  changed.close()
  expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toEqual([
    line('a', 'old'),
    line('b', 'new'),
    line('c', 'old'),
    line('d', long),
    line('e', long),
  ])
  expect(existsSync(`${path}.changes`)).toBe(false)
})

it('merging keeps line separators within a text as part of its line', async () => {
  const path = join(folder, 'separators.ndjson')
  const text = 'a\u2028b\u2029c\rd'
  writeFileSync(path, `${line('a', text)}\n${JSON.stringify({ key: 'b' })}\r\n`)
  const changed = new ChangedRecords(path)
  changed.add('c', line('c', text))
  expect(await changed.merge(keyOf)).toBe(1)
  changed.close()
  expect(readFileSync(path, 'utf8')).toBe(`${line('a', text)}\n{"key":"b"}\r\n${line('c', text)}\n`)
})

it('merging does not change the file if nothing changed', async () => {
  const path = join(folder, 'same.ndjson')
  writeFileSync(path, `${line('a', 'old')}\n`)
  const changed = new ChangedRecords(path)
  expect(await changed.merge(keyOf)).toBe(0)
  changed.close()
  expect(readFileSync(path, 'utf8')).toBe(`${line('a', 'old')}\n`)
})
