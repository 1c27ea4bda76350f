// An account at a stand-in for the provider: databases with bookmarks, buckets, queues, and Workers with their versions. All of
// it is in one folder, so that commands that run as separate processes find what earlier ones created.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { databaseFile } from '../../../scripts/local-databases.ts'

export type StoredDatabase = { id: string; place: string; bookmarks: { name: string; at: number }[] }

export type Version = {
  id: string
  /** The configuration with which it was uploaded. */
  config: string
  /** Its secrets by name. */
  secrets: Record<string, string>
}

export type StoredWorker = {
  versions: Version[]
  shares: { version_id: string; percentage: number }[]
  /** Hosts at which it responds. */
  domains: string[]
  /** How objects adopt new code, as set by the last deployment. */
  objectUpdates: string | undefined
}

export type Account = {
  databases: Record<string, StoredDatabase>
  /** By name and jurisdiction, e.g. `files/eu`. */
  buckets: string[]
  queues: string[]
  workers: Record<string, StoredWorker>
  /** Every command, in order. */
  commands: string[]
  /** The work that deployed Workers did (minute.ts). */
  work: Work
}

export type Work = { minutes: number; d1: number; queue: number; messages: number }

/** Commands run in parallel, so the account is one row of a database that only one command can use at a time. */
function withStore<Result>(folder: string, work: (store: DatabaseSync) => Result): Result {
  mkdirSync(folder, { recursive: true })
  const store = new DatabaseSync(join(folder, 'account.sqlite'), { timeout: 60_000 })
  try {
    // None of it has to survive a crash of the machine.
    store.exec(
      'pragma synchronous = off; create table if not exists account (id integer primary key, text text not null)',
    )
    return work(store)
  } finally {
    store.close()
  }
}

function accountIn(store: DatabaseSync): Account {
  const row = store.prepare('select text from account').get()
  if (row) return JSON.parse(String(row.text)) as Account
  return {
    databases: {},
    buckets: [],
    queues: [],
    workers: {},
    commands: [],
    work: { minutes: 0, d1: 0, queue: 0, messages: 0 },
  }
}

export const readAccount = (folder: string): Account => withStore(folder, accountIn)

/** Changes the account. If `change` throws, the account stays unchanged. */
export const changeAccount = (folder: string, change: (account: Account) => void): void =>
  withStore(folder, store => {
    store.exec('begin immediate')
    const account = accountIn(store)
    change(account)
    store.prepare('insert or replace into account (id, text) values (1, ?)').run(JSON.stringify(account))
    store.exec('commit')
  })

/** Opens the provider's database with this id as a file. */
export function openStored(folder: string, id: string): DatabaseSync {
  const path = databaseFile(folder, id)
  mkdirSync(join(path, '..'), { recursive: true })
  const database = new DatabaseSync(path, { timeout: 10_000 })
  database.exec('pragma synchronous = off')
  return database
}

/** The two files of a database. The second has the latest writes. */
const filesOf = (file: string): string[] => [file, `${file}-wal`]

const bookmarkFile = (folder: string, title: string): string => join(folder, 'bookmarks', title)

/** Creates a bookmark of the database's present state as a copy of its files. Returns its name. */
export function bookmark(folder: string, account: Account, name: string): string {
  const database = account.databases[name]!
  const title = `${name}-${String(database.bookmarks.length).padStart(4, '0')}`
  mkdirSync(join(folder, 'bookmarks'), { recursive: true })
  const copies = filesOf(bookmarkFile(folder, title))
  const open = openStored(folder, database.id)
  // Prevents writes while both files are copied.
  open.exec('begin immediate')
  for (const [at, file] of filesOf(databaseFile(folder, database.id)).entries())
    if (existsSync(file)) copyFileSync(file, copies[at]!)
  open.exec('rollback')
  open.close()
  database.bookmarks.push({ name: title, at: Date.now() })
  return title
}

/**
 * The newest bookmark of the database that is not later than `at`. The provider only knows the states that a test let it
 * remember.
 */
export const bookmarkAt = (account: Account, name: string, at: number): string | undefined =>
  account.databases[name]!.bookmarks.findLast(one => one.at <= at)?.name

/** Lets the provider remember the present state of each database. Returns the time. */
export function rememberDatabases(folder: string): number {
  changeAccount(folder, account => {
    for (const name of Object.keys(account.databases)) bookmark(folder, account, name)
  })
  return Date.now()
}

/**
 * Restores the database to the bookmark, even while others have it open. Keeps the runtime's own table, which the runtime creates
 * when it opens the database.
 */
export async function travelTo(folder: string, id: string, title: string): Promise<void> {
  const live = databaseFile(folder, id)
  const kept = new DatabaseSync(bookmarkFile(folder, title))
  try {
    kept.exec(`attach '${live}' as live`)
    const own = kept.prepare(
      `select name, sql from live.sqlite_master where name like '\\_cf%' escape '\\' and type = 'table'`,
    )
    for (const { name, sql } of own.all())
      if (!kept.prepare('select 1 from main.sqlite_master where name = ?').get(name!))
        kept.exec(`${sql}; insert into main.${name} select * from live.${name}`)
    kept.exec('detach live')
    await backup(kept, live)
  } finally {
    kept.close()
  }
}
