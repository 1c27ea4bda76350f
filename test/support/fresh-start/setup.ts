// Files of one worker share a runtime, since to start one costs seconds. Each file begins as in a runtime of its own: no
// database, file, object or queue has anything of an earlier file, and nobody remembers its tenants.
import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { forgetEarlierFiles, migratedDatabases } from './memory.ts'

/** What an earlier file still does while everything is deleted can keep a database from going; later it goes. */
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
  // An object that is called at this moment may outlive the first.
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
