// The cost of the search for mistakes, counted in statements. No template may break the search.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { outlineOf } from '../../../../packages/liquid/outline.ts'
import { openReport } from '../../../../src/product/check/report.ts'
import { AnalysedSource, noUses } from '../../../../src/product/check/strict/source.ts'
import { analyseTemplate } from '../../../../src/product/check/strict/template.ts'
import { compileTemplate } from '../../../../src/product/templates/liquid.ts'
import { templateTree } from '../../../../src/servicing/template-data/template-tree.ts'
import { exampleConfiguration } from '../../../support/configurations.ts'
import { size } from '../../../support/sizes.ts'
import { compiled, edited, filesOfBase, pathIn, textOf } from './strict-archive.ts'

const { products, policyholderFields } = exampleConfiguration('motor')
const data = templateTree(products.private_motor, policyholderFields)

/** Returns what following the template costs, and whether the search reached its end. */
function costOf(source: string, most = 4_000_000): { units: number; isComplete: boolean; findings: number } {
  const report = openReport()
  let units = 0
  const counting = {
    ...report,
    afford: (work: Parameters<typeof report.afford>[0], more: number): boolean => {
      if (work !== 'analysis') return report.afford(work, more)
      units += more
      return units <= most
    },
  }
  const template = { path: 'long.premium.liquid', source }
  const analysed = new AnalysedSource(template, {
    data,
    readers: ['premium'],
    tables: { table: () => undefined, isResource: () => false, names: [] },
    fees: [],
    uses: noUses(),
    report: counting,
    severity: 'warning',
  })
  const isComplete = analyseTemplate(outlineOf(compileTemplate(template).template!), analysed)
  return { units, isComplete, findings: report.close().findings.length }
}

const SHAPES: Readonly<Record<string, (at: number) => string>> = {
  statements: at => `{% assign a = data.operation %}{{ a | append: "${at}" }}`,
  'branches that set the same': at =>
    `{% if data.policy_characteristics.field_values.claims_free_years > ${at % 30} %}{% assign r = 1 %}{% else %}{% assign r = 2 %}{% endif %}`,
  loops: at => `{% for one in data.policy.exposures %}{% assign n = ${at} | plus: 1 %}{% endfor %}`,
  cases: () =>
    `{% case data.exposure_characteristics.field_values.usage %}{% when "private" %}{% assign u = 1 %}{% when "commuting" %}{% assign u = 2 %}{% else %}{% assign u = 3 %}{% endcase %}`,
}

test.each(Object.entries(SHAPES))('the cost is linear in the number of %s', (_, shape) => {
  const source = (count: number): string => Array.from({ length: count }, (_one, at) => shape(at)).join('\n')
  const [one, two] = [costOf(source(200)), costOf(source(400))]
  expect([one.isComplete, two.isComplete]).toEqual([true, true])
  expect(two.units / one.units).toBeLessThan(2.3)
})

test('a template with too many paths ends the search, with a warning that the check is incomplete', async () => {
  const branches = Array.from(
    { length: 4_000 },
    (_, at) => `{% if data.operation == "renewal" %}{% assign v${at} = ${at} %}{% endif %}`,
  ).join('\n')
  const { units, isComplete } = costOf(branches, 50_000)
  expect([isComplete, units > 50_000, units < 60_000]).toEqual([false, true, true])
  const { findings, configuration } = await compiled(
    edited('starter', { 'policy.calculations.liquid': `${branches}{{ 5 | add_fee: "policy_fee" }}` }),
  )
  // The templates after this one are not searched either.
  expect(new Set(findings.map(one => `${one.severity} ${one.code}`))).toEqual(
    new Set(['WARNING checkIncomplete']),
  )
  expect(configuration).toBeDefined()
})

test('the templates of an archive have at most 1,000,000 parts together, and are not kept compiled', async () => {
  // An output of one name has five parts.
  const outputs = Array.from({ length: 39_000 }, (_, at) => `{{ ${(at * 2_654_435_761) % 2 ** 32} }}`).join(
    '',
  )
  const templates = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`part${at}.template.liquid`, outputs]))
  const codes = async (count: number) =>
    (await compiled(edited('starter', templates(count)))).findings
      .filter(({ severity }) => severity === 'ERROR')
      .map(({ code, path }) => `${code} ${path.split('/').at(-1)}`)
  // The first five have 975,000 parts.
  const found = await codes(6)
  expect(found.filter(one => / part[0-4]\.template/.test(one))).toEqual([])
  expect(found).toContain('templateTooLarge part5.template.liquid')
  const files = edited('starter', { 'part.template.liquid': outputs.repeat(size(2, 6)) })
  const { findings } = await compiled(files)
  expect(findings.filter(({ severity }) => severity === 'ERROR')).toMatchObject([
    { code: 'templateTooLarge', message: expect.stringContaining('has more than 200000 parts') },
  ])
})

const N = 'data.exposure_characteristics.field_values.vehicle_value'

test('a `case` with thousands of numbers ends the search before it costs too much', () => {
  const [most, tooMany] = size([500_000, 2_500], [4_000_000, 10_000])
  const whens = (count: number): string =>
    Array.from(
      { length: count },
      (_, at) => `{% when ${20_000 + 2 * at} %}{{ ${at} | set_year_premium }}`,
    ).join('')
  const few = costOf(`{% case ${N} %}${whens(500)}{% endcase %}`)
  expect(few.isComplete).toBe(true)
  expect(few.units).toBeGreaterThan(100_000)
  expect(costOf(`{% case ${N} %}${whens(tooMany)}{% endcase %}`, most).isComplete).toBe(false)
})

test.each([
  ['and', 'data.operation == "renewal"', 1_500],
  ['or', 'data.operation == "renewal"', 1_500],
  ['and', 'value > 1', 3_000],
  ['==', '1', 9_000],
])('a long chain of `%s` is followed to its end: %s', (operator, term, count) => {
  const condition = Array.from({ length: count }, () => term).join(` ${operator} `)
  const source = `{% assign value = ${N} %}{% if ${condition} %}{{ 1 | set_year_premium }}{% endif %}`
  expect(costOf(source).isComplete).toBe(true)
})

test('a text that doubles with each statement is followed to its end', () => {
  const source = `{% assign s = "a" %}${'{% assign s = s | append: s %}'.repeat(60)}{{ 1 | set_year_premium }}`
  expect(costOf(source)).toMatchObject({ isComplete: true, findings: 0 })
})

test('joining texts counts their characters', () => {
  const source = (count: number): string =>
    `{% assign s = "${'x'.repeat(900)}" %}${'{% assign t = s | append: s %}'.repeat(count)}{{ 1 | set_year_premium }}`
  expect(costOf(source(200)).units).toBeGreaterThan(20_000)
})

const many = (text: string, count = size(50_000, 70_000)): string =>
  Array.from({ length: count }, () => text).join('')
const ON = ['"main/rater.js", "enabled": false', '"main/rater.js", "enabled": true'] as const

test.each([
  ['a list of numbers', `const rates = [${many('1,')}]`],
  ['statements', many('a();')],
  ['texts that are joined', `const page = ''${many(' + data.operation', 3_000)}`],
  ['calls in a chain', `const page = page${many('.add(data.operation)', 3_000)}`],
  ['alternatives', `const page = data.operation${many(' || data.operation', 3_000)}`],
  ['branches', `${many('if (data.operation) {} else ', 1_500)}{}`],
])('a plugin with many %s is searched', async (_, statements) => {
  const rater = `exports.getPerilRates = data => {\n${statements}\nreturn data.nowhere }`
  const { findings } = await compiled(edited('motor', { '/scripts/main/rater.js': rater, 'policy.json': ON }))
  expect(findings.filter(one => one.path === 'scripts/main/rater.js')).toMatchObject([
    { code: 'unknownPath', line: 3, message: expect.stringContaining("'nowhere'") },
  ])
})

test('no change of a template, table or script breaks the search', async () => {
  const paths = [
    'exposures/vehicle/perils/liability.premium.liquid',
    'underwriting.guidelines.liquid',
    'tables/region_factor.csv',
    '/scripts/main/rater.js',
    'schedule.template.liquid',
  ].map(path => pathIn('motor', path))
  const files = filesOfBase('motor')
  const policy = pathIn('motor', 'policy.json')
  const on = textOf(files[policy]).replaceAll('"enabled": false', '"enabled": true')
  const pieces = [
    '{% if ',
    '%}',
    '{{',
    '}}',
    '|',
    'data',
    '.',
    '[',
    ']',
    ' == ',
    '"',
    '1',
    ',',
    '{% endif %}',
    '(',
    ')',
    '=>',
    ';',
    '\n',
    '{% for a in b %}',
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.nat(10_000),
      fc.nat(60),
      fc.array(fc.constantFrom(...pieces), { maxLength: 6 }),
      async (path, place, cut, more) => {
        const text = textOf(files[path])
        const at = place % text.length
        const changed = text.slice(0, at) + more.join('') + text.slice(at + cut)
        const { findings } = await compiled({ ...files, [policy]: on, [path]: changed })
        for (const { line, code, message } of findings) {
          expect(line === undefined || line >= 1, `${code} ${line}`).toBe(true)
          expect(message.length).toBeGreaterThan(10)
        }
      },
    ),
    { numRuns: size(25, 60) },
  )
})

test('scripts are analysed up to 8,000,000 characters in all, and only parsed beyond that', async () => {
  const rater = textOf(filesOfBase('motor')[pathIn('motor', '/scripts/main/rater.js')])
  const comment = Array.from(
    { length: 450_000 },
    (_, at) => `// ${((at * 2_654_435_761) % 2 ** 32).toString(36)} of these\n`,
  ).join('')
  const { findings } = await compiled(
    edited('motor', { '/scripts/main/rater.js': `${comment}${rater}`, 'policy.json': ON }),
  )
  expect(comment.length).toBeGreaterThan(8_000_000)
  expect(findings).toContainEqual(
    expect.objectContaining({
      severity: 'WARNING',
      code: 'checkIncomplete',
      path: 'scripts/main/rater.js',
    }),
  )
})
