// A local stand-in for the `pdf` quick action of Cloudflare's Browser Run: an HTTP server that validates requests as the
// documented API does, and prints with a real browser. Tests of the `service` project find it by its port. Without an installed
// browser it responds with 501.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { BROWSER, PrintingBrowser } from '../../packages/pdf/test/browser.ts'
import { KEPT_OPEN } from './kept-open.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    browserRunPort: number
    hasBrowser: boolean
  }
}

type Refusal = { status: number; message: string; headers?: Record<string, string> }

export type BrowserRunServer = {
  port: number
  /** Bodies of the requests, in order. */
  asked: Record<string, unknown>[]
  /** Responses sent instead of printing, each used once. */
  refusals: Refusal[]
  close(): Promise<void>
}

const PIXELS: Readonly<Record<string, number>> = { px: 1, in: 96, cm: 37.8, mm: 3.78 }

/** Parses a length as puppeteer does: in px, in, cm or mm. A bare number is in pixels. */
function inchesOf(length: unknown): number {
  const text = String(length ?? 0)
  const unit = Object.keys(PIXELS).find(one => text.endsWith(one))
  const value = Number(unit ? text.slice(0, -unit.length) : text)
  if (Number.isNaN(value)) throw new Error(`Failed to parse parameter value: ${text}`)
  return (value * PIXELS[unit ?? 'px']!) / 96
}

const KNOWN = new Set(
  `html url setJavaScriptEnabled cacheTTL pdfOptions addScriptTag addStyleTag allowRequestPattern rejectRequestPattern
  allowResourceTypes rejectResourceTypes actionTimeout gotoOptions viewport waitForSelector waitForTimeout bestAttempt
  emulateMediaType setExtraHTTPHeaders userAgent authenticate cookies`.split(/\s+/),
)
const KNOWN_PDF = new Set(
  `scale displayHeaderFooter headerTemplate footerTemplate printBackground landscape pageRanges format width height
  preferCSSPageSize margin omitBackground tagged outline timeout`.split(/\s+/),
)

type PdfRequest = {
  html?: string
  setJavaScriptEnabled?: boolean
  pdfOptions?: {
    printBackground?: boolean
    displayHeaderFooter?: boolean
    headerTemplate?: string
    footerTemplate?: string
    width?: unknown
    height?: unknown
    preferCSSPageSize?: boolean
    margin?: Record<'top' | 'right' | 'bottom' | 'left', unknown>
  }
}

/** Returns the browser's print options. Throws an Error where the API would reject the request. */
function printOptions(request: PdfRequest) {
  const strange = [
    ...Object.keys(request).filter(name => !KNOWN.has(name)),
    ...Object.keys(request.pdfOptions ?? {}).filter(name => !KNOWN_PDF.has(name)),
  ]
  if (strange.length > 0) throw new Error(`Unrecognized keys: ${strange.join(', ')}`)
  if (!request.html) throw new Error('Either html or url must be set')
  const { margin, width, height, ...options } = request.pdfOptions ?? {}
  return {
    ...options,
    paperWidth: inchesOf(width),
    paperHeight: inchesOf(height),
    marginTop: inchesOf(margin?.top),
    marginRight: inchesOf(margin?.right),
    marginBottom: inchesOf(margin?.bottom),
    marginLeft: inchesOf(margin?.left),
  }
}

/** Starts the server on a free port. The browser starts with the first page. */
export async function startBrowserRun(): Promise<BrowserRunServer> {
  const asked: Record<string, unknown>[] = []
  const refusals: Refusal[] = []
  let browser: Promise<PrintingBrowser> | undefined
  const refuse = (response: ServerResponse, { status, message, headers }: Refusal): void => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
    response.end(JSON.stringify({ success: false, errors: [{ code: 1, message }] }))
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.url === '/busy')
      return refuse(response, {
        status: 429,
        message: 'Rate limit exceeded',
        headers: { 'Retry-After': '0' },
      })
    const body = JSON.parse(Buffer.concat(chunks).toString()) as PdfRequest
    asked.push(body as Record<string, unknown>)
    const refusal = refusals.shift()
    if (refusal) return refuse(response, refusal)
    let options: ReturnType<typeof printOptions>
    try {
      options = printOptions(body)
    } catch (problem) {
      return refuse(response, { status: 400, message: (problem as Error).message })
    }
    if (!BROWSER) return void response.writeHead(501).end()
    browser ??= PrintingBrowser.start()
    const pdf = await (await browser).print(body.html!, options)
    response.writeHead(200, { 'Content-Type': 'application/pdf', 'X-Browser-Ms-Used': '100' }).end(pdf)
  }
  const server = createServer(KEPT_OPEN, (request, response) => {
    answer(request, response).catch(problem => refuse(response, { status: 500, message: String(problem) }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    refusals,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      await (await browser)?.close()
    },
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startBrowserRun()
  project.provide('browserRunPort', server.port)
  project.provide('hasBrowser', BROWSER !== undefined)
  return () => server.close()
}
