// The data of another system, as far as a made-up book contains it (contract 2, Migration). Times are ISO 8601 in UTC, amounts
// are numbers in the major unit.

export type InstallmentItem = { amount: number; installmentNumber: number; id?: string }

export type Charge = {
  chargeType: string
  tag?: string
  /** For a year. */
  rate?: number
  installmentItems?: InstallmentItem[]
}

export type Element = {
  id: string
  elementType: string
  data?: Record<string, unknown>
  coverageTerms?: Record<string, unknown>
  charges?: Charge[]
  elements?: Element[]
}

export type Installment = {
  id?: string
  startTime: string
  dueTime: string
  generateTime: string
  invoiceId?: string
}

export type Transaction = {
  transactionType: string
  issuedTime: string
  createdAt?: string
  createdBy?: string
  segment: { segmentType: 'coverage' | 'gap'; startTime: string; rootElement?: Element }
  installments?: Installment[]
}

export type Term = { startTime: string; endTime: string; transactions: Transaction[] }

export type Policy = {
  id: string
  productName: string
  durationBasis: string
  billingLevel?: string
  preferences?: { installmentPreferences: { cadence: string } }
  timezone?: string
  currency?: string
  staticData: Record<string, unknown>
  auxData?: { settingsName?: string; entries: { key: string; value: unknown }[] }
  terms: Term[]
}

export type Invoice = {
  id: string
  startTime: string
  endTime: string
  dueTime: string
  generateTime: string
  invoiceState?: 'open' | 'settled' | 'discarded'
}

export type Payment = {
  id: string
  paymentTime: string
  paymentType: string
  data: Record<string, unknown>
  paymentItems: { amount: number; invoiceId?: string }[]
}

export type Disbursement = {
  id: string
  disbursementTime: string
  disbursementType: string
  data?: Record<string, unknown>
  sources: { amount: number }[]
}

export type AccountData = {
  id: string
  accountType: string
  data: Record<string, unknown>
  billingLevel?: string
  createdAt?: string
  createdBy?: string
}

export type Account = {
  accountData: AccountData
  defaultCreatedBy?: string
  policies: Policy[]
  invoices: Invoice[]
  payments: Payment[]
  disbursements: Disbursement[]
  accounting?: { originalAccountBalances: Record<string, number> }
}

/** Formats a time, without seconds if they are zero. */
export const wireTime = (at: number): string => new Date(at).toISOString().replace(/(:00)?\.000Z$/, 'Z')

/** Cents as a number of euros. */
export const euros = (cents: number): number => Number((cents / 100).toFixed(2)) || 0
