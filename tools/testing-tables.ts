// Writes the tables in docs/testing.md, from cli/scenario: the steps of scenarios, and what can be expected after a step.
import { readFileSync, writeFileSync } from 'node:fs'
import { OTHER_STEPS, STEPS, type StepDefinition } from '../cli/scenario/steps.ts'
import { PARTS } from '../cli/scenario/view.ts'

const DOCUMENT = 'docs/testing.md'

const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`

function table(head: string[], rows: string[][]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map(cells => cells[at]!.length), 3))
  const padded = (cells: string[]): string => row(...cells.map((cell, at) => cell.padEnd(widths[at]!)))
  return [padded(head), row(...widths.map(width => '-'.repeat(width))), ...rows.map(padded)].join('\n')
}

const stepRows = Object.entries<StepDefinition>(STEPS).map(([name, { does, route, alternative }]) => [
  `\`${name}\``,
  does,
  [route, ...(alternative ? [alternative.route] : [])].map(one => `\`${one}\``).join(', '),
])

const otherRows = Object.entries(OTHER_STEPS).map(([name, does]) => [`\`${name}\``, does, ''])

const partRows = Object.entries(PARTS).map(([name, { says }]) => [`\`${name}\``, says])

const TABLES: Readonly<Record<string, string>> = {
  steps: table(['step', 'action', 'body as in'], [...stepRows, ...otherRows]),
  parts: table(
    ['under `expect`', 'contents'],
    [
      ...partRows,
      [
        '`refused`',
        'The step is rejected: the error code, or `{ code, message }` with a part of the message. A rejected step changes nothing, and the next step follows.',
      ],
    ],
  ),
}

/** Returns the document with its tables as the code now defines them. */
export function withTables(text: string): string {
  let written = text
  for (const [name, lines] of Object.entries(TABLES)) {
    const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`]
    const [before, rest] = written.split(begin) as [string, string]
    written = `${before}${begin}\n${lines}\n\n${rest.slice(rest.indexOf(end))}`
  }
  return written
}

if (import.meta.main) writeFileSync(DOCUMENT, withTables(readFileSync(DOCUMENT, 'utf8')))
