import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadDocument } from '../../scripts/routes.ts'
import { growthPage } from '../../tools/growth-table.ts'

test('docs/growth.md lists the inputs of the OpenAPI document', async () => {
  // `npm run docs:growth` writes it.
  expect(readFileSync('docs/growth.md', 'utf8')).toBe(growthPage(await loadDocument()))
}, 180_000)
