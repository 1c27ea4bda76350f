// The page of a work list: its title and count, its filters, and one page of records.
import { type Child, h, part, type View } from '../element.ts'
import { displayNames } from '../find.ts'
import { dayOrMoment, money, words } from '../format.ts'
import { lazyHolderName } from '../holder-name.ts'
import { badge, type Column, emptyNote, table } from '../parts.ts'
import { policyColumns } from '../policy-table.ts'
import { usePromise } from '../use-promise.ts'
import type { FailedDelivery, MigrationSummary, WorkItem } from '../wire.ts'
import { addressedList } from './address-list.ts'
import {
  addressOf,
  type Choice,
  type Counted,
  choiceOf,
  deliveryPage,
  isChosen,
  isList,
  isOfPolicies,
  migrationPage,
  policyPage,
  workCounts,
  workPage,
} from './ask.ts'
import { choiceFaults, filterForm } from './filters.ts'
import { pageLinks } from './pages.ts'
import { type ListName, WORDS, WORK_LISTS } from './words.ts'

export function workView(name: string, query: URLSearchParams, signal: AbortSignal): View {
  if (!isList(name))
    return h(
      'div',
      {},
      h('h1', { tabindex: -1 }, WORDS.work),
      emptyNote(WORDS.notAList),
      h('p', {}, h('a', { href: '#/' }, WORDS.allWork)),
    )
  const choice = choiceOf(name, query)
  const { title, about } = WORK_LISTS[name]
  const asked =
    isOfPolicies(name) && !choice.type && !choice.days
      ? workCounts(choice.product, signal).then(counts => counts.get(name))
      : undefined
  return h(
    'div',
    { class: 'work-list' },
    h('p', { class: 'small' }, h('a', { href: '#/' }, WORDS.allWork)),
    h('h1', { tabindex: -1 }, title, ' ', asked && part(Count, { asked })),
    h('p', { class: 'soft' }, about),
    filterForm(choice),
    addressedList({
      what: 'the list',
      faults: choiceFaults(choice),
      from: choice.from,
      whole: `#/work/${name}`,
      firstPage: addressOf(choice, { from: '' }),
      load: () => content(choice, signal),
    }),
  )
}

/** Shows nothing if the request fails: the list itself reports the failure. */
function Count({ asked }: { asked: Promise<Counted | undefined> }): View | null {
  const { value } = usePromise(asked)
  return value ? h('span', { class: 'badge plain' }, WORDS.count(value.count, value.hasMore)) : null
}

async function content(choice: Choice, signal: AbortSignal): Promise<Child> {
  const { list } = choice
  if (list === 'deliveries') return listTable(choice, await deliveryPage(choice, signal), DELIVERIES)
  if (list === 'migrations') return listTable(choice, await migrationPage(choice, signal), MIGRATIONS)
  if (list === 'policies') {
    const [page, names] = await Promise.all([policyPage(choice, signal), displayNames()])
    return listTable(
      choice,
      page,
      policyColumns(names, locator => lazyHolderName(locator)),
    )
  }
  const [page, names] = await Promise.all([workPage(choice, signal), displayNames()])
  return listTable(choice, page, workColumns(list, names))
}

function listTable<Row>(
  choice: Choice,
  { items, next }: { items: readonly Row[]; next: string | undefined },
  columns: readonly Column<Row>[],
): Child {
  const { title, none } = WORK_LISTS[choice.list]
  if (items.length === 0 && next === undefined && choice.from === '')
    return isChosen(choice)
      ? [emptyNote(WORDS.noneChosen), h('p', {}, h('a', { href: `#/work/${choice.list}` }, WORDS.showAll))]
      : emptyNote(none)
  return [
    items.length > 0 && table(title, columns, items),
    pageLinks(
      items.length,
      choice.from === '' ? undefined : addressOf(choice, { from: '' }),
      next === undefined ? undefined : addressOf(choice, { from: next }),
    ),
  ]
}

/** The tab of the policy's page that shows the record. */
const TAB_OF: Readonly<Record<WorkItem['recordType'], string>> = {
  quote: '/quotes',
  endorsement: '/transactions',
  renewal: '/transactions',
  cancellation: '/transactions',
  policy: '',
  invoice: '/billing',
  gracePeriod: '/billing',
  lapse: '/billing',
  document: '/documents',
}

function recordName({ recordType, name = '', locator }: WorkItem): string {
  const kind = words(recordType)
  if (recordType === 'policy') return `${kind} ${locator}`
  // A quote is called "quote 1" unless somebody has renamed it.
  return words(name).startsWith(kind) ? words(name) : `${kind} ${words(name)}`
}

const recordLink = (item: WorkItem): View =>
  h(
    'a',
    { href: `#/policy/${encodeURIComponent(item.policyLocator)}${TAB_OF[item.recordType]}` },
    recordName(item).trim(),
  )

function workColumns(list: ListName, names: ReadonlyMap<string, string>): Column<WorkItem>[] {
  const hasNotes = list === 'referred' || list === 'failedDocuments'
  return [
    { head: WORDS.record, cell: recordLink },
    ...(list === 'expiring'
      ? []
      : [{ head: WORDS.policy, cell: ({ policyLocator }: WorkItem) => h('code', {}, policyLocator) }]),
    { head: WORDS.policyholder, cell: ({ policyholderLocator }) => lazyHolderName(policyholderLocator) },
    { head: WORDS.product, cell: ({ productName }) => names.get(productName) ?? words(productName) },
    { head: WORDS.state, cell: ({ policyState }) => badge(policyState) },
    { head: WORK_LISTS[list].when, cell: ({ timestamp }) => dayOrMoment(timestamp) },
    ...(hasNotes ? [{ head: WORDS.notes, cell: ({ notes }: WorkItem) => notes.join(' ') || '–' }] : []),
    {
      head: WORDS.premium,
      amount: true,
      cell: ({ grossPremium, grossPremiumCurrency }) => money(grossPremium, grossPremiumCurrency),
    },
  ]
}

const DELIVERIES: readonly Column<FailedDelivery>[] = [
  {
    head: WORDS.webhook,
    cell: ({ webhookLocator, webhookName, state }) =>
      h('a', { href: `#/tenant/webhooks/${webhookLocator}?state=${state}` }, webhookName),
  },
  {
    head: WORDS.event,
    cell: ({ eventType, eventTimestamp }) => `${eventType}, ${dayOrMoment(eventTimestamp)}`,
  },
  { head: WORDS.state, cell: ({ state }) => badge(state) },
  { head: WORDS.outcome, cell: ({ outcome }) => outcome ?? '–' },
  {
    head: WORK_LISTS.deliveries.when,
    cell: ({ finishedAt }) => (finishedAt ? dayOrMoment(finishedAt) : '–'),
  },
]

const MIGRATIONS: readonly Column<MigrationSummary>[] = [
  {
    head: WORDS.migration,
    cell: ({ locator }) => h('a', { href: `#/tenant/migrations/${locator}` }, h('code', {}, locator)),
  },
  { head: WORDS.state, cell: ({ migrationState }) => badge(migrationState) },
  { head: WORDS.accounts, amount: true, cell: ({ totalAccounts }) => Number(totalAccounts).toLocaleString() },
  { head: WORDS.submittedBy, cell: ({ username }) => username },
  { head: WORK_LISTS.migrations.when, cell: ({ updatedAt }) => dayOrMoment(updatedAt) },
]
