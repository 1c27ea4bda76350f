import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PLUGIN_FUNCTIONS } from '../../../src/product/configuration.ts'
import { pathsOf } from '../../../src/product/templates/data-tree.ts'
import { PLUGIN_INPUTS } from '../../../src/servicing/template-data/plugin-inputs.ts'
import { templateTree } from '../../../src/servicing/template-data/template-tree.ts'
import { DATA_BEGIN, DATA_PAGE, withDataReference } from '../../../tools/template-data-reference.ts'

const PAGE = readFileSync(DATA_PAGE, 'utf8')

test('docs/template-data.md matches the current tree; npm run docs:template-data writes it', () => {
  expect(PAGE).toBe(withDataReference(PAGE))
  expect(() => withDataReference('nothing')).toThrow(DATA_BEGIN)
})

test('every name that a template or plugin can read is on the page', () => {
  const trees = [templateTree(), ...PLUGIN_FUNCTIONS.map(name => PLUGIN_INPUTS[name]())]
  const paths = trees.flatMap(tree => [...pathsOf(tree, 'data')].map(([path]) => path))
  // A record that occurs again is only named there. Its members are listed at its first occurrence.
  const names = new Set(
    paths.map(
      path =>
        path
          .replace(/(\[\]|\[key\])+$/, '')
          .split('.')
          .at(-1)!,
    ),
  )
  const listed = new Set(
    [...PAGE.matchAll(/(?:^ *- `|^### )data\.([\w.[\]]+)/gm)].map(([, path]) => path!.split('.').at(-1)!),
  )
  names.delete('data')
  expect([...names].filter(name => !listed.has(name))).toEqual([])
  expect(paths.length).toBeGreaterThan(1_000)
})

test('the page states which templates can read a name that not all can read', () => {
  const lines = PAGE.split('\n')
  const premium = lines.find(line => line.startsWith('- `data.peril_characteristics.premium`'))
  expect(premium).toContain('Only in tax scripts')
  const invoice = lines[lines.indexOf('### data.invoice_financials') + 2]
  expect(invoice).toContain('Available in documents of invoices.')
})
