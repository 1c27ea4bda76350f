// The picture of a policy in two times: effective time from left to right, knowledge from the bottom up. A segment is as
// wide as it holds and as high as it was known. Below it, on the same axis, what the cover costs a day.
import { marks } from '../calendar.ts'
import { h, s } from '../dom.ts'
import { moment, money, shortDay, span, transaction } from '../format.ts'
import { type History, type KnownSegment, knownAt, premiumAt } from '../knowledge.ts'
import { session } from '../session.ts'
import type { Modification, Policy } from '../wire.ts'
import {
  AXIS,
  type Layout,
  LEAST_ROW,
  RATE,
  RATE_GAP,
  ROW,
  ROW_OF_TWO_LINES,
  TALLEST,
  TOP,
} from './layout.ts'
import { drawRate } from './rate.ts'

/** A point of the picture: a time of effect, and a step of knowledge. */
export type Point = { readonly asOf: number; readonly step: number }

/** What kind of transaction made a segment, as its colour. */
export function kindOf({ maker }: KnownSegment): string {
  const name = maker?.name ?? ''
  if (name.endsWith('.create')) return 'create'
  if (name.endsWith('.renew')) return 'renew'
  if (/\.(?:cancel|withdraw|lapse)$/.test(name)) return 'cancel'
  if (name.endsWith('.reinstate')) return 'reinstate'
  return 'endorse'
}

export type Chart = {
  readonly element: HTMLElement
  /** Moves the cross hair, without telling anybody. */
  show(point: Point): void
  /** Draws it as wide as its place now is. */
  draw(): void
}

/** The picture; `moved` when somebody points at another place of it. */
export function chart(policy: Policy, history: History, moved: (point: Point) => void): Chart {
  const currency = policy.grossFeesCurrency
  const zone = session()?.timeZone ?? 'UTC'
  const { steps, segments, start, end } = history
  const place = h('div', { class: 'chart' })
  const tip = h('div', { class: 'tip', role: 'tooltip', id: 'chart-tip', hidden: true })
  const element = h('div', { class: 'chart-frame' }, place, tip)
  let point: Point = { asOf: start, step: steps.length - 1 }
  let focused = segments.at(-1)?.segment.locator
  let layout: Layout | undefined
  const rowHeight = Math.min(ROW, Math.max(LEAST_ROW, Math.floor(TALLEST / steps.length)))
  const isLow = rowHeight < ROW_OF_TWO_LINES

  const describe = ({ segment, from, to }: KnownSegment): string => {
    const since = steps[from]!.at
    const until = to < steps.length ? steps[to]!.at : undefined
    const known =
      since === undefined
        ? 'not issued'
        : `known from ${moment(since)}${until === undefined ? ' until now' : ` until ${moment(until)}`}`
    return `${span(segment.startTimestamp, segment.endTimestamp)}, ${known}`
  }
  const title = (known: KnownSegment): string =>
    `${known.maker ? transaction(known.maker.name) : 'Segment'}: ${money(known.segment.grossPremium, currency)}`

  const choose = (known: KnownSegment, step = known.from): void => {
    const middle = Math.floor((known.start + known.end) / 2)
    const asOf = point.asOf >= known.start && point.asOf < known.end ? point.asOf : middle
    moved({ asOf, step: Math.min(Math.max(step, known.from), known.to - 1) })
  }
  const focusOn = (known: KnownSegment | undefined): void => {
    if (!known) return
    focused = known.segment.locator
    for (const node of place.querySelectorAll<SVGElement>('[data-segment]'))
      node.setAttribute('tabindex', node.dataset.segment === focused ? '0' : '-1')
    place.querySelector<SVGElement>(`[data-segment="${CSS.escape(focused)}"]`)?.focus()
  }

  /** Left and right along what was known together, up and down to what was known later and before. */
  const walk = (known: KnownSegment, key: string): boolean => {
    const step = Math.min(Math.max(point.step, known.from), known.to - 1)
    const row = knownAt(history, step)
    const at = row.indexOf(known)
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const next = row[at + (key === 'ArrowLeft' ? -1 : 1)]
      if (next) choose(next, step)
      focusOn(next)
      return true
    }
    if (key === 'ArrowUp' || key === 'ArrowDown') {
      const to = step + (key === 'ArrowUp' ? 1 : -1)
      const there = to < 0 || to >= steps.length ? [] : knownAt(history, to)
      const middle = (known.start + known.end) / 2
      const next = there.find(one => one.start <= middle && middle < one.end) ?? there.at(-1)
      if (next) choose(next, to)
      focusOn(next)
      return true
    }
    if (key === 'Home' || key === 'End') {
      const next = key === 'Home' ? row[0] : row.at(-1)
      if (next) choose(next, step)
      focusOn(next)
      return true
    }
    return false
  }

  const showTip = (known: KnownSegment, left: number, top: number): void => {
    tip.replaceChildren(h('strong', {}, title(known)), h('span', {}, describe(known)))
    tip.hidden = false
    const most = element.clientWidth - tip.offsetWidth - 4
    tip.style.left = `${Math.max(4, Math.min(left, most))}px`
    tip.style.top = `${top}px`
  }
  const hideTip = (): void => {
    tip.hidden = true
  }

  const show = (to: Point): void => {
    point = to
    if (!layout) return
    const { x, y, svg } = layout
    const across = svg.querySelector('.cross')!
    const [vertical, horizontal, dot] = [...across.children] as [SVGElement, SVGElement, SVGElement]
    const row = y(point.step) + rowHeight - 6
    for (const name of ['x1', 'x2']) vertical.setAttribute(name, String(x(point.asOf)))
    for (const name of ['y1', 'y2']) horizontal.setAttribute(name, String(row))
    dot.setAttribute('cx', String(x(point.asOf)))
    dot.setAttribute('cy', String(row))
    for (const node of svg.querySelectorAll<SVGElement>('[data-from]')) {
      const isOver = Number(node.dataset.from) > point.step
      node.classList.toggle('later', isOver)
      const known = Number(node.dataset.from) <= point.step && point.step < Number(node.dataset.to)
      const holds = Number(node.dataset.start) <= point.asOf && point.asOf < Number(node.dataset.end)
      node.classList.toggle('chosen', known && holds)
    }
    for (const node of svg.querySelectorAll<SVGElement>('[data-step]'))
      node.classList.toggle('chosen', Number(node.dataset.step) === point.step)
    drawRate(layout, history, policy, point.step)
  }

  const draw = (): void => {
    const width = Math.max(280, place.clientWidth)
    const narrow = width < 620
    const left = narrow ? 86 : 190
    const right = narrow ? 6 : 96
    const height = TOP + steps.length * rowHeight + RATE_GAP + RATE + AXIS
    const inner = width - left - right
    const x = (at: number): number => left + ((at - start) / Math.max(1, end - start)) * inner
    const y = (step: number): number => TOP + (steps.length - 1 - step) * rowHeight
    const bottom = TOP + steps.length * rowHeight
    const axis = marks(start, end, Math.max(2, Math.floor(inner / 84)), zone)
    const svg = s(
      'svg',
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: 'group',
        'aria-label': `Segments of the policy in effective time and in knowledge time, ${steps.length} steps of knowledge. Arrow keys move between segments.`,
      },
      s(
        'defs',
        {},
        s(
          'pattern',
          {
            id: 'hatch',
            width: 6,
            height: 6,
            patternUnits: 'userSpaceOnUse',
            patternTransform: 'rotate(45)',
          },
          s('line', { x1: 0, y1: 0, x2: 0, y2: 6, class: 'hatch' }),
        ),
      ),
    )
    layout = { svg, x, y, left, inner, bottom, narrow }
    const cover = s('rect', {
      x: left,
      y: TOP,
      width: inner,
      height: bottom - TOP,
      class: 'uncovered',
      fill: 'url(#hatch)',
    })
    svg.append(cover)
    for (const { at } of axis)
      svg.append(s('line', { x1: x(at), x2: x(at), y1: TOP, y2: bottom + RATE_GAP + RATE, class: 'grid' }))
    for (const [step, { at, modifications }] of steps.entries())
      svg.append(stepLabel(step, at, modifications))
    for (const known of [...segments].sort((a, b) => a.from - b.from || a.start - b.start))
      svg.append(block(known))
    for (const { at, text } of axis) {
      if (x(at) > left + inner - 20) continue
      svg.append(s('text', { x: x(at) + 4, y: bottom + 15, class: 'tick' }, text))
    }
    svg.append(
      s('g', { class: 'rate', role: 'img' }),
      s(
        'g',
        { class: 'cross', 'aria-hidden': 'true' },
        s('line', { y1: TOP, y2: bottom + RATE_GAP + RATE }),
        s('line', { x1: left, x2: left + inner }),
        s('circle', { r: 4.5 }),
      ),
    )
    svg.addEventListener('pointerdown', event => {
      const box = svg.getBoundingClientRect()
      const [px, py] = [event.clientX - box.left, event.clientY - box.top]
      if (px < left || px > left + inner) return
      const asOf = Math.min(end - 1, start + ((px - left) / inner) * (end - start))
      const row = py > bottom ? point.step : steps.length - 1 - Math.floor((py - TOP) / rowHeight)
      moved({ asOf: Math.floor(asOf), step: Math.min(steps.length - 1, Math.max(0, row)) })
    })
    place.replaceChildren(svg)
    show(point)
  }

  const stepLabel = (
    step: number,
    at: number | undefined,
    modifications: readonly Modification[],
  ): SVGElement => {
    const { y, left, inner, narrow } = layout!
    const name = modifications.map(one => transaction(one.name)).join(', ') || 'Not issued'
    const total = premiumAt(history, step)
    const row = y(step)
    return s(
      'g',
      { 'data-step': step, class: 'step', 'aria-hidden': 'true' },
      s('line', {
        x1: 0,
        x2: left + inner + (narrow ? 0 : 90),
        y1: row + rowHeight,
        y2: row + rowHeight,
        class: 'rule',
      }),
      s(
        'text',
        { x: 0, y: row + (isLow ? rowHeight / 2 + 4 : 19), class: 'step-name' },
        clipped(narrow ? (at ? shortDay(at) : 'Draft') : name, narrow ? 10 : 26),
      ),
      !isLow &&
        s(
          'text',
          { x: 0, y: row + 35, class: 'step-at' },
          narrow ? clipped(name, 13) : at === undefined ? 'waits to be issued' : `known ${moment(at)}`,
        ),
      !narrow &&
        s(
          'text',
          { x: left + inner + 90, y: row + rowHeight / 2 + 4, class: 'step-total' },
          money(total, currency),
        ),
    )
  }

  const block = (known: KnownSegment): SVGElement => {
    const { x, y } = layout!
    const { segment, start, end, from, to } = known
    const [wide, high] = [x(end) - x(start), (to - from) * rowHeight]
    const [px, py] = [x(start), y(to - 1)]
    const text = money(segment.grossPremium, currency)
    const isDraft = steps[from]!.at === undefined
    const group = s(
      'g',
      {
        class: `segment ${kindOf(known)}${isDraft ? ' draft' : ''}`,
        'data-segment': segment.locator,
        'data-from': from,
        'data-to': to,
        'data-start': start,
        'data-end': end,
        tabindex: segment.locator === focused ? 0 : -1,
        role: 'img',
        'aria-label': `${title(known)}, ${describe(known)}`,
        pointerenter: () => showTip(known, px, py + high + 6),
        pointerleave: hideTip,
        focus: () => {
          showTip(known, px, py + high + 6)
          if (point.step < from || point.step >= to || point.asOf < start || point.asOf >= end)
            choose(known, point.step)
        },
        blur: hideTip,
        keydown: event => {
          const { key } = event as KeyboardEvent
          if (key === 'Escape') hideTip()
          else if (walk(known, key)) event.preventDefault()
        },
      },
      s('rect', {
        x: px + 1,
        y: py + 2,
        width: Math.max(2, wide - 2),
        height: Math.max(2, high - 4),
        rx: 4,
      }),
    )
    const top = py + Math.min(19, rowHeight / 2 + 4)
    if (wide > text.length * 7 + 12) group.append(s('text', { x: px + 10, y: top }, text))
    if (to - from > 1 && wide > 130)
      group.append(
        s('text', { x: px + 10, y: top + 14, class: 'when' }, `${shortDay(start)} – ${shortDay(end)}`),
      )
    return group
  }

  return { element, show, draw }
}

const clipped = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text
