// Rows of many tables, table by table: what several accounts write is one statement of each table, however many they are.
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Database, putTexts, type Query, rowTexts } from '../../../platform/database.ts'

export class TableRows {
  /** As they travel. Tables in the order in which they were first named; rows as they were added. */
  readonly #texts = new Map<SQLiteTable, string[]>()

  add<T extends SQLiteTable>(table: T, rows: readonly T['$inferInsert'][]): void {
    this.#take(table, rowTexts(table, rows))
  }

  /** Adds what the other has. */
  join(other: TableRows): void {
    for (const [table, texts] of other.#texts) this.#take(table, texts)
  }

  /** Queries that insert the rows, or put them in the place of rows with the same key. */
  queries(database: Database): Query[] {
    return [...this.#texts].flatMap(([table, texts]) => putTexts(database, table, texts))
  }

  #take(table: SQLiteTable, texts: readonly string[]): void {
    if (texts.length === 0) return
    const known = this.#texts.get(table)
    if (!known) this.#texts.set(table, [...texts])
    else for (const text of texts) known.push(text)
  }
}
