// The entries of a journal row: how they are added up, and how a row stores them.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { AccountName } from '../../product/books.ts'
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

/** The order of a stored entry's list. Add new properties at the end: stored rows never change. */
const STORED_PROPERTIES = [
  'account',
  'minor',
  'peril',
  'name',
  'start',
  'end',
  'invoice',
  'due',
  'payment',
] as const

type StoredEntry = readonly (string | number | null)[]

/** Returns the entries as a row stores them: short JSON, in which each entry is a list without the absent values at its end. */
export const entriesText = (entries: readonly JournalEntry[]): string => JSON.stringify(entries.map(listOf))

function listOf(entry: JournalEntry): StoredEntry {
  const last = STORED_PROPERTIES.findLastIndex(name => entry[name] !== undefined)
  return STORED_PROPERTIES.slice(0, last + 1).map(name => entry[name] ?? null)
}

/** Returns the entries of a stored row. */
export const readEntries = (text: string): JournalEntry[] =>
  (JSON.parse(text) as StoredEntry[]).map(
    ([account, minor, peril, name, start, end, invoice, due, payment]) => ({
      account: account as AccountName,
      minor: minor as number,
      ...(typeof peril === 'string' && { peril }),
      ...(typeof name === 'string' && { name }),
      ...(typeof start === 'number' && { start: start as Instant }),
      ...(typeof end === 'number' && { end: end as Instant }),
      ...(typeof invoice === 'string' && { invoice: invoice as Uuid }),
      ...(typeof due === 'number' && { due: due as Instant }),
      ...(typeof payment === 'string' && { payment: payment as Uuid }),
    }),
  )
