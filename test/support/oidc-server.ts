// OpenID providers for tests in the Workers runtime, which cannot listen on a port: they start providers here and call their
// functions by POST. A global setup of the `service` project.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { KEPT_OPEN } from './kept-open.ts'
import { startProvider, type TestProvider } from './oidc-provider.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    oidcPort: number
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown[]> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const providers = new Map<string, TestProvider>()
  const carryOut = async (path: string, given: unknown[]): Promise<unknown> => {
    const [, at = '', name] = path.split('/')
    if (!name) {
      const provider = await startProvider(given[0] as never)
      const { port } = new URL(provider.issuer)
      providers.set(port, provider)
      return { port, issuer: provider.issuer }
    }
    const provider = providers.get(at)! as unknown as Record<string, (...all: unknown[]) => unknown>
    return (await provider[name]!(...given.map(one => one ?? undefined))) ?? null
  }
  const server = createServer(KEPT_OPEN, (request, response) => {
    bodyOf(request)
      .then(given => carryOut(request.url!, given))
      .then(
        result => response.end(JSON.stringify(result)),
        problem => response.writeHead(500).end(String(problem)),
      )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  project.provide('oidcPort', (server.address() as AddressInfo).port)
  return async () => {
    for (const provider of providers.values()) await provider.close()
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}
