// Chooses, from all requests of an operation in tests, the one that is shown, and collects its error codes.

import type { z } from 'zod'
import type { ErrorCode } from '../../src/kernel/errors.ts'
import type { Example, Examples } from '../../src/platform/http/reference/operations.ts'
import type { Route } from '../../src/platform/http/route.ts'
import type { Exchange } from '../../test/support/exchanges/note.ts'
import { normalizeExample } from './plain.ts'

export type { Examples } from '../../src/platform/http/reference/operations.ts'

/** The preferred number of characters of an example: enough to understand it. */
const GOOD_LENGTH = 900

type Candidate = { readonly example: Example; readonly text: string; readonly rank: number }

const isSuccess = ({ status }: Exchange): boolean => status >= 200 && status < 300

/** Returns the error code. Errors that the platform returns before the route is known do not belong to the route. */
const codeOf = ({ answer }: Exchange): ErrorCode | undefined => (answer as { code?: ErrorCode } | null)?.code

function candidate(route: Route, exchange: Exchange): Candidate {
  const [path, query] = exchange.path.split('?') as [string, string?]
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(match => match[1]!)
  const values = pattern(route.path).exec(path)!.slice(1).map(decodeURIComponent)
  const { params, body, answer } = normalizeExample({
    params: Object.fromEntries(names.map((name, at) => [name, values[at]])),
    body: route.form ? partsOf(exchange.body) : (exchange.body ?? undefined),
    answer: fileOr(route, exchange.answer),
  }) as { params: Record<string, string>; body: unknown; answer: unknown }
  const example: Example = {
    ...(names.length > 0 && { params }),
    ...(body !== undefined && takesBody(route) && { body }),
    ...(answer !== undefined && answer !== '' && { answer }),
  }
  const text = JSON.stringify(example)
  const wants = (takesBody(route) && body === undefined) || saysMore(route, exchange.body) ? 10_000 : 0
  const isEmpty = Array.isArray(answer) ? answer.length === 0 : hasEmptyList(answer)
  return {
    example,
    text,
    rank:
      wants -
      250 * Math.min(said(body), 8) +
      (isEmpty ? 5_000 : 0) +
      (query === undefined ? 0 : 50) +
      Math.abs(text.length - GOOD_LENGTH),
  }
}

/** Converts the parts of a form, which are text, to the numbers and booleans that they represent. */
const partsOf = (body: unknown): unknown =>
  typeof body !== 'object' || body === null
    ? body
    : Object.fromEntries(
        Object.entries(body).map(([name, part]) => [
          name,
          /^(?:true|false|\d{1,6})$/.test(part) ? JSON.parse(part) : part,
        ]),
      )

/** Counts the properties of a request. One with more properties is a better example. */
const said = (body: unknown): number =>
  typeof body === 'object' && body !== null ? Object.keys(body).length : 0

/** Whether the body has properties or parts that the contract does not know. They are ignored and would mislead. */
function saysMore(route: Route, body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const known = route.form
    ? { ...(route.form.schema as z.ZodObject).shape, [route.form.file]: true }
    : route.body?.schema.safeParse(body).data
  if (typeof known !== 'object' || known === null) return false
  return Object.keys(body).some(name => !(name in known))
}

/** Replaces a file by its media type, because its bytes are not readable. A JSON file is a file too. */
const fileOr = ({ answer: { media } }: Route, answer: unknown): unknown =>
  media === undefined || media.startsWith('text/') || answer === undefined || answer === ''
    ? answer
    : `(a file of ${media})`

const takesBody = ({ body, form, upload }: Route): boolean => Boolean(body ?? form ?? upload)

/** Whether a page has only empty lists, which makes a poor example. */
const hasEmptyList = (answer: unknown): boolean =>
  typeof answer === 'object' &&
  answer !== null &&
  Object.values(answer).some(value => Array.isArray(value)) &&
  Object.values(answer).every(value => !Array.isArray(value) || value.length === 0)

const pattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '([^/]+)')}/?$`)

/** Sorts routes as the service does: a literal segment before a parameter. */
const literalsFirst = (routes: readonly Route[]): Route[] => {
  const last = ({ path }: Route): string => path.replace(/\{\w+\}/g, '\uffff')
  return [...routes].sort((a, b) => (last(a) < last(b) ? -1 : 1))
}

/** Breaks ties by text, so that the same tests give the same example. */
function betterCandidate(a: Candidate, b: Candidate): Candidate {
  if (a.rank !== b.rank) return a.rank < b.rank ? a : b
  return a.text < b.text ? a : b
}

/**
 * Returns one example for each route that was called. A present example stays while the tests still produce it, or do not call
 * the route. Error codes accumulate.
 */
export function examplesOf(
  routes: readonly Route[],
  exchanges: readonly Exchange[],
  present: Examples,
): Examples {
  const finders = literalsFirst(routes).map(route => ({ route, pattern: pattern(route.path) }))
  const best = new Map<Route, Candidate[]>()
  const refused = new Map<Route, Set<ErrorCode>>()
  for (const exchange of exchanges) {
    const path = exchange.path.split('?')[0]!
    const found = finders.find(
      finder => finder.route.method === exchange.method.toLowerCase() && finder.pattern.test(path),
    )
    if (!found) continue
    const { route } = found
    if (isSuccess(exchange)) best.set(route, [...(best.get(route) ?? []), candidate(route, exchange)])
    else {
      const code = codeOf(exchange)
      if (code !== undefined) refused.set(route, (refused.get(route) ?? new Set()).add(code))
    }
  }
  return Object.fromEntries(
    routes.flatMap(route => {
      const key = `${route.method} ${route.path}`
      const there = present[key]
      const candidates = best.get(route) ?? []
      const { refusals: _, ...shown } = there ?? { refusals: [] }
      const kept = candidates.some(({ text }) => text === JSON.stringify(shown))
      const example = kept || candidates.length === 0 ? shown : candidates.reduce(betterCandidate).example
      const refusals = [...new Set([...(there?.refusals ?? []), ...(refused.get(route) ?? [])])].sort()
      return there || candidates.length > 0 || refusals.length > 0 ? [[key, { ...example, refusals }]] : []
    }),
  )
}

/** Writes one line for each operation, so that a change of one operation changes one line. */
export const examplesText = (examples: Examples): string =>
  `{\n${Object.entries(examples)
    .map(([key, example]) => `${JSON.stringify(key)}: ${JSON.stringify(example)}`)
    .join(',\n')}\n}\n`
