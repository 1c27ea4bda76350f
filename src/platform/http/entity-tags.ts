// Entity tags (RFC 9110, 8.8.3): a digest of the record as the reader sees it. A tag needs no round trip and no column, changes
// exactly when the response would, and can be compared in the Worker and inside the policy's object, before the guarded batch.
import { createHash, hash } from 'node:crypto'
import { invalidParameter, Refusal } from '../../kernel/errors.ts'
import { isLong, jsonTexts } from '../../kernel/json.ts'

/** 132 bits of SHA-256 as base64url. */
const TAG_CHARACTERS = 22

/** Computes the tag of a JSON text or its UTF-8 bytes, without quotation marks. */
export const entityTag = (json: string | Uint8Array): string =>
  hash('sha256', json, 'base64url').slice(0, TAG_CHARACTERS)

/** Computes the tag of a JSON text that comes in parts. */
export function entityTagOf(texts: Iterable<string>): string {
  const digest = createHash('sha256')
  for (const text of texts) digest.update(text)
  return digest.digest('base64url').slice(0, TAG_CHARACTERS)
}

const tagOfRecord = (record: unknown): string =>
  isLong(record) ? entityTagOf(jsonTexts(record)) : entityTag(JSON.stringify(record))

/** `If-Match`: any existing record, or one with one of these tags. */
export type IfMatch = '*' | readonly string[]

/**
 * A list of tags with the characters that RFC 9110 allows. Empty elements are allowed, because readers must ignore them (5.6.1.2).
 */
const LIST =
  /^[\s,]*(?:W\/)?"[!#-~\u0080-\uffff]*"(?:\s*,[\s,]*(?:W\/)?"[!#-~\u0080-\uffff]*")*(?:\s*,[\s,]*|\s*)$/

/** Returns the list without empty elements, or undefined for text that is not a list of tags. */
export const tagList = (list: string): string | undefined =>
  LIST.test(list) ? list.match(/(?:W\/)?"[^"]*"/g)!.join(', ') : undefined

/** Returns the tags without quotation marks, or undefined for text that is not a list of tags. */
export const tagsIn = (list: string): string[] | undefined =>
  tagList(list) === undefined ? undefined : [...list.matchAll(/"([^"]*)"/g)].map(match => match[1]!)

/**
 * Reads `If-Match`. Throws 400 when it is not a list of tags. Ignores `W/`, unlike RFC 9110: proxies that compress weaken tags,
 * and Bindery's tags are digests of the record in any encoding.
 */
export function readIfMatch(header: string | null): IfMatch | undefined {
  if (header === null) return undefined
  if (header.trim() === '*') return '*'
  const tags = tagsIn(header)
  if (!tags)
    throw invalidParameter(
      'If-Match must be the ETag of a response, unchanged and with its quotation marks; or several, separated by commas; or *.',
    )
  // The part after the dot changes as the file addresses in the response expire.
  return tags.map(tag => tag.split('.')[0]!)
}

/**
 * Throws 412 for a write when the record has changed since the client read it. `current` returns the record as GET does. Where GET
 * has several forms, `others` return the other forms, cheapest first, and are tried first.
 */
export function requireMatch(
  ifMatch: IfMatch | undefined,
  current: () => unknown,
  others: readonly (() => unknown)[] = [],
): void {
  if (ifMatch === undefined || ifMatch === '*') return
  if (others.some(record => ifMatch.includes(tagOfRecord(record())))) return
  const tag = tagOfRecord(current())
  if (ifMatch.includes(tag)) return
  const currentETag = `"${tag}"`
  throw new Refusal(
    'preconditionFailed',
    `The record has changed: its ETag is now ${currentETag}, and If-Match names another. Read the record again, and decide again.`,
    { currentETag },
  )
}
