// A book as the requests that bring it: each a list of accounts below the service's limits, one account after the other.
import { MOST_ACCOUNTS } from '../../src/servicing/migration/contract-request.ts'
import { type BookOptions, generateAccount } from './account.ts'
import { FAULTS, type Planted } from './faults.ts'
import { randomOf } from './random.ts'
import type { Account } from './wire.ts'

/** Bytes of a request: what the service takes, less some for the list around the accounts. */
export const MOST_REQUEST_BYTES = 25 * 1_048_576 - 1_024

export type Book = BookOptions & {
  readonly accounts: number
  /** Accounts with a fault, each with one; spread over the book, and over the kinds in turn. */
  readonly faults?: number
  /** Of each request at most; as many as the service takes, when left out. */
  readonly accountsOfRequest?: number
}

export type BookAccount = {
  readonly account: Account
  readonly fault?: Omit<Planted, 'account'> & { readonly kind: string; readonly rule: string }
}

/** The accounts of the book, made one by one as they are asked for. */
export function* accountsOf(book: Book): Generator<BookAccount> {
  const { seed, accounts, faults = 0 } = book
  if (faults > accounts) throw new Error(`${accounts} accounts cannot have ${faults} faults.`)
  const counts = FAULTS.map(() => 0)
  let planted = 0
  for (let index = 0; index < accounts; index += 1) {
    const account = generateAccount(book, index)
    const isDue = planted < Math.floor(((index + 1) * faults) / accounts)
    const found = isDue ? plant(account, counts, `${seed} fault ${index}`) : undefined
    if (found) planted += 1
    yield found ?? { account }
  }
  if (planted < faults) throw new Error(`Only ${planted} of ${faults} faults found a place in the book.`)
}

/** Of the kinds that the account has a place for, the one that was planted least; counts it. */
function plant(account: Account, counts: number[], seed: string): BookAccount | undefined {
  const rarest = [...FAULTS.entries()].sort(([a], [b]) => counts[a]! - counts[b]! || a - b)
  for (const [index, { kind, rule, plant: planter }] of rarest) {
    const found = planter(account, randomOf(seed))
    if (!found) continue
    counts[index]! += 1
    const { account: faulty, ...told } = found
    return { account: faulty, fault: { kind, rule, ...told } }
  }
  return undefined
}

/** One request: its accounts as JSON texts, to be written one after the other. */
export type RequestPart = { readonly request: number; readonly text: string; readonly account: BookAccount }

/** The book's accounts with the number of the request that each goes into, from 0. */
export function* requests(book: Book): Generator<RequestPart> {
  const most = book.accountsOfRequest ?? MOST_ACCOUNTS
  let request = 0
  let held = 0
  let bytes = 0
  for (const account of accountsOf(book)) {
    const text = JSON.stringify(account.account)
    const length = Buffer.byteLength(text) + 1
    if (held === most || bytes + length > MOST_REQUEST_BYTES) {
      request += 1
      held = 0
      bytes = 0
    }
    held += 1
    bytes += length
    yield { request, text, account }
  }
}
