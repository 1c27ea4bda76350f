// `npm run book -- --out FOLDER [--accounts N] [--seed S] [--faults K] [--as-of YYYY-MM-DD]`: writes a made-up book of business
// for the example, as request files for POST /migration/{tenantLocator}/migrations: request-001.json and so on, and faults.json
// with the planted faults and their corrections.
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { countText } from '../src/kernel/text.ts'
import { AS_OF } from './book/account.ts'
import { type Book, requests } from './book/requests.ts'

export type Written = {
  accounts: number
  policies: number
  transactions: number
  invoices: number
  files: string[]
}

/** Writes the book, with one account in memory at a time. */
export function writeBook(folder: string, book: Book): Written {
  mkdirSync(folder, { recursive: true })
  const written: Written = { accounts: 0, policies: 0, transactions: 0, invoices: 0, files: [] }
  const faults: object[] = []
  let file = -1
  const end = (): void => {
    if (file < 0) return
    writeSync(file, '\n]\n')
    closeSync(file)
  }
  for (const { request, text, account: made } of requests(book)) {
    const isFirst = request === written.files.length
    if (isFirst) {
      end()
      const path = join(folder, `request-${String(request + 1).padStart(3, '0')}.json`)
      file = openSync(path, 'w')
      written.files.push(path)
    }
    writeSync(file, `${isFirst ? '[\n' : ',\n'}${text}`)
    const { account, fault } = made
    written.accounts += 1
    written.policies += account.policies.length
    written.invoices += account.invoices.length
    for (const { terms } of account.policies)
      for (const { transactions } of terms) written.transactions += transactions.length
    if (fault) faults.push({ account: account.accountData.id, ...fault })
  }
  end()
  writeFileSync(join(folder, 'faults.json'), `${JSON.stringify(faults, undefined, 2)}\n`)
  return written
}

function main(): void {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      accounts: { type: 'string', default: '100' },
      seed: { type: 'string', default: 'book' },
      faults: { type: 'string', default: '0' },
      'as-of': { type: 'string', default: AS_OF },
    },
  })
  if (!values.out) throw new Error('--out needs the name of a folder.')
  const number = (name: 'accounts' | 'faults'): number => {
    const count = Number(values[name])
    if (!Number.isSafeInteger(count) || count < 0) throw new Error(`--${name} needs a whole number.`)
    return count
  }
  const written = writeBook(values.out, {
    accounts: number('accounts'),
    seed: values.seed,
    faults: number('faults'),
    asOf: values['as-of'],
  })
  const { accounts, policies, transactions, invoices, files } = written
  console.log(
    `${accounts} accounts, ${policies} policies, ${transactions} transactions, ${invoices} invoices in ${countText(files.length, 'request')}`,
  )
}

if (import.meta.main) {
  try {
    main()
  } catch (problem) {
    console.error(problem instanceof Error ? problem.message : String(problem))
    process.exitCode = 1
  }
}
