// Charts of the report as self-contained SVG: no script, and no font or style from elsewhere.
import { shortened } from '../../../kernel/text.ts'
import { escapeHtml } from './words.ts'

const FONT = 'font-family="Helvetica, Arial, sans-serif"'
const INK = '#1f2933'
const MUTED = '#6b7785'
const GRID = '#dde3ea'
/** Position and sign distinguish these too, not only the colour. */
const MORE = '#c2571a'
const LESS = '#1f6f8b'
const SAME = '#8b96a3'

/** Policies whose change is at least `from` and below `to`, in percent. */
export type Bin = { readonly from: number; readonly to: number; readonly policies: number }

const WIDTHS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200]
const MOST_BINS = 40

/**
 * Returns bins of equal width from counts by tenths of a percent. Policies that pay the same have their own bin, from 0 to 0. The
 * outermost percent of the policies on each side is put into the outermost bins, so that one extreme does not flatten all others.
 */
export function binsOf(percents: Readonly<Record<string, number>>): Bin[] {
  const sorted = Object.entries(percents)
    .map(([tenths, policies]) => ({ percent: Number(tenths) / 10, policies }))
    .sort((a, b) => a.percent - b.percent)
  const changed = sorted.filter(({ percent }) => percent !== 0)
  if (changed.length === 0) return sorted.map(({ policies }) => ({ from: 0, to: 0, policies }))
  const [low, high] = bulkOf(changed)
  const width =
    WIDTHS.find(one => (Math.max(high, 0) - Math.min(low, 0)) / one <= MOST_BINS) ?? WIDTHS.at(-1)!
  const placeOf = (percent: number): number =>
    Math.floor(Math.max(low, Math.min(high, percent)) / width + 1e-9)
  const places = new Map<number, number>()
  for (const { percent, policies } of changed)
    places.set(placeOf(percent), (places.get(placeOf(percent)) ?? 0) + policies)
  const [first, last] = [Math.min(...places.keys(), 0), Math.max(...places.keys(), -1)]
  const bins: Bin[] = []
  for (let place = first; place <= last; place += 1) {
    if (place === 0) bins.push({ from: 0, to: 0, policies: percents['0'] ?? 0 })
    bins.push({
      from: round(place * width),
      to: round((place + 1) * width),
      policies: places.get(place) ?? 0,
    })
  }
  if (last < 0) bins.push({ from: 0, to: 0, policies: percents['0'] ?? 0 })
  return bins
}

const round = (value: number): number => Number(value.toFixed(6))

function bulkOf(changed: readonly { percent: number; policies: number }[]): [number, number] {
  const all = changed.reduce((sum, { policies }) => sum + policies, 0)
  let seen = 0
  let [low, high] = [changed[0]!.percent, changed.at(-1)!.percent]
  for (const { percent, policies } of changed) {
    if (seen <= all * 0.01) low = percent
    if (seen < all * 0.99) high = percent
    seen += policies
  }
  return [low, high]
}

const svg = (id: string, title: string, width: number, height: number, content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" id="${id}" role="img" aria-label="${escapeHtml(title)}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ${FONT} font-size="12" fill="${INK}"><title>${escapeHtml(title)}</title>${content}</svg>`

const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${formatCoordinate(x)}" y="${formatCoordinate(y)}"${more}>${escapeHtml(content)}</text>`

const rect = (x: number, y: number, width: number, height: number, fill: string): string =>
  `<rect x="${formatCoordinate(x)}" y="${formatCoordinate(y)}" width="${formatCoordinate(width)}" height="${formatCoordinate(Math.max(height, 0))}" fill="${fill}"/>`

const line = (x1: number, y1: number, x2: number, y2: number, stroke: string): string =>
  `<line x1="${formatCoordinate(x1)}" y1="${formatCoordinate(y1)}" x2="${formatCoordinate(x2)}" y2="${formatCoordinate(y2)}" stroke="${stroke}"/>`

const formatCoordinate = (value: number): string => String(Number(value.toFixed(1)))

function tone(change: number): string {
  if (change > 0) return MORE
  return change < 0 ? LESS : SAME
}

/** A bin of policies that pay more begins at 0. */
function toneOfBin({ from, to }: Bin): string {
  if (from === to) return SAME
  return from < 0 ? LESS : MORE
}

const HISTOGRAM = { width: 760, height: 300, left: 56, right: 12, top: 24, bottom: 48 }

/** Draws how many policies change by how much. */
export function histogram(id: string, bins: readonly Bin[]): string {
  const { width, height, left, right, top, bottom } = HISTOGRAM
  const title = 'Policies by the change of their price, in percent'
  const most = Math.max(1, ...bins.map(({ policies }) => policies))
  const step = niceStep(most / 4)
  const highest = Math.ceil(most / step) * step
  const [innerWidth, innerHeight] = [width - left - right, height - top - bottom]
  const slot = innerWidth / Math.max(1, bins.length)
  const y = (policies: number): number => top + innerHeight * (1 - policies / highest)
  const grid: string[] = []
  for (let level = 0; level <= highest; level += step)
    grid.push(
      line(left, y(level), width - right, y(level), GRID),
      text(left - 6, y(level) + 4, String(level), ` text-anchor="end" fill="${MUTED}"`),
    )
  const every = Math.ceil(bins.length / 12)
  const bars = bins.map((bin, at) => {
    const { from, to, policies } = bin
    const x = left + at * slot
    const isSame = from === to
    const bar = rect(
      x + slot * 0.08,
      y(policies),
      slot * 0.84,
      top + innerHeight - y(policies),
      toneOfBin(bin),
    )
    const isLabelled = isSame || at % every === 0
    const label = isLabelled
      ? text(
          x + slot / 2,
          height - bottom + 16,
          isSame ? '0' : `${from > 0 ? '+' : ''}${from}`,
          ` text-anchor="middle" fill="${MUTED}"`,
        )
      : ''
    return `<g><title>${escapeHtml(isSame ? 'unchanged' : `${from} % to below ${to} %`)}: ${policies}</title>${bar}</g>${label}`
  })
  const axis = text(
    left + innerWidth / 2,
    height - 8,
    'change in percent; policies that pay the same are shown separately at 0',
    ` text-anchor="middle" fill="${MUTED}"`,
  )
  return svg(
    id,
    title,
    width,
    height,
    `${grid.join('')}${bars.join('')}${axis}${text(left, 14, 'policies', ` fill="${MUTED}"`)}`,
  )
}

function niceStep(atLeast: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, atLeast)))
  return [1, 2, 5, 10].map(factor => factor * unit).find(step => step >= atLeast) ?? 10 * unit
}

/** A group with its change in percent. `note` is at the end of its line. */
export type Bar = { readonly label: string; readonly percent: number; readonly note: string }

const BARS = { width: 760, row: 22, left: 220, right: 190, top: 6, bottom: 6 }

/** Draws the change of each group, to the left or right of zero. */
export function changeBars(id: string, title: string, bars: readonly Bar[]): string {
  const { width, row, left, right, top, bottom } = BARS
  const height = top + bars.length * row + bottom
  const low = Math.min(0, ...bars.map(({ percent }) => percent))
  const high = Math.max(0, ...bars.map(({ percent }) => percent))
  const range = high - low || 1
  // Space for the number next to the longest bar on each side.
  const room = 62
  const inner = width - left - right - room * (low < 0 ? 2 : 1)
  const zero = left + (low < 0 ? room : 0) + (inner * -low) / range
  const rows = bars.map(({ label, percent, note }, at) => {
    const y = top + at * row
    const length = (inner * Math.abs(percent)) / range
    const x = percent < 0 ? zero - length : zero
    const end = percent < 0 ? x - 4 : x + length + 4
    const shown = `${percent > 0 ? '+' : ''}${percent.toFixed(1)} %`
    return [
      text(left - 8, y + 15, shortened(label, 32), ' text-anchor="end"'),
      rect(x, y + 4, Math.max(length, 1), row - 8, tone(percent)),
      text(end, y + 15, shown, percent < 0 ? ' text-anchor="end"' : ''),
      text(width - right + 8, y + 15, note, ` fill="${MUTED}"`),
    ].join('')
  })
  return svg(id, title, width, height, `${rows.join('')}${line(zero, top, zero, height - bottom, MUTED)}`)
}
