// Of all that tests asked of an operation: the one exchange that is shown, and the refusals that came.

import type { z } from 'zod'
import type { ErrorCode } from '../../src/kernel/errors.ts'
import type { Example, Examples } from '../../src/platform/http/reference/operations.ts'
import type { Route } from '../../src/platform/http/route.ts'
import type { Exchange } from '../../test/support/exchanges/note.ts'
import { plain } from './plain.ts'

export type { Examples } from '../../src/platform/http/reference/operations.ts'

/** What is shown has about as many characters: enough to see what it is. */
const GOOD_LENGTH = 900

type Candidate = { readonly example: Example; readonly text: string; readonly rank: number }

const isSuccess = ({ status }: Exchange): boolean => status >= 200 && status < 300

/** Codes of refusals; what the platform answers before the route is known is none of the route's. */
const codeOf = ({ answer }: Exchange): ErrorCode | undefined => (answer as { code?: ErrorCode } | null)?.code

function candidate(route: Route, exchange: Exchange): Candidate {
  const [path, query] = exchange.path.split('?') as [string, string?]
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(match => match[1]!)
  const values = pattern(route.path).exec(path)!.slice(1).map(decodeURIComponent)
  const { params, body, answer } = plain({
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

/** Parts of a form are text, and say numbers and truths all the same. */
const partsOf = (body: unknown): unknown =>
  typeof body !== 'object' || body === null
    ? body
    : Object.fromEntries(
        Object.entries(body).map(([name, part]) => [
          name,
          /^(?:true|false|\d{1,6})$/.test(part) ? JSON.parse(part) : part,
        ]),
      )

/** A request that says more shows more. */
const said = (body: unknown): number =>
  typeof body === 'object' && body !== null ? Object.keys(body).length : 0

/** Properties and parts that the contract does not know are ignored, and would mislead. */
function saysMore(route: Route, body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const known = route.form
    ? { ...(route.form.schema as z.ZodObject).shape, [route.form.file]: true }
    : route.body?.schema.safeParse(body).data
  if (typeof known !== 'object' || known === null) return false
  return Object.keys(body).some(name => !(name in known))
}

/** What a file is; its bytes tell nobody anything. A file of JSON is a file too. */
const fileOr = ({ answer: { media } }: Route, answer: unknown): unknown =>
  media === undefined || media.startsWith('text/') || answer === undefined || answer === ''
    ? answer
    : `(a file of ${media})`

const takesBody = ({ body, form, upload }: Route): boolean => Boolean(body ?? form ?? upload)

/** A page with nothing on it shows little. */
const hasEmptyList = (answer: unknown): boolean =>
  typeof answer === 'object' &&
  answer !== null &&
  Object.values(answer).some(value => Array.isArray(value)) &&
  Object.values(answer).every(value => !Array.isArray(value) || value.length === 0)

const pattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '([^/]+)')}/?$`)

/** As the service has them: a literal segment before a parameter. */
const literalsFirst = (routes: readonly Route[]): Route[] => {
  const last = ({ path }: Route): string => path.replace(/\{\w+\}/g, '\uffff')
  return [...routes].sort((a, b) => (last(a) < last(b) ? -1 : 1))
}

/** Ties by text, so that the same tests choose the same. */
function better(a: Candidate, b: Candidate): Candidate {
  if (a.rank !== b.rank) return a.rank < b.rank ? a : b
  return a.text < b.text ? a : b
}

/**
 * One example for each route that was called. What is there already stays while the tests still make it, or do not call the
 * route; refusals add up.
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
      one => one.route.method === exchange.method.toLowerCase() && one.pattern.test(path),
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
      const example = kept || candidates.length === 0 ? shown : candidates.reduce(better).example
      const refusals = [...new Set([...(there?.refusals ?? []), ...(refused.get(route) ?? [])])].sort()
      return there || candidates.length > 0 || refusals.length > 0 ? [[key, { ...example, refusals }]] : []
    }),
  )
}

/** A line for each operation, so that a change of one is a change of one line. */
export const examplesText = (examples: Examples): string =>
  `{\n${Object.entries(examples)
    .map(([key, example]) => `${JSON.stringify(key)}: ${JSON.stringify(example)}`)
    .join(',\n')}\n}\n`
