// PDFs by Cloudflare Browser Rendering: binding BROWSER, quick action `pdf`, compatibility date 2026-03-24 or later. As in the
// embedded renderer, no script runs and nothing is loaded.

import { withFonts } from '../../../packages/pdf/fonts.ts'
import { FOOTER_TAG, HEADER_TAG, PAGE_COUNT_TAG, PAGE_NUMBER_TAG } from '../../../packages/pdf/html.ts'
import { ConversionError, type Page, type Paper, paperOf } from '../../../packages/pdf/page.ts'
import type { Instant } from '../../kernel/time.ts'
import type { PdfRenderer } from './pdf-renderer.ts'

/** The number of times that it waits for a busy browser before the document is postponed. */
const MOST_WAITS = 3
/** The browser says how long to wait. This limits that time, because a queue consumer has fifteen minutes. */
const LONGEST_WAIT_SECONDS = 20
const USUAL_WAIT_SECONDS = 2

/** Removes all blocks of the tag and returns the content of the last one. */
function splitBlocks(html: string, tag: string): { rest: string; last: string | undefined } {
  const [start, end] = [`<${tag}>`, `</${tag}>`]
  let [rest, at] = ['', 0]
  let last: string | undefined
  for (;;) {
    const from = html.indexOf(start, at)
    const to = from < 0 ? -1 : html.indexOf(end, from)
    if (to < 0) return { rest: rest + html.slice(at), last }
    rest += html.slice(at, from)
    last = html.slice(from + start.length, to)
    at = to + end.length
  }
}

const emptyElement = (tag: string): string => `<${tag}></${tag}>`

/** A document may show only the images, fonts and styles that it contains, so it cannot make the browser call another server. */
const OWN_CONTENT_ONLY = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'">`

/** A `<meta>` tag up to its end. The tag name cannot be written in another way. */
const META = /<meta(?=[\s/>])[^>]*>?/gi

/** An attribute that every parser reads in the same way. */
const PLAIN_ATTRIBUTE = /\s+(?!http-equiv)[a-z:-]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=`]+))?/.source

/** A `<meta>` with plain attributes, none of which makes the browser do something. */
const PLAIN_META = new RegExp(`^<meta(?:${PLAIN_ATTRIBUTE})*\\s*/?>$`, 'i')

/**
 * Replaces every other `<meta>` by `<link>`, which is allowed anywhere and does nothing. A Content-Security-Policy does not
 * prevent `<meta http-equiv="refresh">` from showing another address.
 */
const withoutRefresh = (html: string): string =>
  html.replace(META, tag => (PLAIN_META.test(tag) ? tag : '<link>'))

/**
 * The beginning of a document, up to the content of its head. A tag with other attributes does not count: a `>` within one of them
 * would not be its end.
 */
const BEGINNING = new RegExp(
  `^\\s*(?:<!doctype[^>]*>)?\\s*(?:<html(?:${PLAIN_ATTRIBUTE})*\\s*>)?\\s*(?:<head(?:${PLAIN_ATTRIBUTE})*\\s*>)?`,
  'i',
)

/** Puts the policy before anything that could load content. */
const withContentPolicy = (html: string): string =>
  withoutRefresh(html).replace(BEGINNING, start => start + OWN_CONTENT_ONLY)

/** Also matches a block that does not end. Otherwise the search would scan from each beginning to the end of the text. */
const STYLE = /<style(?=[\s/>])[\s\S]*?(?:(<\/style>)|$)/gi

/** The browser renders header and footer as separate pages, so they need the document's style sheets and margins. */
function marginTemplate(html: string, content: string | undefined, { margins }: Paper): string {
  const sheets = [...html.matchAll(STYLE)].map(([sheet, end]) => (end === undefined ? '' : sheet)).join('')
  const numbered = (content ?? '')
    .replaceAll(emptyElement(PAGE_NUMBER_TAG), '<span class="pageNumber"></span>')
    .replaceAll(emptyElement(PAGE_COUNT_TAG), '<span class="totalPages"></span>')
  const div = `<div style="width:100%;font-size:12pt;padding:0 ${margins.right}pt 0 ${margins.left}pt">${numbered}</div>`
  // A browser ends a sheet earlier, at `</style >`. What follows is then not part of it.
  return withoutRefresh(sheets + div)
}

/** The browser accepts px, in, cm and mm, but no points. */
const inches = (points: number): string => `${Math.round((points / 72) * 10_000) / 10_000}in`

/** Leaves out page numbers within the text, because browsers support them only in margins. */
export function browserRequest(html: string, page: Page) {
  const { rest, last: header } = splitBlocks(html, HEADER_TAG)
  const { rest: text, last: footer } = splitBlocks(rest, FOOTER_TAG)
  const body = text.replaceAll(emptyElement(PAGE_NUMBER_TAG), '').replaceAll(emptyElement(PAGE_COUNT_TAG), '')
  const paper = paperOf(page)
  const { top, right, bottom, left } = paper.margins
  return {
    html: withContentPolicy(body),
    setJavaScriptEnabled: false,
    // The browser must not keep customers' documents.
    cacheTTL: 0,
    pdfOptions: {
      width: inches(paper.width),
      height: inches(paper.height),
      // Without a layout, `@page` applies.
      preferCSSPageSize: page.size === undefined && page.orientation === undefined,
      printBackground: true,
      margin: { top: inches(top), right: inches(right), bottom: inches(bottom), left: inches(left) },
      displayHeaderFooter: header !== undefined || footer !== undefined,
      headerTemplate: marginTemplate(html, header, paper),
      footerTemplate: marginTemplate(html, footer, paper),
    },
  }
}

/** Throws a ConversionError when the browser rejects the HTML. After any other error the document may be tried again. */
export const browserRenderer = (browser: Pick<BrowserRun, 'quickAction'>): PdfRenderer => ({
  async render(html, page, fonts, madeAt) {
    const request = browserRequest(withFonts(html, fonts), page)
    for (let waits = 0; ; waits += 1) {
      const answer = await browser.quickAction('pdf', request)
      if (answer.ok) return { bytes: withDates(await pdfOf(answer), madeAt), missing: '' }
      if ((answer.status !== 429 && answer.status !== 503) || waits === MOST_WAITS)
        throw await problemOf(answer)
      await answer.body?.cancel()
      await new Promise(resolve => setTimeout(resolve, retryAfterSeconds(answer) * 1_000))
    }
  },
})

/** Dates as browsers write them: `D:20261122083000+00'00'`. */
const DATE = /\/(CreationDate|ModDate) \(D:\d{14}\+00'00'\)/g

/** Sets the dates so that a document that is made again has the same bytes. All byte offsets stay the same. */
function withDates(bytes: Uint8Array, madeAt: Instant): Uint8Array {
  const time = new Date(madeAt).toISOString().replace(/\D/g, '').slice(0, 14)
  const file = Buffer.from(bytes)
  for (const { 0: found, 1: key, index } of file.toString('latin1').matchAll(DATE))
    file.write(`/${key} (D:${time}+00'00')`, index, found.length, 'latin1')
  return new Uint8Array(file)
}

function retryAfterSeconds({ headers }: Response): number {
  const asked = Number(headers.get('Retry-After') ?? USUAL_WAIT_SECONDS)
  return Number.isFinite(asked) && asked >= 0 ? Math.min(asked, LONGEST_WAIT_SECONDS) : USUAL_WAIT_SECONDS
}

async function pdfOf(answer: Response): Promise<Uint8Array> {
  const bytes = new Uint8Array(await answer.arrayBuffer())
  if (new TextDecoder('latin1').decode(bytes.subarray(0, 5)) !== '%PDF-')
    throw new Error(`Browser Rendering responded with ${answer.status} and content that is not a PDF.`)
  return bytes
}

/** A 422 may mean a wrong page, but also a browser that timed out or crashed. The latter may be tried again. */
async function problemOf(answer: Response): Promise<Error> {
  const message = messageOf(await answer.text())
  const { status } = answer
  if (status === 400 || status === 413 || (status === 422 && !/time.?out|timed|crash/i.test(message)))
    return new ConversionError(`Browser Rendering rejected the document: ${message}`)
  return new Error(`Browser Rendering responded with ${status}: ${message}`)
}

/** Returns the messages of `{errors: [{message, detail}]}`, or the text itself. */
function messageOf(text: string): string {
  let messages: unknown[] = []
  try {
    const { errors } = JSON.parse(text) as { errors?: { message?: unknown; detail?: unknown }[] }
    messages = (errors ?? []).flatMap(({ message, detail }) => [message, detail])
  } catch {}
  const joined = messages.filter(one => typeof one === 'string' && one !== '').join('; ')
  return (joined || text).slice(0, 300)
}
