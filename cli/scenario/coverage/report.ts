// Prints coverage: each file and table with what no scenario reached.
import type { Colors } from 'picocolors/types'
import { listNames } from '../../terminal.ts'
import type { CoverageReport, CoveredBranch, CoveredFile } from './coverage.ts'

/** The widths of the columns for the file and for its share. The unreached parts follow. */
const NAME = 58
const SHARE = 12

/** The rest is only counted. */
export function coverageText({ files, tables, rules }: CoverageReport, colors: Colors): string {
  const section = (title: string, rows: string[]): string =>
    rows.length === 0 ? '' : `\n${colors.bold(title)}\n${rows.join('')}`
  const reachedOf = (list: readonly { times: number }[]): number => list.filter(one => one.times > 0).length
  const unreached = rules.filter(rule => rule.times === 0)
  return [
    section(
      'lines',
      files.map(file =>
        row(file.path, reachedOf(file.lines), file.lines.length, uncoveredText(file), colors),
      ),
    ),
    section(
      'rows of tables',
      tables.map(({ path, rows, missed }) => {
        const left = rows.filter(one => one.times === 0).map(one => one.key)
        const words = [
          ...(left.length === 0 ? [] : [listNames(left)]),
          ...(missed.length === 0 ? [] : [`looked up without a matching row: ${listNames(missed)}`]),
        ]
        return row(path, reachedOf(rows), rows.length, words.join('; '), colors)
      }),
    ),
    section('underwriting rules', [
      ...(rules.length === 0 ? [] : [row('all', reachedOf(rules), rules.length, '', colors)]),
      ...unreached.map(({ path, line, text }) => `  ${colors.yellow(`${path}:${line}`)}  ${text}\n`),
    ]),
  ].join('')
}

function row(name: string, reached: number, all: number, left: string, colors: Colors): string {
  const share = `${reached}/${all}`.padStart(SHARE)
  const percent = `${all === 0 ? 100 : Math.floor((100 * reached) / all)}%`.padStart(6)
  const color = colors[colorOf(reached, all)]
  const shown = name.length > NAME ? `…${name.slice(1 - NAME)}` : name
  return `  ${shown.padEnd(NAME)}${color(share + percent)}${left === '' ? '' : `  ${colors.dim(left)}`}\n`
}

function colorOf(reached: number, all: number): 'green' | 'red' | 'yellow' {
  if (reached === all) return 'green'
  return reached === 0 ? 'red' : 'yellow'
}

/** Returns unreached lines as ranges, and branches that were not taken. */
function uncoveredText({ lines, branches }: CoveredFile): string {
  const ranges: string[] = []
  let from: number | undefined
  for (const [at, { line, times }] of lines.entries()) {
    if (times > 0) continue
    from ??= line
    const next = lines[at + 1]
    if (next && next.times === 0) continue
    ranges.push(from === line ? String(line) : `${from}-${line}`)
    from = undefined
  }
  const reached = new Set(lines.filter(one => one.times > 0).map(one => one.line))
  const ways = branches.filter(branch => reached.has(branch.line)).flatMap(untakenBranches)
  return [
    ...(ranges.length === 0 ? [] : [listNames(ranges)]),
    ...(ways.length === 0 ? [] : [listNames(ways)]),
  ].join('; ')
}

function untakenBranches({ line, tag, taken }: CoveredBranch): string[] {
  const left = taken.flatMap((times, at) => (times === 0 ? [at] : []))
  if (left.length === 0) return []
  const isLast = (at: number): boolean => at === taken.length - 1
  // Most lists are never empty, so the branch for an empty one is not reported.
  if (tag === 'for' || tag === 'tablerow') return left.includes(0) ? [`${line} never entered`] : []
  return left.map(at =>
    isLast(at) ? `${line} never else` : `${line} never${taken.length > 2 ? ` case ${at + 1}` : ''} true`,
  )
}

/** Returns coverage for programs: by file, with counts of each line. */
export function coverageJson({ files, tables, rules }: CoverageReport): object {
  return {
    files: files.map(({ path, kind, lines, branches }) => ({
      path,
      kind,
      lines: {
        total: lines.length,
        covered: lines.filter(one => one.times > 0).length,
        counts: Object.fromEntries(lines.map(one => [one.line, one.times])),
        uncovered: lines.filter(one => one.times === 0).map(one => one.line),
      },
      branches,
    })),
    tables: tables.map(({ path, rows, missed }) => ({
      path,
      rows: { total: rows.length, covered: rows.filter(one => one.times > 0).length },
      uncovered: rows.filter(one => one.times === 0).map(one => one.key),
      missed,
    })),
    rules,
  }
}
