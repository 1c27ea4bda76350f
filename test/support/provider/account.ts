// An account at a provider that remembers: databases with their bookmarks, buckets, queues, and Workers with their versions. All of it
// lies in one folder, so that commands that run as processes of their own find what earlier ones made.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { databaseFile } from '../../../scripts/local-databases.ts'

export type StoredDatabase = { id: string; place: string; bookmarks: { name: string; at: number }[] }

export type Version = {
  id: string
  /** The configuration that it was uploaded with. */
  config: string
  /** Its secrets by name. */
  secrets: Record<string, string>
}

export type StoredWorker = {
  versions: Version[]
  shares: { version_id: string; percentage: number }[]
  /** Hosts that it answers at. */
  domains: string[]
  /** How objects take on new code, as the last deployment said. */
  objectUpdates: string | undefined
}

export type Account = {
  databases: Record<string, StoredDatabase>
  /** By name, with the border of each after a slash: `files/eu`. */
  buckets: string[]
  queues: string[]
  workers: Record<string, StoredWorker>
  /** Every command, in order. */
  commands: string[]
}

/** Commands run side by side, so the account is one row of a database, which one of them has at a time. */
function withStore<Result>(folder: string, work: (store: DatabaseSync) => Result): Result {
  mkdirSync(folder, { recursive: true })
  const store = new DatabaseSync(join(folder, 'account.sqlite'), { timeout: 60_000 })
  try {
    store.exec('create table if not exists account (id integer primary key, text text not null)')
    return work(store)
  } finally {
    store.close()
  }
}

function accountIn(store: DatabaseSync): Account {
  const row = store.prepare('select text from account').get()
  if (row) return JSON.parse(String(row.text)) as Account
  return { databases: {}, buckets: [], queues: [], workers: {}, commands: [] }
}

export const readAccount = (folder: string): Account => withStore(folder, accountIn)

/** Changes the account, or leaves it as it is when `change` throws. */
export const changeAccount = (folder: string, change: (account: Account) => void): void =>
  withStore(folder, store => {
    store.exec('begin immediate')
    const account = accountIn(store)
    change(account)
    store.prepare('insert or replace into account (id, text) values (1, ?)').run(JSON.stringify(account))
    store.exec('commit')
  })

/** Opens the provider's database of that id as a file. */
export function openStored(folder: string, id: string): DatabaseSync {
  const path = databaseFile(folder, id)
  mkdirSync(join(path, '..'), { recursive: true })
  return new DatabaseSync(path, { timeout: 10_000 })
}

/** Name of a bookmark of the database as it is now, which a copy of its file keeps. */
export function bookmark(folder: string, account: Account, name: string): string {
  const database = account.databases[name]!
  const title = `${name}-${String(database.bookmarks.length).padStart(4, '0')}`
  const open = openStored(folder, database.id)
  open.exec('pragma wal_checkpoint(truncate)')
  open.close()
  mkdirSync(join(folder, 'bookmarks'), { recursive: true })
  copyFileSync(databaseFile(folder, database.id), join(folder, 'bookmarks', title))
  database.bookmarks.push({ name: title, at: Date.now() })
  return title
}
