// Tables: those of the configuration by version, with the differences between two versions, and uploaded tables.
import { get, queryOf } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { displayNames } from '../find.ts'
import { words } from '../format.ts'
import { choiceForm, type Option, select } from '../lists/filters.ts'
import { type Column, emptyNote, loadedSection, section, table } from '../parts.ts'
import type { Deployment, VersionChanges } from '../wire.ts'
import { addressOf, readFilters } from './address.ts'
import { type ArchiveEntry, entriesOf, isTable, productOf, rowsOf, tableName } from './archive.ts'
import { changeTable } from './changes.ts'
import { versionsDeployed, versionsOf } from './deployments.ts'
import { backLine, mayAny, type Opened, type Shown } from './page.ts'
import { differencePage, uploadsSection } from './uploaded-tables.ts'
import { DEPLOYMENTS, PAGES, TABLES as WORDS } from './words.ts'

/** The address after the page is `configuration` with a version and a path, or `uploaded` with a static name. */
export const tablesPage = (opened: Opened): Shown | Promise<Shown> => {
  const [kind, name] = opened.rest
  if (kind === 'configuration') return rowsPage(opened)
  if (kind === 'uploaded' && name !== undefined) return differencePage(name, opened)
  return listed(opened)
}

const listed = ({ query, signal, held }: Opened): Shown => ({
  title: PAGES.tables.title,
  content: [
    backLine(undefined),
    mayAny(held, 'deployments.download') &&
      section(
        WORDS.ofConfiguration,
        loadedSection('the tables of the configuration', () => ofConfiguration(query, signal)),
      ),
    mayAny(held, 'resources.list') && section(WORDS.uploaded, uploadsSection(held, signal)),
  ],
})

/** Reads the archive that is in force for the version. Its address is a temporary secret and is not kept. */
async function archiveOf(version: string, signal: AbortSignal): Promise<ArchiveEntry[]> {
  const { url } = await get<Deployment>(`/deployments/${encodeURIComponent(version)}`, signal)
  const answer = await fetch(url, { signal, cache: 'no-store', credentials: 'omit' })
  if (!answer.ok) throw new Error(DEPLOYMENTS.noArchiveStatus(answer.status))
  return entriesOf(new Uint8Array(await answer.arrayBuffer()))
}

type Names = ReadonlyMap<string, string>

const productName = (names: Names, product: string): string =>
  product === '' ? DEPLOYMENTS.ofAll : (names.get(product) ?? words(product))

async function ofConfiguration(query: URLSearchParams, signal: AbortSignal): Promise<Child> {
  const chosen = readFilters(query, ['version', 'since'])
  const versions = versionsOf(await versionsDeployed(signal))
  const [newest] = versions
  if (newest === undefined) return emptyNote(DEPLOYMENTS.none)
  const version = versions.includes(chosen.version) ? chosen.version : newest
  const since = versions.includes(chosen.since) ? chosen.since : ''
  const [entries, names] = await Promise.all([archiveOf(version, signal), displayNames()])
  const tables = await Promise.all(
    entries.filter(isTable).map(async ({ path, text }) => ({ path, rows: rowsOf(await text()) })),
  )
  return [
    versionForm(versions, version, since),
    since !== '' &&
      loadedSection('the differences', () => differences(version, since, names, signal), version + since),
    h('h3', {}, WORDS.list(version)),
    tables.length === 0
      ? emptyNote(WORDS.noTables)
      : table<(typeof tables)[number]>(
          WORDS.list(version),
          [
            {
              head: WORDS.table,
              cell: ({ path }) =>
                h('a', { href: addressOf(['tables', 'configuration'], { version, path }) }, tableName(path)),
            },
            { head: WORDS.product, cell: ({ path }) => productName(names, productOf(path)) },
            { head: WORDS.columns, cell: ({ rows }) => (rows[0] ?? []).join(', ') },
            {
              head: WORDS.rowCount,
              amount: true,
              cell: ({ rows }) => Math.max(0, rows.length - 1).toLocaleString(),
            },
          ],
          tables,
        ),
  ]
}

const versionForm = (versions: readonly string[], version: string, since: string): View => {
  const options = versions.map((one): Option => [one, DEPLOYMENTS.versionNamed(one)])
  return choiceForm(
    [
      select('version', WORDS.ofVersion, options.slice(1), version, DEPLOYMENTS.versionNamed(versions[0]!)),
      select('since', WORDS.compareWith, options, since, '–'),
    ],
    typed => addressOf(['tables'], typed),
  )
}

/** The interface compares a later version with an earlier one, so the two are sorted. */
async function differences(one: string, other: string, names: Names, signal: AbortSignal): Promise<Child> {
  const [since, version] = [one, other].sort((a, b) => Number(a) - Number(b)) as [string, string]
  const title = h('h3', {}, WORDS.differences(since, version))
  if (since === version) return [title, emptyNote(WORDS.same)]
  const path = `/deployments/${encodeURIComponent(version)}/changes?${queryOf({ since })}`
  const { changes, count } = await get<VersionChanges>(path, signal)
  const ofTables = changes.filter(({ area }) => area === 'tables')
  return [
    title,
    changes.length < Number(count) &&
      h('p', { class: 'notice' }, DEPLOYMENTS.leftOut(changes.length, Number(count))),
    ofTables.length === 0
      ? emptyNote(WORDS.same)
      : [...Map.groupBy(ofTables, ({ product = '' }) => product)].map(([product, some]) => [
          h('h4', {}, productName(names, product)),
          changeTable(`${WORDS.differences(since, version)}: ${productName(names, product)}`, some),
        ]),
  ]
}

/** Further rows are only in the archive. */
const MOST_ROWS = 500

async function rowsPage({ query, signal, held }: Opened): Promise<Shown> {
  const { version, path } = readFilters(query, ['version', 'path'])
  const back = backLine(addressOf(['tables'], { version }), WORDS.all)
  const entry = held.has('deployments.download')
    ? (await archiveOf(version || 'latest', signal)).find(one => one.path === path && isTable(one))
    : undefined
  if (!entry) return { title: PAGES.tables.title, content: [back, emptyNote(WORDS.noSuchTable)] }
  const [head = [], ...rows] = rowsOf(await entry.text())
  const name = tableName(path)
  return {
    title: name,
    content: [
      back,
      h('p', { class: 'soft small' }, DEPLOYMENTS.versionNamed(version), ': ', h('code', {}, path)),
      table(
        WORDS.rowsOf(name),
        head.map((column, at): Column<string[]> => ({ head: column, cell: row => row[at] ?? '' })),
        rows.slice(0, MOST_ROWS),
      ),
      rows.length > MOST_ROWS && h('p', { class: 'soft' }, WORDS.firstRows(MOST_ROWS, rows.length)),
    ],
  }
}
