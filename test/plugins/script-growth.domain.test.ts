// The time to read a script grows in proportion to its length, whatever it consists of: anyone who deploys chooses the script.
import { expect, test } from 'vitest'
import { compileScript } from '../../src/extension/plugins/runners/script.ts'
import { checkFunctions } from '../../src/product/check/product/plugins.ts'
import { openReport } from '../../src/product/check/report.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'
import { timesAsLong } from '../support/scaling.ts'

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n')

test.each<[string, string, (count: number) => string]>([
  ['variables of one scope', 'a.js', count => lines(count, at => `let a${at}`)],
  ['exports', 'a.mjs', count => lines(count, () => 'export {};')],
  ['imports', 'a.mjs', count => lines(count, at => `import { a as b${at} } from './x.js'`)],
])('%s: eight times as many take less than 24 times as long', async (_, path, sourceOf) => {
  const [small, large] = [sourceOf(5_000), sourceOf(40_000)]
  expect(compileScript(path, sourceOf(500)).problem).toBeUndefined()
  // With quadratic work it would take sixty-four times as long.
  const times = await timesAsLong(
    () => compileScript(path, small),
    () => compileScript(path, large),
    { most: 24, leastMs: 20 },
  )
  expect(times).toBeLessThan(24)
})

test('a name that a long scope declares twice is still found, whichever comes first', () => {
  for (const first of [0, 20, 31, 32, 99]) {
    const { problem } = compileScript('a.js', `${lines(100, at => `let a${at}`)}\nlet a${first}`)
    expect(problem).toEqual({
      message: `Identifier 'a${first}' has already been declared`,
      line: 101,
      column: 5,
    })
  }
  expect(compileScript('a.js', `${lines(100, at => `var a${at}`)}\nvar a7`).problem).toBeUndefined()
})

test('a default export is complete where another export follows without a blank', () => {
  const { text } = compileScript('a.mjs', 'const a = 1\nexport default class {}export{a}\n')
  expect(text).toContain(';default_1 = class {};')
})

test('escaped quotation marks are searched in proportion to their number', async () => {
  const product = {
    name: 'boat',
    plugins: { getUnderwritingResult: { enabled: true, path: 'a.js' } },
  } as unknown as ProductDefinition
  const check = (count: number) => {
    const scripts = { 'a.js': `exports.text = \`"${'\\"'.repeat(count)}\`` }
    return () => checkFunctions(scripts, [product], openReport())
  }
  const times = await timesAsLong(check(2_000), check(64_000), { most: 100, leastMs: 2 })
  expect(times).toBeLessThan(100)
})

test('a script of more than 300,000 words and signs is rejected while it is read', () => {
  const calls = (count: number): string => 'f();'.repeat(count)
  expect(compileScript('a.js', calls(74_000)).problem).toBeUndefined()
  for (const [path, first] of [
    ['a.js', ''],
    ['a.mjs', "import f from './f.js'\n"],
  ] as const)
    expect(compileScript(path, `${first}${calls(80_000)}`).problem).toMatchObject({
      message: 'it has more than 300000 words and signs; put data into tables or JSON files',
      line: first === '' ? 1 : 2,
    })
})
