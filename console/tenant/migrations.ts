// The list of migrations, and a page for each that updates until the migration has ended, with its failures and their reasons.

import { actionButtons } from '../action-buttons.ts'
import { get, ownTenant, queryOf } from '../api.ts'
import { type Child, h, part, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { addressedList, choiceFault } from '../lists/address-list.ts'
import { choiceForm, type Option, select } from '../lists/filters.ts'
import { badge, type Column, emptyNote, facts, loadedSection, problemNote, section, table } from '../parts.ts'
import type { Migration, MigrationFailures, MigrationList, MigrationSummary } from '../wire.ts'
import { addressOf, PAGE_SIZE, pagesOf, readFilters } from './address.ts'
import { downloadButton, save } from './download.ts'
import { csvOf, type FailureLine, failureLines } from './failure-lines.ts'
import { accountsOf } from './migrated-accounts.ts'
import { backLine, confirmButton, type Opened, type Shown } from './page.ts'
import { usePolling } from './polling.ts'
import { PAGES, TENANT, MIGRATIONS as WORDS } from './words.ts'

export const migrationsPage = (opened: Opened): Shown | Promise<Shown> => {
  const [locator] = opened.rest
  return locator === undefined ? listed(opened) : migrationPage(locator, opened)
}

const runs = (): string => `/migration/${ownTenant()}/migrations`

const stateBadge = (state: Migration['migrationState']): View => badge(TONES[state], words(state))

const TONES: Readonly<Record<Migration['migrationState'], string>> = {
  submitted: 'waiting',
  processing: 'pending',
  paused: 'diverted',
  finished: 'issued',
  failed: 'failed',
  error: 'failed',
}

const OPEN_OPTIONS: readonly Option[] = [['true', WORDS.open]]

function listed({ query, signal, held }: Opened): Shown {
  const chosen = readFilters(query, ['open'])
  const from = query.get('page') ?? ''
  return {
    title: PAGES.migrations.title,
    content: [
      backLine(undefined),
      choiceForm([select('open', WORDS.which, OPEN_OPTIONS, chosen.open)], typed =>
        addressOf(['migrations'], typed),
      ),
      addressedList({
        what: 'the migrations',
        faults: [choiceFault(WORDS.which, OPEN_OPTIONS, chosen.open)],
        from,
        whole: addressOf(['migrations']),
        firstPage: addressOf(['migrations'], chosen),
        async load() {
          const asked = queryOf({ ...chosen, pageSize: PAGE_SIZE, pagingToken: from })
          const { items, pagingToken } = await get<MigrationList>(`${runs()}/list?${asked}`, signal)
          if (items.length === 0 && from === '' && pagingToken === undefined)
            return emptyNote(chosen.open === '' ? WORDS.none : WORDS.noneOpen)
          return [
            items.length > 0 && table(PAGES.migrations.title, columns(held.has('migration.read')), items),
            pagesOf(['migrations'], chosen, from, { count: items.length, next: pagingToken }),
          ]
        },
      }),
    ],
  }
}

const columns = (mayRead: boolean): readonly Column<MigrationSummary>[] => [
  {
    head: WORDS.migration,
    cell: ({ locator }) =>
      h(
        mayRead ? 'a' : 'span',
        mayRead ? { href: addressOf(['migrations', locator]) } : {},
        h('code', {}, locator),
      ),
  },
  { head: TENANT.state, cell: ({ migrationState }) => stateBadge(migrationState) },
  { head: WORDS.accounts, amount: true, cell: ({ totalAccounts }) => Number(totalAccounts).toLocaleString() },
  { head: WORDS.mode, cell: ({ validateOnly }) => (validateOnly ? WORDS.checksOnly : WORDS.writes) },
  { head: WORDS.by, cell: ({ username }) => username },
  { head: WORDS.submitted, cell: ({ createdAt }) => moment(createdAt) },
  { head: WORDS.changed, cell: ({ updatedAt }) => moment(updatedAt) },
]

async function migrationPage(locator: string, { query, signal, held }: Opened): Promise<Shown> {
  const path = `${runs()}/${encodeURIComponent(locator)}`
  const migration = await get<Migration>(path, signal)
  return {
    title: [WORDS.migration, ' ', h('code', {}, migration.locator)],
    content: [
      backLine('#/tenant/migrations', WORDS.all),
      part(Progress, { first: migration, path, held, signal }),
      section(WORDS.accounts, accountsOf(path, locator, query.get('page'), signal)),
    ],
  }
}

const POLL_MS = 1_500
/** For a paused migration, which another user may resume. */
const POLL_PAUSED_MS = 10_000

const pauseMs = ({ migrationState: state }: Migration): number | undefined => {
  if (state === 'submitted' || state === 'processing') return POLL_MS
  return state === 'paused' ? POLL_PAUSED_MS : undefined
}

type ProgressShown = {
  readonly first: Migration
  readonly path: string
  readonly held: ReadonlySet<string>
  readonly signal: AbortSignal
}

function Progress({ first, path, held, signal }: ProgressShown): View {
  const { value: migration, failure } = usePolling(first, () => get<Migration>(path, signal), pauseMs)
  const { migrationState, accounts, totalAccounts } = migration
  const ended = Number(accounts.completed) + Number(accounts.failed) + Number(accounts.error)
  const failed = Number(accounts.failed) + Number(accounts.error)
  return h(
    'div',
    { class: 'migration', 'data-state': migrationState },
    failure !== undefined && problemNote(failure),
    section(
      WORDS.progress,
      // Screen readers announce only changes of the state, and not each count.
      h('p', { role: 'status' }, stateBadge(migrationState)),
      h('progress', { max: Number(totalAccounts), value: ended, 'aria-label': WORDS.progress }),
      h('p', {}, WORDS.progressText(ended, Number(totalAccounts))),
      factsOf(migration),
      pauseMs(migration) !== undefined && h('p', { class: 'soft small' }, WORDS.watching),
      actionButtons(deedsOf(migration, path), held),
    ),
    section(
      WORDS.failures,
      failed === 0
        ? emptyNote(WORDS.noFailures)
        : loadedSection('the failures', () => failuresOf(path, failed, signal), String(failed)),
    ),
  )
}

function factsOf({
  migrationType,
  validateOnly,
  accounts,
  accountsPerSecond,
  secondsLeft,
  ...rest
}: Migration): View {
  const pairs: (readonly [string, Child] | false)[] = [
    [WORDS.type, WORDS.types[migrationType]],
    [WORDS.mode, validateOnly ? WORDS.checksOnly : WORDS.writes],
    ...COUNTED.map((name): [string, Child] => [WORDS.counts[name], Number(accounts[name]).toLocaleString()]),
    accountsPerSecond !== undefined && [WORDS.rate, Number(accountsPerSecond).toFixed(1)],
    secondsLeft !== undefined && [WORDS.left, WORDS.leftText(Number(secondsLeft))],
    [WORDS.submitted, moment(rest.createdAt)],
    [WORDS.changed, moment(rest.updatedAt)],
  ]
  return facts(pairs.filter(pair => pair !== false))
}

const COUNTED = ['pending', 'processing', 'completed', 'failed', 'error'] as const

function deedsOf({ migrationState: state }: Migration, path: string) {
  const common = { permissions: ['migration.write'], method: 'PATCH' }
  if (state === 'submitted' || state === 'processing')
    return [
      confirmButton({
        ...common,
        path: `${path}/pause`,
        text: WORDS.pause,
        title: WORDS.pause,
        about: WORDS.pauseAbout,
        done: WORDS.isPaused,
      }),
    ]
  if (state === 'paused')
    return [
      confirmButton({
        ...common,
        path: `${path}/resume`,
        text: WORDS.resume,
        title: WORDS.resume,
        about: WORDS.resumeAbout,
        done: WORDS.isResumed,
      }),
    ]
  if (state !== 'error') return []
  return [
    confirmButton({
      ...common,
      path: `${path}/recover`,
      text: WORDS.recover,
      title: WORDS.recover,
      about: WORDS.recoverAbout,
      done: WORDS.isRecovered,
    }),
  ]
}

/** Accounts whose failures are shown. */
const SHOWN_ACCOUNTS = 50

/** The largest number of accounts whose failures a file contains. Each account may have thousands of items. */
const MOST_IN_FILE = 10_000
const FILE_PAGE = 100

type FailureList = { readonly items: readonly MigrationFailures[]; readonly listCompleted: boolean }

const failurePage = (
  path: string,
  offset: number,
  count: number,
  signal?: AbortSignal,
): Promise<FailureList> => get<FailureList>(`${path}/failures/list?${queryOf({ offset, count })}`, signal)

async function failuresOf(path: string, failed: number, signal: AbortSignal): Promise<Child> {
  const { items } = await failurePage(path, 0, SHOWN_ACCOUNTS, signal)
  return [
    table(WORDS.failures, FAILURE_COLUMNS, failureLines(items)),
    items.length < failed && h('p', { class: 'soft' }, WORDS.firstAccounts(items.length, failed)),
    h('p', { class: 'soft small' }, WORDS.fileAbout),
    downloadButton(WORDS.downloadFailures, () => saveFailures(path)),
  ]
}

const FAILURE_COLUMNS: readonly Column<FailureLine>[] = [
  { head: WORDS.account, cell: ({ account }) => account },
  { head: WORDS.item, cell: ({ kind, item }) => `${WORDS.kinds[kind]} ${item}` },
  { head: WORDS.place, cell: ({ place }) => h('code', {}, place) },
  { head: WORDS.reason, cell: ({ reason }) => reason },
]

/** Reads the pages one after the other, and saves their failures as a file. */
async function saveFailures(path: string): Promise<Child> {
  const lines: FailureLine[] = []
  let read = 0
  let isCut = false
  for (let isDone = false; !isDone && !isCut; ) {
    const { items, listCompleted } = await failurePage(path, read, FILE_PAGE)
    lines.push(...failureLines(items))
    read += items.length
    isDone = listCompleted || items.length === 0
    isCut = !isDone && read >= MOST_IN_FILE
  }
  save(new Blob([csvOf(lines)], { type: 'text/csv' }), 'failures.csv')
  return isCut ? WORDS.cut(read) : undefined
}
