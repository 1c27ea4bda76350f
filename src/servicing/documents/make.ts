// Makes one document: collects its data, renders its template, and makes a file of the output.

import { fontNames, type OwnFontFiles, withFonts } from '../../../packages/pdf/fonts.ts'
import { ConversionError, pageOf } from '../../../packages/pdf/page.ts'
import { shortened } from '../../kernel/text.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { DocumentType } from '../../policy/contract/documents.ts'
import { policyAsKnownAt } from '../../policy/projection/as-known.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { DocumentFailure, PolicyDocument } from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { type StaticFiles, staticFiles } from '../../product/cache.ts'
import { MOST_FONTS, type SelectionBasis } from '../../product/resources.ts'
import { typeOfBytes } from '../../product/templates/document-type.ts'
import type { TemplateEnvironment } from '../../product/templates/effects.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import {
  type DocumentResources,
  documentResources,
  type TemplateText,
  type TimeAndPlace,
  usualResources,
} from '../../reference/templates/document-resources.ts'
import { basisOfDocument, definitionOf, documentData } from './data.ts'
import { type PdfRenderer, pdfRenderer } from './pdf-renderer.ts'

export type MakingContext = {
  readonly loaded: Loaded
  readonly renderer: PdfRenderer
  readonly files: StaticFiles
  readonly tables: RatingTables
  readonly resources: DocumentResources
  /** A preview renders this text instead of the template. */
  readonly template?: TemplateText
}

export type Product =
  | {
      readonly outcome: 'ready'
      readonly type: DocumentType
      readonly bytes: Uint8Array
      /** For the author of the template. */
      readonly warning?: string
    }
  | { readonly outcome: 'none' }
  | {
      readonly outcome: DocumentFailure
      readonly failure: string
      /** Whether the document passed a limit. */
      readonly isLimit?: boolean
    }

/** Returns the context for making documents. The caller opens `tables`. */
export const makingContext = async (context: RequestContext, loaded: Loaded): Promise<MakingContext> => ({
  loaded,
  renderer: await pdfRenderer(context.env),
  files: staticFiles(context, loaded.configuration.hash, loaded.product.name),
  tables: new RatingTables(context),
  resources: documentResources(
    context,
    usualResources(context, loaded.configuration.hash, loaded.product.name),
  ),
})

type Subject = 'subject' | 'subjectLocator' | 'modificationLocator'

/** A preview has no file name. */
type Draft = Pick<PolicyDocument, Subject | 'templateName' | 'type' | 'pageLayout' | 'createdAt'> & {
  readonly fileName?: string
}

/** Makes a document. Failures that would repeat are outcomes; others, such as an unresponsive store, are thrown to be retried. */
export async function makeDocument(document: Draft, context: MakingContext): Promise<Product> {
  const { loaded, renderer, resources, tables } = context
  const { templateName = '', type, pageLayout, createdAt } = document
  const basis = basisOfDocument(document, loaded)
  const definition = definitionOf(loaded.product, document)
  const where = {
    at: basis[definition?.selectionTimeBasis ?? 'transactionEffectiveTime'],
    jurisdiction: basis.jurisdiction,
  }
  const files = resources.files(where, context.files)
  // The file of a prerendered document has its template's name (resources brief 4.2).
  if (definition?.isPrerendered && !context.template)
    return await staticProduct(
      definition.templateName,
      files,
      definition.isAnyType ? undefined : definition.type,
    )
  const template =
    context.template ??
    (await resources.template(templateName, where)) ??
    configuredTemplate(templateName, loaded)
  if (!template)
    return failedOutcome(
      'dataError',
      `The configuration has no template '${document.templateName}', and none is in force as a resource. Deploy it, or repair the version.`,
    )
  const { name } = template
  let data: object
  try {
    data = documentData({ ...loaded, aggregate: policyAsOf(loaded, createdAt) }, document)
  } catch (problem) {
    return failedOutcome('dataError', `The data for the template could not be collected: ${String(problem)}`)
  }
  const environment = environmentOf(data, loaded, createdAt, tables, basis)
  const declared = loaded.configuration.configuration.resources?.templateSnippets ?? {}
  const timeAndPlaceOf = (snippet: string): TimeAndPlace =>
    Object.hasOwn(declared, snippet) ? { ...where, at: basis[declared[snippet]!.selectionTimeBasis] } : where
  const rendered = await tables.inRounds(() =>
    resources.rendered(template, timeAndPlaceOf, data, environment, definition?.templateSnippets),
  )
  if ('failure' in rendered)
    return { ...failedOutcome('renderError', rendered.failure), isLimit: rendered.isLimit }
  const staticDocument = rendered.effects?.staticDocument
  if (staticDocument === null) return { outcome: 'none' }
  if (staticDocument !== undefined) {
    const product = await staticProduct(staticDocument, files)
    return 'failure' in product ? { ...product, failure: `${name}: ${product.failure}` } : product
  }
  const html = withFamilies(rendered.output, definition?.customFonts ?? [])
  return await fileOf(html, { name, type, pageLayout, madeAt: createdAt }, files, renderer)
}

/** Makes a file of the HTML. `name` is the name of the template, for messages. */
export async function fileOf(
  printed: string,
  { name, type, pageLayout, madeAt }: PageOptions,
  files: StaticFiles,
  renderer: PdfRenderer,
): Promise<Exclude<Product, { outcome: 'none' }>> {
  const html = await withImages(printed, files)
  if ('problem' in html) return failedOutcome('renderError', `${name}: ${html.problem}.`)
  const own = await fontsOf(html.text, files)
  if ('problem' in own) return failedOutcome('renderError', `${name}: ${own.problem}.`)
  if (type === 'html') {
    const page = finishedHtml(withFonts(html.text, own.fonts))
    return { outcome: 'ready', type, bytes: new TextEncoder().encode(page) }
  }
  try {
    const { bytes, missing } = await renderer.render(html.text, pageOf(pageLayout), own.fonts, madeAt)
    const warning = missing === '' ? undefined : `${name}: ${missingLetters(missing)}`
    return { outcome: 'ready', type, bytes, warning }
  } catch (problem) {
    if (ConversionError.is(problem)) return failedOutcome('conversionError', `${name}: ${problem.message}`)
    throw problem
  }
}

type PageOptions = Pick<PolicyDocument, 'type' | 'pageLayout'> & {
  readonly name: string
  readonly madeAt: Instant
}

/** Returns the static document that is in force, or else that of the configuration. `declared` is the required type. */
async function staticProduct(name: string, files: StaticFiles, declared?: DocumentType): Promise<Product> {
  const bytes = await files(name)
  if (!bytes) return failedOutcome('renderError', `there is no static document '${name}'.`)
  const type = typeOfBytes(bytes)
  if (!type) return failedOutcome('renderError', `the static document '${name}' is neither a PDF nor HTML.`)
  if (declared && type !== declared)
    return failedOutcome(
      'renderError',
      `the static document '${name}' is ${type}, but the document must be ${declared}.`,
    )
  return { outcome: 'ready', type, bytes }
}

/** Messages quote the template's text, which may be longer than a row. Then no document of the policy could be recorded. */
const LONGEST_FAILURE = 1_000

const failedOutcome = (outcome: DocumentFailure, failure: string) => ({
  outcome,
  failure: shortened(failure, LONGEST_FAILURE),
})

/** Returns a template of the configuration. Liquid is already parsed. */
function configuredTemplate(
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

/** Returns the policy as it was when the document was requested, regardless of later changes. */
const policyAsOf = ({ aggregate }: Loaded, at: Instant): PolicyAggregate =>
  aggregate.policy.updatedAt <= at ? aggregate : (policyAsKnownAt(aggregate, at) ?? aggregate)

function environmentOf(
  data: object,
  { aggregate, policyholder, product, configuration }: Loaded,
  now: Instant,
  tables: RatingTables,
  basis: SelectionBasis,
): Omit<TemplateEnvironment, 'templates'> {
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

/** Printed by `image_url`, and replaced by the image afterwards. */
export const imageName = (name: string): string =>
  /^(?:data|https?):/i.test(name) ? name : `bindery-image:${encodeURIComponent(name)}`

const IMAGE_NAMES = /bindery-image:([A-Za-z0-9%._~!*'()-]+)/g

/** Templates may write placeholders that `image_url` never prints. Such names are used unchanged. */
function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Limit on the characters of all images. Each image counts every time that the page shows it. */
const MOST_IMAGE_CHARACTERS = 20_000_000

const TOO_MANY_IMAGES = `its images, counted each time they are shown, are larger than ${(MOST_IMAGE_CHARACTERS * 3) / 4_000_000} MB in total`

/** Returns the HTML with each image as a data URL, or a message about the image that fails. */
async function withImages(html: string, files: StaticFiles): Promise<{ text: string } | { problem: string }> {
  const addresses = new Map<string, string>()
  let characters = 0
  await files.expect?.([...html.matchAll(IMAGE_NAMES)].map(([, name]) => decodeName(name!)))
  for (const [, name = ''] of html.matchAll(IMAGE_NAMES)) {
    if (!addresses.has(name)) {
      const bytes = await files(decodeName(name))
      if (!bytes)
        return {
          problem: `there is no image '${decodeName(name)}' in static_documents or among the resources`,
        }
      addresses.set(name, `data:image/${imageType(bytes)};base64,${Buffer.from(bytes).toString('base64')}`)
    }
    characters += addresses.get(name)!.length
    if (characters > MOST_IMAGE_CHARACTERS) return { problem: TOO_MANY_IMAGES }
  }
  return {
    text: addresses.size === 0 ? html : html.replace(IMAGE_NAMES, (_, name: string) => addresses.get(name)!),
  }
}

/** Returns the type of an image by its first byte. */
function imageType([first]: Uint8Array): string {
  if (first === 0x89) return 'png'
  return first === 0xff ? 'jpeg' : 'svg+xml'
}

/** Adds a font family for each of the document's `customFonts` (resources brief 4.2). Style sheets may override it. */
function withFamilies(html: string, staticNames: readonly string[]): string {
  if (staticNames.length === 0) return html
  const rules = staticNames.map(name => `@font-face{font-family:"${name}";src:url("${name}.ttf")}`)
  const style = `<style>${rules.join('')}</style>`
  const [opening] = /<head(?:\s[^<>]*)?>/i.exec(html) ?? /<html(?:\s[^<>]*)?>/i.exec(html) ?? []
  return opening === undefined ? style + html : html.replace(opening, () => opening + style)
}

/** Limit on all fonts of one document together. */
const MOST_FONT_BYTES = 24_000_000

/** Returns the configuration's fonts that the HTML's `@font-face` rules name, or a message about the one that fails. */
async function fontsOf(
  html: string,
  files: StaticFiles,
): Promise<{ fonts: OwnFontFiles } | { problem: string }> {
  const fonts = new Map<string, Uint8Array>()
  let total = 0
  const names = fontNames(html)
  await files.expect?.(names)
  for (const name of names) {
    const bytes = await files(name)
    if (!bytes) return { problem: `there is no font '${name}' in static_documents or among the resources` }
    fonts.set(name, bytes)
    total += bytes.length
    if (fonts.size > MOST_FONTS || total > MOST_FONT_BYTES)
      return {
        problem: `it has more than ${MOST_FONTS} fonts or more than ${MOST_FONT_BYTES / 1_000_000} MB of fonts`,
      }
  }
  return { fonts }
}

/** Replaces the page tags for HTML, which has one page that contains header and footer. */
const finishedHtml = (html: string): string =>
  html
    .replaceAll(/<(\/?)bindery-(header|footer)>/g, '<$1$2>')
    .replaceAll(/<bindery-page-(?:number|count)><\/bindery-page-(?:number|count)>/g, '1')

const MOST_LETTERS_NAMED = 20

/** `missing` contains each character once. */
function missingLetters(missing: string): string {
  const all = [...missing]
  const named = all
    .slice(0, MOST_LETTERS_NAMED)
    .map(letter => `${letter} (U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')})`)
  const more = all.length > MOST_LETTERS_NAMED ? ` and ${all.length - MOST_LETTERS_NAMED} more` : ''
  return `no font has ${named.join(', ')}${more}; they are shown as boxes. Upload a font that has them or put it into static_documents, and name it in @font-face.`
}
