import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { compileScript } from '../../src/extension/plugins/runners/script.ts'
import { readArchive } from '../../src/product/archive/read.ts'
import { compileConfiguration } from '../../src/product/compile.ts'
import { loadPatternEngine } from '../../src/product/fields/patterns.ts'

await loadPatternEngine()

test('an archive is read and compiled in the Workers runtime, which has no eval', () => {
  const policy = 'products/boat/policy'
  const zip = zipSync({
    'config.json': strToU8('{"timezone": "Europe/Berlin", "currency": "EUR"}'),
    'policyholder/policyholder.dictionary.json': strToU8('[{"name": "last_name", "type": "string"}]'),
    [`${policy}/policy.json`]: strToU8('{"fields": [{"name": "port", "type": "lookup", "table": "ports"}]}'),
    [`${policy}/tables/ports.csv`]: strToU8('port,country\r\n"Kiel",DE\r\n'),
    [`${policy}/exposures/hull/exposure.json`]: strToU8('{"name": "hull"}'),
    [`${policy}/exposures/hull/perils/sinking.json`]: strToU8(
      '{"name": "sinking", "fields": [{"name": "code", "type": "string", "regex": "[A-Z]{2}"}]}',
    ),
    [`${policy}/exposures/hull/perils/sinking.premium.liquid`]: strToU8('{{ 100 | set_year_premium }}'),
  })
  const { configuration, findings } = compileConfiguration(readArchive(zip).files, {
    compileLiquid: () => ({ findings: [] }),
    compileScript,
  })
  expect(findings).toEqual([])
  expect(configuration?.products.boat?.tables.ports?.rows).toEqual([['Kiel', 'DE']])
})
