import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readArchive } from '../../src/configuration/archive/read.ts'
import { compileConfiguration } from '../../src/configuration/compile.ts'
import { loadPatternEngine } from '../../src/platform/fields/patterns.ts'
import { compileScript } from '../../src/plugins/script.ts'
import { compileTemplate } from '../../src/rating/liquid/compile.ts'
import { filesOf, zipOf } from './archive-maker.ts'

await loadPatternEngine()

for (const name of ['motor', 'home']) {
  const folder = `examples/${name}/configuration`
  test.skipIf(!existsSync(folder))(`the ${name} example compiles and nothing is found in it`, () => {
    const { files, findings } = readArchive(zipOf(filesOf(folder)))
    const compiled = compileConfiguration(files, { compileLiquid: compileTemplate, compileScript })
    expect([...findings, ...compiled.findings]).toEqual([])
    expect(Object.keys(compiled.configuration?.products ?? {})).toHaveLength(1)
  })
}
