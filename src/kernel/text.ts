import { memoByObject } from './maps.ts'

/** SQLite's text can contain neither lone surrogates nor NUL. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** Counts code points: an emoji is one character, not two. */
export const isLongerThan = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most)

// Suggests a known name that differs by a typing slip, letter case or a hyphen, or that is the name and a word more.

/** Of longer lists, only the first names are compared. */
const MOST_KNOWN = 1_000

/** Remembered by list: each mistake in a request compares the same one. */
const plainNames = memoByObject((names: readonly string[]) => names.slice(0, MOST_KNOWN).map(plain))

/** ` Did you mean 'select'?`, to follow a message; empty when no known name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === undefined ? '' : ` Did you mean '${near}'?`
}

/**
 * The first known name with one letter too many, too few, wrong or swapped with its neighbour; else the only one that
 * begins or ends with the name, or with which the name begins or ends.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const plainName = plain(name)
  if (plainName.length < 2) return undefined
  const names = plainNames(known)
  const slip = known[names.findIndex((one, index) => isNear(plainName, one) && known[index] !== name)]
  if (slip !== undefined) return slip
  const parts = known.filter((one, index) => one !== name && isPart(plainName, names[index] ?? ''))
  return parts.length === 1 ? parts[0] : undefined
}

/** Shorter words, such as `end`, are in too many names. */
const SHORTEST_PART = 6

function isPart(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return short.length >= SHORTEST_PART && (long.startsWith(short) || long.endsWith(short))
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

/** From here on two letters may be too many or too few. */
const LONG = 10

function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 2) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start += 1
  let end = 0
  const shorter = Math.min(a.length, b.length)
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  if (left.length <= 1 && right.length <= 1) return true
  // An ending too many or too few within a long name: set_yearly_premium.
  if (shorter >= LONG && (left || right).length === 2 && (!left || !right))
    return /^[a-z]+$/.test(left + right)
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
}

/** At most `most` UTF-16 units; one that is cut off ends with `…`. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text.toWellFormed()

const LONGEST_FILE_NAME = 200
const FILE_ENDING = /\.[^. ]{1,16}$/

/** They turn the direction of text: what ends with `exe.pdf` for a reader may end with `.exe`. */
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * A client's name of a file: the last part of its path, without control characters and those that turn the direction of text. One that
 * is too long is cut before its ending, and never within a character. Empty when nothing is left.
 */
export function plainFileName(given: string): string {
  const name = given
    .replace(/^.*[\\/]/, '')
    .replace(/\p{Cc}/gu, '')
    .replace(DIRECTION_CONTROLS, '')
    .toWellFormed()
    .trim()
  if (name.length <= LONGEST_FILE_NAME) return name
  const ending = FILE_ENDING.exec(name)?.[0] ?? ''
  const kept = name.slice(0, LONGEST_FILE_NAME - ending.length)
  return (kept.isWellFormed() ? kept : kept.slice(0, -1)) + ending
}

/** Two hexadecimal digits for each byte. */
export const hexOf = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map(byte => byte.toString(16).padStart(2, '0')).join('')
