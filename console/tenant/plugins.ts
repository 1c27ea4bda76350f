// The log of plugins, by what the address chooses.
import { get, queryOf } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { displayNames } from '../find.ts'
import { moment, words } from '../format.ts'
import { choiceForm, input } from '../lists/filters.ts'
import { badge, type Column, empty, facts, loaded, table } from '../parts.ts'
import { policyLink } from '../policy-table.ts'
import type { PluginCall, PluginLogPage } from '../wire.ts'
import {
  addressOf,
  chosenOf,
  msOfDay,
  PAGE_SIZE,
  pagesOf,
  spanChosen,
  spanInputs,
  spanOf,
} from './address.ts'
import { type Opened, type Shown, under } from './opened.ts'
import { PAGES, TENANT, PLUGINS as WORDS } from './words.ts'

type Chosen = Record<'plugin' | 'policyLocator', string>

export function pluginsPage({ query, signal }: Opened): Shown {
  const chosen = chosenOf(query, ['plugin', 'policyLocator'])
  const span = spanOf(query)
  return {
    title: PAGES.plugins.title,
    content: [
      under(undefined),
      choiceForm(
        [
          ...spanInputs(span),
          input('plugin', WORDS.plugin, chosen.plugin, { placeholder: 'getPerilRates' }),
          input('policyLocator', WORDS.policy, chosen.policyLocator),
        ],
        ({ from = '', until = '', ...typed }) =>
          addressOf(['plugins'], { ...typed, ...spanChosen({ from, until }) }),
      ),
      loaded('the log', () => page(chosen, span, query.get('page') ?? '', signal)),
    ],
  }
}

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
  const [{ logs, pagingToken }, names] = await Promise.all([
    get<PluginLogPage>(`/plugin/logs?${asked}`, signal),
    displayNames(),
  ])
  if (logs.length === 0 && from === '' && pagingToken === undefined) return empty(WORDS.none)
  return [
    logs.length > 0 &&
      table(PAGES.plugins.title, COLUMNS, logs, call =>
        callShown(call, names.get(call.productName) ?? words(call.productName)),
      ),
    pagesOf(['plugins'], { ...chosen, ...spanChosen(span) }, from, { count: logs.length, next: pagingToken }),
  ]
}

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
