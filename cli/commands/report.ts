// `bindery report NAME --param name=value … --out DIR`: runs a report, and downloads its files.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { components } from '../../client/index.ts'
import { countText } from '../../src/kernel/text.ts'
import { EXIT, type ExitCode, Failure, usage } from '../exit.ts'
import { makeFolder } from '../make-folder.ts'
import { signedIn } from '../sign-ins.ts'
import { pause, type Run, say, show } from '../terminal.ts'

type Status = components['schemas']['ReportStatusResponse']

const POLL_MS = 500

/** Parameters that are lists. Their values are separated by commas. */
const LISTS: ReadonlySet<string> = new Set(['by', 'products', 'sums', 'columns'])

export async function report(
  name: string,
  { param = [], out }: { param?: readonly string[]; out?: string },
  run: Run,
): Promise<ExitCode> {
  const { terminal } = run
  const { api } = signedIn('tenant', terminal)
  const body = Object.fromEntries(param.map(parameterOf))
  let status: Status = await api.post('/report/{reportName}', {
    params: { path: { reportName: name }, query: { wait: 10 } },
    body,
  } as never)
  while (status.state === 'running') {
    say(run, `${status.processed} of ${countText(status.expected, 'policy', 'policies')}\n`)
    await pause(POLL_MS, terminal)
    if (terminal.interrupted.aborted) return EXIT.interrupted
    const path = { reportLocator: status.locator }
    status = await api.get('/report/{reportLocator}/status', { params: { path } })
  }
  if (status.state !== 'finished')
    throw new Failure(EXIT.refused, `The report is ${status.state}. ${status.problem ?? ''}`.trim())
  if (out !== undefined) await download(status, out)
  show(run, status, () => textOf(status, out))
  return EXIT.ok
}

function parameterOf(text: string): [string, unknown] {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? []
  if (name === undefined) throw usage(`'${text}' is not a parameter. Write it as 'from=2026-11-01'.`)
  return [name, LISTS.has(name) ? value!.split(',').filter(one => one !== '') : value]
}

/** Rejects a file that does not have the hash that the report states. */
async function download({ files }: Status, out: string): Promise<void> {
  makeFolder(out)
  for (const { url, fileName, sha256 } of files) {
    const response = await fetch(url)
    const bytes = new Uint8Array(await response.arrayBuffer())
    const hash = createHash('sha256').update(bytes).digest('hex')
    if (!response.ok || hash !== sha256)
      throw new Failure(
        EXIT.refused,
        `${fileName} was damaged in transit (status ${response.status}). Try again.`,
      )
    writeFileSync(join(out, fileName), bytes)
  }
}

function textOf({ totals, columns, lines, processed, files }: Status, out: string | undefined): string {
  const measures = columns.filter(({ isMeasure }) => isMeasure).map(({ name }) => name)
  const names = Object.keys(totals[0]?.group ?? {})
  const rows = [
    [...names, 'currency', 'lines', ...measures],
    ...totals.map(({ group, currency, lines: count, sums }) => [
      ...names.map(name => String(group[name] ?? '')),
      currency,
      String(count),
      ...measures.map(name => String(sums[name] ?? '')),
    ]),
  ]
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map(row => row[at]!.length)))
  const isText = (at: number): boolean => at <= names.length
  const table = rows.map(row =>
    row
      .map((cell, at) => (isText(at) ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd(),
  )
  const where = out === undefined ? '' : `, ${countText(files.length, 'file')} in ${out}`
  return `${table.join('\n')}\n\n${countText(lines, 'line')} of ${countText(processed, 'policy', 'policies')}${where}\n`
}
