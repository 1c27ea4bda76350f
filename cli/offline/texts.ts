// Creates the text of a policy's documents with the service's own code, up to the HTML. No PDF is rendered.
import { type HtmlNode, readHtml } from '../../packages/pdf/html.ts'
import { ConversionError } from '../../packages/pdf/page.ts'
import type { RequestContext } from '../../src/platform/context.ts'
import { pendingDocuments } from '../../src/policy/projection/records.ts'
import type { PolicyDocument } from '../../src/policy/records/transactions.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import type { StaticFiles } from '../../src/product/cache.ts'
import { documentResources } from '../../src/reference/templates/document-resources.ts'
import { makeDocument, type Product } from '../../src/servicing/documents/make.ts'
import type { DocumentOutcome } from '../../src/transactions/documents/kinds.ts'
import type { GivenTables } from './given.ts'

/** The outcome of a document, and its text. Undefined for a file that is already a PDF. */
export type MadeText = { readonly made: DocumentOutcome; readonly text: string | undefined }

type Making = {
  readonly context: RequestContext
  readonly tables: GivenTables
  readonly files: StaticFiles
  /** Texts of documents that were created before, for documents that consist of others. */
  readonly earlier: ReadonlyMap<string, string | undefined>
}

const NO_RESOURCES = { expect: async () => {}, inForce: async () => undefined }

const decoder = new TextDecoder()

/** Creates every waiting document. Failures are outcomes, as in the service. */
export async function waitingTexts(
  loaded: Loaded,
  { context, tables, files, earlier }: Making,
): Promise<MadeText[]> {
  const making = {
    loaded,
    tables,
    files,
    resources: documentResources(context, NO_RESOURCES),
    renderer: {
      render: async (html: string) => ({ bytes: new TextEncoder().encode(html), missing: '' }),
    },
  }
  const made: MadeText[] = []
  for (const draft of pendingDocuments(loaded.aggregate))
    made.push(
      draft.sources ? mergeTexts(draft, made, earlier) : madeText(draft, await makeDocument(draft, making)),
    )
  return made
}

function madeText({ locator, fileName, type }: PolicyDocument, product: Product): MadeText {
  if (product.outcome === 'none') return { made: { locator, outcome: 'none' }, text: undefined }
  if (product.outcome !== 'ready')
    return { made: { locator, outcome: product.outcome, failure: product.failure }, text: undefined }
  const name = product.type === type ? fileName : `${fileName.replace(/\.html?$/i, '')}.${product.type}`
  const html = decoder.decode(product.bytes)
  const made: DocumentOutcome = { locator, outcome: 'ready', type: product.type, fileName: name }
  if (html.startsWith('%PDF')) return { made, text: undefined }
  try {
    return { made, text: textOf(html) }
  } catch (problem) {
    if (!(problem instanceof ConversionError)) throw problem
    return { made: { locator, outcome: 'conversionError', failure: problem.message }, text: undefined }
  }
}

/** Returns a document that consists of others, as their texts one after the other. */
function mergeTexts(
  { locator, fileName, sources = [] }: PolicyDocument,
  made: readonly MadeText[],
  earlier: Making['earlier'],
): MadeText {
  const texts = sources.flatMap(source => {
    const now = made.find(one => one.made.locator === source)
    return (now ? now.text : earlier.get(source)) ?? []
  })
  return { made: { locator, outcome: 'ready', type: 'pdf', fileName }, text: texts.join('\n') }
}

/** Elements that continue the line around them. */
const INLINE = new Set(
  'a abbr b bindery-page-count bindery-page-number code em font i label small span strong sub sup u'.split(
    ' ',
  ),
)
const CELLS = new Set(['td', 'th'])

/** Returns the text of the page, including header and footer: a line for each block, with the cells of a row side by side. */
export function textOf(html: string): string {
  const { header, body, footer } = readHtml(html)
  const lines: string[] = []
  let line = ''
  const end = (): void => {
    const text = line.replaceAll(/\s+/g, ' ').trim()
    if (text !== '') lines.push(text)
    line = ''
  }
  const read = (node: HtmlNode): void => {
    if (typeof node === 'string') {
      line += node
      return
    }
    const isBlock = !INLINE.has(node.tag) && !CELLS.has(node.tag)
    if (isBlock) end()
    for (const child of node.children) read(child)
    if (isBlock) end()
    else if (CELLS.has(node.tag)) line += ' '
  }
  for (const part of [header, body, footer]) if (part) read(part)
  end()
  return lines.join('\n')
}
