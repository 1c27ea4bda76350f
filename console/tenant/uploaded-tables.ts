// Tables that are uploaded separately from the configuration: the list, their files, and the differences of a table between two
// times.
import { file, get, ownTenant, queryOf } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { choiceForm, input } from '../lists/filters.ts'
import { badge, type Column, emptyNote, facts, loadedSection, table } from '../parts.ts'
import type { Resource, ResourceList, TableDifference } from '../wire.ts'
import { addressOf, PAGE_SIZE, pagesOf, readFilters } from './address.ts'
import { downloadButton, save } from './download.ts'
import { backLine, type Opened, type Shown } from './page.ts'
import { DEPLOYMENTS, TABLES as WORDS } from './words.ts'

/** For each kind of table, the path segment of its files and the permission to read them. */
const KINDS = {
  table: { segment: 'tables', permission: 'tables.read' },
  rangeTable: { segment: 'rangeTables', permission: 'tables.read' },
  constraintTable: { segment: 'constraints', permission: 'constraints.read' },
} as const

type Kind = keyof typeof KINDS

/** Tables listed of each kind. */
const MOST_LISTED = 200

const resources = (): string => `/resource/${ownTenant()}`

export const uploadsSection = (held: ReadonlySet<string>, signal: AbortSignal): View =>
  loadedSection('the uploaded tables', async () => {
    const lists = await Promise.all(
      (Object.keys(KINDS) as Kind[]).map(kind =>
        get<ResourceList>(`${resources()}/resources/type/${kind}/list?count=${MOST_LISTED}`, signal),
      ),
    )
    const items = lists.flatMap(list => list.items)
    return [
      items.length === 0
        ? emptyNote(WORDS.noUploads)
        : table(WORDS.uploaded, COLUMNS, items, one => uploadShown(one, held)),
      lists.some(({ listCompleted }) => !listCompleted) &&
        h('p', { class: 'soft' }, WORDS.moreUploads(items.length)),
    ]
  })

const isKind = (type: string): type is Kind => Object.hasOwn(KINDS, type)

const COLUMNS: readonly Column<Resource>[] = [
  { head: WORDS.table, cell: ({ name }) => name },
  { head: WORDS.staticName, cell: ({ staticName }) => staticName ?? '–' },
  {
    head: WORDS.type,
    cell: ({ resourceType }) => (isKind(resourceType) ? WORDS.types[resourceType] : words(resourceType)),
  },
  { head: WORDS.jurisdictions, cell: ({ jurisdictions }) => jurisdictions.join(', ') || '–' },
  { head: WORDS.created, cell: ({ createdAt }) => moment(createdAt) },
]

function uploadShown(resource: Resource, held: ReadonlySet<string>): Child {
  const { name, staticName, resourceType, warnings = [] } = resource
  const { lookupTableLocator, rangeTableLocator, constraintTableLocator } = resource
  const contents = lookupTableLocator ?? rangeTableLocator ?? constraintTableLocator
  const kind = isKind(resourceType) ? KINDS[resourceType] : undefined
  return [
    facts([
      ...(contents === undefined ? [] : [[WORDS.contents, h('code', {}, contents)] as const]),
      ...(warnings.length === 0 ? [] : [[WORDS.warnings, warnings.join(' ')] as const]),
    ]),
    resourceType === 'table' &&
      staticName !== undefined &&
      held.has('tables.read') &&
      h('p', {}, h('a', { href: addressOf(['tables', 'uploaded', staticName]) }, WORDS.compare)),
    kind &&
      held.has(kind.permission) &&
      downloadButton(`${WORDS.file}: ${name}`, async () => {
        save(await file(`${resources()}/${kind.segment}/${encodeURIComponent(name)}`), `${name}.zip`)
        return undefined
      }),
  ]
}

/** `from` and `to` are times or locators of contents. */
export function differencePage(name: string, { query, signal }: Opened): Shown {
  const { from, to, page } = readFilters(query, ['from', 'to', 'page'])
  return {
    title: WORDS.compareTitle(name),
    content: [
      backLine('#/tenant/tables', WORDS.all),
      h('p', { class: 'soft' }, WORDS.compareAbout),
      choiceForm(
        [
          input('from', WORDS.earlier, from, { placeholder: WORDS.timeHint, required: true }),
          input('to', WORDS.later, to, { placeholder: WORDS.timeHint, required: true }),
        ],
        typed => addressOf(['tables', 'uploaded', name], typed),
      ),
      from !== '' &&
        to !== '' &&
        loadedSection('the differences', () => differences(name, { from, to }, page, signal)),
    ],
  }
}

type Difference = TableDifference['items'][number]

async function differences(
  name: string,
  sides: { from: string; to: string },
  page: string,
  signal: AbortSignal,
): Promise<Child> {
  const asked = queryOf({ ...sides, count: PAGE_SIZE, pagingToken: page })
  const found = await get<TableDifference>(
    `${resources()}/tables/${encodeURIComponent(name)}/diff?${asked}`,
    signal,
  )
  return [
    h('p', { class: 'soft' }, WORDS.sides(found.from.name, found.to.name)),
    found.items.length === 0 && page === '' && found.listCompleted
      ? emptyNote(WORDS.noDifference)
      : [
          table(WORDS.uploadedDifferences, DIFFERENCE_COLUMNS, found.items),
          pagesOf(['tables', 'uploaded', name], sides, page, {
            count: found.items.length,
            next: found.pagingToken,
          }),
        ],
  ]
}

const TONES = { added: 'ready', removed: 'failed', changed: 'pending' } as const

const rowText = (row: Difference['from']): string =>
  Object.entries(row ?? {})
    .map(([column, value]) => `${column}: ${value ?? ''}`)
    .join('; ')

/** For a changed row, formats only the differences. */
const cellsText = ({ from, to }: Difference): string =>
  from && to
    ? Object.keys({ ...from, ...to })
        .filter(column => from[column] !== to[column])
        .map(column => `${column}: ${from[column] ?? ''} → ${to[column] ?? ''}`)
        .join('; ')
    : rowText(from ?? to)

const DIFFERENCE_COLUMNS: readonly Column<Difference>[] = [
  { head: WORDS.key, cell: ({ key }) => key.join(', ') || '–' },
  { head: DEPLOYMENTS.change, cell: ({ change }) => badge(TONES[change], words(change)) },
  { head: DEPLOYMENTS.cells, cell: cellsText },
]
