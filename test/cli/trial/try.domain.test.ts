import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textOfPattern } from '../../../cli/trial/pattern.ts'
import { randomOf, randomOfCase } from '../../../cli/trial/random.ts'
import { loadPatternEngine, matchesPattern } from '../../../src/product/fields/patterns.ts'
import { size } from '../../support/sizes.ts'
import { bindery } from '../terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-try-'))
afterAll(() => rmSync(folder, { recursive: true }))
beforeAll(() => loadPatternEngine())

let copies = 0

/** The number of policies in each trial. */
const COUNT = size(80, 200)

const PRODUCT = 'configuration/products/starter_product/policy'

/** Copies the starter with changed files of its product. */
function starterWith(files: Readonly<Record<string, (text: string) => string>>): string {
  copies += 1
  const root = join(folder, `starter${copies}`)
  cpSync('cli/starter', root, { recursive: true })
  for (const [path, change] of Object.entries(files)) {
    const file = join(root, PRODUCT, path)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, change(text))
    expect(readFileSync(file, 'utf8')).not.toBe(text)
  }
  return root
}

const tried = async (root: string, ...options: string[]) => {
  const { exit, out, err } = await bindery(
    ...['try', root, '--json', '--at', '2027-01-01', '--count', String(COUNT), '--seed', '7', ...options],
  )
  expect(err).toBe('')
  return { exit, ...JSON.parse(out) }
}

const replace =
  (from: string | RegExp, to: string) =>
  (text: string): string =>
    text.replace(from, to)

describe('bindery try', () => {
  test.each(['cli/starter', 'examples/motor', 'examples/home'])(
    'makes only policies of %s that the service accepts',
    async root => {
      const { count, priced, problems, unmade } = await tried(root)
      expect(count).toBe(COUNT)
      expect(priced).toBe(COUNT)
      expect(unmade).toEqual([])
      expect(problems.filter(({ kind }: { kind: string }) => kind === 'invalid')).toEqual([])
    },
  )

  test('makes the same policies with the same seed, and others with another seed', async () => {
    const bare = ({ seconds: _, ...report }: Record<string, unknown>) => report
    const first = await tried('examples/home')
    expect(bare(await tried('examples/home'))).toEqual(bare(first))
    expect((await tried('examples/home', '--seed', '8')).totals).not.toEqual(first.totals)
  })

  test('finds a planted premium of 0, with the smallest policy that has it', async () => {
    const root = starterWith({ 'tables/theft_rate.csv': replace('race,0.071', 'race,0') })
    const { exit, problems } = await tried(root)
    expect(exit).toBe(1)
    expect(problems).toMatchObject([{ kind: 'zero', what: 'bicycle.theft', message: 'the premium is 0' }])
    expect(problems[0].policies).toBeGreaterThan(10)
    expect(problems[0].smallest).toEqual({
      policy: {
        productName: 'starter_product',
        policyStartTimestamp: 1798758000000,
        policyEndTimestamp: 1830294000000,
        fieldValues: { channel: expect.any(String) },
        exposures: [
          {
            exposureName: 'bicycle',
            fieldValues: { kind: 'race', value: expect.any(String), kept: expect.any(String) },
            perils: [{ name: 'theft' }],
          },
        ],
      },
    })
  })

  test('finds a negative premium and a failing script, each with its place', async () => {
    const root = starterWith({
      'exposures/bicycle/perils/damage.premium.liquid': replace('times: 0.021', 'minus: 2000'),
      'exposures/bicycle/perils/theft.premium.liquid': replace(
        '{% if values.kept == "street" %}',
        '{% if values.kept == "street" %}{% assign year_premium = year_premium | divided_by: 0 %}',
      ),
    })
    const { problems } = await tried(root)
    const kinds = problems.map(({ kind, what }: { kind: string; what: string }) => [kind, what])
    expect(kinds).toContainEqual(['negative', 'bicycle.damage'])
    expect(kinds).toContainEqual([
      'refused',
      'products/starter_product/policy/exposures/bicycle/perils/theft.premium.liquid:5',
    ])
    const refused = problems.find(({ kind }: { kind: string }) => kind === 'refused')
    expect(refused.message).toContain('Division by zero')
    expect(refused.smallest.policy.exposures).toMatchObject([
      { fieldValues: { kept: 'street' }, perils: [{ name: 'theft' }] },
    ])
  })

  test('lists rows that no policy can reach, without counting them as a problem', async () => {
    // A strict product cannot have such a row.
    const root = starterWith({
      'tables/theft_rate.csv': text => `${text.trimEnd()}\ntandem,0.05\n`,
      'policy.json': replace('"strict": true', '"strict": false'),
    })
    const { exit, rows } = await tried(root)
    expect(exit).toBe(0)
    expect(rows).toEqual([
      { path: 'products/starter_product/policy/tables/theft_rate.csv', total: 4, unreached: ['tandem'] },
    ])
  })

  test('says when there are more kinds of problems than it lists', async () => {
    const root = starterWith({})
    const perils = join(root, PRODUCT, 'exposures/bicycle/perils')
    const ofMany = Array.from({ length: 51 }, (_, at) => `cover${at}`)
    for (const name of ofMany) {
      const peril = readFileSync(join(perils, 'damage.json'), 'utf8').replace('"damage"', `"${name}"`)
      writeFileSync(join(perils, `${name}.json`), peril)
      writeFileSync(
        join(perils, `${name}.premium.liquid`),
        '{{ data.exposure_characteristics.field_values.value | minus: 2000 | set_year_premium }}',
      )
    }
    const base = join(folder, 'covers.json')
    const fieldValues = { kind: 'city', value: '150', kept: 'cellar' }
    const exposure = { exposureName: 'bicycle', fieldValues, perils: ofMany.map(name => ({ name })) }
    writeFileSync(base, JSON.stringify({ exposures: [exposure] }))
    const { problems, notes } = await tried(root, '--base', base, '--count', '1')
    expect(problems).toHaveLength(50)
    expect(notes).toEqual(['There are problems of other kinds than the 50 below. Fix these, and try again.'])
    const fifty = { exposures: [{ ...exposure, perils: exposure.perils.slice(1) }] }
    writeFileSync(base, JSON.stringify(fifty))
    const listed = await tried(root, '--base', base, '--count', '1')
    expect(listed.problems).toHaveLength(50)
    expect(listed.notes).toEqual([])
  })

  test('--base keeps its values in every policy', async () => {
    const root = starterWith({ 'tables/theft_rate.csv': replace('race,0.071', 'race,0') })
    const base = join(folder, 'base.json')
    const policy = {
      fieldValues: { channel: 'broker' },
      exposures: [{ exposureName: 'bicycle', fieldValues: { kind: 'race' }, perils: [{ name: 'theft' }] }],
    }
    writeFileSync(base, JSON.stringify(policy))
    const { problems, count } = await tried(root, '--base', base)
    expect(problems).toMatchObject([{ kind: 'zero', policies: count }])
    expect(problems[0].smallest.policy).toMatchObject(policy)
    // No policy then has another kind of bicycle.
    const other = join(folder, 'city.json')
    writeFileSync(other, JSON.stringify(policy).replace('race', 'city'))
    expect((await tried(root, '--base', other)).problems).toEqual([])
  })

  test('--keep writes policies that price accepts, with the reported price', async () => {
    const root = starterWith({ 'tables/theft_rate.csv': replace('race,0.071', 'race,0') })
    const keep = join(folder, 'kept')
    const { problems } = await tried(root, '--keep', keep)
    expect(readdirSync(keep)).toEqual(['zero-bicycle-theft.json'])
    expect(problems[0].file).toBe(join(keep, 'zero-bicycle-theft.json'))
    const priced = await bindery('price', root, '--json', '--policy', problems[0].file)
    expect(JSON.parse(priced.out).price.exposurePrices[0].perilPrices).toMatchObject([
      { name: 'theft', premium: 0 },
    ])
  })

  test('summarizes the trial in words', async () => {
    const root = starterWith({ 'tables/theft_rate.csv': replace('race,0.071', 'race,0') })
    const options = ['--count', String(COUNT), '--seed', '3', '--at', '2027-01-01']
    const { out } = await bindery('try', root, ...options)
    expect(out).toMatch(
      new RegExp(
        `^starter_product: ${COUNT} policies, ${COUNT} priced in \\d+\\.\\d s; seed 3\nunderwriting: \\d+ accept, \\d+ none\n`,
      ),
    )
    expect(out).toMatch(
      /\npremium of 0 {2}bicycle.theft {2}\d+ policies\n {2}the premium is 0\n {2}\{"policy":/,
    )
    expect((await bindery('try', 'cli/starter', ...options)).out).toMatch(/no problems found\n$/)
  })

  test.each([
    [['--count', '0'], '--count must be a whole number from 1 to 1000000'],
    [['--count', '1e3'], "not '1e3'"],
    [['--seed', '-1'], '--seed must be a whole number'],
    [['--at', 'soon'], '--at must be a day'],
    [['--product', 'boat'], "There is no product 'boat'. The configuration has starter_product."],
    [['--base', 'nowhere.json'], 'cannot be read'],
  ])('exits with 2 for wrong options: %s', async (options, message) => {
    const { exit, err } = await bindery('try', 'cli/starter', ...options)
    expect(err).toContain(message)
    expect(exit).toBe(2)
  })
})

describe('textOfPattern', () => {
  test.each([
    'BRK-[0-9]{4}',
    '[0-9]{5}(-[0-9]{4})?',
    '[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} [1-9][0-9]{0,3}[EH]?',
    '[A-Z0-9-]{4,35}',
    '(?:foo|bar)+\\d{2,}x?',
    '[^a-z]{3}\\.\\w+@\\s.',
    'a(b(c|d){2}|e*)f',
    '^(yes|no)$',
  ])('makes texts that match %s', pattern => {
    fc.assert(
      fc.property(fc.integer(), seed => {
        const text = textOfPattern(pattern, randomOf(seed))
        return text !== undefined && matchesPattern(pattern, text)
      }),
    )
  })

  test('makes texts that satisfy look-ahead in most cases', () => {
    const ssn = '^(?!000|666)[0-8][0-9]{2}-(?!00)[0-9]{2}$'
    const fitting = Array.from({ length: 100 }, (_, seed) => textOfPattern(ssn, randomOf(seed))).filter(
      text => text !== undefined && matchesPattern(ssn, text),
    )
    expect(fitting.length).toBeGreaterThan(80)
  })

  test.each(['(?i)abc', '[[:alpha:]]+', '\\p{L}+', '(a', 'a{2', '[z-a]'])('does not fail on %s', pattern => {
    const text = textOfPattern(pattern, randomOf(1))
    // The engine checks every text, so a wrong one is never taken for right.
    expect(text === undefined || typeof text === 'string').toBe(true)
  })
})

describe('random choices', () => {
  test('of a case do not depend on earlier cases, and are spread evenly', () => {
    const first = Array.from({ length: 1_000 }, (_, at) => randomOfCase(42, at).next())
    expect(randomOfCase(42, 999).next()).toBe(first[999])
    expect(new Set(first).size).toBeGreaterThan(990)
    const mean = first.reduce((sum, one) => sum + one, 0) / first.length
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.05)
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: -50, max: 50 }), fc.nat(100), (seed, from, more) => {
        const value = randomOf(seed).whole(from, from + more)
        return Number.isInteger(value) && value >= from && value <= from + more
      }),
    )
  })
})
