// Makes one document: collects what its template sees, renders it, and makes a file of what came out.

import type { TemplateSource } from '../configuration/configuration.ts'
import type { Instant } from '../platform/time.ts'
import { knownAt } from '../policies/projection/known.ts'
import { basisAt, selectionBasis } from '../policies/selection-basis.ts'
import type { Loaded } from '../policies/surroundings.ts'
import type { RatingEffects } from '../rating/liquid/effects.ts'
import type { RenderingEnvironment } from '../rating/liquid/environment.ts'
import { TemplateError } from '../rating/liquid/template-error.ts'
import type { SelectionBasis } from '../resources/data-tables/declaration.ts'
import type { RatingTables } from '../resources/data-tables/rating-tables.ts'
import type { DocumentResources } from '../resources/templates/for-documents.ts'
import type { StaticFiles } from './archive-files.ts'
import type { DocumentType } from './contract.ts'
import { documentData } from './data.ts'
import type { DocumentFailure, PolicyDocument } from './document.ts'
import { finishedHtml, fontsOf, imageName, withImages } from './html-page.ts'
import { withFonts } from './pdf/font-names.ts'
import { ConversionError, pageOf } from './pdf/page.ts'
import type { PdfRenderer } from './pdf/pdf-renderer.ts'

export type MakingContext = {
  readonly loaded: Loaded
  readonly renderer: PdfRenderer
  readonly files: StaticFiles
  /** The tenant's tables. */
  readonly tables: RatingTables
  /** What the tenant's resources give; a preview does without. */
  readonly resources?: DocumentResources
}

export type Product =
  | {
      readonly outcome: 'ready'
      readonly type: DocumentType
      readonly bytes: Uint8Array
      /** What its author should know though it is made. */
      readonly warning?: string
    }
  | { readonly outcome: 'none' }
  | { readonly outcome: DocumentFailure; readonly failure: string }

/**
 * What becomes of the document. Whatever would fail again however often it is tried is an outcome; everything else
 * is thrown: the store or a browser that does not answer.
 */
export async function makeDocument(
  document: Pick<
    PolicyDocument,
    | 'subject'
    | 'subjectLocator'
    | 'modificationLocator'
    | 'templateName'
    | 'type'
    | 'pageLayout'
    | 'createdAt'
  >,
  context: MakingContext,
): Promise<Product> {
  const { loaded, renderer, resources, tables } = context
  const basis = basisOf(document, loaded)
  const where = { at: basis.transactionEffectiveTime, jurisdiction: basis.jurisdiction }
  const inForce = await resources?.template(document.templateName ?? '', where)
  const files = resources?.files(where, context.files) ?? context.files
  const source = inForce ? { path: inForce.name } : loaded.product.templates[document.templateName ?? '']
  if (!source)
    return failed(
      'dataError',
      `The configuration has no template '${document.templateName}'; deploy it, or repair the version.`,
    )
  if (!inForce && !source.path.endsWith('.liquid'))
    return failed(
      'renderError',
      `${source.path}: of a configuration only Liquid templates are rendered; upload it as a resource.`,
    )
  let data: object
  try {
    data = documentData({ ...loaded, aggregate: asOf(loaded, document.createdAt) }, document)
  } catch (problem) {
    return failed('dataError', `What the template is to see could not be collected: ${String(problem)}`)
  }
  const environment = environmentOf(data, loaded, document.createdAt, basis, tables)
  const rendered = await tables.inRounds(async () =>
    inForce && resources
      ? await resources.rendered(inForce, where, data, environment)
      : render(source as TemplateSource, data, environment, loaded),
  )
  if ('failure' in rendered) return failed('renderError', rendered.failure)
  const staticDocument = rendered.effects?.staticDocument
  if (staticDocument === null) return { outcome: 'none' }
  if (staticDocument !== undefined) {
    const bytes = await files(staticDocument)
    return bytes
      ? { outcome: 'ready', type: 'pdf', bytes }
      : failed('renderError', `${source.path}: there is no static document '${staticDocument}'.`)
  }
  const html = await withImages(rendered.output, files)
  if ('problem' in html) return failed('renderError', `${source.path}: ${html.problem}.`)
  const own = await fontsOf(html.text, files)
  if ('problem' in own) return failed('renderError', `${source.path}: ${own.problem}.`)
  if (document.type === 'html')
    return {
      outcome: 'ready',
      type: 'html',
      bytes: new TextEncoder().encode(finishedHtml(withFonts(html.text, own.fonts))),
    }
  try {
    const { bytes, missing } = await renderer.render(html.text, pageOf(document.pageLayout), own.fonts)
    return { outcome: 'ready', type: 'pdf', bytes, warning: missingWarning(source.path, missing) }
  } catch (problem) {
    // The renderer is a bundle with classes of its own, so that an error is known by its name.
    if (problem instanceof Error && problem.name === ConversionError.NAME)
      return failed('conversionError', `${source.path}: ${problem.message}`)
    throw problem
  }
}

/** Most characters that a warning names. */
const MOST_NAMED = 20

function missingWarning(path: string, missing: string): string | undefined {
  const all = [...missing]
  if (all.length === 0) return undefined
  const named = all
    .slice(0, MOST_NAMED)
    .map(one => `${one} (U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')})`)
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : ''
  return `${path}: no font has ${named.join(', ')}${more}; boxes stand in their places. Put a font that has them into static_documents and name it by @font-face.`
}

const failed = (outcome: DocumentFailure, failure: string): Product => ({ outcome, failure })

/** The policy as it was when the document was asked for, whatever happened to it since. */
const asOf = ({ aggregate }: Loaded, at: PolicyDocument['createdAt']): Loaded['aggregate'] =>
  aggregate.policy.updatedAt <= at ? aggregate : (knownAt(aggregate, at) ?? aggregate)

/**
 * The time and place for which its tables, templates, snippets and files are read: those of the document's transaction,
 * so that it prints what the transaction was rated with; of what belongs to none, as an invoice, when the document was
 * asked for.
 */
function basisOf(
  { modificationLocator, createdAt }: Pick<PolicyDocument, 'modificationLocator' | 'createdAt'>,
  loaded: Loaded,
): SelectionBasis {
  const modification = modificationLocator && loaded.aggregate.modifications.get(modificationLocator)
  return modification
    ? selectionBasis(loaded, modification, createdAt)
    : basisAt(loaded, createdAt, createdAt)
}

type Rendered = { output: string; effects?: RatingEffects }
type Environment = Omit<RenderingEnvironment, 'templates'>

function environmentOf(
  data: object,
  { aggregate, policyholder, product, configuration }: Loaded,
  now: Instant,
  basis: SelectionBasis,
  tables: RatingTables,
): Environment {
  const { policy } = aggregate
  return {
    timeZone: policy.timeZone,
    currency: policy.currency,
    now,
    lookup: tables.of(configuration, product.name, basis).lookup,
    policyholderInfo: locator =>
      locator === policyholder.locator ? (data as { policyholder: unknown }).policyholder : undefined,
    imageUrl: imageName,
  }
}

function render(
  source: TemplateSource,
  data: object,
  environment: Environment,
  { configuration }: Loaded,
): Rendered | { failure: string } {
  try {
    return configuration.template(source).render(data, environment)
  } catch (problem) {
    const at = problem instanceof TemplateError && problem.line !== undefined ? `:${problem.line}` : ''
    const path = (problem instanceof TemplateError && problem.path) || source.path
    const message = problem instanceof Error ? problem.message : String(problem)
    return { failure: `${path}${at}: ${message}` }
  }
}
