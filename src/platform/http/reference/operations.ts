// Names of operations, for generated clients and links into the reference. They derive from method and path alone, so a new
// operation never changes the name of another.

import type { z } from 'zod'
import type { ErrorCode } from '../../../kernel/errors.ts'
import { ERROR_KINDS } from '../../../kernel/errors.ts'
import { FILES_PATH } from '../file-links.ts'
import { changesPolicy } from '../records.ts'
import type { Route } from '../route.ts'

/**
 * Names that would not be unique: the path of this legacy record has the singular, and that of the newer record has the plural.
 */
const OWN_NAMES: Readonly<Record<string, string>> = {
  'get /reinstatement/{reinstatementLocator}': 'getLegacyReinstatement',
}

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')

const pascal = (text: string): string =>
  text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())

const parameterOf = (segment: string | undefined): string | undefined => segment?.match(/^\{(\w+)\}$/)?.[1]

/**
 * Derives the name of an operation. The name of one record in a list is singular. A parameter that only repeats the word before it
 * is omitted: `getPolicyQuotes` for `get /policies/{policyLocator}/quotes`, `getAuxDataByLocator` for `get /auxData/{locator}`.
 * The caller's tenant is omitted, too.
 */
export function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const segments = path.split('/').filter(segment => segment !== '' && segment !== '{tenantLocator}')
  const words = segments.map((segment, at) => {
    const parameter = parameterOf(segment)
    if (parameter === undefined)
      return pascal(parameterOf(segments[at + 1]) === undefined ? segment : singular(segment))
    const before = segments[at - 1] ?? ''
    const isRepeated = singular(before) !== before || parameter.startsWith(before)
    return isRepeated ? '' : `By${pascal(parameter)}`
  })
  return OWN_NAMES[`${method} ${path}`] ?? method + words.join('')
}

/** The meaning of each status, shown before its codes. */
const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is wrong. The response lists all problems.',
  401: 'The token is missing, invalid or expired.',
  403: 'The account may not do this.',
  404: 'The tenant has no such record.',
  409: 'The state of a record does not allow the action.',
  413: 'Something is larger than a limit allows.',
  415: 'This path does not read a body of that type.',
  422: 'The request cannot be carried out.',
  429: 'Too many requests. Wait for the seconds in `Retry-After`.',
  502: 'A service that the tenant integrated has failed.',
  503: 'The request cannot be carried out now. Try again after `Retry-After`.',
  507: 'The database of the tenant is full.',
}

/** Codes that occur without a route or after a failure of the service. */
const NOT_OF_ROUTES: ReadonlySet<ErrorCode> = new Set(['unknownPath', 'methodNotAllowed', 'internal'])

/** Writes that record nothing: a key cannot have been used with another body. */
const RECORDS_NOTHING =
  /\/(?:price|preview\w*|snapshot|coverageSummary|evaluate|amountDue|render\w*|check\w*Premium)$/

// Codes that depend on the configuration or on amounts, so that tests need not meet them in every operation.
const OF_AMOUNTS: readonly ErrorCode[] = ['amountOutOfRange', 'pluginFailed', 'pluginLimit', 'pluginRefused']
const OF_CHANGES: readonly ErrorCode[] = ['wrongState', 'versionConflict', ...OF_AMOUNTS]
const OF_RATING: readonly ErrorCode[] = [
  ...OF_AMOUNTS,
  ...(['templateFailed', 'templateLimit', 'externalRaterFailed', 'externalRaterRefused'] as const),
]

/** Operations that rate and underwrite, by method and path. */
const RATES = new RegExp(
  [
    /^get \/(?:policy|quotes|endorsements|renewals)\/\{\w+\}\/(?:price|automatedUnderwritingResult)$/,
    /^post .*\/(?:price|preview\w*|update|finalize|endorse|issueRenewal|endorsements|renewals|createNew|quickquotes)$/,
    /^post \/policy$/,
    /^patch \/(?:quotes|endorsements|renewals)\/\{\w+\}(?:\/quote)?$/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

/** Operations that prorate or refund an amount that was rated earlier. */
const SHARES = /^get \/(?:cancellations|reinstatements)\/\{\w+\}\/price$/

/** Whether the caller chooses how much of a policy is returned: all of it may be too much. */
const takesDetail = (query: Route['query']): boolean =>
  'perilCharacteristics' in ((query as Partial<z.ZodObject> | undefined)?.shape ?? {})

const codesIf = (condition: unknown, ...codes: readonly ErrorCode[]): readonly ErrorCode[] =>
  condition ? codes : []

function codesOf({ access, path, method, body, form, upload, query }: Route): ErrorCode[] {
  const isWrite = method !== 'get'
  const isKeyed = isWrite && access.kind !== 'public'
  const sent = form ?? upload
  return [
    ...codesIf(body, 'malformedJson', 'invalidRequest'),
    ...codesIf(form, 'malformedMultipart', 'invalidRequest'),
    ...codesIf(query || isKeyed || path === FILES_PATH, 'invalidParameter'),
    ...codesIf(access.kind !== 'public', 'unauthenticated'),
    ...codesIf('permissions' in access && access.permissions, 'forbidden'),
    ...codesIf(path.includes('{tenantLocator}'), 'notFound'),
    ...codesIf(isKeyed && access.kind === 'tenant' && !RECORDS_NOTHING.test(path), 'idempotencyConflict'),
    ...codesIf(body ?? sent, 'tooLarge', 'unsupportedMediaType'),
    ...codesIf(takesDetail(query), 'tooLarge'),
    ...codesIf(isWrite && access.kind === 'tenant', 'databaseFull'),
    ...codesIf(changesPolicy({ method, path }), ...OF_CHANGES),
    ...codesIf(RATES.test(`${method} ${path}`), ...OF_RATING),
    ...codesIf(SHARES.test(`${method} ${path}`), ...OF_AMOUNTS),
    'tooManyRequests',
    'overloaded',
    'unavailable',
    ...codesIf(access.kind === 'tenant', 'tenantBehind'),
  ]
}

/** Returns the meaning and codes of each status. `seen` are the codes that tests received. */
export function refusalsOf(route: Route, seen: readonly ErrorCode[]): ReadonlyMap<number, string> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set([...codesOf(route), ...seen.filter(code => !NOT_OF_ROUTES.has(code))])) {
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

// Headings of the reference, in the order in which a newcomer needs them.

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  Accounts: 'Signing in, and the accounts of a tenant with their passwords and permissions.',
  'Auth tokens': 'Long-lived tokens for programs.',
  Policyholders: 'The persons and companies that hold policies: their values, search, and erasure.',
  Policies:
    'Policies from draft to issue, their prices and underwriting, and a policy as it was known at an earlier time.',
  Quotes: 'Offers for one policy. One of them is accepted.',
  'Quick quotes': 'A price for a request, without a policy.',
  Endorsements: 'Changes of a policy during its term.',
  Renewals: 'A further term after the last one.',
  Cancellations: 'Ending a policy before its term ends, with refunds.',
  Reinstatements: 'Restoring cover after a cancellation.',
  'Grace periods': 'The time between an overdue invoice and the end of cover.',
  'Legacy lapse and reinstatement':
    'Lapse for non-payment and its reinstatement, in the form that older clients use.',
  Invoices: 'Invoices and what they bill, payments, credit and disbursements.',
  Calculations: 'Trying out premium formulas. Nothing is stored.',
  Constraints: 'Which values a field may have, depending on other fields.',
  Documents: 'Uploading, removing and trying out documents of policies.',
  Media: 'Uploaded files that fields refer to.',
  Files: 'Downloading files from their signed addresses.',
  'Auxiliary data': 'Your own texts, each stored under a locator and a key.',
  'Event stream': 'Everything that happened, in order.',
  Events: 'Events under their newer names, and schedules of custom events.',
  Webhooks: 'Events sent to your addresses. The section `webhooks` has the body of each.',
  'Diverted events': 'Events that could not be delivered and were set aside.',
  'Configuration deployment': 'Deploying, repairing and reading configurations.',
  'Resource groups': 'Which resources are in force, from which time, and where.',
  Resources: 'Tables, templates, files and secrets, of all types.',
  Tables: 'Tables in which rating and plugins look up values.',
  'Range tables': 'Tables whose rows are found by the range that contains a number.',
  'Constraint tables': 'Tables of allowed combinations of values.',
  Templates: 'Templates of documents in Liquid or Velocity.',
  'Template snippets': 'Templates that other templates include.',
  'Static documents': 'Documents that are the same for every policy.',
  Fonts: 'Fonts of documents.',
  Secrets: 'Passwords and keys for calls to other services.',
  Integrations: 'Your services that rating and autofill call, and the log of these calls.',
  Plugins: 'Calling functions of the configuration, and the log of these calls.',
  Migration: 'Importing policies, invoices and payments from another system.',
  Notes:
    'Notes that staff write on policies, quotes, endorsements, renewals and policyholders. Bindery only.',
  'Work lists':
    'Records that wait for a person: referred, quoted, expiring, unpaid, lapsed, failed. Bindery only.',
  'Impact of a configuration': 'What policies in force would cost under another configuration.',
  Reports: 'Written and earned premium, policies in force, receivables, retention and more.',
  Books: 'Closing periods, and account balances.',
  Export: 'All records and all changes of a tenant, for a data warehouse or for moving to another system.',
  Audit: 'Who did what to accounts, configurations and settings.',
  Tenant: 'Settings of the tenant.',
  'Test tenants': 'Moving the clock of a test tenant.',
  Service: 'Health checks, and this document.',
  Deprecated: 'Kept for older clients. Each operation says what replaces it.',
}

export const TAGS = Object.entries(DESCRIPTIONS).map(([name, description]) => ({ name, description }))

/** Returns the tags in the order of the headings. Tags without a heading come last. */
export const tagsOf = (names: Iterable<string>): { name: string; description?: string }[] => {
  const used = new Set(names)
  const ordered = TAGS.filter(({ name }) => used.delete(name))
  return [...ordered, ...[...used].map(name => ({ name }))]
}

// Examples of the document: requests and responses recorded by tests (examples.json, written by `npm run docs:examples`).

export type Example = {
  /** Path parameters by name. */
  readonly params?: Readonly<Record<string, string>>
  /** The JSON value, the parts of a form, or a file as text. */
  readonly body?: unknown
  /** The JSON value, or anything else as text. Undefined without a body. */
  readonly answer?: unknown
}

/** E.g. `post /policy`. */
export type Examples = Readonly<Record<string, Example & { readonly refusals: readonly ErrorCode[] }>>

/** Returns the recorded example of the route. Without one, only the list of refusals, which is empty. */
export const exampleOf = (examples: Examples, { method, path }: Pick<Route, 'method' | 'path'>) =>
  examples[`${method} ${path}`] ?? { refusals: [] }

type Media = { example?: unknown }
type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string; example?: unknown }[]
  readonly requestBody?: { readonly content: Record<string, Media> }
  readonly responses: Record<string, { readonly content?: Record<string, Media> }>
}

/** Chooses the media type that fits the example. A file is sent as a form or as the body, and the example fits one of them. */
function mediaOf(content: Record<string, Media>, example: unknown): Media | undefined {
  const isText = typeof example === 'string'
  const fitting = Object.entries(content).find(([name]) => isText === !/json|form-data/.test(name))
  return (fitting ?? Object.entries(content)[0])?.[1]
}

/**
 * Puts the example into the operation of the OpenAPI document: parameters of the path, request body, and first response of 2xx.
 */
export function addExample(operation: Operation, { params = {}, body, answer }: Example): void {
  for (const parameter of operation.parameters ?? [])
    if (parameter.in === 'path' && params[parameter.name] !== undefined)
      parameter.example = params[parameter.name]
  const sent =
    operation.requestBody && body !== undefined ? mediaOf(operation.requestBody.content, body) : undefined
  if (sent) sent.example = body
  const successContent = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1]
    .content
  const media = successContent && answer !== undefined ? mediaOf(successContent, answer) : undefined
  if (media) media.example = answer
}
