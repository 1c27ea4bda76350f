import { Refusal } from '../../kernel/errors.ts'

/**
 * For lists that name an index of open work in their queries (`indexed by`): answers 503 while the database waits for the migration
 * that brings these indexes, which the rest of the service runs without.
 */
export async function withWorkIndexes<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (problem) {
    if (!/no such index/.test(String((problem as { cause?: unknown }).cause ?? problem))) throw problem
    const message =
      'The database of the tenant waits for the migration that brings work lists; try again later.'
    throw new Refusal('tenantBehind', message, {}, 60)
  }
}
