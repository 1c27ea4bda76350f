// What does not fit the contract within an item, told at the path of original ids where it is (resources brief 9.4).
import type { z } from '@hono/zod-openapi'
import type { StoredProblem } from './item.ts'

/** Lists within a policy whose entries are places of their own, by the property that they stand in. */
const PLACES: Readonly<Record<string, string>> = {
  terms: 'term',
  transactions: 'transaction',
  installments: 'installment',
  elements: 'element',
  charges: 'charge',
}

/** Sentences that one item may have; the rest is counted. */
const MOST_SENTENCES = 100

export type Place = { readonly elementType: string; readonly locator: string }

/** The innermost place on the way; an element, like an installment, is called by its id where it has one. */
export function placeOf(whole: Place, item: unknown, path: readonly PropertyKey[]): Place {
  let { elementType, locator } = whole
  /** Elements stand below their transaction, however deep they lie in each other. */
  let transaction = locator
  let part = item
  for (const [at, key] of path.entries()) {
    part = (part as Record<PropertyKey, unknown> | null | undefined)?.[key]
    const list = path[at - 1]
    const kind =
      key === 'rootElement' ? 'element' : typeof key === 'number' ? PLACES[String(list)] : undefined
    if (kind === undefined) continue
    const { id } = (part ?? {}) as { id?: unknown }
    const isCalled = (kind === 'element' || kind === 'installment') && typeof id === 'string' && id !== ''
    const byPlace = typeof key === 'number' ? `${String(list)}[${key}]` : String(key)
    locator = `${kind === 'element' ? transaction : locator}/${isCalled ? id : byPlace}`
    if (kind === 'transaction') transaction = locator
    elementType = kind
  }
  return { elementType, locator }
}

/** Every problem at its place; its sentence names the property as it lies in the item. */
export function placedProblems(
  error: z.ZodError,
  elementType: string,
  id: string,
  item: unknown,
): StoredProblem[] {
  const places = new Map<string, { elementType: string; locator: string; errors: string[] }>()
  for (const { path, message } of error.issues.slice(0, MOST_SENTENCES)) {
    const place = placeOf({ elementType, locator: id }, item, path)
    const key = `${place.elementType} ${place.locator}`
    const known = places.get(key) ?? { ...place, errors: [] }
    // What is wrong with the item as a whole is told of the request as a whole by its schema.
    known.errors.push(path.length === 0 ? message.replace(/^The request/, `The ${elementType}`) : message)
    places.set(key, known)
  }
  const more = error.issues.length - MOST_SENTENCES
  if (more > 0) [...places.values()][0]!.errors.push(`And ${more} problems more.`)
  return [...places.values()]
}
