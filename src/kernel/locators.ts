// Locators: integers where clients parse numbers (policy, quote, endorsement, renewal, cancellation, every displayId), UUIDs
// elsewhere (brief 0.9). Both contain the shard of the record.
import { sha1 } from '@noble/hashes/legacy.js'
import { now } from './time.ts'

/** The number of shards that an integer locator can distinguish: `sequence × 64 + shard`. */
export const SHARDS = 64

/** The first sequence number, chosen so that locators are above 100,000,000 (brief 0.9). */
export const FIRST_SEQUENCE = 1_562_501

export type PolicyLocator = number & { readonly __brand: 'PolicyLocator' }
export type QuoteLocator = number & { readonly __brand: 'QuoteLocator' }
export type EndorsementLocator = number & { readonly __brand: 'EndorsementLocator' }
export type CancellationLocator = number & { readonly __brand: 'CancellationLocator' }
/** An integer from the same sequence, for a record whose locator is a UUID. */
export type DisplayId = number & { readonly __brand: 'DisplayId' }
export type DigitLocator = PolicyLocator | QuoteLocator | EndorsementLocator | CancellationLocator | DisplayId

export type Uuid = string & { readonly __brand: 'Uuid' }

/** Composes an integer locator. `shard` is less than `SHARDS`. */
export const digitLocator = (sequence: number, shard: number): number => sequence * SHARDS + shard

/** Returns the shard that the locator names. The tenant may not have it: `shardOfPolicy` checks that. */
export const shardOfDigits = (locator: number): number => locator % SHARDS

/** Reads an integer locator from a path or body. Returns undefined for text that cannot be one. */
export function readDigits(text: string): number | undefined {
  if (!/^[1-9]\d{8,15}$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Reads a UUID locator from a path or body and returns it in lower case. Returns undefined for text that cannot be one. */
export function readUuid(text: string): Uuid | undefined {
  const lower = text.toLowerCase()
  return UUID.test(lower) ? (lower as Uuid) : undefined
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** Returns a random (version 4) UUID with the shard in its last byte. */
export const newUuid = (shard: number): Uuid => (crypto.randomUUID().slice(0, 34) + hex(shard, 2)) as Uuid

/** Counts within one millisecond: 12 bits in version-7 UUIDs, 19 bits in version-8 UUIDs. */
const COUNTS_OF_TIME = 2 ** 12
const COUNTS_OF_POLICY = 2 ** 19

/**
 * Returns pairs of time and count that rise with each call, so that later records of an isolate also sort later. The time alone
 * does not rise: the clock stands still while a request computes, and thousands of records can be created in one millisecond. Each
 * millisecond starts at a random count below half of `room`. When its counts are used up, counting continues in the next
 * millisecond.
 */
function risingCounts(room: number): () => { time: number; count: number } {
  let time = 0
  let count = 0
  return () => {
    const current = now()
    if (current > time) {
      time = current
      count = crypto.getRandomValues(new Uint32Array(1))[0]! % (room / 2)
    } else if (count < room - 1) count += 1
    else {
      time += 1
      count = 0
    }
    return { time, count }
  }
}

const countOfTime = risingCounts(COUNTS_OF_TIME)
const countOfPolicy = risingCounts(COUNTS_OF_POLICY)

/** Builds a UUID whose first digits are the time. `head` has 3 digits; `tail` has 14 and begins with the variant. */
function timedUuid(time: number, version: 7 | 8, head: string, tail: string, shard: number): Uuid {
  const digits = hex(time, 12)
  return `${digits.slice(0, 8)}-${digits.slice(8)}-${version}${head}-${tail.slice(0, 4)}-${tail.slice(4)}${hex(shard, 2)}` as Uuid
}

/**
 * Returns a version-7 UUID with the shard in its last byte: milliseconds since 1970, a count, 54 random bits. These UUIDs rise
 * within an isolate, so new rows are adjacent and the rows of one write are together. UUIDs of the same minute share their first
 * digits: use `newUuid` where people recognise ids by these.
 */
export function orderedUuid(shard: number): Uuid {
  const { time, count } = countOfTime()
  const random = crypto.randomUUID()
  return timedUuid(time, 7, hex(count, 3), random.slice(19, 23) + random.slice(24, 34), shard)
}

/** Leading digits of a request id that the locators of its events share. */
const OF_REQUEST = 24

/**
 * Returns locators for the event rows that one commit of a request writes. Each begins like the request id, so the index of
 * locators also finds the events of a request. Another commit of the same request gets other locators. The last byte before the
 * shard is 0: it is the position of an event in its row.
 */
export function eventLocators(request: Uuid, rows: number, shard: number): Uuid[] {
  const first = crypto.getRandomValues(new Uint32Array(1))[0]!
  return Array.from(
    { length: rows },
    (_, at) => `${request.slice(0, OF_REQUEST)}${hex((first + at) % 2 ** 32, 8)}00${hex(shard, 2)}` as Uuid,
  )
}

/** Bounds between which the locators of a request's events are. */
export function boundsOfEvents(request: Uuid): { from: string; to: string } {
  const from = request.slice(0, OF_REQUEST)
  return { from, to: `${from}g` }
}

/** A version-8 UUID stores the policy's sequence number in three parts of 12, 14 and 21 bits, followed by the count. */
const MIDDLE = 2 ** 14
const LOW = 2 ** 21
const VARIANT = 0x8000

/**
 * Returns a version-8 UUID that names its policy: milliseconds since 1970, the policy's sequence number, a count that
 * distinguishes the records of one commit, and the shard. The locator of an invoice or payment therefore gives its policy without
 * a look-up. These UUIDs rise like those of `orderedUuid`.
 */
export function uuidOfPolicy(policy: PolicyLocator): Uuid {
  const { time, count } = countOfPolicy()
  const sequence = Math.floor(policy / SHARDS)
  const high = Math.floor(sequence / LOW)
  const head = hex(Math.floor(high / MIDDLE), 3)
  const tail = hex(VARIANT + (high % MIDDLE), 4) + hex((sequence % LOW) * COUNTS_OF_POLICY + count, 10)
  return timedUuid(time, 8, head, tail, shardOfDigits(policy))
}

/** Whether the UUID is of version 8 and therefore names its policy. */
export const namesPolicy = (locator: string): boolean => locator[14] === '8'

/** Returns the policy in the UUID, or undefined if the UUID does not name one. */
export function policyOfUuid(locator: Uuid): PolicyLocator | undefined {
  if (!namesPolicy(locator)) return undefined
  const part = (from: number, to: number): number => Number.parseInt(locator.slice(from, to), 16)
  const low = Math.floor(part(24, 34) / COUNTS_OF_POLICY)
  const sequence = (part(15, 18) * MIDDLE + (part(19, 23) % MIDDLE)) * LOW + low
  return digitLocator(sequence, shardOfUuid(locator)) as PolicyLocator
}

/** Returns the shard in the last byte. A value of 64 or more is not a shard. */
export const shardOfUuid = (locator: Uuid): number => Number.parseInt(locator.slice(34), 16)

/**
 * Returns a version-5 UUID: the same names always give the same locator. Derived records, such as the segments of a run, therefore
 * need no row.
 */
export function derivedUuid(shard: number, ...names: string[]): Uuid {
  const digest = digestOf(names.join('\n'))
  digest[6] = (digest[6]! & 0x0f) | 0x50
  digest[8] = (digest[8]! & 0x3f) | 0x80
  digest[15] = shard
  return uuidOf(digest)
}

const encoder = new TextEncoder()
const shortText = new Uint8Array(256)

/** Reused digests: creating one takes as long as hashing a short text. */
const emptyDigest = sha1.create()
const workingDigest = sha1.create()
const digestBytes = new Uint8Array(workingDigest.outputLen)

/** The result is valid until the next call. The platform's own digest leaves the engine, at ten times the cost. */
function digestOf(text: string): Uint8Array {
  // A UTF-16 unit takes at most three bytes.
  const isShort = text.length * 3 <= shortText.length
  const bytes = isShort
    ? shortText.subarray(0, encoder.encodeInto(text, shortText).written)
    : encoder.encode(text)
  emptyDigest._cloneInto(workingDigest).update(bytes).digestInto(digestBytes)
  return digestBytes
}

/** Template of a UUID; the zeros are replaced by digits. */
const characters = [...'00000000-0000-0000-0000-000000000000'].map(one => one.charCodeAt(0))
const DIGITS = [...'0123456789abcdef'].map(one => one.charCodeAt(0))
/** Position of each byte's two digits. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

/** Formats 16 bytes as a UUID. Speed matters: a large policy has ten thousand of them. */
function uuidOf(bytes: Uint8Array): Uuid {
  for (let at = 0; at < 16; at += 1) {
    const byte = bytes[at]!
    const place = PLACES[at]!
    characters[place] = DIGITS[byte >>> 4]!
    characters[place + 1] = DIGITS[byte & 0xf]!
  }
  return String.fromCharCode(...characters) as Uuid
}

/**
 * Returns an endless supply for previews, which record nothing. Its integers are below the first sequence number, so no record
 * ever has them, and a preview uses none of the leased numbers.
 */
export function transientLocators(shard: number): LocatorSupply {
  let sequence = 0
  return { digits: () => digitLocator(++sequence, shard), uuid: () => orderedUuid(shard) }
}

/** New locators for one request. Integers are leased beforehand; UUIDs are created on demand. */
export type LocatorSupply = { digits(): number; uuid(): Uuid }

/** Builds a supply from leased `digits`, which must cover the whole request: the supply throws when they run out. */
export function locatorSupply(shard: number, digits: readonly number[]): LocatorSupply {
  let used = 0
  return {
    digits() {
      const next = digits[used++]
      if (next === undefined) throw new Error('The request needs more digit locators than it reserved.')
      return next
    },
    uuid: () => orderedUuid(shard),
  }
}

/** Returns the supply with `uuidOfPolicy` as its source of UUIDs. */
export const supplyOf = (policy: PolicyLocator, { digits }: LocatorSupply): LocatorSupply => ({
  digits,
  uuid: () => uuidOfPolicy(policy),
})
