// Reads PDFs for tests that run in the service's runtime: a real HTTP server beside them, with poppler's pdftotext. A
// global setup of the `service` project. Where the tool is missing it answers 501, and says so once.
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    pdfReaderPort: number
  }
}

function isInstalled(): boolean {
  try {
    execFileSync('pdftotext', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    console.warn('SKIPPED: pdftotext (poppler-utils) is not installed, so PDFs are made and not read back.')
    return false
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let installed: boolean | undefined
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    installed ??= isInstalled()
    if (!installed) return response.writeHead(501).end()
    const text = execFileSync('pdftotext', ['-layout', '-', '-'], { input: Buffer.concat(chunks) })
    response.end(text)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  project.provide('pdfReaderPort', (server.address() as AddressInfo).port)
  return async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}
