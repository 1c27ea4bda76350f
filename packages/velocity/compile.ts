import { type Finding, positionAt } from '../liquid/findings.ts'
import { LARGEST_SOURCE_CHARACTERS } from '../liquid/limits.ts'
import type { Unreadable } from './cursor.ts'
import { type Parsed, parseTemplate } from './parse.ts'

/**
 * A Velocity template that was read once. The dialect is read and rendered here, under the counted limits that Liquid
 * has: the library for it, velocityjs, counts nothing, calls whatever a value inherits, and lacks much that templates
 * use. In a sandbox it would be stopped without a line. docs/velocity.md has the whole of the decision; a test holds the
 * two against each other.
 */
export type VelocityTemplate = Parsed & { readonly path: string; readonly source: string }

const MOST_PROBLEMS = 100

class TooManyProblems extends Error {}

/** As `compileTemplate` of Liquid: with an error there is no template; lines and columns count from 1. Never throws. */
export function compileVelocity({ path, source }: { readonly path: string; readonly source: string }): {
  template?: VelocityTemplate
  findings: Finding[]
} {
  const findings: Finding[] = []
  const add = (code: string, message: string, at: { line?: number; column?: number } = {}): void => {
    findings.push({ severity: 'ERROR', path, ...at, code, message })
  }
  if (source.length > LARGEST_SOURCE_CHARACTERS) {
    const message = `The template is longer than ${LARGEST_SOURCE_CHARACTERS} characters. Split it into snippets.`
    add('templateTooLarge', message)
    return { findings }
  }
  const text = source.replace(/^\uFEFF/, '')
  const report = ({ offset, message }: Unreadable): void => {
    if (findings.length === MOST_PROBLEMS) throw new TooManyProblems()
    add('templateUnreadable', `${message}.`, positionAt(text, offset))
  }
  try {
    const parsed = parseTemplate(text, report)
    if (findings.length === 0) return { template: { ...parsed, path, source: text }, findings }
  } catch (problem) {
    if (!(problem instanceof TooManyProblems)) throw problem
  }
  findings.sort((a, b) => a.line! - b.line! || a.column! - b.column!)
  return { findings }
}
