// The tree of template data, compared with the data that templates get.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { draftOffline } from '../../../cli/offline/price.ts'
import {
  type DataNode,
  memberOf,
  pathsOf,
  TEMPLATE_READERS,
  type TemplateReader,
} from '../../../src/product/templates/data-tree.ts'
import { priceQuote, underwriteQuote } from '../../../src/rating/rate.ts'
import type { RatingContext } from '../../../src/rating/rater.ts'
import { documentData } from '../../../src/servicing/documents/data.ts'
import { PLUGIN_INPUTS } from '../../../src/servicing/template-data/plugin-inputs.ts'
import { templateTree } from '../../../src/servicing/template-data/template-tree.ts'
import { exampleConfiguration } from '../../support/configurations.ts'

const readerOf = (path: string): TemplateReader => {
  if (path.includes('/taxes/')) return 'tax'
  if (path.endsWith('.premium.liquid')) return 'premium'
  return path.endsWith('policy.calculations.liquid') ? 'fees' : 'underwriting'
}

/** Paths in the data that the tree lacks or has with another type. */
function unlisted(
  value: unknown,
  node: DataNode | undefined,
  path: string,
  reader: TemplateReader,
): string[] {
  if (node === undefined) return [path]
  if (value === null || value === undefined || node.type === 'anything') return []
  if (Array.isArray(value))
    return node.items
      ? value.flatMap(one => unlisted(one, node.items, `${path}[]`, reader))
      : [`${path} is a list`]
  if (typeof value === 'object' && !('toJSON' in value))
    return Object.entries(value).flatMap(([name, one]) =>
      unlisted(
        one,
        node.type === 'map' ? node.items : memberOf(node, name, reader),
        `${path}.${name}`,
        reader,
      ),
    )
  const isNumber = typeof value === 'number' || typeof value === 'object'
  const numbers = ['number', 'amount', 'timestamp']
  return isNumber && !numbers.includes(node.type) ? [`${path} is a number`] : []
}

const CASES = [
  ['motor', 'examples/motor/worked.json'],
  ['home', 'examples/home/worked.json'],
] as const

test.each(CASES)('every path in the data for templates of %s is in the tree', async (example, file) => {
  const configuration = exampleConfiguration(example)
  const [product] = Object.values(configuration.products)
  const tree = templateTree(product, configuration.policyholderFields)
  const missing = new Set<string>()
  const seen = new Set<string>()
  for (const { request } of JSON.parse(readFileSync(file, 'utf8')) as {
    request: { policyholder: { values: unknown }; policy: object }
  }[]) {
    const asked = {
      name: undefined,
      policy: request.policy as Record<string, unknown>,
      values: request.policyholder.values,
    }
    const { draft, quote, ground, rating } = await draftOffline(configuration, asked)
    const watched: RatingContext = {
      ...rating,
      template: source => {
        const template = rating.template(source)
        const render: typeof template.render = (data, environment) => {
          const reader = readerOf(source.path)
          seen.add(reader)
          for (const path of unlisted(data, tree, 'data', reader)) missing.add(`${reader}: ${path}`)
          return template.render(data, environment)
        }
        return { ...template, render }
      },
    }
    const priced = await priceQuote(draft, quote, watched)
    await underwriteQuote(priced, quote, watched)
    const subject = {
      subject: 'quote',
      subjectLocator: String(quote.locator),
      modificationLocator: undefined,
    } as const
    const data = documentData({ ...ground, aggregate: priced }, subject)
    for (const path of unlisted(data, tree, 'data', 'policyDocument')) missing.add(`document: ${path}`)
  }
  expect([...missing]).toEqual([])
  expect([...seen].sort()).toEqual(['fees', 'premium', 'tax', 'underwriting'])
})

test('every path has a description, and a path of a field its type, values and optionality', () => {
  const { products, policyholderFields } = exampleConfiguration('motor')
  const trees = [templateTree(), templateTree(products.private_motor, policyholderFields)]
  const inputs = Object.values(PLUGIN_INPUTS).map(make => make())
  const bare = [...trees, ...inputs].flatMap(tree =>
    [...pathsOf(tree, 'data')]
      .filter(([, { description }]) => description.trim() === '')
      .map(([path]) => path),
  )
  expect(bare).toEqual([])

  const paths = new Map(pathsOf(trees[1]!, 'data'))
  const values = 'data.exposure_characteristics.field_values'
  expect(paths.get(`${values}.parking`)).toMatchObject({
    type: 'text',
    isOptional: true,
    values: ['garage', 'private_ground', 'street'],
  })
  expect(paths.get(`${values}.anti_theft_devices`)).toMatchObject({ type: 'list', isOptional: true })
  expect(paths.get(`${values}.first_registration`)).toMatchObject({ type: 'timestamp' })
  expect(paths.get('data.policy_characteristics.field_groups_by_locator[key].birth_date')).toMatchObject({
    type: 'timestamp',
  })
  expect(
    paths.get('data.policy.exposures[].perils[].characteristics[].field_values.original_parts'),
  ).toBeDefined()
})

test('each kind of template sees its own data: premiums in tax scripts, records in their documents', () => {
  const tree = templateTree()
  const peril = memberOf(tree, 'peril_characteristics', 'premium')!
  expect(memberOf(peril, 'premium', 'premium')).toBeUndefined()
  expect(memberOf(peril, 'premium', 'tax')).toMatchObject({ type: 'amount' })
  const visible = (reader: TemplateReader): string[] =>
    Object.keys(tree.members!).filter(name => memberOf(tree, name, reader) !== undefined)
  expect(visible('invoiceDocument')).toEqual(['policy', 'policyholder', 'invoice', 'invoice_financials'])
  expect(visible('underwriting')).toEqual(['operation', 'policy', 'policyholder', 'endorsement', 'renewal'])
  for (const reader of TEMPLATE_READERS) expect(visible(reader)).toContain('policy')
})

test('plugin inputs use the names of the API, and show the policy as the API does', () => {
  const rates = new Map(pathsOf(PLUGIN_INPUTS.getPerilRates(), 'data'))
  expect(
    rates.get('data.policy.exposures[].perils[].characteristics[].coverageStartTimestamp'),
  ).toMatchObject({
    type: 'timestamp',
  })
  expect(rates.get('data.policyExposurePerils[].perilCharacteristicsLocator')).toBeDefined()
  expect(rates.get('data.policy.characteristics[].field_values')).toBeUndefined()
})

test('an endorsement or renewal is optional for fees and underwriting, but not for its documents', () => {
  const tree = templateTree()
  for (const name of ['endorsement', 'renewal']) {
    const optionalFor = (reader: TemplateReader) => memberOf(tree, name, reader)?.isOptional ?? false
    expect([optionalFor('fees'), optionalFor('underwriting')]).toEqual([true, true])
    expect(optionalFor(`${name}Document` as TemplateReader)).toBe(false)
    expect(memberOf(tree, name, 'premium')).toBeUndefined()
  }
})
