// Checks ranges in tables, which are two columns of bounds or keys such as 0-9000. Reports gaps and overlaps.
import { addTo } from '../../../kernel/maps.ts'
import { isLookupTable, type LookupTable } from '../../configuration.ts'
import { isNumeric } from './domains.ts'
import type { TableAlarm } from './table-cells.ts'

const BOUNDS = [
  ['from', 'to'],
  ['min', 'max'],
  ['minimum', 'maximum'],
  ['lower', 'upper'],
  ['low', 'high'],
  ['start', 'end'],
  ['begin', 'end'],
  ['rangestart', 'rangeend'],
] as const

const normaliseName = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '')

/** Finds the columns of the bounds, such as `from` and `to` or `age_min` and `age_max`. */
function boundColumns(columns: readonly string[]): readonly [number, number] | undefined {
  const names = columns.map(normaliseName)
  for (const [low, high] of BOUNDS)
    for (const [at, name] of names.entries()) {
      const isBegin = name.startsWith(low)
      if (!isBegin && !name.endsWith(low)) continue
      const other = isBegin ? high + name.slice(low.length) : name.slice(0, -low.length) + high
      const end = names.indexOf(other)
      if (end >= 0) return [at, end]
    }
  return undefined
}

type Range = { readonly row: number; readonly low: number; readonly high: number }

const NO_END = Number.POSITIVE_INFINITY

/** Reads a bound. An empty cell, or a word for no bound, is `none`. */
function boundOf(cell: string, none: number): number | undefined {
  if (/^(?:|\*|-|inf|infinity|unlimited|open|max|and more)$/i.test(cell.trim())) return none
  return isNumeric(cell) ? Number(cell) : undefined
}

/** Reports gaps and overlaps of a table's ranges, and ranges that end before they begin. Tables without ranges are not reported. */
export function checkRanges(table: LookupTable, alarm: TableAlarm): void {
  for (const { ranges, of } of rangesOf(table)) if (ranges.length > 1) checkGroup(ranges, of, alarm)
}

/**
 * The ranges of a table, grouped by the keys before the bounds. If a group then contains a range twice, columns of words after the
 * bounds are keys too, for example a sex next to an age. Groups that still contain a range twice are left out, because their keys
 * are unknown.
 */
function rangesOf(table: LookupTable): { readonly ranges: Range[]; readonly of: string }[] {
  const { columns, rows } = table
  if (isLookupTable(columns)) return keyRanges(table)
  const bounds = boundColumns(columns)
  if (!bounds) return []
  const before = [...columns.keys()].slice(0, Math.min(...bounds))
  const words = [...columns.keys()].filter(
    column =>
      column > Math.min(...bounds) && !bounds.includes(column) && rows.some(row => !isNumeric(row[column]!)),
  )
  const groups = groupsOf(table, bounds, before)
  if (!groups?.some(hasSameTwice)) return groups ?? []
  return groupsOf(table, bounds, [...before, ...words])!.filter(group => !hasSameTwice(group))
}

const hasSameTwice = ({ ranges }: { readonly ranges: readonly Range[] }): boolean =>
  new Set(ranges.map(one => `${one.low} ${one.high}`)).size < ranges.length

/** Returns undefined if a bound is not a number. */
function groupsOf(
  { rows }: LookupTable,
  [low, high]: readonly [number, number],
  keys: readonly number[],
): { ranges: Range[]; of: string }[] | undefined {
  const groups = new Map<string, Range[]>()
  for (const [row, cells] of rows.entries()) {
    const [from, to] = [boundOf(cells[low]!, -NO_END), boundOf(cells[high]!, NO_END)]
    if (from === undefined || to === undefined) return undefined
    addTo(groups, keys.map(column => cells[column]).join(', '), { row, low: from, high: to })
  }
  return [...groups].map(([of, ranges]) => ({ ranges, of: of === '' ? '' : ` of ${of}` }))
}

const KEY_RANGE = /^(\d+(?:\.\d+)?)\s*(?:-|–|\.\.|to)\s*(\d+(?:\.\d+)?)$/
const KEY_OPEN = /^(?:>=?\s*)?(\d+(?:\.\d+)?)\s*\+?$/

/** The ranges of a table in which every key is a range. The last one may be open, as in `15001+`. */
function keyRanges({ columns, rows }: LookupTable): { ranges: Range[]; of: string }[] {
  const column = columns.indexOf('key')
  const ranges: Range[] = []
  for (const [row, cells] of rows.entries()) {
    const key = cells[column]!.trim()
    const [, from, to] = KEY_RANGE.exec(key) ?? []
    const [, open] = KEY_OPEN.exec(key) ?? []
    if (from !== undefined) ranges.push({ row, low: Number(from), high: Number(to) })
    else if (open !== undefined && /[+>]/.test(key)) ranges.push({ row, low: Number(open), high: NO_END })
    else return []
  }
  return ranges.filter(one => one.high !== NO_END).length < 2 ? [] : [{ ranges, of: '' }]
}

/**
 * Reports gaps and overlaps. A range may end where the next one begins, or one step before it: the more common of the two is right.
 */
function checkGroup(ranges: readonly Range[], of: string, alarm: TableAlarm): void {
  for (const { row, low, high } of ranges) {
    const message = `The range${of} ends at ${high}, before it begins at ${low}. Correct the bounds.`
    if (high < low) alarm('rangeOverlap', row, message)
  }
  const sorted = ranges.filter(one => one.high >= one.low).sort((a, b) => a.low - b.low || a.high - b.high)
  const distances = sorted.slice(1).map((one, at) => Number((one.low - sorted[at]!.high).toPrecision(9)))
  const step = mostCommonStep(distances)
  for (const [at, distance] of distances.entries()) {
    const [before, after] = [sorted[at]!, sorted[at + 1]!]
    if (distance === step) continue
    if (distance > step) {
      const message = `No row covers the values between ${before.high} and ${after.low}${of}. Make the ranges consecutive.`
      alarm('rangeHole', after.row, message)
    } else {
      const message = `Two rows cover the values from ${after.low} to ${Math.min(before.high, after.high)}${of}. Make the ranges consecutive.`
      alarm('rangeOverlap', after.row, message)
    }
  }
}

/** The most common small distance; the smallest if several are equally common. */
function mostCommonStep(distances: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const one of distances) if (one >= 0 && one <= 1) counts.set(one, (counts.get(one) ?? 0) + 1)
  let usual = 0
  for (const [distance, count] of [...counts].sort(([a], [b]) => a - b))
    if (count > (counts.get(usual) ?? 0)) usual = distance
  return usual
}
