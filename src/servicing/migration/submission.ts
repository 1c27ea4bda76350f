// What a request brings, as far as it is known without its meaning: which accounts, where each lies, how many items.
import { Refusal } from '../../kernel/errors.ts'
import { LONGEST_ID, MOST_ACCOUNTS, MOST_ITEMS } from './contract-request.ts'
import { LISTED_KINDS } from './item.ts'
import type { Element } from './split.ts'

/** An account of the request. `start` and `length` are bytes of the body. */
export type SubmittedAccount = {
  readonly originalId: string
  readonly start: number
  readonly length: number
  readonly totalItems: number
}

const invalid = (message: string): Refusal => new Refusal('invalidRequest', message)

/** Takes the accounts one after the other. Throws a Refusal (`malformedJson`, `tooLarge`). */
export class Submission {
  readonly accounts: SubmittedAccount[] = []
  /** Of items for an account that exists: its id in the other system. */
  readonly #existing: string | undefined

  constructor(existing: string | undefined) {
    this.#existing = existing
  }

  add({ start, text }: Element): void {
    const number = this.accounts.length
    if (number === MOST_ACCOUNTS)
      throw new Refusal(
        'tooLarge',
        `A request has at most ${MOST_ACCOUNTS} accounts; send the others in another one.`,
      )
    const value = parsed(text, number)
    const items = LISTED_KINDS.reduce((sum, kind) => sum + lengthOf(value[kind]), 0)
    const totalItems = items + (this.#existing === undefined ? 1 : 0)
    if (totalItems > MOST_ITEMS)
      throw new Refusal(
        'tooLarge',
        `Account ${number} of the request has ${totalItems} items; at most ${MOST_ITEMS} are taken. Send the others later, to POST …/migrations/accounts/{accountLocator}.`,
      )
    const originalId = this.#existing ?? idOf(value) ?? `accounts[${number}]`
    this.accounts.push({ originalId, start, length: Buffer.byteLength(text), totalItems })
  }

  /** Refuses (400) a request without accounts. */
  end(): readonly SubmittedAccount[] {
    if (this.accounts.length === 0) throw invalid('The request has no accounts; send a list of at least one.')
    return this.accounts
  }
}

function parsed(text: string, number: number): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (problem) {
    throw new Refusal('malformedJson', `Account ${number} of the request is not JSON: ${String(problem)}`)
  }
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0)

/** The account's id, if it has a usable one: any other fails when the account is checked. */
function idOf({ accountData }: Record<string, unknown>): string | undefined {
  if (typeof accountData !== 'object' || accountData === null) return undefined
  const { id } = accountData as { id?: unknown }
  if (typeof id === 'number') return String(id)
  return typeof id === 'string' && id.length > 0 && id.length <= LONGEST_ID ? id : undefined
}
