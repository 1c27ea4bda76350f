// The boat product (boat-product.ts) for domain tests: compiled in any currency, without a service.

import { compileScript } from '../../src/extension/plugins/runners/script.ts'
import { newUuid } from '../../src/kernel/locators.ts'
import { zero } from '../../src/kernel/money.ts'
import type { Instant } from '../../src/kernel/time.ts'
import type { NewPolicyContext } from '../../src/policy/surroundings.ts'
import { compileConfiguration } from '../../src/product/compile.ts'
import { loadPatternEngine } from '../../src/product/fields/patterns.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import { boatFiles } from './boat-product.ts'

await loadPatternEngine()

/** The context of a new boat policy. `own` replaces or adds files of the configuration. */
export function boatContext(
  currency: string,
  now: Instant,
  own: Record<string, string> = {},
  taxed = true,
): NewPolicyContext {
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
