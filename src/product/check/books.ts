// books.json: accounts of the general ledger and columns of bordereaux.
import { z } from 'zod'
import { ACCOUNT_NAMES, type BooksConfiguration, bordereauColumns } from '../books.ts'
import type { FieldDefinition, ProductDefinition } from '../configuration.ts'
import type { Archive } from './archive.ts'
import { decodeFile } from './json/decode.ts'
import { name, text, textList, withDescription } from './json/scalars.ts'

const MOST_COLUMNS = 40

const account = z.strictObject({
  code: withDescription(name, 'The code of the account in the general ledger.', '1200'),
  name: withDescription(
    text.optional(),
    'Name shown to people. Default: the description of the account by Bindery.',
    'Premium debtors',
  ),
})

export const booksFile = z.strictObject({
  accounts: withDescription(
    z.record(z.string(), account).default({}),
    `Accounts of the journal by name, for the report \`ledger\` ([books](books.md)): ${ACCOUNT_NAMES.map(one => `\`${one}\``).join(', ')}. An omitted account keeps its own name.`,
    { receivable: { code: '1200', name: 'Premium debtors' }, premium: { code: '4000' } },
  ),
  bordereaux: withDescription(
    z.record(z.string(), textList).default({}),
    `Columns of bordereaux, at most ${MOST_COLUMNS}, by the name of the list: \`field:NAME\` of the policy, \`holder:NAME\` of the policyholder, \`exposures:NAME\` for the number of exposures, \`sum:EXPOSURE.NAME\` for the sum of a numeric field.`,
    { quota_share: ['field:region', 'exposures:vehicle', 'sum:vehicle.value'] },
  ),
})

/** Returns undefined without the file. Reports unknown accounts and columns. */
export function compileBooks(
  { take, report: archive }: Archive,
  products: readonly ProductDefinition[],
  policyholderFields: FieldDefinition[],
): BooksConfiguration | undefined {
  const decoded = decodeFile(take('books.json'), booksFile, archive)
  if (decoded === undefined) return undefined
  const { value, report } = decoded
  const names: readonly string[] = ACCOUNT_NAMES
  for (const one of Object.keys(value.accounts))
    if (!names.includes(one))
      report
        .at('accounts', one)
        .error('unknownAccount', `There is no account '${one}'.${report.suggestion(one, ACCOUNT_NAMES)}`)
  // The field may be in the part of a broken file that was left out.
  const isBroken = archive.hasBrokenJson('products/') || archive.hasBrokenJson('policyholder/')
  const columns = bordereauColumns({
    products: Object.fromEntries(products.map(product => [product.name, product])),
    policyholderFields,
  })
  for (const [list, chosen] of Object.entries(value.bordereaux)) {
    if (chosen.length > MOST_COLUMNS)
      report
        .at('bordereaux', list)
        .error('tooManyColumns', `The bordereau '${list}' has more than ${MOST_COLUMNS} columns.`)
    for (const [index, column] of chosen.entries())
      if (!isBroken && !columns.includes(column))
        report
          .at('bordereaux', list, index)
          .error(
            'unknownColumn',
            `There is no column '${column}'. Write a field as field:NAME, holder:NAME, exposures:NAME or sum:EXPOSURE.NAME.${report.suggestion(column, columns)}`,
          )
  }
  return value as BooksConfiguration
}
