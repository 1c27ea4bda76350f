// Which record a write makes and which it changes, by the path at which it is read: for `Location`, `ETag` and `If-Match`,
// for the OpenAPI document, and for tests that walk over all of it.
import type { Route } from './route.ts'

export type WriteOf = {
  /**
   * Where the record is read that the write changes. `If-Match` is held against its ETag; a write without this takes no
   * `If-Match`, and refuses it rather than to pass it over.
   */
  readonly changes?: string
  /** Address of the record that the write makes: `{name}` is a property of the answer, or else of the write's own path. */
  readonly makes?: string
  /** The answer is the record as it is read afterwards, the one made or else the one changed, and has its ETag. */
  readonly shows?: true
}

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
const RESOURCE = '/resource/{tenantLocator}'

const GROUP = `${RESOURCE}/groups/{locator}`

const shown = (path: string): WriteOf => ({ changes: path, shows: true })

const uploadOf = (kind: string, address = kind): [string, WriteOf] => [
  `POST ${RESOURCE}/${kind}`,
  { makes: `${RESOURCE}/${address}/{name}` },
]

/** By method and path. */
export const WRITES: Readonly<Record<string, WriteOf>> = {
  'POST /policy': { makes: '/policy/{locator}', shows: true },
  [`POST ${POLICY}/update`]: shown(POLICY),
  [`POST ${POLICY}/finalize`]: shown(POLICY),
  [`POST ${POLICY}/issue`]: shown(POLICY),
  [`POST ${POLICY}/discard`]: { changes: POLICY },
  [`POST ${POLICY}/addDocument`]: shown(POLICY),
  [`POST ${POLICY}/removeDocument`]: shown(POLICY),
  [`POST ${POLICY}/endorse`]: shown(POLICY),
  [`POST ${POLICY}/issueRenewal`]: shown(POLICY),
  [`POST ${POLICY}/cancel`]: shown(POLICY),
  [`POST ${POLICY}/withdraw`]: shown(POLICY),
  [`PATCH ${POLICY}/fees`]: { changes: POLICY },
  [`POST ${POLICY}/paymentSchedule`]: { changes: POLICY },
  [`POST ${POLICY}/upgrade`]: { changes: POLICY },
  [`POST ${POLICY}/issueNextInvoice`]: { changes: POLICY, makes: '/invoice/{locator}', shows: true },
  [`POST ${POLICY}/createReinstatement`]: { changes: POLICY, makes: '/reinstatement/{locator}', shows: true },
  'POST /policies/{policyLocator}/endorsements': {
    changes: POLICY,
    makes: '/endorsements/{locator}',
    shows: true,
  },
  'POST /policies/{policyLocator}/renewals': { changes: POLICY, makes: '/renewals/{locator}', shows: true },
  'POST /policies/{policyLocator}/cancellations': {
    changes: POLICY,
    makes: '/cancellations/{locator}',
    shows: true,
  },
  [`PATCH ${QUOTE}`]: shown(QUOTE),
  [`PATCH ${QUOTE}/select`]: { changes: QUOTE },
  [`PATCH ${QUOTE}/quote`]: { changes: QUOTE },
  [`PATCH ${QUOTE}/accept`]: shown(QUOTE),
  [`PATCH ${QUOTE}/invalidate`]: shown(QUOTE),
  [`PATCH ${QUOTE}/discard`]: shown(QUOTE),
  [`POST ${QUOTE}/underwriting`]: shown(QUOTE),
  [`POST ${QUOTE}/createNew`]: { changes: QUOTE, makes: '/quotes/{locator}', shows: true },
  'POST /policy/{tenantLocator}/quickquotes': { makes: '/policy/{tenantLocator}/quickquotes/{locator}' },
  [`PATCH ${ENDORSEMENT}`]: shown(ENDORSEMENT),
  [`POST ${ENDORSEMENT}/underwriting`]: shown(ENDORSEMENT),
  [`PATCH ${RENEWAL}`]: shown(RENEWAL),
  [`POST ${RENEWAL}/underwriting`]: shown(RENEWAL),
  [`PATCH ${CANCELLATION}`]: shown(CANCELLATION),
  [`PATCH ${CANCELLATION}/issue`]: shown(CANCELLATION),
  [`PATCH ${CANCELLATION}/rescind`]: shown(CANCELLATION),
  [`PATCH ${CANCELLATION}/reinstate`]: { changes: CANCELLATION, makes: REINSTATEMENT, shows: true },
  [`PATCH ${REINSTATEMENT}`]: shown(REINSTATEMENT),
  [`PATCH ${REINSTATEMENT}/accept`]: shown(REINSTATEMENT),
  [`PATCH ${REINSTATEMENT}/issue`]: shown(REINSTATEMENT),
  [`PATCH ${REINSTATEMENT}/invalidate`]: shown(REINSTATEMENT),
  'PATCH /gracePeriod/{locator}': shown('/gracePeriod/{locator}'),
  [`POST ${LAPSE_REINSTATEMENT}/close`]: shown(LAPSE_REINSTATEMENT),
  [`POST ${LAPSE_REINSTATEMENT}/invoice`]: shown(LAPSE_REINSTATEMENT),
  [`POST ${LAPSE_REINSTATEMENT}/addDocument`]: shown(LAPSE_REINSTATEMENT),
  [`POST ${LAPSE_REINSTATEMENT}/removeDocument`]: shown(LAPSE_REINSTATEMENT),
  'POST /invoice/{invoiceLocator}/pay': {
    changes: '/invoice/{invoiceLocator}',
    makes: '/payments/{locator}',
    shows: true,
  },
  'POST /payments/{paymentLocator}/reverse': shown('/payments/{paymentLocator}'),
  'POST /policyholder/create': { makes: '/policyholder/{locator}', shows: true },
  'POST /policyholder/update': shown(HOLDER),
  [`PATCH ${HOLDER}/overwriteData`]: { changes: HOLDER },
  'PUT /auxData/{locator}': { changes: AUX_DATA },
  [`DELETE ${AUX_DATA}`]: { changes: AUX_DATA },
  'POST /media': { makes: '/media/{locator}' },
  'POST /account/v1/account': { makes: '/account/v1/accounts/{id}' },
  [`PATCH ${WEBHOOK}`]: { changes: WEBHOOK },
  [`PATCH ${WEBHOOK}/unsuspend`]: { changes: WEBHOOK },
  'POST /event/{tenantLocator}/webhooks': { makes: '/event/{tenantLocator}/webhooks/{locator}' },
  'PUT /integrations/autofill': { makes: '/integrations/autofill/{locator}' },
  [`PATCH ${GROUP}`]: shown(GROUP),
  [`PATCH ${GROUP}/retire`]: shown(GROUP),
  [`POST ${RESOURCE}/groups`]: { makes: `${RESOURCE}/groups/{locator}` },
  ...Object.fromEntries([
    uploadOf('documents'),
    uploadOf('fonts'),
    uploadOf('secrets'),
    uploadOf('tables'),
    uploadOf('rangeTables'),
    uploadOf('constraints'),
    uploadOf('templates/liquid', 'templates'),
    uploadOf('templates/velocity', 'templates'),
    uploadOf('templateSnippets/liquid', 'templateSnippets'),
    uploadOf('templateSnippets/velocity', 'templateSnippets'),
  ]),
  'POST /migration/{tenantLocator}/migrations': {
    makes: '/migration/{tenantLocator}/migrations/{locator}',
  },
  'POST /migration/{tenantLocator}/migrations/accounts/{accountLocator}': {
    makes: '/migration/{tenantLocator}/migrations/{locator}',
  },
}

export const writeOf = ({ method, path }: { method: string; path: string }): WriteOf =>
  WRITES[`${method.toUpperCase()} ${path}`] ?? {}

/** Read without a token, and long. */
const TAGGED_PUBLIC: ReadonlySet<string> = new Set(['/openapi.json', '/event/events'])

/** Whether what the path reads has a tag; probes and the like have none, whose answer is that they answer. */
export const isTagged = ({ method, path, access }: Pick<Route, 'method' | 'path' | 'access'>): boolean =>
  method === 'get' && (access.kind !== 'public' || TAGGED_PUBLIC.has(path))

/** Streams, whose paging token has all that was asked and stands alone. */
export const STREAMS: ReadonlySet<string> = new Set([
  '/eventstream/events',
  '/eventstream/attributedEvents',
  '/event/{tenantLocator}/events/list',
])

/** What does the same as a deprecated path, where one address does; the path's own parameters are filled in. */
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

/** The path with its parameters, from the first of the sources that has each; undefined when none has one of them. */
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
