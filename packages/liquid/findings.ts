/** A problem of a source. Line and column count from 1. `code` is a stable slug, such as `unknownFilter`. */
export type Finding = {
  severity: 'ERROR' | 'WARNING'
  path: string
  line?: number
  column?: number
  code: string
  message: string
}

export type Report = {
  error: Adding
  warn: Adding
  suggestion(name: string, known: readonly string[]): string
}

/** `offset` counts characters from the start of the source. */
type Adding = (code: string, message: string, offset: number) => void

const MOST_FINDINGS = 100

/** Thrown when a template has so many errors that parsing further would only cost time. */
export class TooManyErrors extends Error {}

/** Returns a report that adds problems of `source` to `findings`, at most 100 of each severity. */
export function reportOf(
  source: string,
  path: string,
  findings: Finding[],
  suggestion: Report['suggestion'],
): Report {
  const counts = { ERROR: 0, WARNING: 0 }
  const adding =
    (severity: Finding['severity']): Adding =>
    (code, message, offset) => {
      counts[severity] += 1
      if (counts[severity] > MOST_FINDINGS) {
        if (severity === 'ERROR') throw new TooManyErrors()
        return
      }
      findings.push({ severity, path, ...positionAt(source, offset), code, message })
    }
  return { suggestion, error: adding('ERROR'), warn: adding('WARNING') }
}

/** Returns the line and column of the offset, counted from 1. */
export function positionAt(source: string, offset: number): { line: number; column: number } {
  let line = 1
  let lineStart = 0
  for (let at = source.indexOf('\n'); at >= 0 && at < offset; at = source.indexOf('\n', at + 1)) {
    line += 1
    lineStart = at + 1
  }
  return { line, column: offset - lineStart + 1 }
}
