import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { instrument } from '../../../cli/scenario/coverage/instrument.ts'
import { bindery } from '../terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-coverage-'))
afterAll(() => rmSync(folder, { recursive: true }))

const copyOf = (source: string, name: string): string => {
  const root = join(folder, name)
  cpSync(source, root, { recursive: true })
  return root
}

const change = (file: string, from: string | RegExp, to: string): void => {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(from, to))
  expect(readFileSync(file, 'utf8')).not.toBe(text)
}

const coverageOf = async (root: string) => {
  const file = join(folder, 'coverage.json')
  const { exit, out } = await bindery('test', root, '--coverage', file)
  expect(exit, out).toBe(0)
  return { out, report: JSON.parse(readFileSync(file, 'utf8')) }
}

describe('bindery test --coverage', () => {
  test('reaches every line, row and rule of the starter', async () => {
    const { out, report } = await coverageOf('cli/starter')
    expect(out.replaceAll(/\d+\/\d+/g, '#')).toMatch(/underwriting rules\n {2}all +# {2}100%\n$/)
    for (const file of report.files) expect([file.path, file.lines.uncovered]).toEqual([file.path, []])
    expect(report.tables).toEqual([
      {
        path: 'products/starter_product/policy/tables/theft_rate.csv',
        rows: { total: 3, covered: 3 },
        uncovered: [],
        missed: [],
      },
    ])
  })

  test('lists the lines, branches, rows and rules that no scenario reached', async () => {
    const root = copyOf('cli/starter', 'partly')
    rmSync(join(root, 'scenarios/underwriting.yaml'))
    const { out, report } = await coverageOf(root)
    expect(out).toContain('damage.premium.liquid         1/1  100%\n')
    expect(out).toMatch(/underwriting.guidelines.liquid +5\/7 {3}71% {2}6-7; 5 never true\n/)
    expect(out).toMatch(/theft_rate.csv +1\/3 {3}33% {2}city, race\n/)
    expect(out).toContain('underwriting.guidelines.liquid:6  {{ "none" | set_underwriting_decision }}\n')
    const guidelines = report.files.find((one: { path: string }) => one.path.includes('guidelines'))
    // Three transactions have one bicycle each: the new policy, its endorsement and its renewal.
    expect(guidelines.lines.counts).toEqual({ 1: 3, 2: 3, 3: 3, 4: 3, 5: 3, 6: 0, 7: 0 })
    expect(report.rules.map((one: { line: number; times: number }) => [one.line, one.times])).toEqual([
      [2, 3],
      [6, 0],
      [7, 0],
    ])
  })

  test('lists the keys that were looked up without a row', async () => {
    const root = copyOf('cli/starter', 'missed')
    // A strict product with such a look-up is not tested.
    change(join(root, 'configuration/products/starter_product/policy/policy.json'), '"strict": true,', '')
    const premium =
      'configuration/products/starter_product/policy/exposures/bicycle/perils/theft.premium.liquid'
    change(
      join(root, premium),
      'lookup: values.kind %}',
      'lookup: values.kind %}{% assign other = "theft_rate" | lookup: values.kept %}',
    )
    const { out } = await bindery('test', root, '--coverage')
    expect(out).toMatch(/theft_rate.csv .*100% {2}looked up without a matching row: cellar, street\n/)
  })

  test('counts the lines of plugins and their look-ups, without changing the prices', async () => {
    const root = copyOf('examples/motor', 'motor')
    rmSync(join(root, 'scenarios'), { recursive: true })
    const product = 'configuration/products/private_motor/policy/policy.json'
    change(join(root, product), '"enabled": false', '"enabled": true')
    cpSync(join(root, 'worked.json'), join(root, 'scenarios/worked.json'))
    // Plugins have their own texts and technical premiums.
    const worked = JSON.parse(readFileSync(join(root, 'worked.json'), 'utf8')) as { expected: object }[]
    const bare = worked.map(one => ({
      ...one,
      expected: { total: (one.expected as { total: string }).total },
    }))
    writeFileSync(join(root, 'scenarios/worked.json'), JSON.stringify(bare))
    const { out, report } = await coverageOf(root)
    const rater = report.files.find((one: { path: string }) => one.path === 'scripts/main/rater.js')
    expect(rater.kind).toBe('plugin')
    expect(rater.lines.covered / rater.lines.total).toBeGreaterThan(0.85)
    expect(out).toMatch(/region_factor.csv +[3-6]\/6/)
  })
})

describe('instrument', () => {
  const run = (source: string, ...args: unknown[]) => {
    const script = instrument('main/a.js', source)!
    const reached = new Set<number>()
    const module = { exports: {} as Record<string, (...given: unknown[]) => unknown> }
    const log = (text: string): void => {
      const [, numbers] = JSON.parse(text.slice(text.indexOf(' ') + 1)) as [string, number[]]
      for (const one of numbers) reached.add(script.lines[one]!)
    }
    new Function('exports', 'module', 'console', script.source)(module.exports, module, { log })
    const value = module.exports.f!(...args)
    const all = new Set(script.lines)
    return { value, missed: [...all].filter(line => !reached.has(line)).sort((a, b) => a - b), script }
  }

  test.each([
    ['exports.f = x => x + 1', [1], 2, []],
    ['exports.f = x => {\n  if (x) return 1\n  else return 2\n}', [true], 1, [3]],
    ['exports.f = x => {\n  if (x)\n    return 1\n  return 2\n}', [false], 2, [3]],
    [
      'exports.f = x => {\n  if (x === 1) { return 1 } else if (x === 2)\n    return 2\n  else\n    return 3\n}',
      [3],
      3,
      [3],
    ],
    [
      "'use strict'\nexports.f = function (x) {\n  switch (x) {\n    case 1:\n      return 'a'\n    default:\n      return 'b'\n  }\n}",
      [1],
      'a',
      [7],
    ],
    [
      'exports.f = list => {\n  let sum = 0\n  for (const one of list)\n    sum += one\n  while (sum > 100)\n    sum -= 1\n  return sum\n}',
      [[1, 2]],
      3,
      [6],
    ],
    [
      'const g = x => { throw new Error(x) }\nexports.f = x => {\n  try {\n    g(x)\n  } catch (e) {\n    return e.message\n  } finally {\n    x = 0\n  }\n}',
      ['y'],
      'y',
      [],
    ],
    ['exports.f = x => [1, 2].map(n =>\n  n * x)', [3], [3, 6], []],
    ['exports.f = x => ({\n  a: x\n})', [3], { a: 3 }, []],
  ])('counts the lines reached in %s', (source, args, value, missed) => {
    const outcome = run(source, ...args)
    expect(outcome.value).toEqual(value)
    expect(outcome.missed).toEqual(missed)
    // Places in messages stay correct.
    expect(outcome.script.source.split('\n')).toHaveLength(source.split('\n').length)
  })

  test('leaves files alone that are not scripts or cannot be read', () => {
    expect(instrument('data.json', '{}')).toBeUndefined()
    expect(instrument('a.js', 'exports.f = (')).toBeUndefined()
    expect(instrument('a.js', '#!/usr/bin/env node\nexports.f = 1')).toBeUndefined()
  })
})
