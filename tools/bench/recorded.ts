// `npm run bench -- --record`: writes the reference, or the result of --heap or --reports, to a section of docs/measured.md.
import { measuredAt, writeSection } from '../measured.ts'
import { type HeapFigures, heapLine } from './heap-over-time.ts'
import { type Reference, referenceLines } from './reference.ts'
import { markdownTable, operationRows, quoteToIssueRows } from './report.ts'
import type { ReportsFigures } from './reports.ts'

export function recordReference(figures: Reference): void {
  const lines = referenceLines(figures).map(line => `- ${line}`)
  writeSection(
    'bench',
    `## Operations compared with their floor

Written by \`npm run bench -- --record\`. [bench](bench.md) explains the columns. ${measuredAt()} Ratios are
medians of rounds in which service and floor take turns. Requests per second and milliseconds depend on this machine and on its
other load at the time.

${markdownTable(operationRows(figures.operations))}

${markdownTable(quoteToIssueRows(figures.quoteToIssue))}

${lines.join('\n')}`,
  )
}

export function recordHeap(heap: HeapFigures): void {
  writeSection(
    'heap',
    `## Memory

Written by \`npm run bench -- --heap --record\`. ${measuredAt()}

- ${heapLine(heap)}`,
  )
}

export function recordReports({ accounts, policies, undisturbed, reports }: ReportsFigures): void {
  const rows = reports.map(one => [
    one.name,
    one.seconds.toFixed(1),
    String(one.policies),
    String(one.lines),
    String(one.rowsRead),
    one.megabytes?.toFixed(0) ?? '',
    one.p50.toFixed(1),
    one.p99.toFixed(1),
    one.ratio.toFixed(2),
  ])
  writeSection(
    'reports',
    `## Reports

Written by \`npm run bench -- --reports --record\`. ${measuredAt()}

A generated book of ${accounts} accounts with ${policies} policies in four shards. Each report runs while four users read policies, with pauses
of 150 ms. Without a report, in alternating rounds, they wait ${undisturbed.p50.toFixed(1)} ms (p50) and ${undisturbed.p99.toFixed(1)} ms (p99). The goal for the last column is 1.5 at most.

${markdownTable([
  ['report', 'seconds', 'policies', 'lines', 'rows read', 'MB in use', 'users p50 ms', 'p99 ms', 'times'],
  ...rows,
])}`,
  )
}
