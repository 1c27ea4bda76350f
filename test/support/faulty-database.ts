// A D1 database that fails as the platform may: before a batch runs, or after it, so that the caller does not learn that it ran.

export type Fault = 'before' | 'after'

/**
 * Wraps `client`. `plan(n)` says how the n-th batch (from 0) of its sessions fails, or returns undefined. `between` runs before
 * each batch.
 */
export function faultyDatabase(
  client: D1Database,
  plan: (batch: number) => Fault | undefined,
  between: (batch: number) => Promise<void> = async () => {},
): D1Database {
  let count = 0
  const session = (constraint?: string) => {
    const inner = client.withSession(constraint)
    return {
      prepare: (query: string) => inner.prepare(query),
      getBookmark: () => inner.getBookmark(),
      batch: async (statements: D1PreparedStatement[]) => {
        const number = count++
        await between(number)
        const fault = plan(number)
        if (fault === 'before') throw new Error('D1_ERROR: Network connection lost.')
        const results = await inner.batch(statements)
        if (fault === 'after') throw new Error('D1_ERROR: Network connection lost.')
        return results
      },
    }
  }
  return { withSession: session } as unknown as D1Database
}
