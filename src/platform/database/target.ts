// A database from the point of view of migrations: the Worker's binding, a local file, or a database at the provider.
import { type Calls, noCalls } from '../calls.ts'

export type MigrationTarget = {
  /** Name of its binding, for messages. */
  name: string
  /** Executes the statements in order, all or none. */
  execute(statements: readonly string[]): Promise<void>
  query(statement: string): Promise<Record<string, unknown>[]>
}

/** Returns the Worker's binding as a target. Each execution and each query is one round trip to D1. */
export function bindingTarget(name: string, client: D1Database, calls: Calls = noCalls()): MigrationTarget {
  return {
    name,
    async execute(statements) {
      calls.d1 += 1
      await client.batch(statements.map(statement => client.prepare(statement)))
    },
    async query(statement) {
      calls.d1 += 1
      const { results } = await client.prepare(statement).all<Record<string, unknown>>()
      return results
    },
  }
}
