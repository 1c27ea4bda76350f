// The requests that migrate a book: lists of accounts within the service's limits, generated one account after the other.
import { MOST_ACCOUNTS } from '../../src/servicing/migration/contract-request.ts'
import { type BookOptions, generateAccount } from './account.ts'
import { FAULTS, type Planted } from './faults.ts'
import { randomOf } from './random.ts'
import type { Account } from './wire.ts'

/** Bytes of a request: the service's limit, less some for the list around the accounts. */
export const MOST_REQUEST_BYTES = 25 * 1_048_576 - 1_024

export type Book = BookOptions & {
  readonly accounts: number
  /** The number of accounts with a fault. Each has one fault. They are spread over the book, and the kinds alternate. */
  readonly faults?: number
  /** The most accounts of a request. By default as many as the service accepts. */
  readonly accountsOfRequest?: number
}

export type BookAccount = {
  readonly account: Account
  readonly fault?: Omit<Planted, 'account'> & { readonly kind: string; readonly rule: string }
}

/** Generates the accounts of the book, one by one on demand. */
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
  if (planted < faults) throw new Error(`Only ${planted} of ${faults} faults could be placed in the book.`)
}

/** Plants a fault of the least planted kind for which the account has a place, and counts it. */
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

/** A part of a request: one account as JSON text, to be written after the others. */
export type RequestPart = { readonly request: number; readonly text: string; readonly account: BookAccount }

/** Generates the book's accounts, each with the number of its request, from 0. */
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
