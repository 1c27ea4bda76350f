// PDFs by Cloudflare's Browser Rendering, through the binding BROWSER. It needs no script and loads nothing: what a
// template names beyond itself stays out, as with the renderer within the service.
import { FOOTER_TAG, HEADER_TAG, PAGE_COUNT_TAG, PAGE_NUMBER_TAG } from './html.ts'
import { ConversionError, type Page } from './page.ts'
import type { PdfRenderer } from './pdf-renderer.ts'

const block = (html: string, tag: string): string | undefined =>
  [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].at(-1)?.[1]

const without = (html: string, tag: string): string =>
  html.replaceAll(new RegExp(`<${tag}>[\\s\\S]*?</${tag}>`, 'g'), '')

const empty = (tag: string): string => `<${tag}></${tag}>`

/** Header and footer are pages of their own to the browser: they get the document's style sheets and its margins. */
function marginTemplate(html: string, content: string | undefined, { margins }: Page): string {
  const sheets = [...html.matchAll(/<style[\s\S]*?<\/style>/gi)].map(([sheet]) => sheet).join('')
  const numbered = (content ?? '')
    .replaceAll(empty(PAGE_NUMBER_TAG), '<span class="pageNumber"></span>')
    .replaceAll(empty(PAGE_COUNT_TAG), '<span class="totalPages"></span>')
  return `${sheets}<div style="width:100%;font-size:10pt;padding:0 ${margins.right}pt 0 ${margins.left}pt">${numbered}</div>`
}

/** What the browser is asked for. */
export function browserRequest(html: string, page: Page) {
  const [header, footer] = [block(html, HEADER_TAG), block(html, FOOTER_TAG)]
  const body = without(without(html, HEADER_TAG), FOOTER_TAG)
    .replaceAll(empty(PAGE_NUMBER_TAG), '')
    .replaceAll(empty(PAGE_COUNT_TAG), '')
  const { top, right, bottom, left } = page.margins
  return {
    html: body,
    setJavaScriptEnabled: false,
    allowRequestPattern: ['^data:'],
    pdfOptions: {
      format: 'a4' as const,
      landscape: page.orientation === 'landscape',
      printBackground: true,
      margin: { top: `${top}pt`, right: `${right}pt`, bottom: `${bottom}pt`, left: `${left}pt` },
      displayHeaderFooter: header !== undefined || footer !== undefined,
      headerTemplate: marginTemplate(html, header, page),
      footerTemplate: marginTemplate(html, footer, page),
    },
  }
}

/** Throws a ConversionError when the browser refuses the HTML; anything else may be tried again. */
export const browserRenderer = (browser: Pick<BrowserRun, 'quickAction'>): PdfRenderer => ({
  async render(html, page) {
    const answer = await browser.quickAction('pdf', browserRequest(html, page))
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer())
    const text = (await answer.text()).slice(0, 300)
    if (answer.status === 400 || answer.status === 413 || answer.status === 422)
      throw new ConversionError(`Browser Rendering refused the document: ${text}`)
    throw new Error(`Browser Rendering answered ${answer.status}: ${text}`)
  },
})
