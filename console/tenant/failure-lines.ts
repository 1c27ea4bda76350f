// Failures of a migration as lines, one for each reason: in a table, and in a file for the people who correct them.
import type { MigrationFailures, MigrationFault } from '../wire.ts'

const KINDS = ['policies', 'invoices', 'payments', 'disbursements'] as const

export type FailureKind = 'account' | (typeof KINDS)[number]

export type FailureLine = {
  readonly account: string
  readonly kind: FailureKind
  readonly item: string
  /** The path of original ids. */
  readonly place: string
  readonly reason: string
}

function* linesOf(
  account: string,
  kind: FailureKind,
  { originalId, errors }: MigrationFault,
): Generator<FailureLine> {
  for (const { locator, errors: reasons } of errors.validationItems)
    for (const reason of reasons) yield { account, kind, item: originalId, place: locator, reason }
}

export const failureLines = (accounts: readonly MigrationFailures[]): FailureLine[] =>
  accounts.flatMap(failures => {
    const { accountOriginalId: account, accountError } = failures
    return [
      ...(accountError ? linesOf(account, 'account', accountError) : []),
      ...KINDS.flatMap(kind =>
        Object.values(failures[kind]).flatMap(fault => [...linesOf(account, kind, fault)]),
      ),
    ]
  })

/** Escapes text for CSV. Text that a spreadsheet would evaluate as a formula gets a leading apostrophe. */
const cell = (text: string): string => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const COLUMNS = [
  'account',
  'kind',
  'item',
  'place',
  'reason',
] as const satisfies readonly (keyof FailureLine)[]

/** Formats CSV (RFC 4180) with a header. */
export const csvOf = (lines: readonly FailureLine[]): string =>
  [COLUMNS.join(','), ...lines.map(line => COLUMNS.map(name => cell(line[name])).join(','))].join('\r\n') +
  '\r\n'
