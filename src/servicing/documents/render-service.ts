import { z } from '@hono/zod-openapi'
import { withFonts } from '../../../packages/pdf/fonts.ts'
import { ConversionError, pageOf } from '../../../packages/pdf/page.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { OptionalName, optional, RequestDateTime, requestInteger, Text, Texts } from '../../platform/wire.ts'
import { DocumentType, PageLayout } from '../../policy/contract/documents.ts'
import { loadVersion, productOf } from '../../policy/store/loading.ts'
import { type StaticFiles, staticFiles } from '../../product/cache.ts'
import { allAt, TEMPLATE_FORMATS } from '../../product/resources.ts'
import { SelectionQuery } from '../../reference/contract.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import type { Resource } from '../../reference/resource.ts'
import { readResource } from '../../reference/store.ts'
import {
  filesInForce,
  NamedResources,
  Snippets,
  textOf,
} from '../../reference/templates/document-resources.ts'
import { renderedTemplate } from '../../reference/templates/rendering.ts'
import { record } from '../contract.ts'
import { finishedHtml, fontsOf, imageName, missingLetters, withImages } from './make.ts'
import { pdfRenderer } from './pdf-renderer.ts'

// A template tried out by who writes it: rendered over data of the request. Nothing is stored.

// A template tried out by who writes it: rendered over data of the request. Nothing is stored.

/** Refuses: 404 for an unknown template; 422, with name, line and column, for one that fails or passes a limit. */
export async function renderTemplateResource(
  name: string,
  selection: SelectionQuery,
  request: RenderTemplateRequest,
  context: RequestContext,
): Promise<RenderTemplateResponse> {
  const database = homeDatabase(context)
  const { date, jurisdiction } = selection
  const where = { at: date ?? context.now, jurisdiction }
  const [resource, { configuration }] = await Promise.all([
    readResource(context, 'documentTemplate', name, selection),
    loadVersion(context, database, request.configVersion),
  ])
  const { timeZone, currency } = configuration.configuration
  const { productName, type = 'pdf' } = request
  const product = productName === undefined ? undefined : productOf(configuration, productName)
  const text = await textOf(context, resource)
  const named = new NamedResources(database)
  const snippets = new Snippets(context, named, () => where)
  const tables = new RatingTables(context)
  await tables.open()
  // What is tried out belongs to no transaction: all times are the one for which it is tried out.
  const { lookup } = tables.of(configuration, product?.name ?? '', { ...allAt(where.at), jurisdiction })
  const now = request.now ?? context.now
  const rendered = await tables.inRounds(() =>
    renderedTemplate(
      text,
      request.data ?? {},
      { timeZone, currency, now, lookup, imageUrl: imageName },
      snippets,
    ),
  )
  const warnings = staticDocumentWarnings(rendered.effects?.staticDocument)
  const configured = product && staticFiles(context, configuration.hash, product.name)
  const files = filesInForce(context, named, where, configured)
  const made = await fileOf(type, rendered.output, request, files, {
    name: resource.name,
    env: context.env,
    now,
  })
  return {
    type,
    templateFormat: resource.templateFormat ?? 'liquid',
    ...made.content,
    undefinedNames: [...rendered.undefinedNames],
    warnings: [...warnings, ...made.warnings],
    template: used(resource),
    snippets: snippets.used().map(used),
  }
}

const used = ({ name, staticName, revision }: Resource) => ({ name, staticName, revision })

function staticDocumentWarnings(staticDocument: string | null | undefined): string[] {
  if (staticDocument === undefined) return []
  return staticDocument === null
    ? ['The template says that there is to be no document (render_static_document).']
    : [`The template asks for the static document '${staticDocument}' in place of what is shown here.`]
}

type Content = Pick<RenderTemplateResponse, 'html' | 'pdf'>

async function fileOf(
  type: 'pdf' | 'html',
  output: string,
  { pageLayout }: RenderTemplateRequest,
  files: StaticFiles,
  { name, env, now }: { name: string; env: Env; now: Instant },
): Promise<{ content: Content; warnings: string[] }> {
  const html = await withImages(output, files)
  if ('problem' in html) throw new Refusal('templateFailed', `${name}: ${html.problem}.`)
  const own = await fontsOf(html.text, files)
  if ('problem' in own) throw new Refusal('templateFailed', `${name}: ${own.problem}.`)
  if (type === 'html')
    return { content: { html: finishedHtml(withFonts(html.text, own.fonts)) }, warnings: [] }
  try {
    const renderer = await pdfRenderer(env)
    const { bytes, missing } = await renderer.render(html.text, pageOf(pageLayout), own.fonts, now)
    return {
      content: { pdf: Buffer.from(bytes).toString('base64') },
      warnings: missing === '' ? [] : [`${name}: ${missingLetters(missing)}`],
    }
  } catch (problem) {
    // The renderer is a bundle with classes of its own, so that an error is known by its name.
    if (problem instanceof Error && problem.name === ConversionError.NAME)
      throw new Refusal('templateLimit', `${name}: ${problem.message}`)
    throw problem
  }
}

/** Which template: `byStaticName` reads the name as a static name. The date is that of its snippets and fonts too. */
export const RenderQuery = SelectionQuery

export const RenderTemplateRequest = record('RenderTemplateRequest', {
  data: optional(z.record(z.string(), z.unknown())).describe(
    'What the template sees as `data` (in Velocity `$data`).',
  ),
  type: optional(DocumentType).describe('pdf when left out.'),
  configVersion: optional(requestInteger(0)).describe(
    'Whose tables, time zone and currency hold; the newest when left out.',
  ),
  productName: OptionalName.describe('Whose tables and static files are used too.'),
  now: optional(RequestDateTime).describe('The time of `now`; the present when left out.'),
  pageLayout: optional(PageLayout),
})
export type RenderTemplateRequest = z.output<typeof RenderTemplateRequest>

const Used = z.object({ name: Text, staticName: Text, revision: Text })

export const RenderTemplateResponse = record('RenderTemplateResponse', {
  type: DocumentType,
  templateFormat: z.enum(TEMPLATE_FORMATS),
  html: Text.optional().describe('Of type html.'),
  pdf: Text.optional().openapi({ description: 'Of type pdf, in Base64.', format: 'byte' }),
  undefinedNames: Texts.describe(
    'What the template asked for and the data does not have, as it stands in the source; at most 200.',
  ),
  warnings: Texts,
  template: Used,
  snippets: z.array(Used).describe('Those that it included, as they are in force.'),
})
export type RenderTemplateResponse = z.output<typeof RenderTemplateResponse>
