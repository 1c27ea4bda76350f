// The lines of a worksheet as text for people. The command line and the console show the same lines. Depends on nothing but text,
// so it adds little to a page.
import { countText } from '../kernel/text.ts'
import type {
  WorksheetFigure,
  WorksheetLookup,
  WorksheetRun,
  WorksheetShare,
  WorksheetStep,
  WorksheetTax,
} from './contract/worksheet.ts'

/** A line of a template, what happens there, and the resulting value. */
export type SheetLine = { readonly line: string; readonly what: string; readonly value: string }

const lineWithoutNumber = (what: string, value: string): SheetLine => ({ line: '', what, value })

export const DIFFERS =
  'Rating again gives amounts that differ from the recorded ones. The recorded amounts count.'

export const RATED_BY: Readonly<Record<WorksheetRun['ratedBy'], string>> = {
  template: 'rated by',
  plugin: 'rated by the plugin',
  externalRater: 'rated by the external rater',
  earlierRates: 'continues at the earlier rates',
  recorded: 'as recorded',
}

/**
 * Returns the lines of rating steps. A read value that is used immediately is shown next to the figure that it becomes:
 * `318.00 × 1.05 (region_factor)`. Leaves out values that are not figures, such as whole records.
 */
export function stepLines({
  source = '',
  steps,
  moreSteps,
}: {
  readonly source?: string | undefined
  readonly steps: readonly WorksheetStep[]
  readonly moreSteps: number
}): SheetLine[] {
  const lines: SheetLine[] = []
  let reads: WorksheetStep[] = []
  const add = (step: WorksheetStep, what: string): void => {
    const { path, line, kind, result = kind === 'set' ? '' : '–' } = step
    const place = path === undefined || path === source ? String(line) : `${baseName(path)}:${line}`
    lines.push({ line: place, what, value: kind === 'branch' ? '' : result })
  }
  const addReads = (): void => {
    for (const read of reads) add(read, read.name)
    reads = []
  }
  for (const step of steps) {
    if (step.result === '{…}') continue
    if (step.kind === 'read') {
      if (reads[0]?.line !== step.line) addReads()
      reads.push(step)
      continue
    }
    const withReadName = (value: string): string => {
      const at = reads.findIndex(read => read.result === value)
      return at < 0 ? value : `${value} (${reads.splice(at, 1)[0]!.name})`
    }
    const what = stepText(step, step.kind === 'compute' || step.kind === 'set' ? withReadName : String)
    addReads()
    add(step, what)
  }
  addReads()
  if (Number(moreSteps) > 0)
    lines.push(lineWithoutNumber(`… and ${countText(Number(moreSteps), 'more step')}`, ''))
  return lines
}

const SIGNS: Readonly<Record<string, string>> = { times: '×', divided_by: '÷', plus: '+', minus: '−' }
const LOOPS: ReadonlySet<string> = new Set(['for', 'tablerow'])

function stepText(
  { kind, name, input = '–', arguments: given = [], result, lookup }: WorksheetStep,
  named: (value: string) => string,
): string {
  switch (kind) {
    case 'lookup':
      return lookup ? lookupText(lookup) : name
    case 'assign':
      return `  ${name} =`
    case 'branch':
      if (LOOPS.has(name)) return `${name}: ${result} ${result === '1' ? 'turn' : 'turns'}`
      return `${name}: ${result === 'else' ? 'none of its conditions holds' : `condition ${result} holds`}`
    case 'set':
      return `${name} ${[input, ...given].map(named).join(', ')}`
    default: {
      const from = named(input)
      const sign = SIGNS[name] ?? name.replaceAll('_', ' ')
      return `${from} ${sign}${given.length > 0 ? ` ${given.map(named).join(', ')}` : ''}`
    }
  }
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Formats a lookup: `rates [north, 2] factor  (rates.csv:14)`. The place is left out if it is unknown. */
export function lookupText({
  table,
  keys,
  column,
  path,
  line,
  resourceName,
  revision,
}: WorksheetLookup): string {
  const file = path === undefined ? (resourceName ?? '') : baseName(path)
  const place = `${file}${line === undefined ? '' : `:${line}`}${revision ? `, ${revision}` : ''}`
  return `${table} [${keys.join(', ')}]${column === undefined ? '' : ` ${column}`}${file === '' ? '' : `  (${place})`}`
}

/** Returns a figure with its formula, and the recorded amount if it differs. */
export function figureLines(name: string, figure: WorksheetFigure): SheetLine[] {
  const rounded = isRounded(figure) ? ` = ${figure.unrounded}, rounded` : ''
  return [
    lineWithoutNumber(`${name}: ${formulaOf(figure)}${rounded}`, figure.amount),
    ...recordedLine(name, figure),
  ]
}

const recordedLine = (name: string, { recorded }: { recorded?: string | undefined }): SheetLine[] =>
  recorded === undefined ? [] : [lineWithoutNumber(`${name} as recorded`, recorded)]

function formulaOf({ yearly, monthly, exact, added, months }: WorksheetFigure): string {
  const more = added === undefined ? '' : ` + ${added}`
  if (exact !== undefined) return `${exact} for ${months} ${Number(months) === 1 ? 'month' : 'months'}`
  if (monthly !== undefined) return `${monthly} a month × ${months}${more}`
  return yearly === undefined ? 'nothing was set' : `${yearly} a year × ${months} ÷ 12${more}`
}

/** Removes trailing zeros, so that `12.50` equals `12.5`. */
const trimTrailingZeros = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)

const isRounded = ({ unrounded, amount }: Pick<WorksheetFigure, 'unrounded' | 'amount'>): boolean =>
  trimTrailingZeros(unrounded) !== trimTrailingZeros(amount)

/** Returns the steps of the tax, its amount, and the recorded amount if it differs. */
export const taxLines = (tax: WorksheetTax): SheetLine[] => [
  ...stepLines(tax),
  lineWithoutNumber(`tax ${tax.name}${isRounded(tax) ? `: ${tax.unrounded}, rounded` : ''}`, tax.amount),
  ...recordedLine(`tax ${tax.name}`, tax),
]

/** Returns a line with the formula for each share, in the given order. */
export const shareLines = (shares: readonly WorksheetShare[]): SheetLine[] =>
  shares.map(share =>
    lineWithoutNumber(
      `${SHARES[share.of]}${share.name === undefined ? '' : ` ${share.name}`}: ${shareText(share)}`,
      share.amount,
    ),
  )

const SHARES: Readonly<Record<WorksheetShare['of'], string>> = {
  premium: 'premium',
  technicalPremium: 'technical premium',
  tax: 'tax',
  commission: 'commission of',
}

function shareText({ from, how, part, whole }: WorksheetShare): string {
  if (how === 'share') return `${from} × ${part} ÷ ${whole}`
  if (how === 'rest') return `the rest, ${from}`
  if (how === 'plugin') return `part of ${from}, as the plugin states`
  return how === 'all' ? `all of ${from}` : 'as recorded'
}

/** Returns everything that was computed for one run except its taxes: steps, rates, and what it takes over from an earlier run. */
export const runLines = (run: WorksheetRun): SheetLine[] => [
  ...stepLines(run),
  ...shareLines(run.continues?.shares ?? []),
  ...(run.parts.length > 1
    ? run.parts.flatMap((part, at) => figureLines(`premium, part ${at + 1}`, part.premium))
    : []),
  ...figureLines('premium', run.premium),
  ...(run.technicalPremium ? figureLines('technical premium', run.technicalPremium) : []),
  ...run.commissions.flatMap(one => figureLines(`commission of ${one.recipient}`, one)),
]

/** Whether the run has several pieces, or a piece that was replaced. */
export const isSplit = ({ pieces }: WorksheetRun): boolean =>
  pieces.length > 1 || pieces.some(one => one.replacedBy !== undefined)
