import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

// Types of a script that an installation runs with the system's Node.
const { LONG_EXPORTS, PATCHES, shortExports } = (await import(
  '../../scripts/patch-modules.mjs' as string
)) as {
  LONG_EXPORTS: string[]
  PATCHES: { file: string; text: string; instead: string }[]
  shortExports(exports: Record<string, unknown>): Record<string, unknown>
}

it.each(PATCHES)('$file is installed with its patch', ({ file, text, instead }) => {
  const installed = readFileSync(`node_modules/${file}`, 'utf8')
  if (instead !== '') expect(installed.split(instead)).toHaveLength(2)
  expect(installed).not.toContain(text)
})

it.each(LONG_EXPORTS)('%s exports the same as before in a tenth of the text', name => {
  const text = readFileSync(`node_modules/${name}/package.json`, 'utf8')
  expect(text.length).toBeLessThan(25_000)
  const { exports } = JSON.parse(text)
  expect(exports['./*'].import.default).toBe('./*.js')
  expect(shortExports(exports)).toEqual(exports)
})

it('exports named like their files become one pattern, and all others stay', () => {
  const file = (path: string) => ({ require: `${path}.cjs`, default: `${path}.js` })
  const others = { '.': file('./index'), './a': file('./a/index'), './package.json': './package.json' }
  const exports = { ...others, './a/b': file('./a/b'), './c': file('./c') }
  expect(shortExports(exports)).toEqual({ ...others, './*': file('./*') })
  expect(shortExports(others)).toEqual(others)
})
