// The boat product (boat-product.ts) for domain tests: compiled in any currency, without a service.
import { compileConfiguration } from '../../src/configuration/compile.ts'
import { loadPatternEngine } from '../../src/platform/fields/patterns.ts'
import { newUuid } from '../../src/platform/locators.ts'
import { zero } from '../../src/platform/money.ts'
import type { Instant } from '../../src/platform/time.ts'
import { compileScript } from '../../src/plugins/script.ts'
import type { Ground } from '../../src/policies/surroundings.ts'
import { compileTemplate } from '../../src/rating/liquid/compile.ts'
import { boatFiles } from './boat-product.ts'

await loadPatternEngine()

/** What a boat's policy stands on: its files, with those of the test's own in their place. */
export function boatGround(
  currency: string,
  now: Instant,
  own: Record<string, string> = {},
  taxed = true,
): Ground {
  const files = Object.entries({ ...boatFiles(currency, taxed), ...own }).map(([path, content]) => {
    const bytes = new TextEncoder().encode(content)
    return { path, sizeBytes: bytes.length, bytes: () => bytes, text: () => content }
  })
  const { configuration, findings } = compileConfiguration(files, {
    compileLiquid: compileTemplate,
    compileScript,
  })
  if (!configuration) throw new Error(JSON.stringify(findings, null, 2))
  const { timeZone } = configuration
  return {
    credit: zero(configuration.currency),
    policyholder: {
      locator: newUuid(0),
      version: 1,
      completed: true,
      accountLocator: newUuid(0),
      entity: { locator: newUuid(0), values: { last_name: ['Ahab'] }, subEntities: [] },
      createdAt: now,
      updatedAt: now,
    },
    configuration: {
      configuration,
      hash: currency,
      template: source => compileTemplate(source).template!,
      lookup: () => () => 'noSuchTable',
    },
    configVersion: 1,
    timeZone,
    currency: configuration.currency,
    product: configuration.products.boat!,
  }
}
