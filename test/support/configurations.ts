// Configurations for domain tests: compiled from the examples on disk, without a service.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { compileScript } from '../../src/extension/plugins/runners/script.ts'
import { type LocatorSupply, locatorSupply, newUuid } from '../../src/kernel/locators.ts'
import { Memo } from '../../src/kernel/maps.ts'
import { zero } from '../../src/kernel/money.ts'
import type { Instant } from '../../src/kernel/time.ts'
import type { NewPolicyContext } from '../../src/policy/surroundings.ts'
import { changePolicyholderValues, type Policyholder } from '../../src/policyholders/values.ts'
import { compileConfiguration } from '../../src/product/compile.ts'
import type { Configuration, TemplateSource } from '../../src/product/configuration.ts'
import { loadPatternEngine } from '../../src/product/fields/patterns.ts'
import { type CompiledTemplate, compileTemplate } from '../../src/product/templates/liquid.ts'
import type { WorkedPolicy } from './worked.ts'

const walk = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap(entry =>
    entry.isDirectory() ? walk(join(folder, entry.name)) : [join(folder, entry.name)],
  )

export type Example = 'motor' | 'home'

// In the service, the pattern engine is loaded with the configuration.
await loadPatternEngine()

const compiled = new Map<Example, Configuration>()

/** The compiled configuration of an example. */
export function exampleConfiguration(example: Example): Configuration {
  const known = compiled.get(example)
  if (known) return known
  const root = join(import.meta.dirname, '../../examples', example, 'configuration')
  const files = walk(root).map(file => ({
    path: relative(root, file),
    sizeBytes: statSync(file).size,
    bytes: () => new Uint8Array(readFileSync(file)),
    text: () => readFileSync(file, 'utf8'),
  }))
  const { configuration, findings } = compileConfiguration(files, {
    compileLiquid: compileTemplate,
    compileScript,
  })
  if (!configuration) throw new Error(`Example ${example}: ${JSON.stringify(findings, null, 2)}`)
  compiled.set(example, configuration)
  return configuration
}

const worked = new Memo<Example, readonly WorkedPolicy[]>(2)

/** Read once for all tests, therefore frozen. */
export const workedPolicies = (example: Example): readonly WorkedPolicy[] =>
  worked.getOrMake(
    example,
    () =>
      JSON.parse(
        readFileSync(join(import.meta.dirname, '../../examples', example, 'worked.json'), 'utf8'),
        (_, value) => Object.freeze(value),
      ) as WorkedPolicy[],
  )

const templatesOf = new Memo<Example, Map<string, CompiledTemplate>>(2)

/** The context of a new policy of the product, as `loadNewPolicyContext` reads it in the service. */
export function newPolicyContextOf(
  example: Example,
  productName: string,
  values: unknown,
  now: Instant,
): NewPolicyContext {
  const configuration = exampleConfiguration(example)
  const product = configuration.products[productName]
  if (!product) throw new Error(`Example ${example} has no product ${productName}.`)
  const templates = templatesOf.getOrMake(example, () => new Map())
  const { timeZone, currency, policyholderFields } = configuration
  const holder = changePolicyholderValues(policyholderFields, {}, values, { completed: true, timeZone, now })
  const policyholder: Policyholder = {
    locator: newUuid(0),
    version: 1,
    completed: true,
    accountLocator: newUuid(0),
    entity: { locator: newUuid(0), values: holder.values, subEntities: [] },
    createdAt: now,
    updatedAt: now,
  }
  return {
    policyholder,
    configuration: {
      configuration,
      hash: example,
      template(source: TemplateSource) {
        const known = templates.get(source.path) ?? compileTemplate(source).template
        if (!known) throw new Error(`${source.path} does not compile.`)
        templates.set(source.path, known)
        return known
      },
      lookup: () => (table, key) => {
        const found = product.tables[table] ?? configuration.tables[table]
        if (!found) return 'noSuchTable'
        const row = found.rows.find(cells => cells[found.columns.indexOf('key')] === key)
        return row ? { value: row[found.columns.indexOf('value')]! } : 'noSuchKey'
      },
    },
    configVersion: 1,
    timeZone,
    currency,
    product,
    credit: zero(currency),
  }
}

let sequence = 2_000_000

/** A supply of digits that does not run out within a test. */
export const plentyOfLocators = (): LocatorSupply => ({
  ...locatorSupply(0, []),
  digits: () => sequence++ * 64,
})
