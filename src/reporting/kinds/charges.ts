// The charges of transactions other than premium, and the general ledger.
import { JOURNAL_ACCOUNTS } from '../../policy/journal/accounts.ts'
import { bookedAt, sumsAnotherSystem } from '../../policy/journal/rows.ts'
import type { ReportKind } from '../kind.ts'
import { isWithin, TRANSACTION_COLUMNS, transactionCells } from './premiums.ts'

const CHARGED: ReadonlySet<string> = new Set(['tax', 'fee', 'commission', 'holdback'])

export const charges: ReportKind = {
  name: 'charges',
  title: 'Taxes, fees, commissions and holdbacks',
  about: 'Amounts other than premium in the transactions and invoices that are booked in the period.',
  takes: ['period'],
  dimensions: ['account', 'name', 'peril', 'month', 'day', 'transaction'],
  usual: ['account', 'name'],
  needs: () => ({ journal: true }),
  columns: () => [
    ...TRANSACTION_COLUMNS,
    {
      name: 'amount',
      type: 'amount',
      about: 'The amount charged; negative for refunds.',
      isMeasure: true,
    },
    {
      name: 'openingAmount',
      type: 'amount',
      about: 'Charged before the policy was imported from another system.',
      isMeasure: true,
    },
  ],
  *lines({ journal }, parameters) {
    for (const row of journal)
      for (const entry of row.entries) {
        if (!CHARGED.has(entry.account)) continue
        const booked = bookedAt(row, entry)
        if (!isWithin(parameters, booked)) continue
        const minor = entry.account === 'commission' ? entry.minor : -entry.minor
        yield {
          currency: row.currency,
          row,
          entry,
          booked,
          cells: [...transactionCells(row, booked), ...(sumsAnotherSystem(row) ? [0, minor] : [minor, 0])],
        }
      }
  },
}

/** Every entry, for general ledgers. */
export const ledger: ReportKind = {
  name: 'ledger',
  title: 'Ledger',
  about: 'Every entry of the journal that is booked in the period, with the accounts of the configuration.',
  takes: ['period'],
  dimensions: ['account', 'name', 'peril', 'month', 'day', 'transaction'],
  usual: ['account', 'month'],
  needs: () => ({ journal: true }),
  columns: () => [
    { name: 'rowId', type: 'integer', about: 'The row of the journal, within its shard.' },
    ...TRANSACTION_COLUMNS,
    { name: 'accountCode', type: 'text', about: "The account's code in books.json, or its name." },
    { name: 'accountName', type: 'text', about: "The account's name in books.json." },
    { name: 'invoiceLocator', type: 'text', about: 'The invoice, for entries of bills.' },
    { name: 'paymentLocator', type: 'text', about: 'The payment or disbursement.' },
    { name: 'debit', type: 'amount', about: 'Debit.', isMeasure: true },
    { name: 'credit', type: 'amount', about: 'Credit.', isMeasure: true },
  ],
  *lines({ journal }, parameters, { configuration }) {
    const mapped = configuration.books?.accounts ?? {}
    for (const row of journal)
      for (const entry of row.entries) {
        const booked = bookedAt(row, entry)
        if (!isWithin(parameters, booked)) continue
        const { account, minor, invoice, payment } = entry
        const { code = account, name = JOURNAL_ACCOUNTS[account].about } = mapped[account] ?? {}
        yield {
          currency: row.currency,
          row,
          entry,
          booked,
          cells: [
            row.id,
            ...transactionCells(row, booked),
            code,
            name,
            invoice ?? null,
            payment ?? null,
            ...(minor > 0 ? [minor, 0] : [0, -minor]),
          ],
        }
      }
  },
}
