import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { withTables } from '../../../tools/testing-tables.ts'
import { bindery } from '../terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-given-'))
afterAll(() => rmSync(folder, { recursive: true }))

let copies = 0

/** Copies the starter with changed files of its product, and with one scenario. */
function starterWith(
  scenario: string,
  files: Readonly<Record<string, string | ((text: string) => string)>>,
): string {
  copies += 1
  const root = join(folder, `starter${copies}`)
  cpSync('cli/starter', root, { recursive: true })
  rmSync(join(root, 'scenarios'), { recursive: true })
  mkdirSync(join(root, 'scenarios'))
  writeFileSync(join(root, 'scenarios/one.yaml'), scenario)
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, 'configuration', path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : content(readFileSync(file, 'utf8')))
  }
  return root
}

const POLICY = 'products/starter_product/policy/policy.json'

const withProperty = (name: string, value: unknown) => (text: string) =>
  JSON.stringify({ ...JSON.parse(text), [name]: value })

/** The same for a product that is not strict, in which a look-up may find nothing. */
const lenientWith = (change: (text: string) => string) => (text: string) =>
  withProperty('strict', false)(change(text))

const BICYCLE = `
policy:
  policyStartTimestamp: 2027-01-01
  fieldValues: { channel: direct }
  exposures:
    - exposureName: bicycle
      fieldValues: { kind: electric, value: 2800, kept: cellar }
      perils: [{ name: theft }, { name: damage }]
`

const UNDERWRITER = `
exports.getUnderwritingResult = data => {
  const locator = data.policy.locator
  const score = Number(socotraApi.getAuxData(locator, 'score'))
  const key = socotraApi.getSecret('bureau', 'api_key')
  const holder = socotraApi.fetchByLocator('Policyholder', data.policyholder.locator)
  socotraApi.setAuxData(locator, 'decided', String(score), 'normal')
  console.log('score', score)
  return { decision: score > 600 && key === 'test' ? 'accept' : 'none', notes: [holder.entity.values.last_name[0]] }
}`

const WITH_UNDERWRITER = {
  'scripts/main/underwriter.js': UNDERWRITER,
  [POLICY]: withProperty('plugins', {
    getUnderwritingResult: { path: 'main/underwriter.js', enabled: true },
  }),
  'config.json': withProperty('secrets', { bureau: { items: { api_key: { dataType: 'string' } } } }),
}

describe('what a scenario gives', () => {
  test('is read by plugins as auxiliary data, secrets and records, and what plugins write is kept', async () => {
    const root = starterWith(
      `policyholder: { values: { last_name: Berg } }${BICYCLE}given:
  auxData: { score: 720 }
  secrets: { bureau: { api_key: test } }
expect:
  decision: accept
  notes: [Berg]
  auxData: [{ key: decided, value: "720" }]
  logs: [score 720]
`,
      WITH_UNDERWRITER,
    )
    const { exit, out } = await bindery('test', root)
    expect(exit, out).toBe(0)
    expect(out).not.toContain('note')
  })

  test('is named in a note if a plugin asks for it and it is missing', async () => {
    const root = starterWith(`${BICYCLE}expect: { decision: none }\n`, {
      ...WITH_UNDERWRITER,
      'scripts/main/underwriter.js': UNDERWRITER.replace('holder.entity.values.last_name[0]', "'-'"),
    })
    const { exit, out } = await bindery('test', root)
    expect(exit, out).toBe(0)
    expect(out).toContain("note  A plugin requested auxiliary data 'score', which is not given.")
    expect(out).toContain(
      "note  A plugin requested item 'api_key' of the secret 'bureau', which is not given.",
    )
  })

  test('includes rates of an external rater, and a peril without a rate is refused', async () => {
    const files = { [POLICY]: withProperty('externalRater', 'acme') }
    const given = `given: { raters: { acme: { theft: { yearlyPremium: 100 }, bicycle.damage: { exactPremium: 20.50 } } } }\n`
    const root = starterWith(`${BICYCLE}${given}expect: { grossPremium: 120.50 }\n`, files)
    const rated = await bindery('test', root)
    expect(rated.exit, rated.out).toBe(0)
    const partly = starterWith(`${BICYCLE}${given.replace('bicycle.damage', 'bicycle.fall')}expect:\n`, files)
    expect((await bindery('test', partly)).out).toContain(
      "refused, externalRaterFailed: The given rater 'acme' failed: no rate is given for 'bicycle.damage'; add it under raters.acme.",
    )
    const without = starterWith(`${BICYCLE}expect: { grossPremium: 232.40 }\n`, files)
    expect((await bindery('test', without)).out).toContain("note  Rated without the external rater 'acme'")
  })

  test('includes table resources, which take precedence over the tables of the configuration', async () => {
    const root = starterWith(
      `${BICYCLE}given: { tables: { theft_rate: { electric: 0.1 } } }\nexpect: { grossPremium: 338.80 }\n`,
      {},
    )
    // 2,800 × 0.1 + 2,800 × 0.021
    const { exit, out } = await bindery('test', root)
    expect(exit, out).toBe(0)
  })

  test('includes tables with several key columns', async () => {
    const root = starterWith(
      `${BICYCLE}given: { tables: { rates: [{ kind: city, kept: cellar, value: 1 }, { kind: electric, kept: cellar, value: 0.5 }] } }\nexpect: { perils: [{ peril: theft, premium: 1400 }, {}] }\n`,
      {
        'products/starter_product/policy/exposures/bicycle/perils/theft.premium.liquid':
          '{% assign v = data.exposure_characteristics.field_values %}{% assign rate = "rates" | lookup: v.kind, v.kept %}{{ v.value | times: rate | set_year_premium }}',
        'config.json': withProperty('tables', {
          rates: {
            columns: { kind: { isKey: true }, kept: { isKey: true }, value: { dataType: 'decimal' } },
          },
        }),
      },
    )
    const { exit, out, err } = await bindery('test', root)
    expect(exit, out + err).toBe(0)
  })

  // With and without an end of each row, and with a key column.
  const RANGES = `
  by_value: [{ from: 0, to: 1000, factor: 1 }, { from: 1000, to: 3000, factor: 1.5 }]
  by_kind:
    - { kind: city, start: 0, factor: 9 }
    - { kind: electric, start: 0, factor: 2 }
    - { kind: electric, start: 2000, factor: 4 }`
  const rater = (look: string) => ({
    'scripts/main/rater.js': `exports.getPerilRates = data => {
      const factor = ${look}
      return { pricedPerilCharacteristics: Object.fromEntries(data.policyExposurePerils.map(one =>
        [one.perilCharacteristicsLocator, { yearlyPremium: String(10 * Number(factor)) }])) }
    }`,
    [POLICY]: withProperty('plugins', { getPerilRates: { path: 'main/rater.js', enabled: true } }),
    'config.json': withProperty('rangeTables', {
      by_value: {
        columns: {
          from: { dataType: 'decimal' },
          to: { dataType: 'decimal' },
          factor: { dataType: 'decimal' },
        },
        rangeStart: 'from',
        rangeEnd: 'to',
      },
      by_kind: {
        columns: { kind: { isKey: true }, start: { dataType: 'decimal' }, factor: { dataType: 'decimal' } },
        rangeStart: 'start',
      },
    }),
  })

  test.each([
    ["socotraApi.rangeLookup('by_value', [], '999.99').factor", 20],
    ["socotraApi.rangeLookup('by_value', [], 1000).factor", 30],
    ["socotraApi.rangeLookup('by_value', [], 3000).factor", 30],
    ["socotraApi.rangeLookup('by_value', [], 3001) ?? 7", 140],
    ["socotraApi.rangeLookup('by_value', [], 500, 'interpolate', { factor: 'linear' }).factor", 25],
    ["socotraApi.rangeLookup('by_kind', ['electric'], 2800).factor", 80],
    ["socotraApi.rangeLookup('by_kind', ['race'], 2800) ?? 0.5", 10],
  ])('includes range tables, in which plugins look up as in those in force: %s', async (look, premium) => {
    const scenario = `${BICYCLE}given:\n  tables:${RANGES.replaceAll('\n', '\n  ')}\nexpect: { grossPremium: ${premium} }\n`
    const root = starterWith(scenario, { ...rater(look), [POLICY]: lenientWith(rater(look)[POLICY]!) })
    const { exit, out, err } = await bindery('test', root)
    expect(exit, out + err).toBe(0)
  })

  test('rejects a range lookup without a row in a strict product, and names the keys and the bound', async () => {
    const root = starterWith(
      `${BICYCLE}given:\n  tables:${RANGES.replaceAll('\n', '\n  ')}\n`,
      rater("socotraApi.rangeLookup('by_kind', ['race'], 2800) ?? 0.5"),
    )
    const { exit, out } = await bindery('test', root)
    expect(out).toContain(
      "the table 'by_kind' has no row for 'race' and the bound 2800, and the product is strict; add the row",
    )
    expect(exit).toBe(1)
  })

  test('is rejected if a bound of a range table is wrong, with the row', async () => {
    const root = starterWith(
      `${BICYCLE}given: { tables: { by_value: [{ from: 0, to: 10, factor: 1 }, { from: O, to: 20, factor: 2 }] } }\n`,
      rater("socotraApi.rangeLookup('by_value', [], 5).factor"),
    )
    const { exit, out } = await bindery('test', root)
    expect(out).toContain("The given range table 'by_value' cannot be read: row 2")
    expect(exit).toBe(1)
  })

  test('is absent from a price, which names the range tables that were not read', async () => {
    const root = starterWith(
      BICYCLE,
      rater("(socotraApi.rangeLookup('by_value', [], 5) ?? { factor: 1 }).factor"),
    )
    const lenient = join(root, 'configuration', POLICY)
    writeFileSync(lenient, withProperty('strict', false)(readFileSync(lenient, 'utf8')))
    const { out, err } = await bindery('price', root, '--policy', join(root, 'policy.json'))
    expect(out + err).toContain('Tables that are resources were not used: by_value, by_kind.')
  })
})

describe('docs/testing.md', () => {
  test('lists the steps and what can be expected (npm run docs:testing writes it)', () => {
    const text = readFileSync('docs/testing.md', 'utf8')
    expect(withTables(text)).toBe(text)
  })

  test('contains a scenario that passes', async () => {
    const [, scenario] = /```yaml\n(name: A bicycle[\s\S]*?)```/.exec(
      readFileSync('docs/testing.md', 'utf8'),
    )!
    const { exit, out } = await bindery('test', starterWith(scenario!, {}))
    expect(exit, out).toBe(0)
  })
})
