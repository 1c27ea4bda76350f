// External raters: an HTTP server next to the tests, with one rater for each path. Tests set a rater's responses (PUT) and read
// the requests that it received (GET). A global setup of the `service` project.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { KEPT_OPEN } from './kept-open.ts'

/** How to respond to a call. */
export type RaterBehaviour = {
  /** Default 200. */
  status?: number
  headers?: Record<string, string>
  /** The rate of each requested characteristics, by the name of its peril. `*` for any other. */
  rates?: Record<string, unknown>
  /** Further properties of the response, next to the rates or instead of them. */
  answer?: Record<string, unknown>
  /** Rates that were not requested. */
  strangers?: Record<string, unknown>
  /** Omits the rate of the first requested characteristics. */
  leaveOneOut?: boolean
  /** The raw body. */
  text?: string
  /** Size of a body of padding, in bytes of JSON. */
  bytes?: number
  /** Delay before the response. */
  delayMs?: number
  /**
   * `hang` never responds, `hangInBody` stops after part of the body, `reset` closes the connection before a response, `cutOff`
   * within the body.
   */
  fault?: 'hang' | 'hangInBody' | 'reset' | 'cutOff'
}

export type RaterCall = { headers: Record<string, string>; body: string }

/** `behaviours` are used one after the other. The last one stays. */
type Rater = { behaviours: RaterBehaviour[]; calls: RaterCall[] }

declare module 'vitest' {
  export interface ProvidedContext {
    raterPort: number
  }
}

const raters = new Map<string, Rater>()

function raterOf(path: string): Rater {
  const rater = raters.get(path) ?? { behaviours: [{ rates: { '*': { yearlyPremium: 120 } } }], calls: [] }
  raters.set(path, rater)
  return rater
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

type Asked = {
  policy: {
    exposures: { perils: { name: string; characteristics: { locator: string }[] }[] }[]
  }
  policyExposurePerils: { perilCharacteristicsLocator: string }[]
}

function priced({ rates = {}, strangers = {}, leaveOneOut }: RaterBehaviour, body: string) {
  const { policy, policyExposurePerils } = JSON.parse(body) as Asked
  const perilOf = new Map(
    policy.exposures.flatMap(exposure =>
      exposure.perils.flatMap(peril => peril.characteristics.map(one => [one.locator, peril.name] as const)),
    ),
  )
  const locators = policyExposurePerils.map(one => one.perilCharacteristicsLocator)
  const answered = leaveOneOut ? locators.slice(1) : locators
  return {
    ...Object.fromEntries(
      answered.map(locator => [locator, rates[perilOf.get(locator)!] ?? rates['*'] ?? null]),
    ),
    ...strangers,
  }
}

function answerOf(behaviour: RaterBehaviour, body: string): string {
  const { text, bytes, rates, answer = {} } = behaviour
  if (text !== undefined) return text
  if (bytes !== undefined) return `{"padding":"${'x'.repeat(bytes - 14)}"}`
  return JSON.stringify({ ...(rates && { pricedPerilCharacteristics: priced(behaviour, body) }), ...answer })
}

function respond(
  behaviour: RaterBehaviour,
  body: string,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { status = 200, headers, fault } = behaviour
  if (fault === 'hang') return
  if (fault === 'reset') return request.socket.destroy()
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  if (!fault) return response.end(answerOf(behaviour, body))
  response.write('{"priced')
  if (fault === 'cutOff') setTimeout(() => request.socket.destroy(), 50)
}

function server(): Server {
  return createServer(KEPT_OPEN, async (request, response) => {
    const rater = raterOf(request.url!.split('?')[0]!)
    const body = await textOf(request).catch(() => undefined)
    // The connection was closed during the request.
    if (body === undefined) return void response.destroy()
    if (request.method === 'GET') return response.end(JSON.stringify(rater.calls))
    if (request.method === 'PUT') {
      rater.behaviours = JSON.parse(body)
      return response.end()
    }
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    rater.calls.push({ headers: Object.fromEntries(headers), body })
    const [behaviour] = rater.behaviours
    if (rater.behaviours.length > 1) rater.behaviours.shift()
    if (behaviour!.delayMs) await new Promise(resolve => setTimeout(resolve, behaviour!.delayMs))
    respond(behaviour!, body, request, response)
  })
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const listening = server()
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  project.provide('raterPort', (listening.address() as AddressInfo).port)
  return async () => {
    listening.closeAllConnections()
    await new Promise(resolve => listening.close(resolve))
  }
}
