// Splits the JSON list of accounts while it streams, so that memory holds one account at a time.

import { Refusal, tooLarge } from '../../kernel/errors.ts'
import { exactJson } from '../../kernel/json.ts'
import { concatBytes, utf8Text } from '../../platform/http/body/bytes.ts'
import { DEEPEST_JSON } from '../../platform/http/body/json.ts'
import { MOST_ACCOUNTS, MOST_ITEMS } from './contract-request.ts'
import { LISTED_KINDS } from './item.ts'
import { itemsOf, ownId, type SentAccount } from './request.ts'

/** The largest account, in bytes. It is parsed as a whole. */
export const LARGEST_ACCOUNT_BYTES = 10 * 1_048_576

/** An account's JSON; `start` is its first byte in the body. */
export type Element = { readonly start: number; readonly text: string }

const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

const malformedJsonRefusal = (message: string): Refusal => new Refusal('malformedJson', message)

/** Reads a list of objects, or (`single`) one object. It looks only at brackets and strings; the caller parses each element. */
export class ElementSplitter {
  readonly #single: boolean
  #at = 0
  #expects: keyof typeof EXPECTED
  #depth = 0
  #inText = false
  #escaped = false
  #start = 0
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor({ single }: { readonly single: boolean }) {
    this.#single = single
    this.#expects = single ? 'element' : 'list'
  }

  /** Returns the elements that end in the piece. Throws a Refusal (`malformedJson`, `tooLarge`). */
  push(piece: Uint8Array): Element[] {
    const elements: Element[] = []
    let from = 0
    for (let index = 0; index < piece.length; index += 1) {
      const byte = piece[index]!
      if (this.#depth > 0) {
        if (!this.#endsElement(byte)) continue
        this.#keep(piece.subarray(from, index + 1))
        elements.push(this.#takeElement())
        continue
      }
      if (BLANKS.has(byte)) continue
      if (this.#at + index < BYTE_ORDER_MARK.length && byte === BYTE_ORDER_MARK[this.#at + index]) continue
      if (this.#beginsElement(byte, this.#at + index)) from = index
    }
    if (this.#depth > 0) this.#keep(piece.subarray(from))
    this.#at += piece.length
    return elements
  }

  /** Checks that the JSON is complete. Call it after the last byte. */
  end(): void {
    if (this.#expects !== 'end')
      throw malformedJsonRefusal('The body ends before its JSON does. Send the complete body.')
  }

  /** Whether the element ends with the byte. */
  #endsElement(byte: number): boolean {
    if (this.#inText) {
      if (this.#escaped) this.#escaped = false
      else if (byte === BACKSLASH) this.#escaped = true
      else if (byte === QUOTE) this.#inText = false
      return false
    }
    if (byte === QUOTE) this.#inText = true
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth += 1
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#depth -= 1
    // The same limit as for every other body, because recursion through an account must be bounded.
    if (this.#depth > DEEPEST_JSON)
      throw malformedJsonRefusal(
        `The account at byte ${this.#start} nests lists and objects more than ${DEEPEST_JSON} levels deep; flatten it.`,
      )
    return this.#depth === 0
  }

  /** Whether an element begins with the byte. */
  #beginsElement(byte: number, at: number): boolean {
    const expects = this.#expects
    if (expects === 'list' && byte === OPEN_LIST) this.#expects = 'first'
    else if ((expects === 'first' || expects === 'element') && byte === OPEN_OBJECT) {
      this.#depth = 1
      this.#start = at
      return true
    } else if ((expects === 'first' || expects === 'separator') && byte === CLOSE_LIST) this.#expects = 'end'
    else if (expects === 'separator' && byte === COMMA) this.#expects = 'element'
    else throw malformedJsonRefusal(`At byte ${at} of the body: expected ${EXPECTED[expects]}.`)
    return false
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length
    if (this.#bytes > LARGEST_ACCOUNT_BYTES)
      throw tooLarge(
        `The account at byte ${this.#start} is larger than ${LARGEST_ACCOUNT_BYTES / 1_048_576} MiB. Send some of its items later, to POST …/migrations/accounts/{accountLocator}.`,
      )
    this.#parts.push(part.slice())
  }

  #takeElement(): Element {
    const text = utf8Text(concatBytes(this.#parts))
    if (text === undefined)
      throw malformedJsonRefusal(`The account at byte ${this.#start} of the body is not UTF-8.`)
    this.#parts = []
    this.#bytes = 0
    this.#expects = this.#single ? 'end' : 'separator'
    return { start: this.#start, text }
  }
}

const EXPECTED = {
  list: 'a list of accounts (`[`)',
  first: 'an account (an object)',
  element: 'an object',
  separator: '`,` or `]`',
  end: 'no further text',
} as const

/** `start` and `length` are in bytes of the body. */
export type SubmittedAccount = {
  readonly originalId: string
  readonly start: number
  readonly length: number
  readonly totalItems: number
}

/** `existing` is the id of the account that gets the items. Throws a Refusal (`malformedJson`, `tooLarge`). */
export function submittedAccount(
  { start, text }: Element,
  number: number,
  existing: string | undefined,
): SubmittedAccount {
  if (number === MOST_ACCOUNTS)
    throw tooLarge(
      `A request can have at most ${MOST_ACCOUNTS} accounts. Send the others in another request.`,
    )
  const value = parseAccount(text, number)
  const items = LISTED_KINDS.reduce((sum, kind) => sum + itemsOf(value, kind).length, 0)
  const totalItems = items + (existing === undefined ? 1 : 0)
  if (totalItems > MOST_ITEMS)
    throw tooLarge(
      `Account ${number} of the request has ${totalItems} items; at most ${MOST_ITEMS} are allowed. Send the others later, to POST …/migrations/accounts/{accountLocator}.`,
    )
  const originalId = existing ?? ownId(value.accountData) ?? `accounts[${number}]`
  return { originalId, start, length: Buffer.byteLength(text), totalItems }
}

function parseAccount(text: string, number: number): SentAccount {
  try {
    return exactJson(text) as SentAccount
  } catch (problem) {
    throw malformedJsonRefusal(`Account ${number} of the request is not JSON: ${String(problem)}`)
  }
}
