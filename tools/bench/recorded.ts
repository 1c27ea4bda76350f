// `npm run bench -- --record`: the reference, or with --heap the heap, as a section of docs/measured.md.
import { measuredAt, writeSection } from '../measured.ts'
import { type HeapFigures, heapLine } from './heap-over-time.ts'
import { type Reference, referenceLines } from './reference.ts'
import { markdownTable, operationRows, quoteToIssueRows } from './report.ts'

export function recordReference(figures: Reference): void {
  const lines = referenceLines(figures).map(line => `- ${line}`)
  writeSection(
    'bench',
    `## Operations beside their floor

Written by \`npm run bench -- --record\`; what the columns mean is told in [bench](bench.md). ${measuredAt()} Ratios are
medians of rounds in which service and floor take turns; requests a second and milliseconds are those of this machine, and of what
else it did at the time.

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
