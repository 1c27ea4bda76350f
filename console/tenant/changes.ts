// The differences between two versions of the configuration, as the interface compares them.
import { type Child, h, type View } from '../element.ts'
import { words } from '../format.ts'
import { badge, type Column, section, table } from '../parts.ts'
import type { Change, VersionChanges } from '../wire.ts'
import { TENANT, DEPLOYMENTS as WORDS } from './words.ts'

/** States whose badges have the wanted colours. */
const TONES = { added: 'ready', removed: 'failed', changed: 'pending' } as const
const EFFECT_TONES = { breaks: 'failed', binds: 'outstanding' } as const

/** Shows all changes, by product and area. */
export const changeSections = (
  { changes, count }: VersionChanges,
  nameOf: (product: string) => string,
): Child => [
  changes.length < Number(count) && h('p', { class: 'notice' }, WORDS.leftOut(changes.length, Number(count))),
  [...Map.groupBy(changes, ({ product, area }) => `${product ?? ''}\n${area}`).values()].map(some => {
    const [{ product, area }] = some as [Change]
    const of = product === undefined ? WORDS.ofAll : nameOf(product)
    return section(`${of}: ${words(area)}`, changeTable(`${of}: ${words(area)}`, some))
  }),
]

const COLUMNS: readonly Column<Change>[] = [
  { head: WORDS.subject, cell: ({ subject }) => subject },
  { head: WORDS.change, cell: ({ kind }) => badge(TONES[kind], words(kind)) },
  { head: WORDS.detail, cell: ({ detail }) => detail || '–' },
  {
    head: WORDS.policies,
    cell: ({ inForce }) =>
      inForce ? badge(EFFECT_TONES[inForce.effect], WORDS.effects[inForce.effect]) : '–',
  },
]

export const changeTable = (caption: string, changes: readonly Change[]): View =>
  table(caption, COLUMNS, changes, change => [
    h('p', { class: 'soft small' }, `${TENANT.file}: `, h('code', {}, change.path)),
    change.inForce && h('p', {}, change.inForce.why),
    change.rows && rowTable(change),
    change.moreRows && h('p', { class: 'soft' }, WORDS.moreRows(change.moreRows)),
    change.hunks?.map(hunkShown),
    change.moreHunks && h('p', { class: 'soft' }, WORDS.moreHunks(change.moreHunks)),
  ])

type Row = NonNullable<Change['rows']>[number]

const cellsOf = ({ cells, row }: Row): string =>
  cells
    ? cells
        .map(
          ({ column, from, to, percent }) =>
            `${column}: ${from} → ${to}${percent === undefined ? '' : ` (${Number(percent) > 0 ? '+' : ''}${percent} %)`}`,
        )
        .join('; ')
    : Object.entries(row ?? {})
        .map(([column, text]) => `${column}: ${text}`)
        .join('; ')

const rowTable = ({ subject, rows = [] }: Change): View =>
  table<Row>(
    `${WORDS.rows}: ${subject}`,
    [
      { head: WORDS.row, cell: ({ key }) => key.join(', ') || '–' },
      { head: WORDS.change, cell: ({ kind }) => badge(TONES[kind], words(kind)) },
      { head: WORDS.cells, cell: cellsOf },
    ],
    rows,
  )

type Hunk = NonNullable<Change['hunks']>[number]

/** Lines have signs in addition to their colours. */
const hunkShown = ({ newLine, removed, added }: Hunk): View =>
  h(
    'figure',
    { class: 'hunk' },
    h('figcaption', { class: 'soft small' }, WORDS.line(newLine)),
    h(
      'pre',
      { role: 'group', 'aria-label': WORDS.line(newLine), tabindex: 0 },
      removed.map(text => h('del', {}, `- ${text}\n`)),
      added.map(text => h('ins', {}, `+ ${text}\n`)),
    ),
  )
