import { memoByObject } from './maps.ts'

/** SQLite's text can contain neither lone surrogates nor NUL. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** Counts code points: an emoji is one character, not two. */
export const isLongerThan = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most)

// Suggests a known name that differs by a typing slip, letter case or a hyphen.

/** Of longer lists, only the first names are compared. */
const MOST_KNOWN = 1_000

/** Remembered by list: each mistake in a request compares the same one. */
const plainNames = memoByObject((names: readonly string[]) => names.slice(0, MOST_KNOWN).map(plain))

/** ` Did you mean 'select'?`, to follow a message; empty when no known name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === undefined ? '' : ` Did you mean '${near}'?`
}

/** The first known name with one letter too many, too few, wrong or swapped with its neighbour. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const plainName = plain(name)
  if (plainName.length < 2) return undefined
  const names = plainNames(known)
  return known[names.findIndex((one, index) => isNear(plainName, one) && known[index] !== name)]
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start += 1
  let end = 0
  const shorter = Math.min(a.length, b.length)
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  if (left.length <= 1 && right.length <= 1) return true
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
}
