// The premium per day, below the timeline and on the same axis.
import { DAY_MS } from '../calendar.ts'
import { shareOf } from '../decimal.ts'
import { h, type View } from '../element.ts'
import { money, shortDay } from '../format.ts'
import { type History, knownAt, latestOf } from '../knowledge.ts'
import type { Policy } from '../wire.ts'
import { type Layout, RATE, RATE_GAP, TOP } from './layout.ts'
import { VIEW } from './words.ts'

/** Draws the premium per day as known at the step. Heights are pixels; amounts stay decimal text. */
export function rateOf(layout: Layout, history: History, policy: Policy, step: number): View {
  const { x, left, inner, bottom, narrow } = layout
  const currency = policy.grossFeesCurrency
  const known = knownAt(history, step).filter(({ segment }) => segment.grossPremium !== undefined)
  const rates = known.map(({ segment, start, end }) => ({
    start,
    end,
    perDay: shareOf(segment.grossPremium!, (end - start) / DAY_MS),
  }))
  const all = history.segments.flatMap(({ segment, start, end }) =>
    segment.grossPremium === undefined ? [] : [Number(shareOf(segment.grossPremium, (end - start) / DAY_MS))],
  )
  const most = Math.max(0.01, ...all)
  const [top, base] = [bottom + RATE_GAP, bottom + RATE_GAP + RATE]
  const heightOf = (perDay: string): number => (Math.max(0, Number(perDay)) / most) * (RATE - 10)
  const today = latestOf(policy)
  return h(
    'g',
    {
      class: 'rate',
      role: 'img',
      'aria-label': VIEW.premiumADayOf(
        rates.map(rate => [money(rate.perDay, currency), shortDay(rate.start)]),
      ),
    },
    h('text', { x: 0, y: top + 14, class: 'step-name' }, narrow ? VIEW.aDay : VIEW.premiumADay),
    h('text', { x: 0, y: top + 30, class: 'step-at' }, narrow ? VIEW.premiumOnAxis : VIEW.byKnownThen),
    rates.map(({ start, end, perDay }) =>
      h('rect', {
        x: x(start) + 0.5,
        y: base - heightOf(perDay),
        width: Math.max(1, x(end) - x(start) - 1),
        height: heightOf(perDay),
        class: 'rate-bar',
      }),
    ),
    rates
      .filter(({ start, end }) => x(end) - x(start) > 56)
      .map(({ start, perDay }) =>
        h(
          'text',
          { x: x(start) + 6, y: base - Math.max(6, heightOf(perDay) - 16), class: 'rate-text' },
          money(perDay, currency),
        ),
      ),
    h('line', { x1: left, x2: left + inner, y1: base, y2: base, class: 'base' }),
    today > history.start &&
      today < history.end && [
        h('line', { x1: x(today), x2: x(today), y1: TOP, y2: base, class: 'today' }),
        h('text', { x: x(today) + 4, y: base + 15, class: 'tick today-text' }, VIEW.today),
      ],
  )
}
