// Findings of checks, for people and programs.
import { join } from 'node:path'
import { countText } from '../src/kernel/text.ts'
import type { Finding } from '../src/product/configuration.ts'
import type { Terminal } from './terminal.ts'

/** A finding in the form of `--json`. `file` is its path from where the command was started. */
export type ShownFinding = Finding & { file: string }

export const shownFindings = (findings: readonly Finding[], root: string): ShownFinding[] =>
  findings.map(({ integration: _, template: _template, ...finding }) => ({
    ...finding,
    file: join(root, finding.path),
  }))

/**
 * Prints each finding: its place, in the form that editors and terminals turn into links, and below it what is wrong and what to
 * do.
 */
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
  return `${countText(errors, 'error')}, ${countText(warnings, 'warning')}`
}

const LOGGED = /^(ERROR|WARNING) (.+?)(?::(\d+)(?::(\d+))?)? ([a-z][A-Za-z]+) (.*)$/

/** Returns the findings in a deploy's log (src/product/log.ts), and the lines that are not findings. */
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
