// Pieces that views share.
import { Problem } from './api.ts'
import { type Child, fill, h } from './dom.ts'
import { dayOrMoment, words } from './format.ts'

/** Which colour a state has; any other is plain. */
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

export const badge = (state: string, text = words(state)): HTMLElement =>
  h('span', { class: `badge ${TONES[state] ?? 'plain'}` }, text)

export const empty = (text: string): HTMLElement => h('p', { class: 'empty' }, text)

export const loading = (what: string): HTMLElement =>
  h('div', { class: 'loading', role: 'status' }, h('span', { class: 'hidden' }, `Loading ${what}`), ...bars())

const bars = (): HTMLElement[] =>
  [1, 2, 3].map(width => h('span', { class: `bar w${width}`, 'aria-hidden': 'true' }))

/** What went wrong, in the service's own words, with what finds it in the log. */
export function problemNote(failure: unknown, again?: () => void): HTMLElement {
  const problem = failure instanceof Problem ? failure : undefined
  const missing = problem?.status === 403
  return h(
    'div',
    { class: missing ? 'notice' : 'notice bad', role: 'alert' },
    h(
      'strong',
      {},
      missing ? 'Not for this account' : problem?.status === 404 ? 'Not found' : 'That did not work',
    ),
    h('p', {}, failure instanceof Error ? failure.message : String(failure)),
    problem?.body.referenceId &&
      problem.status >= 500 &&
      h('p', { class: 'soft' }, 'Reference ', h('code', {}, problem.body.referenceId)),
    again &&
      !missing &&
      problem?.status !== 404 &&
      h('button', { type: 'button', click: again }, 'Try again'),
  )
}

/** A place that shows what `load` gives: bars first, then its content, or the problem with a way to try again. */
export function loaded(what: string, load: () => Promise<Child>): HTMLElement {
  const place = h('div', { 'aria-busy': 'true' })
  const run = (): void => {
    place.setAttribute('aria-busy', 'true')
    fill(place, loading(what))
    load()
      .then(content => fill(place, content))
      .catch((failure: unknown) => {
        if (failure instanceof Error && failure.name === 'AbortError') return
        if (place.isConnected)
          place.dispatchEvent(new CustomEvent('failed', { bubbles: true, detail: failure }))
        fill(place, problemNote(failure, run))
      })
      .finally(() => place.removeAttribute('aria-busy'))
  }
  run()
  return place
}

export type Column<Row> = {
  readonly head: string
  readonly cell: (row: Row) => Child
  /** Amounts stand at the right. */
  readonly amount?: boolean
}

/**
 * A table that on a phone becomes a list of cards, each cell with its head. With `more`, a row opens to show what that
 * gives.
 */
export function table<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  more?: (row: Row) => Child,
): HTMLElement {
  const body = rows.map((row, at) => {
    const cells = columns.map(({ head, cell, amount }, column) => {
      const content = cell(row)
      return h(
        column === 0 ? 'th' : 'td',
        { ...(column === 0 && { scope: 'row' }), 'data-head': head, class: amount ? 'amount' : undefined },
        h('span', {}, content),
      )
    })
    if (!more) return h('tr', {}, cells)
    const id = `more-${caption.replace(/\W+/g, '-').toLowerCase()}-${at}`
    const detail = h('tr', { class: 'detail', hidden: true, id })
    const toggle = h(
      'button',
      {
        type: 'button',
        class: 'toggle',
        'aria-expanded': 'false',
        'aria-controls': id,
        'aria-label': `Details of ${cells[0]!.textContent}`,
        click: () => {
          const opens = detail.hidden
          if (opens && !detail.firstChild) detail.append(h('td', { colspan: columns.length + 1 }, more(row)))
          detail.hidden = !opens
          toggle.setAttribute('aria-expanded', String(opens))
        },
      },
      h('span', { 'aria-hidden': 'true' }, '›'),
    )
    return [h('tr', { class: 'opens' }, cells, h('td', { class: 'toggles' }, toggle)), detail]
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
          more && h('th', { scope: 'col' }, h('span', { class: 'hidden' }, 'Details')),
        ),
      ),
      h('tbody', {}, body),
    ),
  )
}

/** Names and what they are. */
export const facts = (pairs: readonly (readonly [string, Child])[]): HTMLElement =>
  h(
    'dl',
    { class: 'facts' },
    pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  )

/** Names of fields that hold times, which come as milliseconds. */
const TIME_FIELD = /date|birth|registration|since|until|month|_(?:at|on|from|to)$/i

function valueText(name: string, text: string): string {
  if (TIME_FIELD.test(name) && /^-?\d{9,14}$/.test(text)) return dayOrMoment(text)
  return /^[a-z]+(?:_[a-z]+)+$/.test(text) ? words(text) : text
}

/** Field values of a record, in words, without those that only name groups; undefined of none. */
export function fieldValues(
  values: Readonly<Record<string, string[]>>,
  groups: Readonly<Record<string, unknown>> = {},
): HTMLElement | undefined {
  const entries = Object.entries(values).filter(
    ([, list]) => list.length > 0 && !list.every(text => text in groups),
  )
  return entries.length === 0
    ? undefined
    : facts(
        entries.map(
          ([name, list]) => [words(name), list.map(text => valueText(name, text)).join(', ')] as const,
        ),
      )
}

export const section = (title: string, ...children: Child[]): HTMLElement =>
  h('section', { class: 'section' }, h('h2', {}, title), children)
