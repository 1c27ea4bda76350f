// Makes one document: collects what its template sees, renders it, and makes a file of what came out.
import { withFonts } from '../../../packages/pdf/fonts.ts'
import { ConversionError, pageOf } from '../../../packages/pdf/page.ts'
import type { DocumentType } from '../../policy/contract/documents.ts'
import { knownAt } from '../../policy/projection/known.ts'
import type { DocumentFailure, PolicyDocument } from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { StaticFiles } from '../../product/cache.ts'
import type { DocumentDefinition } from '../../product/configuration.ts'
import type { SelectionBasis } from '../../product/resources.ts'
import type { TemplateEnvironment } from '../../product/templates/effects.ts'
import type { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import type { DocumentResources } from '../../reference/templates/document-resources.ts'
import type { TemplateText, TimeAndPlace } from '../../reference/templates/snippets.ts'
import { typeOfBytes } from '../../transactions/documents/upload.ts'
import { basisOfDocument, definitionOf, documentData } from './data.ts'
import { finishedHtml, fontsOf, imageName, missingLetters, withFamilies, withImages } from './html-page.ts'
import type { PdfRenderer } from './pdf-renderer.ts'

export type MakingContext = {
  readonly loaded: Loaded
  readonly renderer: PdfRenderer
  readonly files: StaticFiles
  /** The tenant's tables. */
  readonly tables: RatingTables
  /** What the tenant's resources give. */
  readonly resources: DocumentResources
  /** Of a preview: a text in the place of the template. */
  readonly template?: TemplateText
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
  | {
      readonly outcome: DocumentFailure
      readonly failure: string
      /** Whether it passed a limit. */
      readonly isLimit?: boolean
    }

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
  > & { readonly fileName?: string },
  context: MakingContext,
): Promise<Product> {
  const { loaded, renderer, resources, tables } = context
  const basis = basisOfDocument(document, loaded)
  const definition = definitionOf(loaded.product, document)
  const where = {
    at: basis[definition?.selectionTimeBasis ?? 'transactionEffectiveTime'],
    jurisdiction: basis.jurisdiction,
  }
  const files = resources.files(where, context.files)
  if (definition?.isPrerendered && !context.template) return await prerendered(definition, files)
  const template =
    context.template ??
    (await resources.template(document.templateName ?? '', where)) ??
    configuredTemplate(document.templateName ?? '', loaded)
  if (!template)
    return failed(
      'dataError',
      `The configuration has no template '${document.templateName}', and none is in force as a resource; deploy it, or repair the version.`,
    )
  const { name } = template
  let data: object
  try {
    data = documentData({ ...loaded, aggregate: asOf(loaded, document.createdAt) }, document)
  } catch (problem) {
    return failed('dataError', `What the template is to see could not be collected: ${String(problem)}`)
  }
  const environment = environmentOf(data, loaded, document.createdAt, tables, basis)
  const declared = loaded.configuration.configuration.resources?.templateSnippets ?? {}
  const whereOf = (snippet: string): TimeAndPlace =>
    Object.hasOwn(declared, snippet) ? { ...where, at: basis[declared[snippet]!.selectionTimeBasis] } : where
  const rendered = await tables.inRounds(() =>
    resources.rendered(template, whereOf, data, environment, definition?.templateSnippets),
  )
  if ('failure' in rendered) return { ...failed('renderError', rendered.failure), isLimit: rendered.isLimit }
  const staticDocument = rendered.effects?.staticDocument
  if (staticDocument === null) return { outcome: 'none' }
  if (staticDocument !== undefined) {
    const product = await asItStands(staticDocument, files)
    return 'failure' in product ? { ...product, failure: `${name}: ${product.failure}` } : product
  }
  const html = await withImages(withFamilies(rendered.output, definition?.customFonts ?? []), files)
  if ('problem' in html) return failed('renderError', `${name}: ${html.problem}.`)
  const own = await fontsOf(html.text, files)
  if ('problem' in own) return failed('renderError', `${name}: ${own.problem}.`)
  if (document.type === 'html')
    return {
      outcome: 'ready',
      type: 'html',
      bytes: new TextEncoder().encode(finishedHtml(withFonts(html.text, own.fonts))),
    }
  try {
    const { bytes, missing } = await renderer.render(
      html.text,
      pageOf(document.pageLayout),
      own.fonts,
      document.createdAt,
    )
    return {
      outcome: 'ready',
      type: 'pdf',
      bytes,
      warning: missing === '' ? undefined : `${name}: ${missingLetters(missing)}`,
    }
  } catch (problem) {
    // The renderer is a bundle with classes of its own, so that an error is known by its name.
    if (problem instanceof Error && problem.name === ConversionError.NAME)
      return failed('conversionError', `${name}: ${problem.message}`)
    throw problem
  }
}

/** A static document in force, else one of the configuration. */
async function asItStands(staticDocument: string, files: StaticFiles): Promise<Product> {
  const bytes = await files(staticDocument)
  if (!bytes) return failed('renderError', `there is no static document '${staticDocument}'.`)
  const type = typeOfBytes(bytes)
  return type
    ? { outcome: 'ready', type, bytes }
    : failed('renderError', `the static document '${staticDocument}' is neither a PDF nor HTML.`)
}

/** What the document has printed of itself, its file is (resources brief 4.2). */
async function prerendered({ templateName, type }: DocumentDefinition, files: StaticFiles): Promise<Product> {
  const product = await asItStands(templateName, files)
  return product.outcome === 'ready' && product.type !== type
    ? failed(
        'renderError',
        `the static document '${templateName}' is ${product.type}, and the document ${type}.`,
      )
    : product
}

const failed = (outcome: DocumentFailure, failure: string) => ({ outcome, failure })

/** The configuration's template of that file name, Liquid as it has been read already. */
export function configuredTemplate(
  fileName: string,
  { product, configuration }: Pick<Loaded, 'product' | 'configuration'>,
): TemplateText | undefined {
  const source = Object.hasOwn(product.templates, fileName) ? product.templates[fileName] : undefined
  if (!source) return undefined
  return source.path.endsWith('.liquid')
    ? {
        name: source.path,
        format: 'liquid',
        source: source.source,
        compiled: () => configuration.template(source),
      }
    : { name: source.path, format: 'velocity', source: source.source }
}

/** The policy as it was when the document was asked for, whatever happened to it since. */
const asOf = ({ aggregate }: Loaded, at: PolicyDocument['createdAt']): Loaded['aggregate'] =>
  aggregate.policy.updatedAt <= at ? aggregate : (knownAt(aggregate, at) ?? aggregate)

type Environment = Omit<TemplateEnvironment, 'templates'>

function environmentOf(
  data: object,
  { aggregate, policyholder, product, configuration }: Loaded,
  now: PolicyDocument['createdAt'],
  tables: RatingTables,
  basis: SelectionBasis,
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
