// Times that may be others than were meant: nobody can tell, so it is said.
import { readDateTime } from '../../kernel/date-time.ts'
import { LISTED_KINDS, type StoredProblem } from './item.ts'
import { ELEMENT_TYPES, itemId, itemsOf } from './request.ts'

const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/i
const IS_TIME = /(?:Time|^createdAt)$/

/** Milliseconds of less than some months around 1970 are more likely seconds, or a day as 20260131. */
const LEAST_PLAUSIBLE_MS = 10_000_000_000

/** Values of the other system: what is in them is no time of ours. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  'data',
  'staticData',
  'auxData',
  'coverageTerms',
  'preferences',
])

type Doubt = 'zone' | 'milliseconds'
type Found = Record<Doubt, { readonly name: string; readonly text: string }[]>

const SENTENCES: Readonly<Record<Doubt, (name: string, text: string, others: string) => string>> = {
  zone: (name, text, others) =>
    `${name} '${text}' says no time zone and is read as UTC${others}. Write an offset, as in 2026-01-31T00:00:00-05:00.`,
  milliseconds: (name, text, others) =>
    `${name} '${text}' is read as milliseconds since 1970, which is ${new Date(Number(text)).toISOString()}${others}. Write seconds or a day as in 2026-01-31T00:00:00-05:00.`,
}

/** For each item that has such times a warning of each kind, which names the first. */
export function doubtfulTimes(value: Readonly<Record<string, unknown>>, originalId: string): StoredProblem[] {
  const items = LISTED_KINDS.flatMap(kind =>
    itemsOf(value, kind).map((item, index) => ({
      item,
      elementType: ELEMENT_TYPES[kind],
      locator: itemId(kind, item, index),
    })),
  )
  const account = { item: value.accountData, elementType: ELEMENT_TYPES.account, locator: originalId }
  return [account, ...items].flatMap(({ item, elementType, locator }) => {
    const found: Found = { zone: [], milliseconds: [] }
    collect(item, found)
    const errors = (['zone', 'milliseconds'] as const).flatMap(doubt => {
      const [first, ...more] = found[doubt]
      const others = more.length > 0 ? `, and so are ${more.length} more of its times` : ''
      return first ? [SENTENCES[doubt](first.name, first.text, others)] : []
    })
    return errors.length > 0 ? [{ elementType, locator, errors }] : []
  })
}

function collect(part: unknown, found: Found): void {
  if (typeof part !== 'object' || part === null) return
  for (const [name, inner] of Object.entries(part)) {
    const isWritten = typeof inner === 'string' || typeof inner === 'number'
    if (!isWritten) {
      if (!PASSED_OVER.has(name)) collect(inner, found)
    } else if (IS_TIME.test(name)) {
      const doubt = doubtOf(String(inner).trim())
      if (doubt) found[doubt].push({ name, text: String(inner).trim() })
    }
  }
}

function doubtOf(text: string): Doubt | undefined {
  // What is no time at all is an error.
  if (readDateTime(text.replace(' ', 'T')) === undefined) return undefined
  if (WITHOUT_ZONE.test(text)) return 'zone'
  return Math.abs(Number(text)) < LEAST_PLAUSIBLE_MS ? 'milliseconds' : undefined
}
