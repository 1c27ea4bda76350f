// Which record a write creates or changes, by the path that reads it: for `Location`, `ETag`, `If-Match`, the OpenAPI document and
// tests that cover all routes.
import type { Route } from './route.ts'

export type WriteOf = {
  /**
   * Path where the changed record is read. `If-Match` is compared with its ETag. A write without this property rejects `If-Match`:
   * ignoring the header would overwrite what the client wants to protect.
   */
  readonly changes?: string
  /** Path of the new record. `{name}` is a property of the response, otherwise a parameter of the write's path. */
  readonly makes?: string
  /** Whether the response is the new or changed record as GET returns it, with its ETag. */
  readonly shows?: true
}

/** Writes that carry out what `POST /policies/{policyLocator}/preview` shows and therefore accept its token as `If-Previewed`. */
const PREVIEWED: ReadonlySet<string> = new Set([
  'POST /policy/{policyLocator}/issue',
  'POST /policies/{policyLocator}/endorsements',
  'POST /policies/{policyLocator}/renewals',
  'POST /policies/{policyLocator}/cancellations',
  'PATCH /cancellations/{locator}/reinstate',
])

/** Whether the route accepts `If-Previewed`. Other writes reject the header with 400. */
export const takesPreview = ({ method, path }: Pick<Route, 'method' | 'path'>): boolean =>
  PREVIEWED.has(`${method.toUpperCase()} ${path}`)

const POLICY = '/policy/{policyLocator}'
const QUOTE = '/quotes/{quoteLocator}'
const ENDORSEMENT = '/endorsements/{endorsementLocator}'
const RENEWAL = '/renewals/{renewalLocator}'
const CANCELLATION = '/cancellations/{locator}'
const REINSTATEMENT = '/reinstatements/{locator}'
const LAPSE_REINSTATEMENT = '/reinstatement/{reinstatementLocator}'
const HOLDER = '/policyholder/{policyholderLocator}'
const AUX_DATA = '/auxData/{locator}/{key}'
const WEBHOOK = '/event/{tenantLocator}/webhooks/{webhookLocator}'
const ROLE = '/auth/roles/{name}'
const PROVIDER = '/auth/providers/{name}'
const RESOURCE = '/resource/{tenantLocator}'

const GROUP = `${RESOURCE}/groups/{locator}`

type Write = [operation: string, write: WriteOf]

/** Declares writes that respond with the changed record: a method, and the rest of the path. */
const writesReturningRecord = (path: string, ...writes: readonly string[]): Write[] =>
  writes.map(write => {
    const [method, action = ''] = write.split(' ')
    return [`${method} ${path}${action}`, { changes: path, shows: true }]
  })

/** Declares writes whose response is not the record. */
const writesChangingRecord = (path: string, ...writes: readonly string[]): Write[] =>
  writesReturningRecord(path, ...writes).map(([operation]) => [operation, { changes: path }])

/** Declares a write that creates and returns a record at another path. */
const writeCreatingRecord = (operation: string, makes: string, changes?: string): Write => [
  operation,
  { makes, shows: true, ...(changes !== undefined && { changes }) },
]

/** Declares uploads of a kind of resource. Templates and snippets of both dialects share one path. */
const uploads = (...kinds: readonly string[]): Write[] =>
  kinds.map(kind => [
    `POST ${RESOURCE}/${kind}`,
    { makes: `${RESOURCE}/${kind.replace(/\/(?:liquid|velocity)$/, '')}/{name}` },
  ])

const MIGRATIONS = '/migration/{tenantLocator}/migrations'

export const WRITES: Readonly<Record<string, WriteOf>> = {
  ...Object.fromEntries([
    writeCreatingRecord('POST /policy', '/policy/{locator}'),
    ...writesReturningRecord(POLICY, 'POST /update', 'POST /finalize', 'POST /issue', 'POST /addDocument'),
    ...writesReturningRecord(
      POLICY,
      'POST /removeDocument',
      'POST /endorse',
      'POST /issueRenewal',
      'POST /cancel',
    ),
    ...writesReturningRecord(POLICY, 'POST /withdraw'),
    ...writesChangingRecord(POLICY, 'POST /discard', 'PATCH /fees', 'POST /paymentSchedule', 'POST /upgrade'),
    writeCreatingRecord(`POST ${POLICY}/issueNextInvoice`, '/invoice/{locator}', POLICY),
    writeCreatingRecord(`POST ${POLICY}/createReinstatement`, '/reinstatement/{locator}', POLICY),
    writeCreatingRecord('POST /policies/{policyLocator}/endorsements', '/endorsements/{locator}', POLICY),
    writeCreatingRecord('POST /policies/{policyLocator}/renewals', '/renewals/{locator}', POLICY),
    writeCreatingRecord('POST /policies/{policyLocator}/cancellations', '/cancellations/{locator}', POLICY),
    ...writesReturningRecord(
      QUOTE,
      'PATCH',
      'PATCH /accept',
      'PATCH /invalidate',
      'PATCH /discard',
      'POST /underwriting',
    ),
    ...writesChangingRecord(QUOTE, 'PATCH /select', 'PATCH /quote'),
    writeCreatingRecord(`POST ${QUOTE}/createNew`, '/quotes/{locator}', QUOTE),
    ...writesReturningRecord(ENDORSEMENT, 'PATCH', 'POST /underwriting'),
    ...writesReturningRecord(RENEWAL, 'PATCH', 'POST /underwriting'),
    ...writesReturningRecord(CANCELLATION, 'PATCH', 'PATCH /issue', 'PATCH /rescind'),
    writeCreatingRecord(`PATCH ${CANCELLATION}/reinstate`, REINSTATEMENT, CANCELLATION),
    ...writesReturningRecord(REINSTATEMENT, 'PATCH', 'PATCH /accept', 'PATCH /issue', 'PATCH /invalidate'),
    ...writesReturningRecord('/gracePeriod/{locator}', 'PATCH'),
    ...writesReturningRecord(LAPSE_REINSTATEMENT, 'POST /close', 'POST /invoice', 'POST /addDocument'),
    ...writesReturningRecord(LAPSE_REINSTATEMENT, 'POST /removeDocument'),
    writeCreatingRecord(
      'POST /invoice/{invoiceLocator}/pay',
      '/payments/{locator}',
      '/invoice/{invoiceLocator}',
    ),
    writeCreatingRecord('POST /policyholder/create', '/policyholder/{locator}'),
    ...writesChangingRecord(HOLDER, 'PATCH /overwriteData'),
    ...writesChangingRecord(AUX_DATA, 'DELETE'),
    ...writesChangingRecord(WEBHOOK, 'PATCH', 'PATCH /unsuspend'),
    ...writesReturningRecord('/account/v1/passwordRules', 'PUT'),
    writeCreatingRecord('POST /auth/roles', ROLE),
    ...writesReturningRecord(ROLE, 'PUT'),
    ...writesChangingRecord(ROLE, 'DELETE'),
    ...writesReturningRecord(PROVIDER, 'PUT'),
    ...writesChangingRecord(PROVIDER, 'DELETE'),
    ...writesReturningRecord(GROUP, 'PATCH', 'PATCH /retire'),
    ...uploads('documents', 'fonts', 'secrets', 'tables', 'rangeTables', 'constraints', 'templates/liquid'),
    ...uploads('templates/velocity', 'templateSnippets/liquid', 'templateSnippets/velocity'),
  ]),
  'POST /payments/{paymentLocator}/reverse': { changes: '/payments/{paymentLocator}', shows: true },
  'POST /policyholder/update': { changes: HOLDER, shows: true },
  'POST /policies/{policyLocator}/documents/makeAgain': { changes: POLICY },
  'PUT /auxData/{locator}': { changes: AUX_DATA },
  'POST /policy/{tenantLocator}/quickquotes': { makes: '/policy/{tenantLocator}/quickquotes/{locator}' },
  'POST /media': { makes: '/media/{locator}' },
  'POST /account/v1/account': { makes: '/account/v1/accounts/{id}' },
  'POST /event/{tenantLocator}/webhooks': { makes: '/event/{tenantLocator}/webhooks/{locator}' },
  'PUT /integrations/autofill': { makes: '/integrations/autofill/{locator}' },
  [`POST ${RESOURCE}/groups`]: { makes: GROUP },
  [`POST ${MIGRATIONS}`]: { makes: `${MIGRATIONS}/{locator}` },
  [`POST ${MIGRATIONS}/accounts/{accountLocator}`]: { makes: `${MIGRATIONS}/{locator}` },
}

/** Returns what a write changes and creates. Empty for other routes. `path` has the placeholders of the route. */
export const writeOf = ({ method, path }: { method: string; path: string }): WriteOf =>
  WRITES[`${method.toUpperCase()} ${path}`] ?? {}

const POLICY_RECORDS: ReadonlySet<string> = new Set([
  ...[POLICY, QUOTE, ENDORSEMENT, RENEWAL, CANCELLATION, REINSTATEMENT, LAPSE_REINSTATEMENT],
  ...['/gracePeriod/{locator}', '/invoice/{invoiceLocator}', '/payments/{paymentLocator}'],
])

/** Whether the write creates a policy, or changes it or one of its records. */
export const changesPolicy = (route: Pick<Route, 'method' | 'path'>): boolean => {
  const { makes = '', changes = '' } = writeOf(route)
  return POLICY_RECORDS.has(changes) || makes === '/policy/{locator}'
}

/** Long documents that can be read without a token. */
const TAGGED_PUBLIC: ReadonlySet<string> = new Set(['/openapi.json', '/event/events'])

/** Whether responses have an ETag. Probes and similar routes have none. */
export const isTagged = ({ method, path, access }: Pick<Route, 'method' | 'path' | 'access'>): boolean =>
  method === 'get' && (access.kind !== 'public' || TAGGED_PUBLIC.has(path))

/** Event streams. Their paging token contains the whole request and is sent alone. */
export const STREAMS: ReadonlySet<string> = new Set([
  '/eventstream/events',
  '/eventstream/attributedEvents',
  '/event/{tenantLocator}/events/list',
])

/** Replacements of deprecated paths, where one path does the same. They use the parameters of the deprecated path. */
export const SUCCESSORS: Readonly<Record<string, string>> = {
  'GET /billing/{tenantLocator}/jobs/invoices/policies/{locator}/list': '/policy/{locator}/checkInvoices',
  'GET /billing/{tenantLocator}/jobs/invoices/quotes/{locator}/list': '/quotes/{locator}',
  'GET /policy/{tenantLocator}/policies/snapshot/list': '/policies',
  'POST /assets/v1/deploy': '/configuration/deploy',
  [`POST ${POLICY}/issueRenewal`]: '/policies/{policyLocator}/renewals',
  [`POST ${POLICY}/previewRenewalPrice`]: '/policies/{policyLocator}/preview',
  [`POST ${POLICY}/endorse`]: '/policies/{policyLocator}/endorsements',
  [`POST ${POLICY}/previewEndorsementPrice`]: '/policies/{policyLocator}/preview',
  [`GET ${POLICY}/graceLapseReinstatements`]: '/policies/{policyLocator}/cancellations',
}

/** Fills in a path. Each parameter comes from the first source that has it. Returns undefined when no source has one of them. */
export function filledPath(
  template: string,
  ...sources: (Readonly<Record<string, unknown>> | undefined)[]
): string | undefined {
  let isWhole = true
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = sources
      .map(source => source?.[name])
      .find(one => typeof one === 'string' || typeof one === 'number')
    if (value === undefined) isWhole = false
    return encodeURIComponent(String(value))
  })
  return isWhole ? path : undefined
}
