// Entries as a row stores them: short JSON, because every transaction has entries. An entry is a list without the absent values at
// its end.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { AccountName } from '../../product/books.ts'
import type { JournalEntry } from './rows.ts'

/** The order of an entry's list. Add new places at the end: stored rows never change. */
const PLACES = ['account', 'minor', 'peril', 'name', 'start', 'end', 'invoice', 'due', 'payment'] as const

type StoredEntry = readonly (string | number | null)[]

export const entriesText = (entries: readonly JournalEntry[]): string => JSON.stringify(entries.map(listOf))

function listOf(entry: JournalEntry): StoredEntry {
  const last = PLACES.findLastIndex(place => entry[place] !== undefined)
  return PLACES.slice(0, last + 1).map(place => entry[place] ?? null)
}

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
