// Compares templates and scripts: their changed lines, and what those lines set.
import { countText } from '../../kernel/text.ts'
import type { TemplateSource } from '../configuration.ts'
import { type Change, type Hunk, makeAddition, makeChange, makeRemoval, type Place } from './change.ts'
import { lineHunks } from './lines.ts'
import { percentBetween, percentText } from './values.ts'

/** Filters that set something, and what they set. Those of perils contain the name of a period, as in `set_year_premium`. */
const SETTERS: readonly (readonly [RegExp, string])[] = [
  [/\bset_\w*technical_premium\b/, 'the technical premium'],
  [/\bset_(?!\w*technical)\w*premium\b/, 'the premium'],
  [/\badd_\w*commission\b/, 'a commission'],
  [/\bset_peril_tax\b/, 'a tax'],
  [/\badd_fee\b/, 'a fee'],
  [/\bset_underwriting_decision\b/, 'the decision'],
  [/\badd_underwriting_note\b/, 'a note'],
]

const ASSIGNED = /\b(?:assign|capture)\s+([a-zA-Z_]\w*)/g
const LOOKED_UP = /["']([^"']+)["']\s*\|\s*lookup\b/g

/** The change of a template; none if the texts differ only in trailing blanks. */
export function templateChanges(
  place: Place,
  before: TemplateSource | undefined,
  after: TemplateSource | undefined,
): Change[] {
  if (!before)
    return after ? [makeAddition(place, `${describeSetters(after.source) ?? linesText(after.source)}`)] : []
  if (!after) return [makeRemoval(place)]
  return textChanges(place, before.source, after.source)
}

/** The change of a text that exists on both sides. */
export function textChanges(place: Place, before: string, after: string): Change[] {
  const hunks = lineHunks(before, after)
  if (hunks.length === 0) return []
  return [{ ...makeChange(place, summary(hunks, after)), hunks }]
}

const linesText = (source: string): string => countText(source.split('\n').length, 'line')

/** Summarizes changes, for example as `2 lines changed; assigns rate; sets the premium; 0.62 becomes 0.68 (+9.68 %)`. */
function summary(hunks: readonly Hunk[], after: string): string {
  const touched = hunks.flatMap(({ removed, added }) => [...removed, ...added]).join('\n')
  const names = [...new Set([...touched.matchAll(ASSIGNED)].map(([, name]) => name!))]
  const tables = [...new Set([...touched.matchAll(LOOKED_UP)].map(([, name]) => name!))]
  const sets = describeSetters(touched) ?? (names.length > 0 ? describeSetters(after) : undefined)
  return [
    lineCounts(hunks),
    ...(names.length > 0 ? [`assigns ${names.join(', ')}`] : []),
    ...(tables.length > 0 ? [`looks up ${tables.join(', ')}`] : []),
    ...(sets === undefined ? [] : [sets]),
    ...numberChanges(hunks),
  ].join('; ')
}

function describeSetters(source: string): string | undefined {
  const set = SETTERS.filter(([filter]) => filter.test(source)).map(([, what]) => what)
  return set.length > 0 ? `sets ${set.join(', ')}` : undefined
}

function lineCounts(hunks: readonly Hunk[]): string {
  let [changedLines, addedLines, removedLines] = [0, 0, 0]
  for (const { removed, added } of hunks) {
    const both = Math.min(removed.length, added.length)
    changedLines += both
    addedLines += added.length - both
    removedLines += removed.length - both
  }
  return [
    ...(changedLines > 0 ? [`${countText(changedLines, 'line')} changed`] : []),
    ...(addedLines > 0 ? [`${countText(addedLines, 'line')} added`] : []),
    ...(removedLines > 0 ? [`${countText(removedLines, 'line')} removed`] : []),
  ].join(', ')
}

const NUMBERS = /(?<![\w.])\d+(?:\.\d+)?(?![\w.])/g

/** If more numbers than this changed, only their count is shown; the lines themselves say more. */
const MOST_NUMBERS = 6

/** Numbers that changed in lines that are otherwise equal. */
function numberChanges(hunks: readonly Hunk[]): string[] {
  const found = hunks.flatMap(({ removed, added }) =>
    removed.length === added.length ? removed.flatMap((line, at) => numbersBetween(line, added[at]!)) : [],
  )
  return found.length > MOST_NUMBERS ? [`${found.length} numbers`] : found
}

function numbersBetween(line: string, other: string): string[] {
  if (line.replaceAll(NUMBERS, '#') !== other.replaceAll(NUMBERS, '#')) return []
  const [from, to] = [line.match(NUMBERS) ?? [], other.match(NUMBERS) ?? []]
  return from.flatMap((number, at) => {
    if (number === to[at]) return []
    const percent = percentBetween(number, to[at]!)
    return [`${number} becomes ${to[at]}${percent === undefined ? '' : ` (${percentText(percent)})`}`]
  })
}
