import { Refusal } from '../../kernel/errors.ts'

/**
 * Reads a list whose queries name an index of open work (`indexed by`). Throws 503 while the database waits for the migration that
 * adds these indexes. The rest of the service does not need them.
 */
export async function withWorkIndexes<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (problem) {
    if (!/no such index/.test(String((problem as { cause?: unknown }).cause ?? problem))) throw problem
    const message = "The tenant's database is not migrated for work lists yet; try again later."
    throw new Refusal('tenantBehind', message, {}, 60)
  }
}
