// The audit trail, filtered by the address.
import { AUDIT_ACTIONS } from '../../src/access/audit/actions.ts'
import { get, queryOf } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { choiceFault } from '../lists/address-list.ts'
import { input, type Option, select } from '../lists/filters.ts'
import { type Column, facts, table } from '../parts.ts'
import type { AuditEntry, AuditPage } from '../wire.ts'
import { msOfDay } from './address.ts'
import { history } from './history.ts'
import { backLine, type Opened, type Shown } from './page.ts'
import { PAGES, TENANT, AUDIT as WORDS } from './words.ts'

export const auditPage = ({ query, signal }: Opened): Shown => ({
  title: PAGES.audit.title,
  content: [
    backLine(undefined),
    history({
      path: ['audit'],
      query,
      what: 'the audit trail',
      none: WORDS.none,
      names: ['action', 'username', 'subject', 'requestId'],
      fields: ({ action, username, subject, requestId }) => [
        select('action', WORDS.action, ACTIONS, action),
        input('username', WORDS.user, username),
        input('subject', WORDS.subject, subject),
        input('requestId', WORDS.request, requestId),
      ],
      faults: ({ action }) => [choiceFault(WORDS.action, ACTIONS, action)],
      async load(asked, { from, until }) {
        const days = { startTimestamp: msOfDay(from), endTimestamp: msOfDay(until) }
        const { entries, pagingToken } = await get<AuditPage>(
          `/audit/list?${queryOf({ ...asked, ...days })}`,
          signal,
        )
        return {
          count: entries.length,
          table: () => table(WORDS.entries, COLUMNS, entries, detailsOf),
          next: pagingToken,
        }
      },
    }),
  ],
})

const ACTIONS = AUDIT_ACTIONS.map((name): Option => [name, words(name)])

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
