import { type Finding, positionAt } from '../liquid/findings.ts'
import { PARTS_PROBLEM, RenderBudget, sizeProblem, TooManyParts } from '../liquid/limits.ts'
import type { Unreadable } from './expression.ts'
import { parseTemplate, type VelocityTemplate } from './parse.ts'
import { type VelocityEnvironment, VelocityRun } from './render.ts'

const MOST_PROBLEMS = 100

class TooManyProblems extends Error {}

/** Like Liquid's compiler: with an error there is no template, and lines and columns count from 1. Never throws. */
export function compileVelocity({ path, source }: { readonly path: string; readonly source: string }): {
  template?: VelocityTemplate
  findings: Finding[]
} {
  const findings: Finding[] = []
  const warnings = new Map<number, Finding>()
  const add = (code: string, message: string, at: { line?: number; column?: number } = {}): void => {
    findings.push({ severity: 'ERROR', path, ...at, code, message })
  }
  const problem = sizeProblem(source)
  if (problem !== undefined) {
    add('templateTooLarge', problem)
    return { findings }
  }
  const text = source.replace(/^\uFEFF/, '')
  const report = ({ offset, message }: Unreadable): void => {
    if (findings.length === MOST_PROBLEMS) throw new TooManyProblems()
    add('templateUnreadable', `${message}.`, positionAt(text, offset))
  }
  const warn = ({ offset, message }: Unreadable): void => {
    if (warnings.size === MOST_PROBLEMS) return
    const at = positionAt(text, offset)
    warnings.set(offset, { severity: 'WARNING', path, ...at, code: 'commentInText', message: `${message}.` })
  }
  try {
    const parsed = parseTemplate(text, report, warn)
    if (findings.length === 0)
      return { template: { ...parsed, path, source: text }, findings: [...warnings.values()] }
  } catch (problem) {
    if (problem instanceof TooManyParts) add('templateTooLarge', PARTS_PROBLEM)
    else if (!(problem instanceof TooManyProblems)) throw problem
  }
  findings.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
  return { findings }
}

/** Renders `data` as `$data` and never writes to it. Throws `TemplateError` with path, line and column. */
export function renderVelocity(
  template: VelocityTemplate,
  data: unknown,
  environment: VelocityEnvironment,
): VelocityRendering {
  const budget = new RenderBudget(environment.limits)
  const rendering = new VelocityRun(data, environment, budget)
  const parts: string[] = []
  rendering.file(template, {
    write(text) {
      budget.countOutput(text)
      parts.push(text)
    },
  })
  return { output: parts.join(''), undefinedNames: [...rendering.undefinedNames] }
}

type VelocityRendering = {
  readonly output: string
  /** References without a value, as in the source, at most 200. */
  readonly undefinedNames: readonly string[]
}
