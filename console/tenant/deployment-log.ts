// The log of deploys and repairs, including rejected ones, and a page for each entry with its steps, findings and changes.
import { get, queryOf } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { displayNames } from '../find.ts'
import { moment, words } from '../format.ts'
import { addressedList, choiceFault } from '../lists/address-list.ts'
import { choiceForm, type Option, select } from '../lists/filters.ts'
import { badge, type Column, emptyNote, facts, loadedSection, section, table } from '../parts.ts'
import type { DeploymentEntry, DeploymentLog, DeploymentLogPage, VersionChanges } from '../wire.ts'
import { addressOf, PAGE_SIZE, pagesOf } from './address.ts'
import { changeSections } from './changes.ts'
import { backLine, type Opened, type Shown } from './page.ts'
import { TENANT, LOG as WORDS, DEPLOYMENTS as WORDS_OF_VERSIONS } from './words.ts'

const LOG = '/deployments/log'

const REFUSED_OPTIONS: readonly Option[] = [['true', WORDS.onlyRefused]]

export const logSection = ({ query, signal, held }: Opened): View => {
  const refused = query.get('refused') ?? ''
  const from = query.get('page') ?? ''
  return section(
    WORDS.log,
    choiceForm([select('refused', WORDS.which, REFUSED_OPTIONS, refused)], chosen =>
      addressOf(['deployments'], chosen),
    ),
    addressedList({
      what: WORDS.loads,
      faults: [choiceFault(WORDS.which, REFUSED_OPTIONS, refused)],
      from,
      whole: addressOf(['deployments']),
      firstPage: addressOf(['deployments'], { refused }),
      async load() {
        const asked = queryOf({ refused, pageSize: PAGE_SIZE, pagingToken: from })
        const { entries, pagingToken } = await get<DeploymentLogPage>(`${LOG}/list?${asked}`, signal)
        if (entries.length === 0 && from === '') return emptyNote(WORDS.none)
        return [
          entries.length > 0 && logTable(entries, held),
          pagesOf(['deployments'], { refused }, from, { count: entries.length, next: pagingToken }),
        ]
      },
    }),
  )
}

/** Shows the entries of one version. */
export async function logOfVersion(
  version: string,
  held: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Child> {
  const asked = queryOf({ version, pageSize: PAGE_SIZE })
  const { entries } = await get<DeploymentLogPage>(`${LOG}/list?${asked}`, signal)
  return entries.length === 0 ? emptyNote(WORDS.none) : logTable(entries, held)
}

const logTable = (entries: readonly DeploymentEntry[], held: ReadonlySet<string>): View =>
  table(WORDS.log, columns(held.has('deployments.download')), entries)

const columns = (mayRead: boolean): readonly Column<DeploymentEntry>[] => [
  {
    head: TENANT.when,
    cell: ({ locator, timestamp }) =>
      mayRead
        ? h('a', { href: addressOf(['deployments', 'log', locator]) }, moment(timestamp))
        : moment(timestamp),
  },
  { head: WORDS_OF_VERSIONS.kind, cell: ({ kind }) => WORDS_OF_VERSIONS.kinds[kind] },
  { head: WORDS.outcome, cell: ({ outcome }) => outcomeBadge(outcome) },
  { head: WORDS_OF_VERSIONS.version, cell: ({ version }) => version ?? '–' },
  { head: WORDS.found, cell: ({ errors, warnings }) => WORDS.foundText(Number(errors), Number(warnings)) },
  { head: TENANT.by, cell: ({ username }) => username },
]

const outcomeBadge = (outcome: DeploymentEntry['outcome']): View =>
  badge(outcome === 'deployed' ? 'issued' : 'failed', WORDS.outcomes[outcome])

export async function logEntryPage(locator: string, { signal }: Opened): Promise<Shown> {
  const path = `${LOG}/${encodeURIComponent(locator)}`
  const entry = await get<DeploymentLog>(path, signal)
  const { kind, outcome, version, errors, warnings, findings } = entry
  const left = Number(errors) + Number(warnings) - findings.length
  return {
    title: [WORDS_OF_VERSIONS.kinds[kind], ' ', outcomeBadge(outcome)],
    content: [
      backLine('#/tenant/deployments', WORDS_OF_VERSIONS.all),
      facts([
        [TENANT.when, moment(entry.timestamp)],
        [TENANT.by, entry.username],
        [WORDS_OF_VERSIONS.version, version ?? '–'],
        [WORDS.route, h('code', {}, entry.route)],
        [WORDS.request, h('code', {}, entry.requestId)],
        [WORDS_OF_VERSIONS.hash, entry.hash === undefined ? '–' : h('code', {}, entry.hash)],
      ]),
      section(WORDS.steps, table(WORDS.steps, STEP_COLUMNS, entry.steps)),
      section(
        WORDS.findings,
        findings.length === 0
          ? emptyNote(WORDS.noFindings)
          : table(WORDS.findings, FINDING_COLUMNS, findings),
        left > 0 && h('p', { class: 'soft' }, WORDS.moreFindings(left)),
      ),
      outcome === 'deployed' &&
        section(
          WORDS_OF_VERSIONS.changes,
          loadedSection(WORDS_OF_VERSIONS.loadsChanges, () => changed(path, signal)),
        ),
    ],
  }
}

async function changed(path: string, signal: AbortSignal): Promise<Child> {
  const [changes, names] = await Promise.all([get<VersionChanges>(`${path}/changes`, signal), displayNames()])
  return Number(changes.count) === 0
    ? emptyNote(WORDS.noChanges)
    : changeSections(changes, product => names.get(product) ?? words(product))
}

type Step = DeploymentLog['steps'][number]

const STEP_COLUMNS: readonly Column<Step>[] = [
  { head: WORDS.step, cell: ({ step }) => WORDS.stepNames[step] },
  {
    head: WORDS.counted,
    cell: ({ counts }) =>
      Object.entries(counts)
        .map(([name, count]) => `${words(name)}: ${Number(count).toLocaleString()}`)
        .join(', ') || '–',
  },
]

const FINDING_COLUMNS: readonly Column<DeploymentLog['findings'][number]>[] = [
  {
    head: WORDS.finding,
    cell: ({ severity, code }) => [
      badge(severity === 'ERROR' ? 'failed' : 'outstanding', WORDS.severities[severity]),
      ' ',
      h('code', {}, code),
    ],
  },
  {
    head: WORDS.place,
    cell: ({ path, line, column }) =>
      h('code', {}, [path, line, column].filter(part => part !== undefined).join(':')),
  },
  { head: WORDS.message, cell: ({ message }) => message },
]
