// The timeline of a policy in two dimensions: effective time from left to right, knowledge from the bottom up. A segment is as
// wide as the span in which it applies, and as high as the steps in which it was known. Below, on the same axis: the cost of the
// cover per day.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { marks } from '../calendar.ts'
import { h, type View } from '../element.ts'
import { moment, money, shortDay, span, transaction } from '../format.ts'
import { type History, type KnownSegment, knownAt, premiumAt } from '../knowledge.ts'
import { zone } from '../session.ts'
import type { Policy } from '../wire.ts'
import { type Layout, layoutOf, RATE, RATE_GAP, ROW_OF_TWO_LINES, TOP } from './layout.ts'
import { rateOf } from './rate.ts'
import { VIEW } from './words.ts'

/** A point of the timeline: an effective time and a step of knowledge. */
export type Point = { readonly asOf: number; readonly step: number }

/** Returns the kind of transaction that created a segment, as the class of its colour. */
export function kindOf({ maker }: KnownSegment): string {
  const name = maker?.name ?? ''
  if (name.endsWith('.create')) return 'create'
  if (name.endsWith('.renew')) return 'renew'
  if (/\.(?:cancel|withdraw|lapse)$/.test(name)) return 'cancel'
  if (name.endsWith('.reinstate')) return 'reinstate'
  return 'endorse'
}

type Drawn = {
  readonly policy: Policy
  readonly history: History
  readonly point: Point
  /** Called when the user selects another point. */
  readonly move: (point: Point) => void
}

type Tip = { readonly known: KnownSegment; readonly left: number; readonly top: number }

/** The timeline, as wide as its place. */
export function Chart({ policy, history, point, move }: Drawn): View {
  const frame = useRef<HTMLElement>(null)
  const [width, measure] = useState(0)
  const [tip, showTip] = useState<Tip>()
  const [focused, setFocused] = useState(history.segments.at(-1)?.segment.locator)
  // The position of a tip depends on its rendered width.
  const tipPlace = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const element = frame.current!
    // Drawn in the next frame, when the width is known.
    const watch = new ResizeObserver(() => measure(element.clientWidth))
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
  useLayoutEffect(() => {
    const [place, element] = [tipPlace.current, frame.current]
    if (!tip || !place || !element) return
    const most = element.clientWidth - place.offsetWidth - 4
    place.style.left = `${Math.max(4, Math.min(tip.left, most))}px`
    place.style.top = `${tip.top}px`
  }, [tip])
  const currency = policy.grossFeesCurrency
  // The newest point. The focus moves before the previous change is drawn.
  const latest = useRef(point)
  latest.current = point
  const go = (to: Point): void => {
    latest.current = to
    move(to)
  }

  const focusOn = (known: KnownSegment | undefined): void => {
    if (!known) return
    setFocused(known.segment.locator)
    frame.current?.querySelector<SVGElement>(`[data-segment="${CSS.escape(known.segment.locator)}"]`)?.focus()
  }
  const choose = (known: KnownSegment, step = known.from): void => {
    const middle = Math.floor((known.start + known.end) / 2)
    const now = latest.current.asOf
    const asOf = now >= known.start && now < known.end ? now : middle
    go({ asOf, step: Math.min(Math.max(step, known.from), known.to - 1) })
  }
  const walk = (known: KnownSegment, key: string): boolean => {
    const to = neighbour(history, known, latest.current.step, key)
    if (!to) return false
    if (to.known) choose(to.known, to.step)
    focusOn(to.known)
    return true
  }
  const select = (known: KnownSegment): void => {
    const { asOf, step } = latest.current
    if (step < known.from || step >= known.to || asOf < known.start || asOf >= known.end) choose(known, step)
  }
  return h(
    'div',
    { class: 'chart-frame', ref: frame, 'aria-busy': width === 0 ? 'true' : undefined },
    h(
      'div',
      { class: 'chart' },
      width > 0 &&
        picture(layoutOf(history, width), { policy, history, point, move }, known =>
          block(layoutOf(history, width), known, {
            history,
            point,
            currency,
            isFocused: known.segment.locator === focused,
            walk: key => walk(known, key),
            select: () => select(known),
            showTip,
          }),
        ),
    ),
    h(
      'div',
      { class: 'tip', role: 'tooltip', id: 'chart-tip', ref: tipPlace, hidden: tip === undefined },
      tip && [h('strong', {}, title(tip.known, currency)), h('span', {}, describe(history, tip.known))],
    ),
  )
}

/**
 * Returns the segment that an arrow key moves to: left and right along what was known together, up and down to what was known
 * later and before. Undefined for other keys.
 */
function neighbour(
  history: History,
  known: KnownSegment,
  now: number,
  key: string,
): { readonly known: KnownSegment | undefined; readonly step: number } | undefined {
  const step = Math.min(Math.max(now, known.from), known.to - 1)
  const row = knownAt(history, step)
  const at = row.indexOf(known)
  if (key === 'ArrowLeft' || key === 'ArrowRight')
    return { known: row[at + (key === 'ArrowLeft' ? -1 : 1)], step }
  if (key === 'Home' || key === 'End') return { known: key === 'Home' ? row[0] : row.at(-1), step }
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return undefined
  const to = step + (key === 'ArrowUp' ? 1 : -1)
  const there = to < 0 || to >= history.steps.length ? [] : knownAt(history, to)
  const middle = (known.start + known.end) / 2
  return { known: there.find(one => one.start <= middle && middle < one.end) ?? there.at(-1), step: to }
}

function describe({ steps }: History, { segment, from, to }: KnownSegment): string {
  const since = steps[from]!.at
  const until = to < steps.length ? steps[to]!.at : undefined
  const known =
    since === undefined
      ? VIEW.isNotIssued
      : VIEW.knownFromUntil(moment(since), until === undefined ? undefined : moment(until))
  return `${span(segment.startTimestamp, segment.endTimestamp)}, ${known}`
}

const title = (known: KnownSegment, currency: string): string =>
  `${known.maker ? transaction(known.maker.name) : VIEW.segment}: ${money(known.segment.grossPremium, currency)}`

const HATCH = h(
  'defs',
  {},
  h(
    'pattern',
    {
      id: 'hatch',
      width: 6,
      height: 6,
      patternUnits: 'userSpaceOnUse',
      patternTransform: 'rotate(45)',
    },
    h('line', { x1: 0, y1: 0, x2: 0, y2: 6, class: 'hatch' }),
  ),
)

function picture(
  layout: Layout,
  { policy, history, point, move }: Drawn,
  blockOf: (known: KnownSegment) => View,
): View {
  const { steps, segments, start, end } = history
  const { x, y, left, inner, bottom, rowHeight } = layout
  const axis = marks(start, end, Math.max(2, Math.floor(inner / 84)), zone())
  const row = y(point.step) + rowHeight - 6
  const base = bottom + RATE_GAP + RATE
  const pointAt = (event: Event): void => {
    const { clientX, clientY, currentTarget } = event as PointerEvent
    const box = (currentTarget as SVGElement).getBoundingClientRect()
    const [px, py] = [clientX - box.left, clientY - box.top]
    if (px < left || px > left + inner) return
    const asOf = Math.min(end - 1, start + ((px - left) / inner) * (end - start))
    const at = py > bottom ? point.step : steps.length - 1 - Math.floor((py - TOP) / rowHeight)
    move({ asOf: Math.floor(asOf), step: Math.min(steps.length - 1, Math.max(0, at)) })
  }
  return h(
    'svg',
    {
      width: layout.width,
      height: layout.height,
      viewBox: `0 0 ${layout.width} ${layout.height}`,
      role: 'group',
      'aria-label': VIEW.chartOf(steps.length),
      pointerdown: pointAt,
    },
    HATCH,
    h('rect', {
      x: left,
      y: TOP,
      width: inner,
      height: bottom - TOP,
      class: 'uncovered',
      fill: 'url(#hatch)',
    }),
    axis.map(({ at }) => h('line', { x1: x(at), x2: x(at), y1: TOP, y2: base, class: 'grid' })),
    steps.map((_, step) => stepLabel(layout, history, step, step === point.step, policy.grossFeesCurrency)),
    [...segments].sort((a, b) => a.from - b.from || a.start - b.start).map(blockOf),
    axis
      .filter(({ at }) => x(at) <= left + inner - 20)
      .map(({ at, text }) => h('text', { x: x(at) + 4, y: bottom + 15, class: 'tick' }, text)),
    rateOf(layout, history, policy, point.step),
    h(
      'g',
      { class: 'cross', 'aria-hidden': 'true' },
      h('line', { x1: x(point.asOf), x2: x(point.asOf), y1: TOP, y2: base }),
      h('line', { x1: left, x2: left + inner, y1: row, y2: row }),
      h('circle', { cx: x(point.asOf), cy: row, r: 4.5 }),
    ),
  )
}

function stepLabel(
  { y, left, inner, narrow, rowHeight }: Layout,
  history: History,
  step: number,
  isChosen: boolean,
  currency: string,
): View {
  const { at, modifications } = history.steps[step]!
  const name = modifications.map(modification => transaction(modification.name)).join(', ') || VIEW.notIssued
  const row = y(step)
  const isLow = rowHeight < ROW_OF_TWO_LINES
  return h(
    'g',
    { 'data-step': step, class: isChosen ? 'step chosen' : 'step', 'aria-hidden': 'true' },
    h('line', {
      x1: 0,
      x2: left + inner + (narrow ? 0 : 90),
      y1: row + rowHeight,
      y2: row + rowHeight,
      class: 'rule',
    }),
    h(
      'text',
      { x: 0, y: row + (isLow ? rowHeight / 2 + 4 : 19), class: 'step-name' },
      narrow ? truncate(at ? shortDay(at) : VIEW.draft, 10) : truncate(name, 26),
    ),
    !isLow && h('text', { x: 0, y: row + 35, class: 'step-at' }, narrow ? truncate(name, 13) : knownText(at)),
    !narrow &&
      h(
        'text',
        { x: left + inner + 90, y: row + rowHeight / 2 + 4, class: 'step-total' },
        money(premiumAt(history, step), currency),
      ),
  )
}

const knownText = (at: number | undefined): string =>
  at === undefined ? VIEW.waitsForIssue : VIEW.knownOn(moment(at))

type Block = {
  readonly history: History
  readonly point: Point
  readonly currency: string
  readonly isFocused: boolean
  readonly walk: (key: string) => boolean
  readonly select: () => void
  readonly showTip: (tip: Tip | undefined) => void
}

function block({ x, y, rowHeight }: Layout, known: KnownSegment, shown: Block): View {
  const { segment, start, end, from, to } = known
  const { history, point, currency, showTip } = shown
  const [wide, high] = [x(end) - x(start), (to - from) * rowHeight]
  const [px, py] = [x(start), y(to - 1)]
  const text = money(segment.grossPremium, currency)
  const isChosen = from <= point.step && point.step < to && start <= point.asOf && point.asOf < end
  const classes = [
    `segment ${kindOf(known)}`,
    history.steps[from]!.at === undefined && 'draft',
    from > point.step && 'later',
    isChosen && 'chosen',
  ]
  const open = (): void => showTip({ known, left: px, top: py + high + 6 })
  const top = py + Math.min(19, rowHeight / 2 + 4)
  return h(
    'g',
    {
      class: classes.filter(Boolean).join(' '),
      'data-segment': segment.locator,
      tabindex: shown.isFocused ? 0 : -1,
      role: 'img',
      'aria-label': `${title(known, currency)}, ${describe(history, known)}`,
      pointerenter: open,
      pointerleave: () => showTip(undefined),
      focus: () => {
        open()
        shown.select()
      },
      blur: () => showTip(undefined),
      keydown: event => {
        const { key } = event as KeyboardEvent
        if (key === 'Escape') showTip(undefined)
        else if (shown.walk(key)) event.preventDefault()
      },
    },
    h('rect', {
      x: px + 1,
      y: py + 2,
      width: Math.max(2, wide - 2),
      height: Math.max(2, high - 4),
      rx: 4,
    }),
    wide > text.length * 7 + 12 && h('text', { x: px + 10, y: top }, text),
    to - from > 1 &&
      wide > 130 &&
      h('text', { x: px + 10, y: top + 14, class: 'when' }, `${shortDay(start)} – ${shortDay(end)}`),
  )
}

const truncate = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text
