import { countText } from '../../src/kernel/text.ts'
import { type Change, countsOf, type Hunk, type RowChange } from '../../src/product/difference/change.ts'
import { configurationChanges, fileChanges, inOrder } from '../../src/product/difference/configurations.ts'
import { percentText } from '../../src/product/difference/values.ts'
import { readConfiguration } from '../configuration-source.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { type Run, show, type Terminal } from '../terminal.ts'

export type DiffOptions = { verbose?: boolean }

/** `bindery diff OLD NEW`: shows the changes between two configurations, and their consequences for policies in force. */
export async function diff(
  before: string,
  after: string,
  { verbose = false }: DiffOptions,
  run: Run,
): Promise<ExitCode> {
  const [old, now] = [await readConfiguration(before, run), await readConfiguration(after, run)]
  const changes = inOrder([
    ...configurationChanges(old.configuration, now.configuration),
    ...fileChanges(old.files(), now.files()),
  ])
  const counts = countsOf(changes)
  show(run, { ok: true, old: old.name, new: now.name, ...counts, changes }, () =>
    changes.length === 0
      ? `${old.name} and ${now.name} have the same meaning.\n`
      : `${changesText(changes, verbose, run.terminal)}\n${summaryText(counts, run.terminal)}\n`,
  )
  return EXIT.ok
}

function summaryText({ count, breaks, binds }: ReturnType<typeof countsOf>, { colors }: Terminal): string {
  const breaking = `${breaks} ${breaks === 1 ? 'leaves' : 'leave'} policies in force that the new configuration cannot read`
  const binding = `${binds} ${binds === 1 ? 'requires' : 'require'} different data at the next change of a policy`
  return [
    colors.bold(countText(count, 'change')),
    ...(breaks > 0 ? [colors.red(breaking)] : []),
    ...(binds > 0 ? [colors.yellow(binding)] : []),
  ].join('; ')
}

/** Groups changes by product, and within a product by area. */
function changesText(changes: readonly Change[], verbose: boolean, terminal: Terminal): string {
  const { colors } = terminal
  const lines: string[] = []
  let [product, area]: [string | undefined, string] = [undefined, '']
  for (const change of changes) {
    if (change.product !== product) {
      lines.push(...(lines.length > 0 ? [''] : []), colors.bold(`product ${change.product}`))
      area = ''
    }
    product = change.product
    if (change.area !== area) lines.push(...(lines.length > 0 ? [''] : []), colors.bold(change.area))
    area = change.area
    lines.push(...changeLines(change, verbose, terminal))
  }
  return `${lines.join('\n')}\n`
}

function changeLines(change: Change, verbose: boolean, { colors }: Terminal): string[] {
  const { kind, subject, detail, inForce, rows = [], hunks = [], path } = change
  const mark = { added: colors.green('+'), removed: colors.red('-'), changed: colors.yellow('~') }[kind]
  const isLong = rows.length > MOST_ROWS && !verbose
  const shown = isLong ? rows.slice(0, MOST_ROWS) : rows
  return [
    `  ${mark} ${subject}${detail === '' ? '' : `: ${detail}`}`,
    ...(inForce ? [`      ${colors.red('in force')}  ${inForce.why}`] : []),
    ...(verbose ? [`      ${colors.dim(path)}`] : []),
    ...rowLines(shown),
    ...(isLong ? [`      … ${rows.length - MOST_ROWS} more; --verbose shows all`] : []),
    ...(verbose ? hunks.flatMap(hunk => hunkLines(hunk, colors)) : []),
  ]
}

/** Rows of a table that are shown without `--verbose`. */
const MOST_ROWS = 12

function rowLines(rows: readonly RowChange[]): string[] {
  const width = Math.min(40, Math.max(0, ...rows.map(({ key }) => key.join(' / ').length)))
  return rows.map(row => {
    const key = row.key.join(' / ').padEnd(width)
    if (row.kind !== 'changed') return `      ${row.kind === 'added' ? '+' : '-'} ${key}  ${valuesText(row)}`
    const cells = row.cells.map(({ column, from, to, percent }) => {
      const name = column === 'value' ? '' : `${column} `
      return `${name}${from} to ${to}${percent === undefined ? '' : ` (${percentText(percent)})`}`
    })
    return `      ~ ${key}  ${cells.join(', ')}`
  })
}

const valuesText = (row: Extract<RowChange, { row: object }>): string =>
  Object.values(row.row)
    .filter(value => !row.key.includes(value))
    .join(', ')

const hunkLines = ({ oldLine, newLine, removed, added }: Hunk, colors: Terminal['colors']): string[] => [
  `      ${colors.dim(`@@ -${oldLine},${removed.length} +${newLine},${added.length} @@`)}`,
  ...removed.map(line => colors.red(`      -${line}`)),
  ...added.map(line => colors.green(`      +${line}`)),
]
