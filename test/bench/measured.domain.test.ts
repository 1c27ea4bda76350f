import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { writeSection } from '../../tools/measured.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bindery-measured-'))
  file = join(folder, 'measured.md')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('A section of the measured figures', () => {
  test('is added to what others wrote, and replaces only itself', () => {
    writeSection('load', '## Load\n\n1', file)
    writeSection('faults', '## Faults\n\n2', file)
    const before = readFileSync(file, 'utf8')
    writeSection('load', '## Load\n\n3', file)
    expect(readFileSync(file, 'utf8')).toBe(before.replace('\n1\n', '\n3\n'))
    expect(before.match(/## \w+/g)).toEqual(['## Load', '## Faults'])
  })

  test('is not written when one of its markers is missing', () => {
    writeFileSync(file, '<!-- load:begin -->\n')
    expect(() => writeSection('load', 'x', file)).toThrow('without <!-- load:end -->')
    writeFileSync(file, '<!-- load:end -->\n')
    expect(() => writeSection('load', 'x', file)).toThrow('without <!-- load:begin -->')
  })
})
