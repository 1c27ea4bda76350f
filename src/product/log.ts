import type { ArchiveRefused } from '../../packages/zip/refusal.ts'
import { countText } from '../kernel/text.ts'
import type { Finding } from './configuration.ts'

/** Formats a deploy log (resources brief 10.4). `outcome` is undefined if nothing was deployed. */
export function formatLog(
  findings: readonly Finding[],
  outcome: { version: number; hostname: string } | undefined,
): string {
  const errors = findings.filter(finding => finding.severity === 'ERROR').length
  const warnings = findings.length - errors
  return [
    `${countText(errors, 'error')}, ${countText(warnings, 'warning')}`,
    ...findings.map(findingLine),
    outcome === undefined
      ? `Deployment failed: ${countText(errors, 'error')}`
      : `Deployed version ${outcome.version} to ${outcome.hostname}`,
  ].join('\n')
}

/** The finding of a rejected archive, which has no others. It is an error. */
export const refusalFinding = ({ code, message, path }: ArchiveRefused): Finding => ({
  severity: 'ERROR',
  path: path ?? '(archive)',
  code,
  message,
})

function findingLine({ severity, path, line, column, code, message }: Finding): string {
  const position = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`
  return replaceControlCharacters(`${severity} ${path}${position} ${code} ${message}`)
}

/** Paths and messages quote the archive. A line break in them must not forge a log line. */
const replaceControlCharacters = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
