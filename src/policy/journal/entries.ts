import type { JournalEntry } from './rows.ts'

/** What distinguishes the entries of one row. Entries that differ only in their amount are merged. */
type Place = Omit<JournalEntry, 'minor'>

/** Adds up the amounts of each place. Drops places whose amounts cancel out. */
export class Entries {
  readonly #byPlace = new Map<string, { place: Place; minor: number }>()

  add(place: Place, minor: number): void {
    if (minor === 0) return
    const { account, peril, name, start, end, invoice, due, payment } = place
    const key = [account, peril, name, start, end, invoice, due, payment].join('\n')
    const known = this.#byPlace.get(key)
    if (known) known.minor += minor
    else this.#byPlace.set(key, { place, minor })
  }

  list(): JournalEntry[] {
    return [...this.#byPlace.values()]
      .filter(({ minor }) => minor !== 0)
      .map(({ place, minor }) => ({ ...place, minor }))
  }
}

/** Returns the sum of the entries, which is zero if they balance. */
export const totalOf = (entries: Iterable<Pick<JournalEntry, 'minor'>>): number => {
  let total = 0
  for (const { minor } of entries) total += minor
  return total
}
