// Simulates a minute of the account: every deployed Worker does the part of its housekeeping that commands wait for, including
// the messages that it sends. The Worker's databases are the account's files, read through the interface of D1.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { databaseFile } from '../../../scripts/local-databases.ts'
import { parsePool } from '../../../scripts/pool-file.ts'
import { consumeUpgrades, type Upgrade, upgradeDatabases } from '../../../src/tenants/upgrades.ts'
import { changeAccount, readAccount, type Version, type Work } from './account.ts'

/** Maximum number of messages in a batch for a consumer. */
const BATCH = 10

type Bound = { readonly text: string; readonly values: readonly SQLInputValue[] }

/** A database file with the part of D1's interface that upgrades need. Counts the calls. */
function fileAsD1(file: string, done: Work): D1Database {
  const open = <Result>(work: (database: DatabaseSync) => Result): Result => {
    done.d1 += 1
    const database = new DatabaseSync(file, { timeout: 60_000 })
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  const meta = { rows_read: 0, rows_written: 0, size_after: 0 }
  const prepare = (text: string, values: readonly SQLInputValue[] = []) => ({
    text,
    values,
    bind: (...given: SQLInputValue[]) => prepare(text, given),
    all: async () => ({ results: open(database => database.prepare(text).all(...values)) }),
  })
  const session = {
    prepare,
    batch: async (statements: readonly Bound[]) =>
      open(database => {
        database.exec('begin immediate')
        try {
          const results = statements.map(({ text, values }) => database.prepare(text).all(...values))
          database.exec('commit')
          return results.map(rows => ({ results: rows, success: true, meta }))
        } catch (problem) {
          if (database.isTransaction) database.exec('rollback')
          throw problem
        }
      }),
    getBookmark: () => null,
  }
  return { ...session, withSession: () => session } as unknown as D1Database
}

/** Simulates the passing of a minute. */
export async function passMinute(folder: string): Promise<void> {
  const done: Work = { minutes: 1, d1: 0, queue: 0, messages: 0 }
  for (const { versions, shares } of Object.values(readAccount(folder).workers)) {
    const [share] = shares
    const version = versions.find(({ id }) => id === share?.version_id)
    if (version) await housekeep(folder, version, done)
  }
  changeAccount(folder, ({ work }) => {
    for (const key of Object.keys(work) as (keyof Work)[]) work[key] += done[key]
  })
}

async function housekeep(folder: string, { config }: Version, done: Work): Promise<void> {
  const queue: Upgrade[] = []
  const databases = parsePool(config.slice(config.indexOf('[[d1_databases]]')))
  const bound = databases.map(({ binding, databaseId }) => [
    binding,
    fileAsD1(databaseFile(folder, databaseId), done),
  ])
  const UPGRADES = {
    sendBatch: async (messages: Iterable<{ body: Upgrade }>) => {
      done.queue += 1
      for (const { body } of messages) queue.push(body)
    },
  }
  const env = { ...Object.fromEntries(bound), UPGRADES, REQUEST_LOG: 'off' } as unknown as Env
  await upgradeDatabases(env)
  while (queue.length > 0) {
    const messages = queue.splice(0, BATCH).map(body => ({ body }))
    done.messages += messages.length
    await consumeUpgrades({ messages } as unknown as MessageBatch<unknown>, env)
  }
}
