// Locators. Digits for what clients parse as numbers (policy, quote, endorsement, renewal, cancellation, and
// every displayId), UUIDs for all else (brief 0.9); both tell the shard that holds the record.
import { sha1 } from '@noble/hashes/legacy.js'
import { now } from './time.ts'

/** Shards that a digit locator can tell apart: `sequence × 64 + shard`. */
export const SHARDS = 64

/** The first sequence number: locators lie above 100,000,000 (brief 0.9). */
export const FIRST_SEQUENCE = 1_562_501

export type PolicyLocator = number & { readonly __brand: 'PolicyLocator' }
export type QuoteLocator = number & { readonly __brand: 'QuoteLocator' }
export type EndorsementLocator = number & { readonly __brand: 'EndorsementLocator' }
export type CancellationLocator = number & { readonly __brand: 'CancellationLocator' }
/** A displayId: digits from the same sequence, of a record whose locator is a UUID. */
export type DisplayId = number & { readonly __brand: 'DisplayId' }
export type DigitLocator = PolicyLocator | QuoteLocator | EndorsementLocator | CancellationLocator | DisplayId

export type Uuid = string & { readonly __brand: 'Uuid' }

export const digitLocator = (sequence: number, shard: number): number => sequence * SHARDS + shard

export const shardOfDigits = (locator: number): number => locator % SHARDS

/** A digit locator from a path or body; undefined when the text cannot be one. */
export function readDigits(text: string): number | undefined {
  if (!/^[1-9]\d{8,15}$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A UUID locator from a path or body, in lower case; undefined when the text cannot be one. */
export function readUuid(text: string): Uuid | undefined {
  const lower = text.toLowerCase()
  return UUID.test(lower) ? (lower as Uuid) : undefined
}

const hexByte = (value: number): string => value.toString(16).padStart(2, '0')

/** A random (version 4) UUID that carries the shard in its last byte. */
export const newUuid = (shard: number): Uuid => (crypto.randomUUID().slice(0, 34) + hexByte(shard)) as Uuid

/**
 * A version-7 UUID that carries the shard in its last byte: milliseconds since 1970, then 66 random bits. For rows of which a
 * write makes several: they lie together in every index, so that few pages are written. Its first digits are those of others of
 * the same minute; where an id is told by its beginning, `newUuid` is meant.
 */
export function orderedUuid(shard: number): Uuid {
  const time = now().toString(16).padStart(12, '0')
  const random = crypto.randomUUID().slice(15, 34)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random}${hexByte(shard)}` as Uuid
}

/** Of the 66 bits of a version-8 UUID behind its time and before its shard: the sequence of a digit locator, and a count. */
const COUNT_BITS = 19n
const TAIL_BITS = 54n

/** Begins anywhere, with the first that is asked for: isolates make no random numbers while they start. */
let counted: number | undefined

/**
 * A version-8 UUID that names its policy: milliseconds since 1970, the policy's sequence, a count that tells apart what one commit makes,
 * and the shard. So whoever is given the locator of an invoice or a payment knows its policy.
 */
export function uuidOfPolicy(policy: PolicyLocator): Uuid {
  counted = ((counted ?? crypto.getRandomValues(new Uint32Array(1))[0]!) + 1) % 2 ** Number(COUNT_BITS)
  const payload = (BigInt(Math.floor(policy / SHARDS)) << COUNT_BITS) | BigInt(counted)
  const time = now().toString(16).padStart(12, '0')
  const head = (payload >> TAIL_BITS).toString(16).padStart(3, '0')
  // The variant's two bits, then the tail.
  const tail = ((2n << TAIL_BITS) | BigInt.asUintN(Number(TAIL_BITS), payload)).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-8${head}-${tail.slice(0, 4)}-${tail.slice(4)}${hexByte(shardOfDigits(policy))}` as Uuid
}

/** The policy that the UUID names; undefined for one that names none. */
export function policyOfUuid(locator: Uuid): PolicyLocator | undefined {
  if (locator[14] !== '8') return undefined
  const head = BigInt(`0x${locator.slice(15, 18)}`)
  const tail = BigInt.asUintN(Number(TAIL_BITS), BigInt(`0x${locator.slice(19, 23)}${locator.slice(24, 34)}`))
  const sequence = ((head << TAIL_BITS) | tail) >> COUNT_BITS
  return digitLocator(Number(sequence), shardOfUuid(locator)) as PolicyLocator
}

/** The shard in a UUID locator's last byte; 64 and more stand for none. */
export const shardOfUuid = (locator: Uuid): number => Number.parseInt(locator.slice(34), 16)

/**
 * A version-5 UUID of the names in order, carrying the shard: the same names give the same locator always.
 * Derived records (the segments of a run) get theirs so, and need no row.
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

/** A digest that has yet to be given anything, and the one that is used for all: to make one takes as long as so short a text. */
const begun = sha1.create()
const digesting = sha1.create()
const digested = new Uint8Array(digesting.outputLen)

/** Until the next is asked for. The platform's own is a call out of the engine, which costs ten times what there is to do. */
function digestOf(text: string): Uint8Array {
  // A character is three bytes at most.
  const isShort = text.length * 3 <= shortText.length
  const bytes = isShort
    ? shortText.subarray(0, encoder.encodeInto(text, shortText).written)
    : encoder.encode(text)
  begun._cloneInto(digesting).update(bytes).digestInto(digested)
  return digested
}

/** Character codes of a UUID: hyphens in their places, digits in the place of zeros. */
const characters = [...'00000000-0000-0000-0000-000000000000'].map(one => one.charCodeAt(0))
const DIGITS = [...'0123456789abcdef'].map(one => one.charCodeAt(0))
/** Where the digits of each byte are. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

/** The UUID of 16 bytes; made in one piece, since a large policy has ten thousand of them. */
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
 * A supply for what is only shown. Its digits lie below those of the sequence, so that no record ever has them, and
 * it takes none from there; it does not end.
 */
export function transientLocators(shard: number): LocatorSupply {
  let sequence = 0
  return { digits: () => digitLocator(++sequence, shard), uuid: () => orderedUuid(shard) }
}

/** Fresh locators for one request: digits leased beforehand, UUIDs made as they are asked for. */
export type LocatorSupply = { digits(): number; uuid(): Uuid }

/** A supply of `digits`, which must be as many as will be asked for. */
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
