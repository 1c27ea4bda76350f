import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { growthPage } from '../../scripts/growth-table.ts'
import { loadDocument } from '../../scripts/routes.ts'

test('docs/growth.md lists the inputs of the OpenAPI document', async () => {
  // `npm run docs:growth` writes it.
  expect(readFileSync('docs/growth.md', 'utf8')).toBe(growthPage(await loadDocument()))
}, 180_000)
