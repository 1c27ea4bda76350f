// The audit trail, by what the address chooses.
import type { AuditAction } from '../../src/access/audit/contract.ts'
import { get, queryOf } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { choiceForm, input, type Option, select } from '../lists/filters.ts'
import { type Column, empty, facts, loaded, table } from '../parts.ts'
import type { AuditEntry, AuditPage } from '../wire.ts'
import {
  addressOf,
  type Chosen,
  chosenOf,
  msOfDay,
  PAGE_SIZE,
  pagesOf,
  spanChosen,
  spanInputs,
  spanOf,
} from './address.ts'
import { type Opened, type Shown, under } from './opened.ts'
import { PAGES, TENANT, AUDIT as WORDS } from './words.ts'

const NAMES = ['action', 'username', 'subject', 'requestId'] as const

export function auditPage({ query, signal }: Opened): Shown {
  const chosen = chosenOf(query, NAMES)
  const span = spanOf(query)
  return {
    title: PAGES.audit.title,
    content: [
      under(undefined),
      form(chosen, span),
      loaded('the audit trail', () => page(chosen, span, query.get('page') ?? '', signal)),
    ],
  }
}

/** What may be chosen; an address may name any other. */
const ACTIONS: readonly AuditAction[] = [
  ...(['login.success', 'login.failure', 'permission.refused'] as const),
  ...(['accounts.write', 'accounts.disable', 'accounts.enable', 'accounts.delete'] as const),
  ...(['accounts.unlock', 'accounts.password', 'accounts.rules'] as const),
  ...(['tokens.write', 'tokens.delete', 'tokens.revoke', 'credentials.delete'] as const),
  ...(['providers.write', 'providers.delete', 'agents.carryOut'] as const),
  ...(['configuration.deploy', 'configuration.repair', 'tenants.write', 'tenants.clock'] as const),
  ...(['webhooks.write', 'webhooks.delete', 'webhooks.resend', 'migration.write'] as const),
  ...(['integrations.write', 'integrations.delete', 'auxdata.write', 'auxdata.delete'] as const),
  ...(['secrets.write', 'secrets.delete', 'secrets.read'] as const),
  ...(['impacts.write', 'reports.create', 'books.write'] as const),
]

const actionSelect = (chosen: string): View => {
  const names: readonly string[] = ACTIONS
  const all = chosen === '' || names.includes(chosen) ? names : [...names, chosen]
  return select(
    'action',
    WORDS.action,
    all.map((name): Option => [name, words(name)]),
    chosen,
  )
}

const form = (chosen: Record<(typeof NAMES)[number], string>, span: { from: string; until: string }): View =>
  choiceForm(
    [
      ...spanInputs(span),
      actionSelect(chosen.action),
      input('username', WORDS.user, chosen.username),
      input('subject', WORDS.subject, chosen.subject),
      input('requestId', WORDS.request, chosen.requestId),
    ],
    // An empty day is the beginning of all, and not what the page begins with.
    ({ from = '', until = '', ...typed }) =>
      addressOf(['audit'], { ...typed, ...spanChosen({ from, until }) }),
  )

async function page(
  chosen: Chosen,
  span: { from: string; until: string },
  from: string,
  signal: AbortSignal,
): Promise<Child> {
  const asked = queryOf({
    ...chosen,
    startTimestamp: msOfDay(span.from),
    endTimestamp: msOfDay(span.until),
    pageSize: PAGE_SIZE,
    pagingToken: from,
  })
  const { entries, pagingToken } = await get<AuditPage>(`/audit/list?${asked}`, signal)
  if (entries.length === 0 && from === '' && pagingToken === undefined) return empty(WORDS.none)
  return [
    entries.length > 0 && table(WORDS.entries, COLUMNS, entries, detailsOf),
    pagesOf(['audit'], { ...chosen, ...spanChosen(span) }, from, {
      count: entries.length,
      next: pagingToken,
    }),
  ]
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { head: TENANT.when, cell: ({ timestamp }) => moment(timestamp) },
  { head: WORDS.action, cell: ({ action }) => words(action) },
  { head: WORDS.user, cell: ({ username }) => username },
  { head: WORDS.subject, cell: ({ subject }) => subject },
]

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const detailsOf = ({ details, requestId, accountLocator }: AuditEntry): View =>
  facts([
    ...Object.entries(details).map(([name, value]): [string, Child] => [words(name), valueText(value)]),
    [WORDS.request, h('code', {}, requestId)],
    [WORDS.account, h('code', {}, accountLocator)],
  ])
