import { memoByObject } from './maps.ts'

/** Whether SQLite can store the text: it accepts neither lone surrogates nor NUL. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Removes NUL, and replaces each lone surrogate with U+FFFD. */
export const removeUnstorable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** Whether the text has more than `most` code points. An emoji counts as one character, not two. */
export const isLongerThan = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most)

/**
 * Joins texts that people wrote, such as the notes of underwriting, so that a message can continue after them: a text without a mark at
 * its end gets a full stop, and blank texts are left out.
 */
export const asSentences = (texts: readonly string[]): string =>
  texts
    .map(text => text.trim())
    .filter(text => text !== '')
    .map(text => (/[.!?…]["'”)]?$/.test(text) ? text : `${text}.`))
    .join(' ')

// Suggestions: a known name that differs by a typo, by letter case or a hyphen, or by an additional word.

/** Only this many names of a longer list are compared. */
const MOST_KNOWN = 1_000

/** Remembered per list, because every mistake in a request is compared with the same list. */
const plainNames = memoByObject((names: readonly string[]) => names.slice(0, MOST_KNOWN).map(normalizeName))

/** Returns ` Did you mean 'select'?`, to be appended to a message. Empty when no known name is similar. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === undefined ? '' : ` Did you mean '${near}'?`
}

/**
 * Returns the first known name that differs by one letter too many, too few, wrong or swapped with its neighbour. Without one,
 * returns the only known name that begins or ends with the name, or with which the name begins or ends.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const plainName = normalizeName(name)
  if (plainName.length < 2) return undefined
  const names = plainNames(known)
  const slip = known[names.findIndex((one, index) => isNear(plainName, one) && known[index] !== name)]
  if (slip !== undefined) return slip
  const parts = known.filter((one, index) => one !== name && isPart(plainName, names[index] ?? ''))
  return parts.length === 1 ? parts[0] : undefined
}

/** Shorter words, such as `end`, are part of too many names. */
const SHORTEST_PART = 6

function isPart(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return short.length >= SHORTEST_PART && (long.startsWith(short) || long.endsWith(short))
}

function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

/** From this length on, a name may have two letters too many or too few. */
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
  // A two-letter suffix too many or too few in a long name: set_yearly_premium.
  if (shorter >= LONG && (left || right).length === 2 && (!left || !right))
    return /^[a-z]+$/.test(left + right)
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
}

/** Formats a count with its noun: `1 line`, `2 lines`. `plural` is the plural of a noun that does not just get an `s`. */
export const countText = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`

/** Shortens to at most `most` UTF-16 units. Text that was cut off ends with `…`. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text.toWellFormed()

const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** Removes invisible characters: with one of them, a name looks like another one. */
export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, '')

const LONGEST_FILE_NAME = 200
const FILE_ENDING = /\.[^. ]{1,16}$/

/** These characters change the direction of text: a name that appears to end with `exe.pdf` may end with `.exe`. */
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g

/**
 * Cleans up the name that a client gave a file: keeps the last part of the path and removes control characters, including those
 * that change the direction of text. Cuts a name that is too long before its extension, and never within a character. The result
 * can be empty.
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

/** Formats each byte as two hexadecimal digits. */
export const hexOf = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map(byte => byte.toString(16).padStart(2, '0')).join('')
