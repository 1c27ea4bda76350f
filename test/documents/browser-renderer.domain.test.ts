// PDFs by Browser Run: the request, the handling of its answers, and the output of a real browser. The other side is a server that
// answers as the API documents (test/support/browser-run-server.ts).

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ConversionError, pageOf } from '../../packages/pdf/page.ts'
import { BROWSER } from '../../packages/pdf/test/browser.ts'
import { pictures } from '../../packages/pdf/test/pictures.ts'
import { coloursOf, hasPoppler, render, textLines } from '../../packages/pdf/test/tools.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { browserRenderer, browserRequest } from '../../src/servicing/documents/browser-renderer.ts'
import { type BrowserRunServer, startBrowserRun } from '../support/browser-run-server.ts'
import { processorClock } from '../support/scaling.ts'

const HTML =
  '<!DOCTYPE html><html lang="en"><head><style>p { color: #ff0000; font-size: 20pt }</style></head><body><bindery-header><p>above</p></bindery-header><p>text</p><p style="page-break-before:always">more</p><bindery-footer>page <bindery-page-number></bindery-page-number> of <bindery-page-count></bindery-page-count></bindery-footer></body></html>'

let server: BrowserRunServer
beforeAll(async () => {
  server = await startBrowserRun()
})
afterAll(() => server.close())
beforeEach(() => {
  server.asked.length = 0
  server.refusals.length = 0
})

/** Each makes a browser load the address, even when it may load nothing. */
const REFRESHES = [
  '<meta http-equiv="refresh" content="0;url=ADDRESS">',
  '<META/HTTP-EQUIV = "ref&#114;esh" CONTENT="0;ADDRESS"/>',
  '<meta name="a>b" http-equiv=refresh content="0;url=ADDRESS">',
  '<meta a" http-equiv=refresh content="0;url=ADDRESS">',
  '<me<meta x="&">ta http-equiv=refresh content="0;url=ADDRESS">',
  '<me<bindery-header></bindery-header>ta http-equiv=refresh content="0;url=ADDRESS">',
  '<noscript><meta\nhttp-equiv=refresh content="0;url=ADDRESS"></noscript>',
  '<svg><meta http-equiv=refresh content="0;url=ADDRESS"></svg>',
  '<iframe srcdoc="&lt;meta http-equiv=refresh content=&quot;0;url=ADDRESS&quot;&gt;"></iframe>',
  '<bindery-footer><meta http-equiv="refresh" content="0;url=ADDRESS"></bindery-footer>',
]

/** The sheets of the document are repeated in header and footer, and a browser ends each of these before the `<meta>`. */
const IN_SHEETS = [
  '<stylesheet><meta http-equiv="refresh" content="0;url=ADDRESS"></style><bindery-footer>x</bindery-footer>',
  '<style></style ><meta http-equiv="refresh" content="0;url=ADDRESS"></style><bindery-footer>x</bindery-footer>',
]

/** Each has a tag whose end is not at its first `>`, or that has a quote outside of a value. */
const LOADS = [
  '<html a=">"><img src="ADDRESS">',
  '<!doctype html><html><head title=\'>\'><img src="ADDRESS">',
  '<html a"><img src="ADDRESS">"',
  '<html a="<b>"><head b><img src="ADDRESS">',
]

type Binding = Parameters<typeof browserRenderer>[0]
const BINDING = {
  quickAction: (action: string, options: unknown) =>
    fetch(`http://127.0.0.1:${server.port}/${action}`, { method: 'POST', body: JSON.stringify(options) }),
} as unknown as Binding

const rendered = async (html: string, layout: Parameters<typeof pageOf>[0] = {}): Promise<Uint8Array> =>
  (await browserRenderer(BINDING).render(html, pageOf(layout), new Map(), 0 as Instant)).bytes

describe('The request to the browser', () => {
  const request = browserRequest(HTML, pageOf({ marginTop: '25.4mm', orientation: 'landscape' }))

  test('sets the layout of the page, disables scripts and is not cached', () => {
    expect(request).toMatchObject({
      setJavaScriptEnabled: false,
      cacheTTL: 0,
      pdfOptions: {
        width: '11.6929in',
        height: '8.2678in',
        preferCSSPageSize: false,
        printBackground: true,
        displayHeaderFooter: true,
      },
    })
    expect(request.pdfOptions.margin).toEqual({
      top: '1in',
      right: '0.7874in',
      bottom: '0.7874in',
      left: '0.7874in',
    })
  })

  test('passes header and footer as separate templates, with the document’s styles and page numbers', () => {
    expect(request.html).not.toContain('bindery-')
    expect(request.html).not.toContain('above')
    expect(request.pdfOptions.headerTemplate).toContain(
      '<style>p { color: #ff0000; font-size: 20pt }</style>',
    )
    expect(request.pdfOptions.headerTemplate).toContain('<p>above</p>')
    expect(request.pdfOptions.footerTemplate).toContain(
      'page <span class="pageNumber"></span> of <span class="totalPages"></span>',
    )
  })

  test.each([
    '<!doctype html><html lang="en"><head><title>x</title></head>text',
    '<HTML><body>text',
    '<p>text',
    '<header>text</header>',
  ])('begins with a policy that allows no loads: %s', html => {
    const page = browserRequest(html, pageOf()).html
    const policy = page.indexOf('<meta http-equiv="Content-Security-Policy"')
    expect(policy).toBeGreaterThanOrEqual(0)
    expect(page.slice(0, policy)).not.toMatch(/<(?!!doctype|html|head>)/i)
    expect(page.replace(/<meta[^>]*>/, '')).toBe(html)
  })

  test.each(LOADS)('has the policy before a tag that has unusual attributes: %s', html => {
    const page = browserRequest(html, pageOf()).html
    expect(page).toMatch(/^(<!doctype html><html>)?<meta http-equiv="Content-Security-Policy"/)
  })
})

test('the request keeps meta elements about the document and replaces those that instruct the browser', () => {
  const about = '<meta charset="utf-8"><meta name=author content=\'B &amp; S\'/>'
  const shown = browserRequest(`${about}<!-- <meta http-equiv="x-ua-compatible"> -->text`, pageOf()).html
  expect(shown.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '')).toBe(
    `${about}<!-- <link> -->text`,
  )
})

test.each(IN_SHEETS)('header and footer repeat no element that instructs the browser: %s', html => {
  const { footerTemplate } = browserRequest(html, pageOf()).pdfOptions
  expect(footerTemplate).toContain('>x</div>')
  expect(footerTemplate).not.toMatch(/<meta/i)
})

test('style elements that never end are scanned in linear time', () => {
  const taken = processorClock()
  const { pdfOptions } = browserRequest(`<style>p {}</style>${'<style'.repeat(40_000)}`, pageOf())
  expect(pdfOptions.headerTemplate).toMatch(/^<style>p {}<\/style><div/)
  expect(taken()).toBeLessThan(1_000)
})

describe('An answer of the browser', () => {
  test.each([400, 413])('with %i is a ConversionError with its message', async status => {
    server.refusals.push({ status, message: 'html is too large' })
    const problem = await rendered(HTML).catch(one => one)
    expect(problem).toBeInstanceOf(ConversionError)
    expect(problem.message).toBe('Browser Rendering rejected the document: html is too large')
    expect(server.asked).toHaveLength(1)
  })

  test('with 422 is a ConversionError, except for timeouts and crashes, which can be retried', async () => {
    server.refusals.push({ status: 422, message: 'Invalid page content' })
    await expect(rendered(HTML)).rejects.toBeInstanceOf(ConversionError)
    for (const message of ['Navigation timeout of 30000 ms exceeded', 'Timed out', 'Page crashed!']) {
      server.refusals.push({ status: 422, message })
      const problem = await rendered(HTML).catch(one => one)
      expect(problem).not.toBeInstanceOf(ConversionError)
      expect(String(problem)).toContain(`422: ${message}`)
    }
  })

  test('with 500 is an error that can be retried', async () => {
    server.refusals.push({ status: 500, message: 'internal' })
    const problem = await rendered(HTML).catch(one => one)
    expect(problem).not.toBeInstanceOf(ConversionError)
    expect(String(problem)).toContain('500: internal')
  })

  test('with 429 or 503 is retried three times after Retry-After, and then postponed', async () => {
    const busy = { status: 429, message: 'Rate limit exceeded', headers: { 'Retry-After': '0' } }
    server.refusals.push(busy, { ...busy, status: 503 }, busy, busy)
    const problem = await rendered(HTML).catch(one => one)
    expect(problem).not.toBeInstanceOf(ConversionError)
    expect(String(problem)).toContain('429: Rate limit exceeded')
    expect(server.asked).toHaveLength(4)
  })

  test('has its PDF dates set to the time of the request, and no byte of the PDF moves', async () => {
    const printed = (time: string) =>
      `%PDF-1.4\n/CreationDate (D:${time}+00'00')\n/ModDate (D:${time}+00'00')>>\xff\n(CreationDate)`
    const bytes = Buffer.from(printed('20261122083000'), 'latin1')
    const binding = { quickAction: async () => new Response(bytes) } as unknown as Binding
    const at = Date.parse('2026-11-21T12:00:00Z') as Instant
    const made = await browserRenderer(binding).render(HTML, pageOf(), new Map(), at)
    expect(Buffer.from(made.bytes).toString('latin1')).toBe(printed('20261121120000'))
  })

  test('that is not a PDF is rejected', async () => {
    const odd = { quickAction: async () => new Response('<html>sign in</html>') } as unknown as Binding
    await expect(browserRenderer(odd).render(HTML, pageOf(), new Map(), 0 as Instant)).rejects.toThrow(
      'not a PDF',
    )
  })
})

describe.runIf(BROWSER !== undefined && hasPoppler)('A PDF printed by a browser', () => {
  test('has text, styles, header, footer and page numbers on every page', async () => {
    server.refusals.push({ status: 429, message: 'Rate limit exceeded', headers: { 'Retry-After': '0' } })
    const pdf = await rendered(HTML)
    expect(textLines(pdf)).toEqual(['above', 'text', 'page 1 of 2', 'above', 'more', 'page 2 of 2'])
    const [first] = pictures(pdf)
    expect(coloursOf(first!)).toContain('#ff0000')
  })

  test('has the page size and margins of the layout, like the built-in renderer', async () => {
    const box = '<style>body { margin: 0 }</style><div style="height:100pt;background:#0000ff">&nbsp;</div>'
    const layout = { marginLeft: '30mm', marginTop: '15mm', orientation: 'landscape' as const }
    const [theirs, ours] = [
      pictures(await rendered(box, layout), 50),
      pictures(await render(box, layout), 50),
    ]
    const corner = ({ pixels, width }: (typeof ours)[number]): [number, number] => {
      const at = pixels.findIndex((value, index) => index % 3 === 0 && value < 128) / 3
      return [at % width, Math.floor(at / width)]
    }
    expect(theirs[0]!.width).toBeGreaterThan(theirs[0]!.height)
    const [[x, y], [ourX, ourY]] = [corner(theirs[0]!), corner(ours[0]!)]
    expect(Math.abs(x - ourX)).toBeLessThanOrEqual(1)
    expect(Math.abs(y - ourY)).toBeLessThanOrEqual(1)
  })

  test('shows the document’s images and loads nothing from elsewhere', async () => {
    let calls = 0
    const { createServer } = await import('node:http')
    const elsewhere = createServer((_, response) => {
      calls += 1
      response.end()
    })
    await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(elsewhere.address() as { port: number }).port}`
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC'
    try {
      const pdf = await rendered(
        `<link rel="stylesheet" href="${origin}/a.css"><style>@import url(${origin}/b.css)</style><img src="${origin}/c.png"><img src="data:image/png;base64,${pixel}" width="100" height="100"><iframe src="${origin}/d"></iframe><script>fetch('${origin}/e')</script>`,
      )
      for (const [at, refresh] of REFRESHES.entries()) {
        const html = `<title>a</title>${refresh.replace('ADDRESS', `${origin}/refresh-${at}`)}<p>text</p>`
        expect(textLines(await rendered(html)).at(-1)).toBe('text')
        await new Promise(resolve => setTimeout(resolve, 100))
      }
      for (const [at, load] of LOADS.entries())
        await rendered(`${load.replace('ADDRESS', `${origin}/load-${at}.png`)}<p>text</p>`)
      expect([...coloursOf(pictures(pdf, 50)[0]!)]).toContain('#ff0000')
      expect(calls).toBe(0)
    } finally {
      elsewhere.closeAllConnections()
      elsewhere.close()
    }
  })
})
