import type { Template } from 'liquidjs/dist/liquid.browser.mjs'
import type { Finding, TemplateSource } from '../../src/product/configuration.ts'
import { engine } from './engine.ts'
import type { RenderingEnvironment } from './environment.ts'
import { LARGEST_SOURCE_CHARACTERS } from './limits.ts'
import { type Rendering, renderTemplate } from './render.ts'
import { TemplateParser } from './syntax/parser.ts'
import { reportOf, TooManyErrors } from './syntax/report.ts'
import { tidySource } from './syntax/tidy.ts'

/**
 * A template that was read once. It holds no state: any number of renderings may use it. Callers cache it by
 * configuration version, render it, and read nothing from it but the path.
 */
export type CompiledTemplate = {
  readonly path: string
  readonly nodes: Template[]
  /** As `renderTemplate`. Whoever has a template can render it, without the engine being part of a start-up. */
  render(data: unknown, environment: RenderingEnvironment): Rendering
}

/**
 * Reads a source. Untidy forms are mended and listed as warnings; only what cannot be read at all, unknown filters
 * and unknown tags are errors, and with an error there is no template. Findings carry line and column from 1, at most
 * 100 errors and 100 warnings. Never throws.
 */
export function compileTemplate({ path, source }: TemplateSource): {
  template?: CompiledTemplate
  findings: Finding[]
} {
  const findings: Finding[] = []
  if (source.length > LARGEST_SOURCE_CHARACTERS) {
    const message = `The template is longer than ${LARGEST_SOURCE_CHARACTERS} characters. Split it into snippets.`
    return { findings: [{ severity: 'ERROR', path, code: 'templateTooLarge', message }] }
  }
  const text = source.replace(/^\uFEFF/, '')
  const report = reportOf(text, path, findings)
  try {
    const nodes = new TemplateParser(engine, report).parse(tidySource(text, report), path)
    if (findings.every(finding => finding.severity === 'WARNING')) {
      const template: CompiledTemplate = {
        path,
        nodes,
        render: (data, environment) => renderTemplate(template, data, environment),
      }
      return { template, findings: inOrder(findings) }
    }
  } catch (error) {
    if (!(error instanceof TooManyErrors)) {
      const message = `This template cannot be read: ${error instanceof Error ? error.message : error}.`
      findings.push({ severity: 'ERROR', path, line: 1, column: 1, code: 'templateUnreadable', message })
    }
  }
  return { findings: inOrder(findings) }
}

const inOrder = (findings: Finding[]): Finding[] =>
  findings.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
