import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ShownFinding } from '../../cli/findings.ts'
import { filesOf, zipOf } from '../product/archive-maker.ts'
import { MISTAKES, type Planted, plantMistakes } from './planted.ts'
import { bindery } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-planted-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('bindery check', () => {
  let planted: Planted[]
  let found: ShownFinding[]
  beforeAll(async () => {
    planted = plantMistakes(folder)
    const { exit, out } = await bindery('check', folder, '--json')
    expect(exit).toBe(1)
    found = JSON.parse(out).findings
  })

  test('is tested with at least 20 kinds of mistakes in one configuration', () => {
    expect(new Set(MISTAKES.map(({ what }) => what)).size).toBeGreaterThanOrEqual(20)
  })

  test.each(MISTAKES.map((mistake, index) => [mistake.what, mistake, index] as const))(
    'finds %s, with its place and what to do',
    (_, { code, says }, index) => {
      const { path, line } = planted[index]!
      const finding = found.find(
        one => one.path === path && one.code === code && (line === undefined || one.line === line),
      )
      expect(finding, found.map(one => `${one.path}:${one.line} ${one.code}`).join('\n')).toBeDefined()
      for (const words of says) expect(finding!.message).toContain(words)
    },
  )

  test('finds nothing but the planted mistakes and three consequences of them', () => {
    const places = new Set(planted.map(({ path }, index) => `${path} ${MISTAKES[index]!.code}`))
    const others = found.filter(({ path, code }) => !places.has(`${path} ${code}`))
    expect(others.map(({ path, code }) => `${path.split('/').pop()} ${code}`).sort()).toEqual([
      'commercial_levy.premium.liquid orphanScript',
      'insurance_tax.premium.liquid orphanScript',
      'personal_accident.json missingPremiumScript',
    ])
  })

  test('shows each finding with a place that a terminal can open, and the number of findings', async () => {
    const { out } = await bindery('check', folder)
    expect(out).toContain(
      `${join(basename(folder), 'config.json')}:3:3  error  unknownTimeZone\n  'Europe/Berln' is not a time zone`,
    )
    expect(out).toMatch(/\n26 errors, 1 warning: a deployment would be rejected\n$/)
  })

  test('summarizes a sound configuration', async () => {
    const { exit, out } = await bindery('check', 'examples/motor')
    expect(out).toBe('0 errors, 0 warnings: private_motor with 3 exposures, 7 perils; 6 scripts\n')
    expect(exit).toBe(0)
  })

  test('checks the zip file that would be uploaded, and names places inside it', async () => {
    const file = join(folder, '..', `${basename(folder)}.zip`)
    const files = filesOf('examples/home/configuration')
    writeFileSync(file, zipOf(files))
    const { exit, out } = await bindery('check', file)
    expect(out).toContain('0 errors, 0 warnings: homeowners')
    expect(exit).toBe(0)
    writeFileSync(file, zipOf({ ...files, 'config.json': '{ "timezone": "Europe/Berln" }' }))
    expect((await bindery('check', file)).out).toContain('config.json:1:3  error  unknownTimeZone\n')
    writeFileSync(file, 'no zip')
    expect((await bindery('check', file)).out).toContain('error  notAZip')
    rmSync(file)
  })

  test('reports links in the folder as errors, as in an archive', async () => {
    const linked = join(folder, '..', `${basename(folder)}-linked`)
    cpSync('examples/home/configuration', linked, { recursive: true })
    symlinkSync(join(linked, 'config.json'), join(linked, 'payment/terms.json'))
    // Links are not followed: one that leads up would have no end.
    symlinkSync('..', join(linked, 'payment/up'))
    const { exit, out } = await bindery('check', linked)
    rmSync(linked, { recursive: true })
    expect(out).toContain(`${join(basename(linked), 'payment/terms.json')}  error  link\n`)
    expect(out).toContain(`${join(basename(linked), 'payment/up')}  error  link\n`)
    expect(exit).toBe(1)
  })

  test('exits with 2 for a folder that does not exist', async () => {
    const { exit, err } = await bindery('check', join(folder, 'nowhere'))
    expect(exit).toBe(2)
    expect(err).toContain(`There is no folder '${join(folder, 'nowhere')}'.`)
  })
})
