import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { bindery } from '../cli/terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-tables-'))
afterAll(() => rmSync(folder, { recursive: true }))

const write = (path: string, content: unknown): string => {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const port = { name: 'port', type: 'lookup', table: 'ports' }
for (const product of ['sail', 'row', 'yacht']) {
  const policy = `products/${product}/policy`
  write(`${policy}/policy.json`, { fields: [port, { name: 'berths', type: 'group', fields: [port] }] })
  write(`${policy}/exposures/boat/exposure.json`, { name: 'boat', fields: [] })
  write(`${policy}/exposures/boat/perils/theft.premium.liquid`, '{{ 60 | set_year_premium }}')
  write(`${policy}/exposures/boat/perils/theft.json`, { name: 'theft' })
}
write('config.json', { timezone: 'Europe/Berlin', currency: 'EUR' })
write('products/sail/policy/tables/ports.csv', 'port,country\nKiel,DE\nBergen,NO\n')
write('products/yacht/policy/tables/ports.csv', 'port,country\nOxford,GB\n')

const priced = async (productName: string, value: string) => {
  const policy = write('policy.json', {
    productName,
    policyStartTimestamp: Date.UTC(2035, 0, 1),
    policyEndTimestamp: Date.UTC(2036, 0, 1),
    fieldValues: { port: value },
    fieldGroups: [{ fieldName: 'berths', fieldValues: { port: value } }],
    exposures: [{ exposureName: 'boat', perils: [{ name: 'theft' }] }],
  })
  const { exit, out, err } = await bindery('price', folder, '--policy', policy, '--json')
  return exit === 0 ? JSON.parse(out).price.grossPremium : `${out}${err}`
}

test('a lookup field uses a table of another product when its own product has none of that name', async () => {
  expect(await priced('sail', 'Kiel')).toBe(60)
  expect(await priced('row', 'Kiel')).toBe(60)
  expect(await priced('row', 'Oxford')).toMatch("'port' must be exactly one of 'Kiel', 'Bergen'")
})

test('a table of the field’s own product takes precedence', async () => {
  expect(await priced('yacht', 'Oxford')).toBe(60)
  expect(await priced('yacht', 'Kiel')).toMatch("'port' must be exactly one of 'Oxford'")
})
