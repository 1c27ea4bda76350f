// Lines of an export. Lines of policies and policyholders name files, which become URLs as in any other response.
import { isLong } from '../../kernel/json.ts'
import { type CurrencyCode, fromMinor, toText } from '../../kernel/money.ts'
import { withoutFileNames } from '../../platform/http/file-links.ts'
import type { Line } from '../../platform/http/route.ts'
import { readJournalRow } from '../../policy/store/journal.ts'
import { type Policyholder, policyholderResponse } from '../../policyholders/values.ts'
import type { PolicyToExport } from './policy-record.ts'
import type * as store from './store.ts'

/** A page ends before the line that would exceed this size, unless that line is its first. */
export const LARGEST_PAGE_BYTES = 8 * 1024 * 1024

/** Returns a policyholder as its response shows it. */
export const holderLine = (holder: Policyholder): string =>
  lineOf('policyholder', policyholderResponse(holder))

/** Returns a policy as text, or as an object if one of its lists is long, so that it is written piece by piece. */
export function policyLine(record: PolicyToExport): Line {
  const line = { kind: 'policy', record }
  return isLong(line) ? line : JSON.stringify(line)
}

/** In UTF-16 units. A long line gets its own page. */
export const lengthOf = (line: Line): number =>
  typeof line === 'string' ? line.length : Number.POSITIVE_INFINITY

/**
 * Returns a disbursement with its amount as decimal text in major units. Nothing in it can be mistaken for the address of a file.
 */
export const disbursementLine = ({ amount, currency, ...one }: store.DisbursementRow): string =>
  withoutFileNames(
    lineOf('disbursement', { ...one, amount: toText(fromMinor(amount, currency as CurrencyCode)), currency }),
  )

export const auxDataLine = ({ locator, key, value, uiType }: store.AuxDataRow): string =>
  lineOf('auxData', { locator, key, value, uiType })

/** Returns a note without the locator of the account that wrote it. */
export const noteLine = ({ createdAt, accountLocator, ...note }: store.NoteRow): string =>
  lineOf('note', {
    ...note,
    policyLocator: note.policyLocator === null ? undefined : String(note.policyLocator),
    createdTimestamp: createdAt,
  })

/** Returns a quick quote with its request and the stored response. Nothing in them can be mistaken for the address of a file. */
export const quickQuoteLine = ({ locator, policyholderLocator, ...row }: store.QuickQuoteRow): string =>
  withoutFileNames(
    lineOf('quickQuote', {
      locator,
      policyholderLocator,
      createdTimestamp: row.createdAt,
      expiryTimestamp: row.expiresAt,
      request: JSON.parse(row.request),
      answer: JSON.parse(row.answer),
    }),
  )

/**
 * Returns an event with its data. `newerType` is null if its type has no newer name. Nothing in it can be mistaken for the address
 * of a file.
 */
export const eventLine = (row: store.StoredEvent): string =>
  withoutFileNames(
    lineOf('event', {
      locator: row.locator,
      requestId: row.request_id,
      type: row.type,
      newerType: row.newer_type,
      timestamp: row.at,
      username: row.username,
      policyholderLocator: row.policyholder_locator,
      policyLocator: row.policy_locator === null ? null : String(row.policy_locator),
      data: JSON.parse(row.data),
    }),
  )

/** `shard` and `id` are the key, because each database numbers its own rows. */
export const journalLine = (shard: number, row: store.JournalPageRow): string =>
  lineOf('journal', { shard, ...readJournalRow(row) })

const lineOf = (kind: string, record: object): string => JSON.stringify({ kind, record })
