// A line for each transaction, with columns that the configuration chooses, for reinsurers and managing agents.
import { invalidRequest } from '../../kernel/errors.ts'
import { didYouMean } from '../../kernel/text.ts'
import {
  isBillingEntry,
  type StoredJournalRow,
  sumsAnotherSystem,
  transactionBookedAt,
} from '../../policy/journal/rows.ts'
import { policyAsKnownAt } from '../../policy/projection/as-known.ts'
import { bordereauColumns } from '../../product/books.ts'
import type { Configuration } from '../../product/configuration.ts'
import type { Cell, Column, ReportedPolicy, ReportKind, ReportParameters } from '../kind.ts'
import { coverAt, sumOfField } from './in-force.ts'
import { isWithin, TRANSACTION_COLUMNS, transactionCells } from './premiums.ts'

const amount = (name: string, about: string): Column => ({ name, type: 'amount', about, isMeasure: true })

/** Returns the columns of the configuration's list, then those of the request. Rejects with 400 an unknown list. */
function selectedColumns(
  { bordereau, columns }: Pick<ReportParameters, 'bordereau' | 'columns'>,
  { books }: Configuration,
): string[] {
  const lists = books?.bordereaux ?? {}
  const names = Object.keys(lists)
  if (bordereau !== undefined && !Object.hasOwn(lists, bordereau))
    throw invalidRequest(
      `books.json has no bordereau '${bordereau}'.${didYouMean(bordereau, names)} Use one of: ${names.join(', ') || 'none'}.`,
    )
  return [...new Set([...(bordereau === undefined ? [] : lists[bordereau]!), ...columns])]
}

const isOf = (name: string, ...kinds: string[]): boolean => kinds.some(kind => name.startsWith(`${kind}:`))

function columnOf(name: string): Column {
  if (isOf(name, 'exposures')) return { name, type: 'integer', about: 'Number of exposures in force.' }
  if (isOf(name, 'sum')) return { name, type: 'number', about: 'Sum over the exposures in force.' }
  const about = isOf(name, 'holder')
    ? 'A field of the policyholder, with its current value.'
    : 'A field of the policy, with its value when the transaction takes effect.'
  return { name, type: 'text', about }
}

export const bordereau: ReportKind = {
  name: 'bordereau',
  title: 'Bordereau',
  about:
    'One line for each transaction that is booked in the period, even if it changes no amount, with premium, charges and chosen columns.',
  takes: ['period', 'columns', 'bordereau'],
  dimensions: ['month', 'day', 'transaction'],
  usual: ['product', 'transaction'],
  needs({ columns, bordereau: list }) {
    // The columns of a list are only known from the configuration, so a list reads everything.
    const reads = (...kinds: string[]): boolean =>
      list !== undefined || columns.some(column => isOf(column, ...kinds))
    return {
      journal: true,
      ...(reads('exposures', 'sum') && { records: true }),
      ...(reads('holder') && { holder: true }),
    }
  },
  columns(parameters, { configuration }) {
    const possible = bordereauColumns(configuration)
    const chosen = selectedColumns(parameters, configuration)
    const wrong = chosen.find(name => !possible.includes(name))
    if (wrong !== undefined)
      throw invalidRequest(
        `A bordereau has no column '${wrong.slice(0, 100)}'.${didYouMean(wrong, possible)} Use one of: ${possible.join(', ')}.`,
      )
    return [
      ...TRANSACTION_COLUMNS,
      amount('premium', 'Written premium.'),
      amount('taxes', 'Taxes.'),
      amount('fees', 'Fees.'),
      amount('heldBack', 'Amount that a cancellation does not refund.'),
      amount('commission', 'Commissions.'),
      ...chosen.map(columnOf),
    ]
  },
  *lines(policy, parameters, { configuration }) {
    const chosen = selectedColumns(parameters, configuration)
    for (const row of policy.journal) {
      if (!isTransaction(row)) continue
      const entries = row.entries.filter(entry => !isBillingEntry(entry))
      const booked = transactionBookedAt(row)
      if (!isWithin(parameters, booked)) continue
      const of = (account: string): number =>
        entries.reduce((sum, one) => (one.account === account ? sum - one.minor : sum), 0)
      yield {
        currency: row.currency,
        row,
        booked,
        cells: [
          ...transactionCells(row, booked),
          of('premium'),
          of('tax'),
          of('fee'),
          of('holdback'),
          0 - of('commission'),
          ...selectedCells(chosen, row, policy),
        ],
      }
    }
  },
}

/** Whether the row is a transaction, or what another system issued for a time after the migration. */
const isTransaction = (row: StoredJournalRow): boolean =>
  row.kind === 'opening' ? !sumsAnotherSystem(row) : row.modificationLocator !== undefined

function selectedCells(chosen: readonly string[], row: StoredJournalRow, policy: ReportedPolicy): Cell[] {
  const { records, holder, segments } = policy
  // Exposures as they were known once the transaction was recorded.
  const known =
    chosen.some(name => isOf(name, 'exposures', 'sum')) && records && policyAsKnownAt(records, row.at)
  const held = known ? coverAt(known, row.effectiveAt) : undefined
  return chosen.map(name => {
    const rest = name.slice(name.indexOf(':') + 1)
    if (isOf(name, 'exposures'))
      return held ? held.exposures.filter(exposure => exposure.name === rest).length : 0
    if (isOf(name, 'sum')) return held ? sumOfField(held, rest).toFixed() : '0'
    const values = isOf(name, 'holder')
      ? holder?.entity.values[rest]
      : segments.get(row.segmentLocator!)?.values[rest]
    return values?.join(', ') ?? ''
  })
}
