// Renders a template with its snippets, in either dialect.
import { TemplateError } from '../../../packages/liquid/limits.ts'
import type { VelocityTemplate } from '../../../packages/velocity/parse.ts'
import { compileVelocity, renderVelocity } from '../../../packages/velocity/velocity.ts'
import { digitsOfCurrency } from '../../kernel/currencies.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { RatingEffects, TemplateEnvironment } from '../../product/templates/effects.ts'
import {
  CALENDAR,
  type CompiledTemplate,
  compileTemplate,
  isCurrency,
} from '../../product/templates/liquid.ts'
import type { Snippets, TemplateText } from './document-resources.ts'

export type RenderedTemplate = {
  readonly output: string
  readonly undefinedNames: readonly string[]
  /** For Liquid: a filter may replace the rendering with a static document. */
  readonly effects?: RatingEffects
}

/**
 * The most renderings. A snippet with a computed name is read when the template requests it, and the template is rendered again.
 */
const MOST_ROUNDS = 20

/**
 * Renders a template. Throws a Refusal (422) with the template's name, line and column for every failure and every exceeded limit.
 */
export async function renderTemplate(
  text: TemplateText,
  data: unknown,
  environment: Omit<TemplateEnvironment, 'templates'>,
  snippets: Snippets,
): Promise<RenderedTemplate> {
  await snippets.loadFor(text)
  const render = text.format === 'velocity' ? velocity(text) : liquid(text)
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const requested = new Set<string>()
    const find = (name: string): TemplateText | undefined => {
      if (!snippets.isAllowed(name))
        throw new TemplateError(
          'templateFailed',
          `The snippet '${name}' is not in the document's templateSnippets. Add it there, or correct the name.`,
        )
      const found = snippets.get(name)
      if (!snippets.isKnown(name)) requested.add(name)
      if (found && found.format !== text.format)
        throw new TemplateError(
          'templateFailed',
          `The snippet '${name}' is ${found.format}, but the template that includes it is not.`,
        )
      return found
    }
    try {
      return render(data, environment, find)
    } catch (problem) {
      if (!(problem instanceof TemplateError)) throw problem
      if (requested.size === 0) throw refusalOf(problem, text)
    }
    await snippets.load([...requested])
  }
  throw new Refusal(
    'templateLimit',
    `${text.name}: finding the names of its snippets takes more than ${MOST_ROUNDS} rounds.`,
  )
}

/** Returns the error with its place in the template, or in the snippet that caused it: `invoice:12:4: …`. */
export function refusalOf(
  { code, message, path, line, column }: TemplateError,
  { name }: TemplateText,
): Refusal {
  const place = line === undefined ? '' : `:${line}:${column}`
  return new Refusal(code, `${path || name}${place}: ${message}`)
}

type Render = (
  data: unknown,
  environment: Omit<TemplateEnvironment, 'templates'>,
  find: (name: string) => TemplateText | undefined,
) => RenderedTemplate

/** A template that compiled when it was uploaded may fail under later rules. */
function requireCompiled<T>(
  text: TemplateText,
  {
    template,
    findings,
  }: { template?: T; findings: { severity: string; line?: number; column?: number; message: string }[] },
): T {
  if (template) return template
  const { line, column, message } = findings.find(finding => finding.severity === 'ERROR')!
  throw new TemplateError('templateFailed', message, { path: text.name, line, column })
}

const sourceOf = ({ name, source }: TemplateText) => ({ path: name, source })

/** Compiles each text only once, even if it is included several times. */
function compileOnce<T>(compile: (text: TemplateText) => T): (text: TemplateText) => T {
  const templates = new Map<TemplateText, T>()
  return text => {
    const template = templates.get(text) ?? compile(text)
    templates.set(text, template)
    return template
  }
}

function liquid(text: TemplateText): Render {
  const template = compileOnce(
    (one): CompiledTemplate => one.compiled?.() ?? requireCompiled(one, compileTemplate(sourceOf(one))),
  )
  return (data, environment, find) => {
    const { output, undefinedNames, effects } = template(text).render(data, {
      ...environment,
      templates: name => {
        const snippet = find(name)
        return snippet && template(snippet)
      },
    })
    return { output, undefinedNames, effects }
  }
}

function velocity(text: TemplateText): Render {
  const template = compileOnce(
    (one): VelocityTemplate => requireCompiled(one, compileVelocity(sourceOf(one))),
  )
  return (data, environment, find) =>
    renderVelocity(template(text), data, {
      ...environment,
      calendar: CALENDAR,
      isCurrency,
      digitsOfCurrency,
      snippets: name => {
        const snippet = find(name)
        return snippet && template(snippet)
      },
    })
}
