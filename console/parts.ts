// Components that views share.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { NotLoaded, Problem } from './api.ts'
import { type Child, fragment, h, part, textOf, type View } from './element.ts'
import { type Fields, fieldTitle, type Values, valuesText } from './field-values.ts'
import { words } from './format.ts'
import { FRAME } from './words.ts'

/** The colour of a state. Other states are plain. */
const TONES: Readonly<Record<string, string>> = {
  issued: 'good',
  paid: 'good',
  settled: 'good',
  sent: 'good',
  ready: 'good',
  accepted: 'good',
  accept: 'good',
  quoted: 'note',
  pending: 'note',
  waiting: 'note',
  finalized: 'note',
  draft: 'note',
  application: 'note',
  outstanding: 'warn',
  unfulfilled: 'warn',
  inGrace: 'warn',
  diverted: 'warn',
  cancelled: 'bad',
  lapsed: 'bad',
  withdrawn: 'bad',
  declined: 'bad',
  reject: 'bad',
  failed: 'bad',
  reversed: 'bad',
  invalidated: 'bad',
  dataError: 'bad',
  renderError: 'bad',
  conversionError: 'bad',
}

export const badge = (state: string, text = words(state)): View =>
  h('span', { class: `badge ${TONES[state] ?? 'plain'}` }, text)

export const emptyNote = (text: string): View => h('p', { class: 'empty' }, text)

export const loading = (what: string): View =>
  h(
    'div',
    { class: 'loading', role: 'status' },
    h('span', { class: 'hidden' }, FRAME.loading(what)),
    ...bars(),
  )

const bars = (): View[] =>
  [1, 2, 3].map(width => h('span', { class: `bar w${width}`, 'aria-hidden': 'true' }))

/** Shows an error in the service's own words, with the reference that finds it in the log. */
export function problemNote(failure: unknown, again?: () => void): View {
  const problem = failure instanceof Problem ? failure : undefined
  const missing = problem?.status === 403
  return h(
    'div',
    { class: missing ? 'notice' : 'notice bad', role: 'alert' },
    h('strong', {}, headOf(problem)),
    h('p', {}, failure instanceof Error ? failure.message : String(failure)),
    problem?.body.referenceId &&
      problem.status >= 500 &&
      h('p', { class: 'soft' }, FRAME.reference, ' ', h('code', {}, problem.body.referenceId)),
    remedy(failure, again),
  )
}

function remedy(failure: unknown, again: (() => void) | undefined): Child {
  if (failure instanceof NotLoaded)
    return h('button', { type: 'button', click: () => location.reload() }, FRAME.reload)
  const problem = failure instanceof Problem ? failure : undefined
  return again && mayPass(problem) && h('button', { type: 'button', click: again }, FRAME.tryAgain)
}

/** Whether the same request may succeed later, which it does not if it is invalid or forbidden. */
const mayPass = (problem: Problem | undefined): boolean =>
  problem === undefined ||
  problem.status === 0 ||
  [409, 429].includes(problem.status) ||
  problem.status >= 500

function headOf(problem: Problem | undefined): string {
  if (problem?.status === 403) return FRAME.forbidden
  return problem?.status === 404 ? FRAME.notFound : FRAME.failed
}

type Loading = { readonly what: string; readonly load: () => Promise<Child> }
type Loaded = { readonly content?: Child; readonly failure?: unknown; readonly isBusy: boolean }

function loadedContent({ content, failure, isBusy }: Loaded, what: string, again: () => void): Child {
  if (isBusy) return loading(what)
  return failure === undefined ? content : problemNote(failure, again)
}

function LoadedPlace({ what, load }: Loading): View {
  const place = useRef<HTMLElement>(null)
  const [state, show] = useState<Loaded>({ isBusy: true })
  const [tries, tryAgain] = useState(0)
  useLayoutEffect(() => {
    let isHere = true
    show({ isBusy: true })
    load().then(
      found => isHere && show({ content: found, isBusy: false }),
      (problem: unknown) => {
        if (!isHere || (problem instanceof Error && problem.name === 'AbortError')) return
        place.current?.dispatchEvent(new CustomEvent('failed', { bubbles: true, detail: problem }))
        show({ failure: problem, isBusy: false })
      },
    )
    return () => {
      isHere = false
    }
  }, [tries])
  return h(
    'div',
    { ref: place, 'aria-busy': state.isBusy ? 'true' : undefined },
    loadedContent(state, what, () => tryAgain(tries + 1)),
  )
}

/**
 * A place that shows the result of `load`: bars while it loads, then the content, or the error with a button to try again. It
 * loads once for as long as it stays in its place, so different content there needs a different key.
 */
export const loadedSection = (what: string, load: () => Promise<Child>, key?: string): View =>
  part(LoadedPlace, { what, load, ...(key !== undefined && { key }) })

export type Column<Row> = {
  readonly head: string
  readonly cell: (row: Row) => Child
  /** Amounts are aligned to the right. */
  readonly amount?: boolean
}

type Opening = { readonly id: string; readonly cells: readonly View[]; readonly more: () => Child }

/** The details are rendered when the row is first opened, and stay while it is closed. */
function OpeningRow({ id, cells, more }: Opening): View {
  const [isOpen, open] = useState(false)
  const [wasOpen, keep] = useState(false)
  return fragment(
    h(
      'tr',
      { class: 'opens' },
      [...cells],
      h(
        'td',
        { class: 'toggles' },
        h(
          'button',
          {
            type: 'button',
            class: 'toggle',
            'aria-expanded': String(isOpen),
            'aria-controls': id,
            'aria-label': FRAME.detailsOf(textOf(cells[0])),
            click: () => {
              keep(true)
              open(!isOpen)
            },
          },
          h('span', { 'aria-hidden': 'true' }, '›'),
        ),
      ),
    ),
    h(
      'tr',
      { class: 'detail', hidden: !isOpen, id },
      wasOpen && h('td', { colspan: cells.length + 1 }, more()),
    ),
  )
}

/**
 * A table that becomes a list of cards on a phone, each cell with its column title. With `more`, a row opens to show the result.
 */
export function table<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  more?: (row: Row) => Child,
): View {
  const body = rows.map((row, at) => {
    const cells = columns.map(({ head, cell, amount }, column) =>
      h(
        column === 0 ? 'th' : 'td',
        { ...(column === 0 && { scope: 'row' }), 'data-head': head, class: amount ? 'amount' : undefined },
        h('span', {}, cell(row)),
      ),
    )
    if (!more) return h('tr', {}, cells)
    const id = `more-${caption.replace(/\W+/g, '-').toLowerCase()}-${at}`
    return part(OpeningRow, { key: id, id, cells, more: () => more(row) })
  })
  return h(
    'div',
    { class: 'sheet' },
    h(
      'table',
      {},
      h('caption', { class: 'hidden' }, caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map(({ head, amount }) =>
            h('th', { scope: 'col', class: amount ? 'amount' : undefined }, head),
          ),
          more && h('th', { scope: 'col' }, h('span', { class: 'hidden' }, FRAME.details)),
        ),
      ),
      h('tbody', {}, body),
    ),
  )
}

/** A table of the first rows, at most `most`, and the number of the others. */
export const firstRows = <Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  most: number,
): Child => [
  table(caption, columns, rows.slice(0, most)),
  rows.length > most && h('p', { class: 'soft' }, FRAME.more(rows.length - most)),
]

/** A list of names and their values. */
export const facts = (pairs: readonly (readonly [string, Child])[]): View =>
  h(
    'dl',
    { class: 'facts' },
    pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  )

/** Titles and values of a record, without values that only refer to groups. Undefined if there are none. */
export function fieldValues(values: Values, fields: Fields, groups: object = {}): View | undefined {
  const entries = Object.entries(values).filter(
    ([, list]) => list.length > 0 && !list.every(text => text in groups),
  )
  return entries.length === 0
    ? undefined
    : facts(
        entries.map(
          ([name, list]) => [fieldTitle(fields, name), valuesText(fields.get(name), list)] as const,
        ),
      )
}

export const section = (title: string, ...children: Child[]): View =>
  h('section', { class: 'section' }, h('h2', {}, title), children)

type Unfolding = {
  readonly isOpen: boolean
  readonly summary: readonly View[]
  readonly content: () => Child
}

function Unfolded({ isOpen, summary, content }: Unfolding): View {
  const [wasOpen, keep] = useState(isOpen)
  return h(
    'details',
    {
      class: 'card node',
      open: isOpen,
      toggle: event => (event.currentTarget as HTMLDetailsElement).open && keep(true),
    },
    h('summary', {}, [...summary]),
    h('div', {}, wasOpen && content()),
  )
}

/** The content is rendered when it is first opened, because there may be thousands. */
export const collapsible = (
  key: string,
  isOpen: boolean,
  summary: readonly View[],
  content: () => Child,
): View => part(Unfolded, { key, isOpen, summary, content })
