// The log of plugins, filtered by the address.
import { get, queryOf } from '../api.ts'
import { h, type View } from '../element.ts'
import { displayNames } from '../find.ts'
import { moment, words } from '../format.ts'
import { input } from '../lists/filters.ts'
import { badge, type Column, facts, table } from '../parts.ts'
import { policyLink } from '../policy-table.ts'
import type { PluginCall, PluginLogPage } from '../wire.ts'
import { msOfDay } from './address.ts'
import { history } from './history.ts'
import { backLine, type Opened, type Shown } from './page.ts'
import { PAGES, TENANT, PLUGINS as WORDS } from './words.ts'

export const pluginsPage = ({ query, signal }: Opened): Shown => ({
  title: PAGES.plugins.title,
  content: [
    backLine(undefined),
    history({
      path: ['plugins'],
      query,
      what: 'the log',
      none: WORDS.none,
      names: ['plugin', 'policyLocator'],
      fields: ({ plugin, policyLocator }) => [
        input('plugin', WORDS.plugin, plugin, { placeholder: 'getPerilRates' }),
        input('policyLocator', WORDS.policy, policyLocator),
      ],
      async load(asked, { from, until }) {
        const days = { startTimestamp: msOfDay(from), endTimestamp: msOfDay(until) }
        const [{ logs, pagingToken }, names] = await Promise.all([
          get<PluginLogPage>(`/plugin/logs?${queryOf({ ...asked, ...days })}`, signal),
          displayNames(),
        ])
        return {
          count: logs.length,
          table: () =>
            table(PAGES.plugins.title, COLUMNS, logs, call =>
              callShown(call, names.get(call.productName) ?? words(call.productName)),
            ),
          next: pagingToken,
        }
      },
    }),
  ],
})

const COLUMNS: readonly Column<PluginCall>[] = [
  { head: TENANT.when, cell: ({ timestamp }) => moment(timestamp) },
  { head: WORDS.plugin, cell: ({ plugin }) => h('code', {}, plugin) },
  {
    head: WORDS.result,
    cell: ({ failure, lines }) =>
      failure === undefined ? WORDS.printed(lines.length) : badge('failed', WORDS.failed),
  },
  { head: WORDS.policy, cell: ({ policyLocator }) => (policyLocator ? policyLink(policyLocator) : '–') },
  { head: TENANT.by, cell: ({ username }) => username },
]

const callShown = ({ failure, lines, path, configVersion, requestId }: PluginCall, product: string): View =>
  h(
    'div',
    {},
    failure !== undefined && h('p', { class: 'notice bad' }, failure),
    lines.length > 0 &&
      h(
        'pre',
        { role: 'group', 'aria-label': WORDS.output, tabindex: 0 },
        lines.map(({ level, text }) => `${level}  ${text}\n`),
      ),
    facts([
      [TENANT.file, h('code', {}, path)],
      [WORDS.product, product],
      [WORDS.version, configVersion],
      [WORDS.request, h('code', {}, requestId)],
    ]),
  )
