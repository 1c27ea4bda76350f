// An environment whose databases are observed: everything sent to D1 is noted, batch by batch.
import type { Batch, Statement } from '../plan.ts'

/** `rows` are those that D1 reports as read and written for the batch, including entries of indexes. */
export type Note = (batch: Batch, rows: { readonly read: number; readonly written: number }) => void

/** Returns the environment with each of its databases observed. */
export function observeDatabases(env: Env, note: Note): Env {
  const bindings = Object.entries(env).map(([name, binding]: [string, unknown]) => [
    name,
    isDatabase(binding) ? { withSession: () => watchedSession(binding, note) } : binding,
  ])
  return Object.fromEntries(bindings) as Env
}

const isDatabase = (binding: unknown): binding is D1Database =>
  binding instanceof Object && binding.constructor.name === 'D1Database'

function watchedSession(
  client: D1Database,
  note: Note,
): Pick<D1DatabaseSession, 'prepare' | 'batch' | 'getBookmark'> {
  const session = client.withSession('first-primary')
  const sent = new WeakMap<D1PreparedStatement, { writes: boolean; bytes: number }>()
  return {
    getBookmark: () => session.getBookmark(),
    prepare(sql) {
      const statement = session.prepare(sql)
      const writes = !/^\s*(select|with)\b/i.test(sql)
      sent.set(statement, { writes, bytes: 0 })
      const bind = statement.bind.bind(statement)
      statement.bind = (...parameters) => {
        const bound = bind(...parameters)
        sent.set(bound, { writes, bytes: JSON.stringify(parameters).length })
        return bound
      }
      return statement
    },
    async batch<Row>(statements: D1PreparedStatement[]) {
      const results = await session.batch<Row>(statements)
      note(
        results.map(({ results: rows, meta }, at): Statement => {
          const { writes, bytes } = sent.get(statements[at]!)!
          return writes
            ? { kind: 'write', rows: meta.changes, bytes }
            : { kind: 'read', rows: rows.length, bytes: JSON.stringify(rows).length }
        }),
        {
          read: results.reduce((sum, { meta }) => sum + meta.rows_read, 0),
          written: results.reduce((sum, { meta }) => sum + meta.rows_written, 0),
        },
      )
      return results
    },
  }
}
