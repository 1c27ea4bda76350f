// What checks find, as people and programs read it.
import { join } from 'node:path'
import type { Finding } from '../src/product/configuration.ts'
import { counted, type Terminal } from './terminal.ts'

/** As `--json` shows one: `file` is its path from where the command was started. */
export type ShownFinding = Finding & { file: string }

export const shownFindings = (findings: readonly Finding[], root: string): ShownFinding[] =>
  findings.map(({ integration: _, template: _template, ...finding }) => ({
    ...finding,
    file: join(root, finding.path),
  }))

/** Each finding: its place, as editors and terminals make links of it, and below it what is wrong and what to do. */
export function findingsText(findings: readonly ShownFinding[], { colors }: Terminal): string {
  return findings
    .map(({ severity, file, line, column, code, message }) => {
      const place = [file, line, column].filter(part => part !== undefined).join(':')
      const word = severity === 'ERROR' ? colors.red('error') : colors.yellow('warning')
      return `${colors.bold(place)}  ${word}  ${colors.dim(code)}\n  ${message}\n`
    })
    .join('\n')
}

export const countsOf = (findings: readonly Finding[]): { errors: number; warnings: number } => {
  const errors = findings.filter(({ severity }) => severity === 'ERROR').length
  return { errors, warnings: findings.length - errors }
}

export const countsText = (findings: readonly Finding[]): string => {
  const { errors, warnings } = countsOf(findings)
  return `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`
}

const LOGGED = /^(ERROR|WARNING) (.+?)(?::(\d+)(?::(\d+))?)? ([a-z][A-Za-z]+) (.*)$/

/** The findings of a deploy's log (src/product/log.ts), and the lines that are none. */
export function readLog(log: string): { findings: Finding[]; lines: string[] } {
  const findings: Finding[] = []
  const lines: string[] = []
  for (const text of log.split('\n')) {
    const [, severity, path, line, column, code, message] = LOGGED.exec(text) ?? []
    if (code === undefined) lines.push(text)
    else
      findings.push({
        severity: severity as Finding['severity'],
        path: path!,
        ...(line !== undefined && { line: Number(line) }),
        ...(column !== undefined && { column: Number(column) }),
        code,
        message: message!,
      })
  }
  return { findings, lines }
}
