// Locators: digits where clients parse numbers (policy, quote, endorsement, renewal, cancellation, every displayId),
// UUIDs elsewhere (brief 0.9). Both contain the record's shard.
import { sha1 } from '@noble/hashes/legacy.js'
import { now } from './time.ts'

/** Shards that a digit locator can distinguish: `sequence × 64 + shard`. */
export const SHARDS = 64

/** Locators are above 100,000,000 (brief 0.9). */
export const FIRST_SEQUENCE = 1_562_501

export type PolicyLocator = number & { readonly __brand: 'PolicyLocator' }
export type QuoteLocator = number & { readonly __brand: 'QuoteLocator' }
export type EndorsementLocator = number & { readonly __brand: 'EndorsementLocator' }
export type CancellationLocator = number & { readonly __brand: 'CancellationLocator' }
/** Digits from the same sequence, for a record whose locator is a UUID. */
export type DisplayId = number & { readonly __brand: 'DisplayId' }
export type DigitLocator = PolicyLocator | QuoteLocator | EndorsementLocator | CancellationLocator | DisplayId

export type Uuid = string & { readonly __brand: 'Uuid' }

export const digitLocator = (sequence: number, shard: number): number => sequence * SHARDS + shard

export const shardOfDigits = (locator: number): number => locator % SHARDS

/** A digit locator from a path or body; undefined for text that cannot be one. */
export function readDigits(text: string): number | undefined {
  if (!/^[1-9]\d{8,15}$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A UUID locator from a path or body, in lower case; undefined for text that cannot be one. */
export function readUuid(text: string): Uuid | undefined {
  const lower = text.toLowerCase()
  return UUID.test(lower) ? (lower as Uuid) : undefined
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** A random (version 4) UUID with the shard in its last byte. */
export const newUuid = (shard: number): Uuid => (crypto.randomUUID().slice(0, 34) + hex(shard, 2)) as Uuid

/** Counts for one millisecond: twelve bits in UUIDs of version 7, nineteen in those of version 8. */
const COUNTS_OF_TIME = 2 ** 12
const COUNTS_OF_POLICY = 2 ** 19

/**
 * Pairs of time and count that rise with each call, so that whatever an isolate makes later also sorts later. Time alone
 * does not do this: the clock stands still while a request computes, and one millisecond may make thousands of records.
 * Each millisecond starts at a random count below half of `room`; a full one continues in the next.
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

/** The first digits are the time's; `head` has 3 digits, `tail` has 14 and begins with the variant. */
function timedUuid(time: number, version: 7 | 8, head: string, tail: string, shard: number): Uuid {
  const digits = hex(time, 12)
  return `${digits.slice(0, 8)}-${digits.slice(8)}-${version}${head}-${tail.slice(0, 4)}-${tail.slice(4)}${hex(shard, 2)}` as Uuid
}

/**
 * A version-7 UUID with the shard in its last byte: milliseconds since 1970, a count, 54 random bits. They rise within an
 * isolate, so new rows are adjacent, and the rows of one write are together. UUIDs of the same minute share their first
 * digits: where people recognise ids by these, use `newUuid`.
 */
export function orderedUuid(shard: number): Uuid {
  const { time, count } = countOfTime()
  const random = crypto.randomUUID()
  return timedUuid(time, 7, hex(count, 3), random.slice(19, 23) + random.slice(24, 34), shard)
}

/** Digits of a request's id with which the locators of its events begin. */
const OF_REQUEST = 24

/**
 * Locators of rows of events that one commit of a request makes: each begins as the request's id, so the index of locators also finds
 * the events of a request. Another commit of the same request makes others. The last byte before the shard is 0: it is an event's place
 * in its row.
 */
export function eventLocators(request: Uuid, rows: number, shard: number): Uuid[] {
  const first = crypto.getRandomValues(new Uint32Array(1))[0]!
  return Array.from(
    { length: rows },
    (_, at) => `${request.slice(0, OF_REQUEST)}${hex((first + at) % 2 ** 32, 8)}00${hex(shard, 2)}` as Uuid,
  )
}

/** Between these are the locators of the request's events. */
export function boundsOfEvents(request: Uuid): { from: string; to: string } {
  const from = request.slice(0, OF_REQUEST)
  return { from, to: `${from}g` }
}

/** A version-8 UUID stores the policy's sequence in three parts of 12, 14 and 21 bits, then the count. */
const MIDDLE = 2 ** 14
const LOW = 2 ** 21
const VARIANT = 0x8000

/**
 * A version-8 UUID that names its policy: milliseconds since 1970, the policy's sequence, a count that distinguishes what
 * one commit makes, and the shard. The locator of an invoice or payment therefore gives its policy without a look-up. They
 * rise as those of `orderedUuid` do.
 */
export function uuidOfPolicy(policy: PolicyLocator): Uuid {
  const { time, count } = countOfPolicy()
  const sequence = Math.floor(policy / SHARDS)
  const high = Math.floor(sequence / LOW)
  const head = hex(Math.floor(high / MIDDLE), 3)
  const tail = hex(VARIANT + (high % MIDDLE), 4) + hex((sequence % LOW) * COUNTS_OF_POLICY + count, 10)
  return timedUuid(time, 8, head, tail, shardOfDigits(policy))
}

/** Whether the UUID is of version 8: then it names its policy. */
export const namesPolicy = (locator: string): boolean => locator[14] === '8'

/** The policy in the UUID; undefined if it names none. */
export function policyOfUuid(locator: Uuid): PolicyLocator | undefined {
  if (!namesPolicy(locator)) return undefined
  const part = (from: number, to: number): number => Number.parseInt(locator.slice(from, to), 16)
  const low = Math.floor(part(24, 34) / COUNTS_OF_POLICY)
  const sequence = (part(15, 18) * MIDDLE + (part(19, 23) % MIDDLE)) * LOW + low
  return digitLocator(sequence, shardOfUuid(locator)) as PolicyLocator
}

/** The shard in the last byte; 64 and more mean none. */
export const shardOfUuid = (locator: Uuid): number => Number.parseInt(locator.slice(34), 16)

/** A version-5 UUID: the same names always give the same locator. Derived records (the segments of a run) need no row. */
export function derivedUuid(shard: number, ...names: string[]): Uuid {
  const digest = digestOf(names.join('\n'))
  digest[6] = (digest[6]! & 0x0f) | 0x50
  digest[8] = (digest[8]! & 0x3f) | 0x80
  digest[15] = shard
  return uuidOf(digest)
}

const encoder = new TextEncoder()
const shortText = new Uint8Array(256)

/** One reusable digest: creating one takes as long as hashing a short text. */
const emptyDigest = sha1.create()
const workingDigest = sha1.create()
const digestBytes = new Uint8Array(workingDigest.outputLen)

/** Valid until the next call. The platform's own digest leaves the engine, at ten times the cost. */
function digestOf(text: string): Uint8Array {
  // A character is three bytes at most.
  const isShort = text.length * 3 <= shortText.length
  const bytes = isShort
    ? shortText.subarray(0, encoder.encodeInto(text, shortText).written)
    : encoder.encode(text)
  emptyDigest._cloneInto(workingDigest).update(bytes).digestInto(digestBytes)
  return digestBytes
}

/** Template of a UUID: zeros are replaced by digits. */
const characters = [...'00000000-0000-0000-0000-000000000000'].map(one => one.charCodeAt(0))
const DIGITS = [...'0123456789abcdef'].map(one => one.charCodeAt(0))
/** Position of each byte's digits. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

/** The UUID of 16 bytes. Speed counts: a large policy has ten thousand. */
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
 * An endless supply for previews, which record nothing. Its digits are below the sequence: no record ever has them, and a
 * preview uses up none of the leased numbers.
 */
export function transientLocators(shard: number): LocatorSupply {
  let sequence = 0
  return { digits: () => digitLocator(++sequence, shard), uuid: () => orderedUuid(shard) }
}

/** Fresh locators for one request: digits are leased beforehand, UUIDs are made on demand. */
export type LocatorSupply = { digits(): number; uuid(): Uuid }

/** `digits` must be as many as the request will use: it throws when they run out. */
export function locatorSupply(shard: number, digits: readonly number[]): LocatorSupply {
  let used = 0
  return {
    digits() {
      const next = digits[used++]
      if (next === undefined)
        throw new Error('More digit locators are needed than were taken for the request.')
      return next
    },
    uuid: () => orderedUuid(shard),
  }
}

/** The supply, with UUIDs of `uuidOfPolicy`. */
export const supplyOf = (policy: PolicyLocator, { digits }: LocatorSupply): LocatorSupply => ({
  digits,
  uuid: () => uuidOfPolicy(policy),
})
