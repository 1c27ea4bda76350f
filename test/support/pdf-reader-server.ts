// Reads PDFs for tests in the Workers runtime: an HTTP server that uses poppler's tools. `POST /` returns the text, and `POST
// /golden/NAME` returns as JSON how the PDF differs from the golden one of that name. A global setup of the `service` project.
// Without the tools it responds with 501 and logs that once.
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { comparedWithGolden } from '../documents/golden-pages.ts'
import { KEPT_OPEN } from './kept-open.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    pdfReaderPort: number
  }
}

function isInstalled(): boolean {
  try {
    execFileSync('pdftotext', ['-v'], { stdio: 'ignore' })
    execFileSync('pdftoppm', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    console.warn('SKIPPED: poppler-utils are not installed, so PDFs are made and not read back.')
    return false
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let installed: boolean | undefined
  const server = createServer(KEPT_OPEN, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    installed ??= isInstalled()
    if (!installed) return response.writeHead(501).end()
    const pdf = Buffer.concat(chunks)
    const golden = /^\/golden\/(\w+)$/.exec(request.url ?? '')?.[1]
    if (golden !== undefined) return response.end(JSON.stringify(comparedWithGolden(golden, pdf)))
    response.end(execFileSync('pdftotext', ['-layout', '-', '-'], { input: pdf }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  project.provide('pdfReaderPort', (server.address() as AddressInfo).port)
  return async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}
