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

/** The shard in a UUID locator's last byte; 64 and more stand for none. */
export const shardOfUuid = (locator: Uuid): number => Number.parseInt(locator.slice(34), 16)

/**
 * A version-5 UUID of the names in order, carrying the shard: the same names give the same locator always.
 * Derived records (the segments of a run) get theirs so, and need no row.
 */
export function derivedUuid(shard: number, ...names: string[]): Uuid {
  const text = names.join('\n')
  // The platform's own is a call out of the engine, which costs ten times what there is to do for so short a text.
  const digest = new DataView(sha1(encoder.encode(text)).buffer)
  const [a, b, c, d] = [0, 4, 8, 12].map(at => digest.getInt32(at))
  return uuidOf(
    a!,
    (b! & 0xffff0fff) | 0x5000,
    (c! & 0x3fffffff) | 0x80000000,
    (d! & 0xffffff00) | (shard & 0xff),
  )
}

const encoder = new TextEncoder()

/** Character codes of a UUID: hyphens in their places, digits in the place of zeros. */
const characters = [...'00000000-0000-0000-0000-000000000000'].map(one => one.charCodeAt(0))
const DIGITS = [...'0123456789abcdef'].map(one => one.charCodeAt(0))

/** The UUID of four words of 32 bits; made in one piece, since a large policy has ten thousand of them. */
function uuidOf(...words: readonly number[]): Uuid {
  let at = 0
  for (const word of words)
    for (let bits = 28; bits >= 0; bits -= 4) {
      if (at === 8 || at === 13 || at === 18 || at === 23) at += 1
      characters[at] = DIGITS[(word >>> bits) & 0xf]!
      at += 1
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
