import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compileScript } from '../../src/extension/plugins/runners/script.ts'
import { readArchive } from '../../src/product/archive/read.ts'
import { compileConfiguration } from '../../src/product/compile.ts'
import { loadPatternEngine } from '../../src/product/fields/patterns.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import { filesOf, zipOf } from './archive-maker.ts'

await loadPatternEngine()

for (const name of ['motor', 'home', 'commercial_property']) {
  const folder = `examples/${name}/configuration`
  test.skipIf(!existsSync(folder))(`the ${name} example compiles and nothing is found in it`, () => {
    const { files, findings } = readArchive(zipOf(filesOf(folder)))
    const compiled = compileConfiguration(files, { compileLiquid: compileTemplate, compileScript })
    expect([...findings, ...compiled.findings]).toEqual([])
    expect(Object.keys(compiled.configuration?.products ?? {})).toHaveLength(1)
  })
}
