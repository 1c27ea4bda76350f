// Entity tags (RFC 9110, 8.8.3): a digest of what a record looks like to whoever reads it. So a tag costs no round trip and no
// column, changes exactly when an answer would, and can be held against the record wherever it is at hand: in the Worker, and
// inside the policy's object, before the batch whose guards see to it that nothing came in between.
import { hash } from 'node:crypto'
import { invalidParameter, Refusal } from '../../kernel/errors.ts'

/** 132 bits of SHA-256 as base64url. */
const TAG_CHARACTERS = 22

/** The tag of a JSON text, or of its UTF-8, without quotation marks. */
export const entityTag = (json: string | Uint8Array): string =>
  hash('sha256', json, 'base64url').slice(0, TAG_CHARACTERS)

/** What `If-Match` names: any record that there is, or one that has one of these tags. */
export type IfMatch = '*' | readonly string[]

const LIST = /^\s*(?:W\/)?"[\x21\x23-\x7e]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e]*")*\s*$/

/** Tags of a list as they stand between quotation marks; undefined when it is no list of tags. */
export const tagsIn = (list: string): string[] | undefined =>
  LIST.test(list) ? [...list.matchAll(/"([^"]*)"/g)].map(match => match[1]!) : undefined

/**
 * `If-Match` of a request; 400 when it is no list of tags. `W/` is passed over, where RFC 9110 has no weak tag match: what
 * compresses on the way to the client makes tags weak, and they are digests of the record however it is sent.
 */
export function readIfMatch(header: string | null): IfMatch | undefined {
  if (header === null) return undefined
  if (header.trim() === '*') return '*'
  const tags = tagsIn(header)
  if (!tags)
    throw invalidParameter(
      'If-Match must be the ETag of an answer as it was sent, with its quotation marks; or several with commas; or *.',
    )
  // Behind the dot is when addresses of files in the answer end.
  return tags.map(tag => tag.split('.')[0]!)
}

/**
 * Refuses (412) a write that is for a record as it was, when it no longer is so. `current` gives the record as GET answers it;
 * where GET has several forms, one for each.
 */
export function requireMatch(ifMatch: IfMatch | undefined, ...current: (() => unknown)[]): void {
  if (ifMatch === undefined || ifMatch === '*') return
  const tags = current.map(record => entityTag(JSON.stringify(record())))
  if (tags.some(tag => ifMatch.includes(tag))) return
  const currentETag = `"${tags[0]}"`
  throw new Refusal(
    'preconditionFailed',
    `The record has changed since: its ETag is ${currentETag} now, and If-Match names another. Read it again, and decide again.`,
    { currentETag },
  )
}
