// Which refusals an operation has: those that follow from what it is, and those that tests saw it give.
import { ERROR_KINDS, type ErrorCode } from '../../../kernel/errors.ts'
import type { Route } from '../route.ts'

/** What a status means, before the codes that it comes with. */
const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request does not fit; all problems are listed.',
  401: 'Nobody is signed in by it.',
  403: 'The account may not do this.',
  404: 'No such record, or none that this tenant has.',
  409: 'The state of things does not allow it.',
  413: 'It passes a limit.',
  415: 'The body is of a type that is not read here.',
  422: 'It cannot be carried out as it is asked for.',
  429: 'There are too many requests.',
  502: 'Another service, which the tenant has named, failed.',
  503: 'It cannot be carried out at the moment.',
}

/** Not of the route: there is none, or the service failed. */
const NOBODYS: ReadonlySet<ErrorCode> = new Set(['unknownPath', 'methodNotAllowed', 'internal'])

/** Writes that record nothing, so that a key cannot have been used with another body. */
const RECORDS_NOTHING =
  /\/(?:price|preview\w*|snapshot|coverageSummary|evaluate|amountDue|render\w*|check\w*Premium)$/

const when = (condition: unknown, ...codes: readonly ErrorCode[]): readonly ErrorCode[] =>
  condition ? codes : []

function codesOf({ access, path, method, body, form, upload, query }: Route): ErrorCode[] {
  const isWrite = method !== 'get'
  const isKeyed = isWrite && access.kind !== 'public'
  const sent = form ?? upload
  return [
    ...when(body, 'malformedJson', 'invalidRequest'),
    ...when(form, 'malformedMultipart', 'invalidRequest'),
    ...when(query || isKeyed, 'invalidParameter'),
    ...when(access.kind !== 'public', 'unauthenticated'),
    ...when('permissions' in access && access.permissions, 'forbidden'),
    ...when(path.includes('{tenantLocator}'), 'notFound'),
    ...when(isKeyed && access.kind === 'tenant' && !RECORDS_NOTHING.test(path), 'idempotencyConflict'),
    ...when(body ?? sent, 'tooLarge', 'unsupportedMediaType'),
    'tooManyRequests',
    'overloaded',
    'unavailable',
    ...when(access.kind === 'tenant', 'tenantBehind'),
  ]
}

/** Statuses with what they mean and the codes that they come with, by their numbers. */
export function refusalsOf(route: Route, seen: readonly ErrorCode[]): ReadonlyMap<number, string> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set([...codesOf(route), ...seen.filter(code => !NOBODYS.has(code))])) {
    const { status } = ERROR_KINDS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return new Map(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [
        status,
        `${MEANINGS[status]} Codes: ${codes.map(code => `\`${code}\``).join(', ')}.`,
      ]),
  )
}
