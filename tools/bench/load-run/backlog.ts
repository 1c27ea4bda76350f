// The work that waits in the databases of a service, read from their files.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EVERY_EVENT } from '../../../src/platform/events/rows.ts'

export type Backlog = {
  /** Deliveries of events that are neither sent nor given up. */
  deliveries: number
  /** Policies with documents to make. */
  documents: number
  /** Timers that are due. */
  timers: number
}

/** What the databases contain after a run. */
export type Book = {
  policies: number
  transactions: number
  events: number
  bytes: number
  /** Deliveries that were given up. */
  failedDeliveries: number
  /** Locators of the events that a webhook should receive. */
  toDeliver: Set<string>
}

export type Databases = {
  backlog(): Backlog
  book(): Book
  close(): void
}

/** Opens the tenants' databases below a data folder, and reads them while the service writes to them. */
export function openDatabases(dataFolder: string): Databases {
  const folder = join(dataFolder, 'v3')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    file => file.includes('D1DatabaseObject') && file.endsWith('.sqlite'),
  )
  const all = files.map(file => new DatabaseSync(join(folder, file), { readOnly: true }))
  const tenants = all.filter(
    database =>
      database.prepare(`select 1 from sqlite_master where name = 'document_job'`).get() !== undefined,
  )
  const sum = (sql: string): number =>
    tenants.reduce((total, database) => total + Number(database.prepare(sql).get()!.n), 0)
  return {
    backlog: () => ({
      deliveries: sum(`select count(*) as n from delivery where state in ('waiting', 'pending')`),
      documents: sum(`select count(*) as n from document_job`),
      timers: sum(`select count(*) as n from timer where due_at <= unixepoch() * 1000`),
    }),
    book: () => ({
      policies: sum(`select count(*) as n from policy`),
      transactions: sum(`select count(*) as n from modification`),
      events: sum(`select count(*) as n from ${EVERY_EVENT}`),
      bytes: sum(
        `select page_count * page_size as n from pragma_page_count, pragma_page_size
          where (select count(*) from policy) > 0`,
      ),
      failedDeliveries: sum(
        `select count(*) as n from delivery where state not in ('waiting', 'pending', 'sent')`,
      ),
      toDeliver: new Set(
        tenants.flatMap(database =>
          database
            .prepare(`select locator from ${EVERY_EVENT} join delivery on event_sequence = sequence`)
            .all()
            .map(({ locator }) => String(locator)),
        ),
      ),
    }),
    close() {
      for (const database of all) database.close()
    },
  }
}

export const isDrained = ({ deliveries, documents, timers }: Backlog): boolean =>
  deliveries + documents + timers === 0
