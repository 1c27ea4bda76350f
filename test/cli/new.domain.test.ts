import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { bindery } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-new-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('bindery new', () => {
  test('creates a configuration without mistakes, and a policy that it prices', async () => {
    const made = join(folder, 'Bicycle Cover')
    expect((await bindery('new', made)).exit).toBe(0)
    const checked = await bindery('check', made)
    expect(checked.out).toBe('0 errors, 0 warnings: bicycle_cover with 1 exposure, 2 perils\n')
    const priced = await bindery('price', made, '--policy', join(made, 'policy.json'), '--json')
    // Theft 2,800 × 0.062, damage 2,800 × 0.021; 19% of each; 5 for the policy.
    expect(JSON.parse(priced.out).price).toMatchObject({
      grossPremium: 232.4,
      grossTaxes: 44.15,
      grossFees: 5,
      total: 281.55,
    })
  })

  test('leaves a folder alone that is not empty', async () => {
    const present = join(folder, 'present')
    mkdirSync(present)
    writeFileSync(join(present, 'mine.txt'), 'mine')
    const { exit, err } = await bindery('new', present)
    expect(exit).toBe(2)
    expect(err).toContain('already exists and is not empty')
    expect(readFileSync(join(present, 'mine.txt'), 'utf8')).toBe('mine')
  })

  test('leaves a file alone that has the name or is part of the path', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, 'mine')
    expect(await bindery('new', file)).toEqual({
      exit: 2,
      out: '',
      err: `bindery: '${file}' already exists and is a file. Choose another name.\n`,
    })
    const within = await bindery('new', join(file, 'within'))
    expect([within.exit, within.out]).toEqual([2, ''])
    expect(within.err).toMatch(/^bindery: '.*' cannot be read or written: a part of its path is a file\.\n$/)
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })

  test("prints the next commands quoted for a shell, and replaces special letters in the product's name", async () => {
    const made = join(folder, "Größe d'Été")
    const { out } = await bindery('new', made)
    expect(out).toContain('with the product gro_e_d_ete')
    expect(out).toContain(`  npx bindery check '${made.replace("'", "'\\''")}'\n`)
    expect((await bindery('check', made)).exit).toBe(0)
  })

  test('exits with 2 for a name that no product can have', async () => {
    expect((await bindery('new', join(folder, '123'))).exit).toBe(2)
  })
})
