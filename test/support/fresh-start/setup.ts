// Files of one worker share a runtime, because starting one takes seconds. Each file begins as if in a new runtime: databases,
// files, objects and queues have nothing of an earlier file, and the service has forgotten its tenants.
import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { forgetEarlierFiles, migratedDatabases } from './memory.ts'

/**
 * An earlier file may still be running something while everything is deleted, which can keep a database from being emptied. Later
 * attempts succeed.
 */
const MOST_TRIES = 100
const BETWEEN_MS = 50

async function databasesWithTables(): Promise<string[]> {
  const bindings = env as unknown as Record<string, D1Database>
  const counted = await Promise.all(
    [...migratedDatabases].map(async binding => {
      const text = `select count(*) as tables from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'`
      return { binding, tables: await bindings[binding]!.prepare(text).first<number>('tables') }
    }),
  )
  return counted.flatMap(({ binding, tables }) => (tables === 0 ? [] : [binding]))
}

async function deleteEverything(): Promise<void> {
  // An object that is being called may survive the first reset.
  await reset()
  for (let tries = 1; ; tries += 1) {
    await reset()
    const left = await databasesWithTables()
    if (left.length === 0) return
    if (tries === MOST_TRIES) throw new Error(`Not empty after ${tries} resets: ${left.join(', ')}.`)
    await scheduler.wait(BETWEEN_MS)
  }
}

await deleteEverything()
migratedDatabases.clear()
globalThis.forgetTenants?.()
forgetEarlierFiles()
