// Failures of a migration as lines: one for each reason, in a table and in a file for those who correct them.
import type { MigrationFailures, MigrationFault } from '../wire.ts'

const KINDS = ['policies', 'invoices', 'payments', 'disbursements'] as const

export type FailureKind = 'account' | (typeof KINDS)[number]

export type FailureLine = {
  readonly account: string
  readonly kind: FailureKind
  readonly item: string
  /** Path of original ids. */
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

/** What spreadsheets would take for a formula is text. */
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

/** RFC 4180, with a head. */
export const csvOf = (lines: readonly FailureLine[]): string =>
  [COLUMNS.join(','), ...lines.map(line => COLUMNS.map(name => cell(line[name])).join(','))].join('\r\n') +
  '\r\n'
