// Times that say no time zone. They are read as UTC, which is another day than was meant for many; nobody can tell, so it is said.

import { LISTED_KINDS, type StoredProblem } from './item.ts'
import { ELEMENT_TYPES, itemId, itemsOf } from './request.ts'

const WITHOUT_ZONE = /^\s*\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?\s*$/
const IS_TIME = /(?:Time|^createdAt)$/

/** Values of the other system: what is in them is no time of ours. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  'data',
  'staticData',
  'auxData',
  'coverageTerms',
  'preferences',
])

/** A warning for each item that has such times, which names the first. */
export function timesWithoutZone(
  value: Readonly<Record<string, unknown>>,
  originalId: string,
): StoredProblem[] {
  const items = LISTED_KINDS.flatMap(kind =>
    itemsOf(value, kind).map((item, index) => ({
      item,
      elementType: ELEMENT_TYPES[kind],
      locator: itemId(kind, item, index),
    })),
  )
  const account = { item: value.accountData, elementType: ELEMENT_TYPES.account, locator: originalId }
  return [account, ...items].flatMap(({ item, elementType, locator }) => {
    const found: { name: string; text: string }[] = []
    collect(item, found)
    const [first] = found
    if (!first) return []
    const others = found.length > 1 ? `, and so are ${found.length - 1} more of its times` : ''
    return [
      {
        elementType,
        locator,
        errors: [
          `${first.name} '${first.text.trim()}' says no time zone and is read as UTC${others}. Write an offset, as in 2026-01-31T00:00:00-05:00.`,
        ],
      },
    ]
  })
}

function collect(part: unknown, found: { name: string; text: string }[]): void {
  if (typeof part !== 'object' || part === null) return
  for (const [name, inner] of Object.entries(part)) {
    if (typeof inner === 'string' && IS_TIME.test(name) && WITHOUT_ZONE.test(inner))
      found.push({ name, text: inner })
    else if (!PASSED_OVER.has(name)) collect(inner, found)
  }
}
