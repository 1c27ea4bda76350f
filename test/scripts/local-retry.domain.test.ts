import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { untilConnected } from '../../scripts/local-retry.ts'
import { type MigrationTarget, migrateAll, readMigrations } from '../../src/platform/migrations.ts'

/** What `fetch` really throws where nobody listens any more. */
async function brokenConnection(): Promise<unknown> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(done => server.once('listening', done))
  const { port } = server.address() as AddressInfo
  await new Promise(done => server.close(done))
  return fetch(`http://127.0.0.1:${port}`).catch((problem: unknown) => problem)
}

/** A database in memory, which does what is sent and then loses its answer as often as it is told. */
function database(lost: number, problem: unknown) {
  const tables: string[] = []
  const rows: Record<string, unknown>[] = []
  let losses = lost
  const target: MigrationTarget = {
    name: 'TENANT_0001',
    async execute(statements) {
      for (const statement of statements) {
        const [, table] = /^create table (\w+)/.exec(statement) ?? []
        if (table === 'if') continue
        if (table !== undefined && tables.includes(table)) throw new Error(`table ${table} already exists`)
        if (table !== undefined) tables.push(table)
        const [, name, hash] = /^insert into migration .* values \('(\w+)', '(\w+)'/.exec(statement) ?? []
        if (name !== undefined) rows.push({ name, hash })
      }
      losses -= 1
      if (losses >= 0) throw problem
    },
    query: async () => rows,
  }
  return { target, tables, rows }
}

describe('the preparation of local databases', () => {
  test('goes on after connections that broke, and applies nothing twice', async () => {
    const migrations = await readMigrations({
      '0000_first.sql': 'create table policy (locator text)',
      '0001_second.sql': 'create table invoice (locator text)',
      '0002_third.sql': 'create table payment (locator text)',
    })
    const { target, tables, rows } = database(3, await brokenConnection())
    const told: string[] = []
    await untilConnected(
      () => migrateAll([target], migrations, 8, { done: () => {} }),
      line => told.push(line),
      0,
    )
    expect(tables).toEqual(['policy', 'invoice', 'payment'])
    expect(rows.map(({ name }) => name)).toEqual(['0000_first', '0001_second', '0002_third'])
    expect(told).toHaveLength(3)
    expect(told[0]).toBe('the local databases broke off a connection; trying again (2 of 4)')
  })

  test('gives up at the fourth, with what it was', async () => {
    const problem = await brokenConnection()
    let attempts = 0
    const work = async (): Promise<never> => {
      attempts += 1
      throw problem
    }
    await expect(untilConnected(work, () => {}, 0)).rejects.toBe(problem)
    expect(attempts).toBe(4)
  })

  test('does not repeat what is wrong by itself', async () => {
    let attempts = 0
    const work = async (): Promise<never> => {
      attempts += 1
      throw new Error('TENANT_0001 has another 0000_first than the code')
    }
    await expect(untilConnected(work, () => {}, 0)).rejects.toThrow('another 0000_first')
    expect(attempts).toBe(1)
  })
})
