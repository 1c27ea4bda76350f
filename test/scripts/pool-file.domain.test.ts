import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { databasesToAdd, formatPool, isMade, parsePool, plannedDatabase } from '../../scripts/pool-file.ts'
import { storesConfig } from '../../scripts/write-config.ts'

const pool = (count: number) => Array.from({ length: count }, (_, at) => plannedDatabase(at + 1))
const bindings = (databases: { binding: string }[]) => databases.map(({ binding }) => binding)

test('pool.toml is written back byte for byte as it was read', () => {
  const text = readFileSync('pool.toml', 'utf8')
  expect(formatPool(parsePool(text))).toBe(text)
})

test('a planned database has a placeholder id until the provider assigns one', () => {
  expect(isMade(plannedDatabase(7))).toBe(false)
  expect(plannedDatabase(7, 'eu', 'eu1')).toMatchObject({
    binding: 'TENANT_007',
    databaseName: 'bindery-eu1-tenant-007-eu',
  })
  const made = { ...plannedDatabase(7), databaseId: '1b2c3d4e-0000-4000-9000-aabbccddeeff' }
  expect(isMade(made)).toBe(true)
  const [read] = parsePool(formatPool([made]))
  expect(read).toEqual(made)
})

describe('Growing the pool', () => {
  test('continues the numbers', () => {
    const added = databasesToAdd(pool(2), new Set(['TENANT_001', 'TENANT_002']), 2)
    expect(bindings(added)).toEqual(['TENANT_003', 'TENANT_004'])
  })

  test('completes what an earlier run left before it adds more', () => {
    const added = databasesToAdd(pool(4), new Set(['TENANT_001', 'TENANT_003']), 3)
    expect(bindings(added)).toEqual(['TENANT_002', 'TENANT_004', 'TENANT_005'])
  })

  test('adds only the requested number even if more are unfinished', () => {
    expect(bindings(databasesToAdd(pool(64), new Set(), 2))).toEqual(['TENANT_001', 'TENANT_002'])
  })
})

describe('The configuration of the stores', () => {
  const made = { ...plannedDatabase(1), databaseId: '1b2c3d4e-0000-4000-9000-aabbccddeeff' }
  const config = [readFileSync('wrangler.toml', 'utf8'), formatPool([made])].join('\n')

  test('has variables, databases and buckets, but no code or objects', () => {
    const stores = storesConfig(config)
    expect(stores).toContain('binding = "CONTROL"')
    expect(stores).toContain('binding = "TENANT_001"')
    expect(stores).toContain('binding = "FILES"')
    expect(stores).toContain('DOMAIN = ')
    expect(stores).not.toMatch(/main =|durable_objects|queues|crons/)
  })

  test('reaches the stores of the provider', () => {
    const stores = storesConfig(config)
    expect(stores.match(/remote = true/g)).toHaveLength(4)
  })
})
