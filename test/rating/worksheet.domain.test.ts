// The worksheet of every peril of both examples adds up to the cent from its own lines.
import { describe, expect, test } from 'vitest'
import { pricedOffline } from '../../cli/offline/price.ts'
import type { Worksheet } from '../../src/policy/contract/worksheet.ts'
import type { Configuration, ProductDefinition } from '../../src/product/configuration.ts'
import { type Example, exampleConfiguration, workedPolicies } from '../support/configurations.ts'
import { arithmeticLines, recomputed } from '../support/worksheets.ts'

const casesOf = (example: Example) =>
  workedPolicies(example).map(({ name, request: { policyholder, policy } }) => ({
    name,
    policy: policy as Record<string, unknown>,
    values: policyholder.values,
  }))

async function worksheetOf(
  configuration: Configuration,
  one: ReturnType<typeof casesOf>[number],
): Promise<{ sheet: Worksheet; total: number; perils: number }> {
  const { worksheet, price } = await pricedOffline(configuration, one, {})
  const perils = price.exposurePrices.flatMap(exposure => exposure.perilPrices).length
  return { sheet: worksheet!, total: price.total, perils }
}

/** The motor example with its plugins enabled. */
function withPlugins(): Configuration {
  const configuration = exampleConfiguration('motor')
  const product = configuration.products.private_motor!
  const plugins = Object.fromEntries(
    Object.entries(product.plugins).map(([name, plugin]) => [name, { ...plugin, enabled: true }]),
  )
  return withProduct(configuration, { ...product, plugins })
}

const withProduct = (configuration: Configuration, product: ProductDefinition): Configuration => ({
  ...configuration,
  products: { ...configuration.products, [product.name]: product },
})

describe.each(['motor', 'home'] as const)('The worksheet of the %s example', example => {
  test.each(casesOf(example))('adds up to the cent for every peril: $name', async one => {
    const { sheet, total, perils } = await worksheetOf(exampleConfiguration(example), one)
    expect(sheet.perils).toHaveLength(perils)
    expect(Number(recomputed(sheet))).toBe(total)
    expect(sheet.perils.every(peril => peril.runs.every(run => run.steps.length > 0))).toBe(true)
    expect(sheet).toMatchObject({ isRecorded: false, differs: false, morePerils: 0, notes: [] })
  })
})

test.each(['motor', 'home'] as const)(
  'the worked policies include every peril of the %s example',
  async example => {
    const [product] = Object.values(exampleConfiguration(example).products)
    const declared = product!.exposures.flatMap(exposure => exposure.perils.map(peril => peril.name))
    const policies = workedPolicies(example).map(
      one => one.request.policy as { exposures: { perils: { name: string }[] }[] },
    )
    const used = policies.flatMap(one =>
      one.exposures.flatMap(exposure => exposure.perils.map(peril => peril.name)),
    )
    expect([...new Set(used)].sort()).toEqual([...new Set(declared)].sort())
  },
)

test('the tests above recomputed more than 200 lines of arithmetic', () => {
  expect(arithmeticLines).toBeGreaterThan(200)
})

describe('The worksheet of a plugin', () => {
  test.each(casesOf('motor'))('adds up from the rates that the plugin returned: $name', async one => {
    const { sheet, total } = await worksheetOf(withPlugins(), one)
    expect(Number(recomputed(sheet))).toBe(total)
    for (const peril of sheet.perils)
      for (const run of peril.runs) {
        expect(run).toMatchObject({ ratedBy: 'plugin', source: 'main/rater.js', steps: [] })
        expect(run.parts.length).toBeGreaterThan(0)
      }
  })

  test('lists each row that was looked up once, with file and line', async () => {
    const { sheet } = await worksheetOf(withPlugins(), casesOf('motor')[0]!)
    const [call] = sheet.calls
    expect(call).toMatchObject({ ratedBy: 'plugin', source: 'main/rater.js', moreLookups: 0, notes: [] })
    const path = (name: string) => `products/private_motor/policy/tables/${name}.csv`
    expect(call!.lookups).toEqual([
      { table: 'liability_base', keys: ['0603-BTP'], value: '318.00', path: path('liability_base'), line: 5 },
      { table: 'region_factor', keys: ['R3'], value: '1.00', path: path('region_factor'), line: 4 },
      { table: 'claims_free_factor', keys: ['8'], value: '0.38', path: path('claims_free_factor'), line: 10 },
      {
        table: 'own_damage_rate',
        keys: ['0603-BTP'],
        value: '0.0185',
        path: path('own_damage_rate'),
        line: 5,
      },
    ])
  })

  test('has the plugin’s notes by socotraApi.explain, at most 500', async () => {
    const configuration = withPlugins()
    const noting = (times: number): Configuration => ({
      ...configuration,
      scripts: {
        ...configuration.scripts,
        'main/rater.js': configuration.scripts['main/rater.js']!.replace(
          'function getPerilRates(data) {',
          `function getPerilRates(data) {
  for (let i = 0; i < ${times}; i += 1) socotraApi.explain('base of ' + i, { rate: 1.5 })`,
        ),
      },
    })
    const [one] = casesOf('motor')
    const { sheet } = await worksheetOf(noting(2), one!)
    expect(sheet.calls[0]).toMatchObject({
      notes: [
        { label: 'base of 0', value: '{"rate":1.5}' },
        { label: 'base of 1', value: '{"rate":1.5}' },
      ],
      moreNotes: 0,
    })
    const { sheet: many } = await worksheetOf(noting(700), one!)
    expect(many.calls[0]).toMatchObject({ moreNotes: 200 })
    expect(many.calls[0]!.notes).toHaveLength(500)
    const unasked = await pricedOffline(noting(2), one!)
    expect(unasked).not.toHaveProperty('worksheet')
  })
})

describe('A step of a worksheet', () => {
  test('has its line and column, the value read, and the row looked up', async () => {
    const { sheet } = await worksheetOf(exampleConfiguration('motor'), casesOf('motor')[0]!)
    const run = sheet.perils.find(one => one.perilName === 'own_damage')!.runs[0]!
    expect(run).toMatchObject({ ratedBy: 'template', transaction: 'creation', configVersion: 1 })
    expect(run.source).toBe(
      'products/private_motor/policy/exposures/vehicle/perils/own_damage.premium.liquid',
    )
    const ofLine = (line: number) => run.steps.filter(step => step.line === line)
    expect(ofLine(5)).toEqual([
      { line: 5, column: 46, kind: 'read', name: 'vehicle.vehicle_type', result: '0603-BTP' },
      {
        line: 5,
        column: 38,
        kind: 'lookup',
        name: 'lookup',
        result: '0.0185',
        lookup: {
          table: 'own_damage_rate',
          keys: ['0603-BTP'],
          value: '0.0185',
          path: 'products/private_motor/policy/tables/own_damage_rate.csv',
          line: 5,
        },
      },
      { line: 5, column: 1, kind: 'assign', name: 'rate', result: '0.0185' },
    ])
    expect(ofLine(8).map(({ kind, name, result }) => [kind, name, result])).toEqual([
      ['read', 'data.peril_characteristics.deductible', '500'],
      ['branch', 'case', 'else'],
    ])
    expect(run.premium).toEqual({ yearly: '453.25', months: '12', unrounded: '453.25', amount: '453.25' })
  })
})

describe('The worksheet of a large policy', () => {
  const [one] = casesOf('motor')
  const exposures = one!.policy.exposures as object[]
  const fleet = { ...one!, policy: { ...one!.policy, exposures: Array(100).fill(exposures[0]) } }

  test('has the first 200 perils and the number of others', async () => {
    const { sheet, total, perils } = await worksheetOf(exampleConfiguration('motor'), fleet)
    expect([perils, sheet.perils.length, sheet.morePerils]).toEqual([400, 200, 200])
    recomputed(sheet)
    expect(Number(sheet.total)).toBe(total)
    const steps = sheet.perils.flatMap(peril =>
      peril.runs.flatMap(run => [run.steps, ...run.taxes.map(t => t.steps)]),
    )
    expect(steps.flat().length).toBeLessThanOrEqual(20_000)
  })
})
