// The configuration of the books (books.json): names of the journal's accounts in the general ledger, and columns of bordereaux.
import type { Configuration } from './configuration.ts'

/** The accounts of the journal (policy/journal/accounts.ts). */
export const ACCOUNT_NAMES = [
  'unbilled',
  'receivable',
  'cash',
  'credit',
  'premium',
  'tax',
  'fee',
  'holdback',
  'commission',
  'commissionPayable',
  'writtenOff',
] as const
export type AccountName = (typeof ACCOUNT_NAMES)[number]

export type BooksConfiguration = {
  /** Codes and names of accounts in the general ledger. Accounts that are absent keep their own names. */
  readonly accounts: Partial<Record<AccountName, { readonly code: string; readonly name?: string }>>
  /** Columns of bordereaux, by the name of the bordereau. */
  readonly bordereaux: Readonly<Record<string, readonly string[]>>
}

type Fields = Pick<Configuration, 'products' | 'policyholderFields'>

/** Numeric fields of exposures, such as `vehicle.value`. */
export const numericFields = ({ products }: Pick<Fields, 'products'>): string[] => [
  ...new Set(
    Object.values(products).flatMap(({ exposures }) =>
      exposures.flatMap(({ name, fields }) =>
        fields
          .filter(field => field.type === 'number' && !field.repeatable)
          .map(field => `${name}.${field.name}`),
      ),
    ),
  ),
]

/** Every column that a bordereau can have in addition to its fixed ones. */
export function bordereauColumns(configuration: Fields): string[] {
  const products = Object.values(configuration.products)
  return [
    ...products.flatMap(({ fields }) => fields.map(({ name }) => `field:${name}`)),
    ...configuration.policyholderFields.map(({ name }) => `holder:${name}`),
    ...products.flatMap(({ exposures }) => exposures.map(({ name }) => `exposures:${name}`)),
    ...numericFields(configuration).map(name => `sum:${name}`),
  ]
}
