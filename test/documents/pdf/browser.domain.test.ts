// The same HTML through the interface of Browser Rendering, answered by a browser of this machine where there is one.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { browserRenderer, browserRequest } from '../../../src/documents/pdf/browser.ts'
import { ConversionError, pageOf } from '../../../src/documents/pdf/page.ts'
import { browser, hasPoppler, textLines } from './tools.ts'

const HTML =
  '<style>p { color: red }</style><bindery-header><p>above</p></bindery-header><p>text</p><bindery-footer>page <bindery-page-number></bindery-page-number> of <bindery-page-count></bindery-page-count></bindery-footer>'

type Binding = Parameters<typeof browserRenderer>[0]

const answering = (answer: (options: ReturnType<typeof browserRequest>) => Response): Binding =>
  ({
    quickAction: async (_: string, options: ReturnType<typeof browserRequest>) => answer(options),
  }) as unknown as Binding

describe('what the browser is asked for', () => {
  const request = browserRequest(HTML, pageOf({ marginTop: '25.4mm', orientation: 'landscape' }))

  test('is a page of the layout, without scripts and without anything from elsewhere', () => {
    expect(request).toMatchObject({
      setJavaScriptEnabled: false,
      allowRequestPattern: ['^data:'],
      pdfOptions: { format: 'a4', landscape: true, printBackground: true, displayHeaderFooter: true },
    })
    expect(request.pdfOptions.margin.top).toBe('72pt')
  })

  test('has header and footer apart from the text, with its styles and the numbers of pages', () => {
    expect(request.html).toBe('<style>p { color: red }</style><p>text</p>')
    expect(request.pdfOptions.headerTemplate).toContain('<style>p { color: red }</style>')
    expect(request.pdfOptions.headerTemplate).toContain('<p>above</p>')
    expect(request.pdfOptions.footerTemplate).toContain(
      'page <span class="pageNumber"></span> of <span class="totalPages"></span>',
    )
  })
})

describe('what the browser answers', () => {
  test('as refused is the fault of the document, as failed is to be tried again', async () => {
    const refused = browserRenderer(answering(() => new Response('bad html', { status: 400 })))
    await expect(refused.render(HTML, pageOf())).rejects.toBeInstanceOf(ConversionError)
    const busy = browserRenderer(answering(() => new Response('busy', { status: 429 })))
    const problem = await busy.render(HTML, pageOf()).catch(one => one)
    expect(problem).not.toBeInstanceOf(ConversionError)
    expect(String(problem)).toContain('429')
  })

  test.runIf(browser !== undefined && hasPoppler)('is the PDF', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bindery-browser-'))
    const printing = answering(({ html }) => {
      const [page, file] = [join(folder, 'page.html'), join(folder, 'page.pdf')]
      writeFileSync(page, html)
      execFileSync(
        browser!,
        [
          '--headless',
          '--no-sandbox',
          '--disable-gpu',
          '--no-pdf-header-footer',
          `--print-to-pdf=${file}`,
          page,
        ],
        { stdio: 'ignore', timeout: 60_000 },
      )
      return new Response(new Uint8Array(readFileSync(file)))
    })
    try {
      expect(textLines(await browserRenderer(printing).render(HTML, pageOf()))).toEqual(['text'])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
