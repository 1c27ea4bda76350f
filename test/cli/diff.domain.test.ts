import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { packFolder } from '../../cli/folder.ts'
import { bindery } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-diff-'))
afterAll(() => rmSync(folder, { recursive: true }))

const POLICY = 'products/private_motor/policy'

/** Copies the motor example to a folder of this name, with edits to its files. */
function motorWith(name: string, ...edits: (readonly [file: string, from: string, to: string])[]): string {
  const copy = join(folder, name)
  cpSync('examples/motor/configuration', copy, { recursive: true })
  for (const [file, from, to] of edits) {
    const path = join(copy, file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
  }
  return copy
}

describe('bindery diff', () => {
  const rates = motorWith(
    'rates',
    [`${POLICY}/tables/region_factor.csv`, 'R2,0.94', 'R2,0.97'],
    [`${POLICY}/exposures/vehicle/perils/theft.premium.liquid`, 'times: 0.00018', 'times: 0.0002'],
    [`${POLICY}/policy.json`, '"R5", "R6"]', '"R5"]'],
  )

  test('describes the changes by product and area, with their effect on policies in force', async () => {
    const { exit, out } = await bindery('diff', 'examples/motor', rates)
    expect(exit).toBe(0)
    expect(out).toBe(`product private_motor

fields
  ~ field 'region_class': options removed: 'R6'
      in force  Those that have one of these need a different one.

rates
  ~ premium of peril 'theft' of 'vehicle': 1 line changed; assigns month_premium; sets the technical premium, the premium; 0.00018 becomes 0.0002 (+11.11 %)

tables
  ~ table 'region_factor': 1 row changed (+3.19 %)
      ~ R2  0.94 to 0.97 (+3.19 %)

3 changes; 1 requires different data at the next change of a policy
`)
  })

  test('--verbose shows the files and their lines', async () => {
    const { out } = await bindery('diff', 'examples/motor', rates, '--verbose')
    expect(out).toContain(
      `      ${POLICY}/exposures/vehicle/perils/theft.premium.liquid\n      @@ -18,1 +18,1 @@\n      -{% assign`,
    )
  })

  test('accepts an archive in place of a folder, and finds no changes if both are the same', async () => {
    const file = join(folder, 'motor.zip')
    writeFileSync(file, packFolder('examples/motor').zip)
    expect(await bindery('diff', 'examples/motor', file)).toMatchObject({
      exit: 0,
      out: `examples/motor and ${file} have the same meaning.\n`,
    })
  })

  test('--json has each change with its place and its rows', async () => {
    const { out } = await bindery('diff', 'examples/motor', rates, '--json')
    const { ok, count, breaks, binds, changes } = JSON.parse(out)
    expect({ ok, count, breaks, binds }).toEqual({ ok: true, count: 3, breaks: 0, binds: 1 })
    expect(changes[2]).toEqual({
      kind: 'changed',
      area: 'tables',
      product: 'private_motor',
      path: `${POLICY}/tables/region_factor.csv`,
      subject: "table 'region_factor'",
      detail: '1 row changed (+3.19 %)',
      rows: [
        {
          kind: 'changed',
          key: ['R2'],
          cells: [{ column: 'value', from: '0.94', to: '0.97', percent: 3.19 }],
        },
      ],
    })
  })

  test('does not compare a configuration with mistakes, but shows them and exits with 1', async () => {
    const broken = motorWith('broken', ['config.json', 'Europe/Berlin', 'Europe/Berln'])
    const { exit, err } = await bindery('diff', 'examples/motor', broken)
    expect(exit).toBe(1)
    expect(err).toContain('unknownTimeZone')
    expect(err).toContain('has mistakes: 1 error, 0 warnings. Correct them first.')
  })

  test('exits with 2 for a source that is not a file, a folder or a version', async () => {
    const { exit, err } = await bindery('diff', 'examples/motor', join(folder, 'nowhere'))
    expect(exit).toBe(2)
    expect(err).toContain("is neither a folder, nor a file, nor a version of a tenant such as 'motor-test@3'")
  })
})
