// A worksheet as text: what each figure was made of, line by line, in the order in which it was worked out.
import { decimal } from '../src/kernel/money.ts'
import type {
  Worksheet,
  WorksheetFigure,
  WorksheetLookup,
  WorksheetPeril,
  WorksheetPiece,
  WorksheetRun,
  WorksheetShare,
  WorksheetStep,
  WorksheetTax,
} from '../src/policy/contract/worksheet.ts'
import type { Terminal } from './terminal.ts'

/** Columns: the line of a template, what happens there, and its value. */
const LINE = 8
const WHAT = 64
const VALUE = 14

type Colors = Terminal['colors']

/** With line ends. `dayOf` shows a timestamp. */
export function worksheetText(
  sheet: Worksheet,
  dayOf: (timestamp: string) => string,
  colors: Colors,
): string {
  const layout = { dayOf, colors }
  return [
    ...sheet.perils.map(peril => perilText(peril, layout)),
    ...(sheet.morePerils > 0 ? [`\n${sheet.morePerils} more perils are left out.\n`] : []),
    ...sheet.calls.map(callText),
    ...sheet.feeScripts.flatMap(({ source, steps, moreSteps, amounts }) => [
      `\n${colors.bold('fees')} by ${source}\n`,
      stepsText(source, steps, moreSteps),
      ...amounts.map(({ name, amount }) => row('', `fee ${name}`, amount)),
    ]),
    `\n${colors.bold('total')}\n`,
    row('', 'premium', sheet.premium),
    ...sheet.taxes.map(({ name, amount }) => row('', `tax ${name}`, amount)),
    ...sheet.fees.map(fee => row('', `fee ${fee.name}${feeShare(fee, dayOf)}`, fee.amount)),
    ...sheet.holdbacks.map(({ name, amount }) => row('', `kept: ${name}`, amount)),
    row('', `total, ${sheet.currency}`, sheet.total),
    ...(sheet.totalBefore === undefined ? [] : [row('', 'before', sheet.totalBefore)]),
    ...sheet.commissions.map(({ name, amount }) => row('', `commission of ${name}`, amount)),
    ...(sheet.differs ? [`\n${DIFFERS}\n`] : []),
    ...sheet.notes.map(note => `\n${note}\n`),
  ].join('')
}

const DIFFERS = 'Rating again gives other amounts than were recorded; the recorded ones count.'

type Layout = {
  readonly dayOf: (timestamp: string) => string
  readonly colors: Colors
}

const row = (line: string | number, what: string, value: string): string => {
  const left = `${String(line).padStart(LINE)}  `
  // What is too long for its column has its value on the next line.
  if (what.length > WHAT && value !== '')
    return `${left}${what}\n${' '.repeat(LINE + 2 + WHAT)}${value.padStart(VALUE)}\n`
  return `${`${left}${what.padEnd(WHAT)}${value.padStart(VALUE)}`.trimEnd()}\n`
}

function perilText(peril: WorksheetPeril, layout: Layout): string {
  const { colors } = layout
  return [
    `\n${colors.bold(`${peril.exposureName} / ${peril.perilName}`)}\n`,
    ...peril.runs.map(run => runText(run, layout)),
    ...(peril.runs.length === 1 && peril.runs[0]!.pieces.length === 1
      ? []
      : [row('', 'premium of the peril', peril.premium)]),
  ].join('')
}

function runText(run: WorksheetRun, { dayOf, colors }: Layout): string {
  const span = `${dayOf(run.startTimestamp)} to ${dayOf(run.endTimestamp)}`
  const by = run.source ? ` by ${run.source}` : ''
  const isSplit = run.pieces.length > 1 || run.pieces.some(one => one.replacedBy !== undefined)
  return [
    `  ${run.transaction}, ${span}, version ${run.configVersion}: ${RATED_BY[run.ratedBy]}${by}\n`,
    ...(run.problem === undefined ? [] : [`  not rated again: ${run.problem}\n`]),
    stepsText(run.source ?? '', run.steps, run.moreSteps),
    ...(run.continues?.shares ?? []).map(share => row('', `taken over: ${shareText(share)}`, share.amount)),
    ...(run.parts.length > 1
      ? run.parts.flatMap((part, at) => figureRows(`premium, part ${at + 1}`, part.premium))
      : []),
    ...figureRows('premium', run.premium),
    ...(run.technicalPremium ? figureRows('technical premium', run.technicalPremium) : []),
    ...run.commissions.flatMap(one => figureRows(`commission of ${one.recipient}`, one)),
    ...run.taxes.map(tax => taxText(tax)),
    ...(isSplit ? run.pieces.map(piece => pieceText(piece, dayOf)) : []),
    ...(run.differs ? [`  ${colors.yellow(DIFFERS)}\n`] : []),
  ].join('')
}

const RATED_BY: Record<WorksheetRun['ratedBy'], string> = {
  template: 'rated',
  plugin: 'rated',
  externalRater: 'rated by an external rater,',
  earlierRates: 'continues at the earlier rates',
  recorded: 'as it was recorded',
}

/**
 * A read value stands beside the figure that it becomes, where it is used at once: `318.00 × 1.05 (region_factor)`.
 * What is no figure, such as a whole record, is left out.
 */
function stepsText(source: string, steps: readonly WorksheetStep[], more: number): string {
  const rows: string[] = []
  let reads: WorksheetStep[] = []
  const add = (step: WorksheetStep, what: string): void => {
    const { path, line, kind, result = kind === 'set' ? '' : '–' } = step
    const isOwn = path === undefined || path === source
    rows.push(row(isOwn ? line : `${baseName(path)}:${line}`, what, kind === 'branch' ? '' : result))
  }
  const flush = (): void => {
    for (const read of reads) add(read, read.name)
    reads = []
  }
  for (const step of steps.filter(({ result }) => result !== '{…}')) {
    if (step.kind === 'read') {
      if (reads[0]?.line !== step.line) flush()
      reads.push(step)
      continue
    }
    const named = (value: string): string => {
      const at = reads.findIndex(read => read.result === value)
      return at < 0 ? value : `${value} (${reads.splice(at, 1)[0]!.name})`
    }
    const what = stepText(step, step.kind === 'compute' || step.kind === 'set' ? named : String)
    flush()
    add(step, what)
  }
  flush()
  return rows.join('') + (more > 0 ? row('', `… and ${more} more steps`, '') : '')
}

const SIGNS: Record<string, string> = { times: '×', divided_by: '÷', plus: '+', minus: '−' }

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
      if (LOOPS.has(name)) return `${name}: ${result} turns`
      return `${name}: ${result === 'else' ? 'none of its conditions holds' : `condition ${result} holds`}`
    case 'set': {
      const from = named(input)
      return `${name} ${from}${given.length > 0 ? `, ${given.map(named).join(', ')}` : ''}`
    }
    default: {
      const from = named(input)
      const sign = SIGNS[name] ?? name.replaceAll('_', ' ')
      return `${from} ${sign}${given.length > 0 ? ` ${given.map(named).join(', ')}` : ''}`
    }
  }
}

const LOOPS: ReadonlySet<string> = new Set(['for', 'tablerow'])

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

function lookupText({ table, keys, column, path, line, resourceName, revision }: WorksheetLookup): string {
  const file = path === undefined ? (resourceName ?? '') : baseName(path)
  const place =
    file === '' ? '' : `  (${file}${line === undefined ? '' : `:${line}`}${revision ? `, ${revision}` : ''})`
  return `${table} [${keys.join(', ')}]${column === undefined ? '' : ` ${column}`}${place}`
}

function figureRows(name: string, figure: WorksheetFigure): string[] {
  const { unrounded, amount, recorded } = figure
  return [
    row('', `${name}: ${formulaOf(figure)}${isRounded(figure) ? ` = ${unrounded}, rounded` : ''}`, amount),
    ...(recorded === undefined ? [] : [row('', `${name} as recorded`, recorded)]),
  ]
}

const isRounded = ({ unrounded, amount }: Pick<WorksheetFigure, 'unrounded' | 'amount'>): boolean =>
  !decimal(unrounded).eq(decimal(amount))

function formulaOf({ yearly, monthly, exact, added, months }: WorksheetFigure): string {
  const more = added === undefined || exact !== undefined ? '' : ` + ${added}`
  if (exact !== undefined) return `${exact} for ${months} months`
  if (monthly !== undefined) return `${monthly} a month × ${months}${more}`
  if (yearly !== undefined) return `${yearly} a year × ${months} ÷ 12${more}`
  return 'nothing was set'
}

const taxText = ({ name, source, steps, moreSteps, unrounded, amount, recorded }: WorksheetTax): string =>
  [
    ...(source === '' ? [] : [`  tax by ${source}\n`]),
    stepsText(source, steps, moreSteps),
    row('', `tax ${name}${isRounded({ unrounded, amount }) ? `: ${unrounded}, rounded` : ''}`, amount),
    ...(recorded === undefined ? [] : [row('', `tax ${name} as recorded`, recorded)]),
  ].join('')

function pieceText(piece: WorksheetPiece, dayOf: Layout['dayOf']): string {
  const span = `${dayOf(piece.startTimestamp)} to ${dayOf(piece.endTimestamp)}`
  const isGone = piece.replacedBy === undefined ? '' : ', replaced later'
  return [
    `    ${span}${isGone}\n`,
    ...piece.shares.map(share =>
      row(
        '',
        `${share.of}${share.name === undefined ? '' : ` ${share.name}`}: ${shareText(share)}`,
        share.amount,
      ),
    ),
  ].join('')
}

function shareText({ from, how, part, whole }: WorksheetShare): string {
  if (how === 'share') return `${from} × ${part} ÷ ${whole}`
  if (how === 'rest') return `the rest of it, ${from}`
  if (how === 'plugin') return `of ${from}, as the plugin states`
  return how === 'all' ? `all of ${from}` : 'as it was recorded'
}

function callText({ ratedBy, source, lookups, notes, request, answer }: Worksheet['calls'][number]): string {
  return [
    `\n${ratedBy === 'plugin' ? 'plugin' : 'external rater'} ${source}\n`,
    ...lookups.map(lookup => row('', lookupText(lookup), lookup.value ?? '–')),
    ...notes.map(({ label, value }) => row('', label, value)),
    ...(request === undefined ? [] : [`  request  ${request}\n`]),
    ...(answer === undefined ? [] : [`  answer   ${answer}\n`]),
  ].join('')
}

const feeShare = (
  { original, amount, parts, reversed }: Worksheet['fees'][number],
  dayOf: Layout['dayOf'],
): string => {
  if (reversed) return ', taken back'
  if (amount === original) return ''
  const spans = parts.map(one => `${dayOf(one.startTimestamp)} to ${dayOf(one.endTimestamp)}`)
  return ` of ${original}: ${spans.join(', ')}`
}
