// The accounts of the journal. A debit is positive and a credit negative, so the entries of a balanced row add up to zero.

import type { AccountName } from '../../product/books.ts'

/** The type of an account decides on which side of a balance sheet it is shown. */
export type AccountType = 'asset' | 'liability' | 'income' | 'expense'

export type JournalAccount = { readonly type: AccountType; readonly about: string }

export const JOURNAL_ACCOUNTS = {
  unbilled: {
    type: 'asset',
    about:
      'Charged by issued transactions but not invoiced yet. Negative while more is invoiced than issued.',
  },
  receivable: { type: 'asset', about: 'Invoiced but not settled. Negative for refunds that are owed.' },
  cash: { type: 'asset', about: 'Received from policyholders less what was paid out to them.' },
  credit: { type: 'liability', about: 'Money of policyholders that has not paid an invoice yet.' },
  premium: { type: 'income', about: 'Written premium: the price changes of issued transactions.' },
  tax: { type: 'liability', about: 'Taxes charged, owed to the authorities.' },
  fee: { type: 'income', about: 'Fees charged. Fees of installments count once they are invoiced.' },
  holdback: { type: 'income', about: 'Amounts that cancellations do not refund.' },
  commission: {
    type: 'expense',
    about: 'Commissions of intermediaries. Negative if they are taken back.',
  },
  commissionPayable: { type: 'liability', about: 'Commissions owed to intermediaries.' },
  writtenOff: { type: 'expense', about: 'Invoiced amounts that were written off.' },
} as const satisfies Record<AccountName, JournalAccount>
