// A worksheet as text: how each figure was computed, line by line, in the order of the computation.
import { countText } from '../src/kernel/text.ts'
import type {
  Worksheet,
  WorksheetPeril,
  WorksheetPiece,
  WorksheetRun,
} from '../src/policy/contract/worksheet.ts'
import {
  DIFFERS,
  isSplit,
  lookupText,
  RATED_BY,
  runLines,
  type SheetLine,
  shareLines,
  stepLines,
  taxLines,
} from '../src/policy/worksheet-lines.ts'
import type { Terminal } from './terminal.ts'

/** The widths of the columns: the line of a template, what happens there, and its value. */
const LINE = 8
const WHAT = 64
const VALUE = 14

type Layout = {
  /** Formats a timestamp. */
  readonly dayOf: (timestamp: string) => string
  readonly colors: Terminal['colors']
}

/** Includes line endings. */
export function worksheetText(sheet: Worksheet, layout: Layout): string {
  const { colors, dayOf } = layout
  return [
    ...sheet.perils.map(peril => perilText(peril, layout)),
    ...(sheet.morePerils > 0 ? [`\nNot shown: ${countText(sheet.morePerils, 'more peril')}.\n`] : []),
    ...sheet.calls.map(callText),
    ...sheet.feeScripts.flatMap(script => [
      `\n${colors.bold('fees')}\n  by ${script.source}\n`,
      rows(stepLines(script)),
    ]),
    `\n${colors.bold('total')}\n`,
    row('premium', sheet.premium),
    ...sheet.taxes.map(({ name, amount }) => row(`tax ${name}`, amount)),
    ...sheet.fees.map(fee => row(`fee ${fee.name}${feeShare(fee, dayOf)}`, fee.amount)),
    ...sheet.holdbacks.map(({ name, amount }) => row(`held back: ${name}`, amount)),
    row(`total, ${sheet.currency}`, sheet.total),
    ...(sheet.totalBefore === undefined ? [] : [row('before', sheet.totalBefore)]),
    ...sheet.commissions.map(({ name, amount }) => row(`commission of ${name}`, amount)),
    ...(sheet.differs ? [`\n${DIFFERS}\n`] : []),
    ...sheet.notes.map(note => `\n${note}\n`),
  ].join('')
}

const row = (what: string, value: string): string => rows([{ line: '', what, value }])

/** If the text is too long for its column, its value is on the next line. */
const rows = (lines: readonly SheetLine[]): string =>
  lines
    .map(({ line, what, value }) => {
      const left = `${line.padStart(LINE)}  `
      if (what.length > WHAT && value !== '')
        return `${left}${what}\n${' '.repeat(LINE + 2 + WHAT)}${value.padStart(VALUE)}\n`
      return `${`${left}${what.padEnd(WHAT)}${value.padStart(VALUE)}`.trimEnd()}\n`
    })
    .join('')

function perilText(peril: WorksheetPeril, layout: Layout): string {
  const [only] = peril.runs
  const isOne = peril.runs.length === 1 && only && !isSplit(only)
  return [
    `\n${layout.colors.bold(`${peril.exposureName} / ${peril.perilName}`)}\n`,
    ...peril.runs.map(run => runText(run, layout)),
    ...(isOne ? [] : [row('premium of the peril', peril.premium)]),
  ].join('')
}

function runText(run: WorksheetRun, { dayOf, colors }: Layout): string {
  const span = `${dayOf(run.startTimestamp)} to ${dayOf(run.endTimestamp)}`
  return [
    `  ${run.transaction}, ${span}, version ${run.configVersion}\n`,
    `  ${RATED_BY[run.ratedBy]}${run.source ? ` ${run.source}` : ''}\n`,
    ...(run.problem === undefined ? [] : [`  not rated again: ${run.problem}\n`]),
    rows(runLines(run)),
    ...run.taxes.map(tax => `${tax.source ? `  tax by ${tax.source}\n` : ''}${rows(taxLines(tax))}`),
    ...(isSplit(run) ? run.pieces.map(piece => pieceText(piece, dayOf)) : []),
    ...(run.differs ? [`  ${colors.yellow(DIFFERS)}\n`] : []),
  ].join('')
}

function pieceText(piece: WorksheetPiece, dayOf: Layout['dayOf']): string {
  const span = `${dayOf(piece.startTimestamp)} to ${dayOf(piece.endTimestamp)}`
  return `  ${span}${piece.replacedBy === undefined ? '' : ', replaced later'}\n${rows(shareLines(piece.shares))}`
}

function callText({ ratedBy, source, lookups, notes, request, answer }: Worksheet['calls'][number]): string {
  return [
    `\n${ratedBy === 'plugin' ? 'plugin' : 'external rater'} ${source}\n`,
    ...lookups.map(lookup => row(lookupText(lookup), lookup.value ?? '–')),
    ...notes.map(({ label, value }) => row(label, value)),
    ...(request === undefined ? [] : [`  request  ${request}\n`]),
    ...(answer === undefined ? [] : [`  answer   ${answer}\n`]),
  ].join('')
}

function feeShare(
  { original, amount, parts, reversed }: Worksheet['fees'][number],
  dayOf: Layout['dayOf'],
): string {
  if (reversed) return ', reversed'
  if (amount === original) return ''
  const spans = parts.map(part => `${dayOf(part.startTimestamp)} to ${dayOf(part.endTimestamp)}`)
  return ` of ${original}: ${spans.join(', ')}`
}
