import { didYouMean } from '../../kernel/did-you-mean.ts'
import type { Finding } from '../configuration.ts'
import type { FindingCode } from './codes.ts'

/** Where something was found. Lines and columns count from 1. */
export type Place = { path: string; line?: number; column?: number }

/** Most findings kept of each severity; more would not be read, and the log travels in one answer. */
export const LARGEST_FINDING_COUNT = 2_000

/**
 * What the checks of one archive may cost, counted, since in production no clock runs: cells of all tables, the
 * compiled size of all patterns, and names that were looked through for the one that was meant.
 */
export const LARGEST_WORK = { tableCells: 1_000_000, patternSize: 2_000_000, comparisons: 1_000_000 } as const

/** Collects what the checks find. The same finding at the same place is kept once. */
export type Report = {
  error: (place: Place, code: FindingCode, message: string) => void
  warning: (place: Place, code: FindingCode, message: string) => void
  add: (findings: readonly Finding[]) => void
  /** Counts work; false once the archive has used up what it may cost. */
  afford: (work: keyof typeof LARGEST_WORK, units: number) => boolean
  /** ` Did you mean 'x'?`, to end a message; empty where no known name is near. */
  meant: (name: string, known: readonly string[]) => string
  /** All that was found, by path and line, and whether an error is among it. */
  close: () => { findings: Finding[]; failed: boolean }
}

export function openReport(): Report {
  const kept = new Map<string, Finding>()
  const counts = { ERROR: 0, WARNING: 0 }
  const spent = { tableCells: 0, patternSize: 0, comparisons: 0 }
  const add = (finding: Finding): void => {
    const isKept = counts[finding.severity] < LARGEST_FINDING_COUNT
    const key = isKept ? JSON.stringify(finding) : ''
    if (isKept && kept.has(key)) return
    counts[finding.severity] += 1
    if (isKept) kept.set(key, finding)
  }
  const adder =
    (severity: Finding['severity']) =>
    ({ path, line, column }: Place, code: FindingCode, message: string): void =>
      add({ severity, path, ...(line !== undefined && { line, column }), code, message })
  const afford: Report['afford'] = (work, units) => {
    spent[work] += units
    return spent[work] <= LARGEST_WORK[work]
  }
  return {
    error: adder('ERROR'),
    warning: adder('WARNING'),
    add: findings => {
      for (const finding of findings) add(finding)
    },
    afford,
    meant: (name, known) => (afford('comparisons', known.length) ? didYouMean(name, known) : ''),
    close: () => {
      const findings = [...kept.values()].sort(byPlace)
      for (const severity of ['ERROR', 'WARNING'] as const)
        if (counts[severity] > LARGEST_FINDING_COUNT)
          findings.push({
            severity,
            path: '(archive)',
            code: 'tooManyFindings',
            message: `${counts[severity] - LARGEST_FINDING_COUNT} more of this severity are not listed; correct these first.`,
          })
      return { findings, failed: counts.ERROR > 0 }
    },
  }
}

const byPlace = (a: Finding, b: Finding): number =>
  (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) ||
  (a.line ?? 0) - (b.line ?? 0) ||
  (a.column ?? 0) - (b.column ?? 0)
