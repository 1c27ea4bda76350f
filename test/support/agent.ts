// A software agent: the client of the official SDK, connected to /mcp with a long-lived token.
import { exports } from 'cloudflare:workers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { callApi, callOk } from './api.ts'
import { noteCall } from './emission/calls.ts'
import { atFileStart } from './fresh-start/memory.ts'
import { roundTrips } from './motor.ts'

const ENDPOINT = new URL('http://bindery.test/mcp')

// biome-ignore lint/suspicious/noExplicitAny: what a tool answers, which each test reads in its own way.
type Any = any

export type ToolAnswer = {
  readonly data: Any
  readonly problem: Any
  readonly next: string | undefined
  readonly text: string
  readonly isError: boolean
  readonly trips: Record<string, number>
}

let made = 0
atFileStart(() => {
  made = 0
})

/** Creates a long-lived token of the account that `token` belongs to. */
export async function agentToken(
  tenantName: string,
  token: string,
  permissions: readonly string[],
): Promise<string> {
  made += 1
  return await callOk<string>('POST', '/auth/users/tokens', {
    token,
    body: {
      name: `agent ${made}`,
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
      permissions,
      tenants: [tenantName],
    },
  })
}

/** Permissions for every operation that an agent can perform. */
export const EVERYTHING = [
  'policies.*',
  'policyholders.*',
  'quotes.*',
  'quick-quotes.*',
  'endorsements.*',
  'renewals.*',
  'cancellations.*',
  'reinstatements.*',
  'invoices.*',
  'events.*',
  'products.*',
  'reports.*',
]

type Mode = 'legacy' | 'auto' | { pin: string }

/** Connects with the handshake of 2025 (`legacy`) or as clients of 2026 do (`auto`). */
export async function agentOf(token: string, mode: Mode = 'auto') {
  let trips: Record<string, number> = {}
  const fetch = async (input: URL | string, init?: RequestInit): Promise<Response> => {
    const response = await exports.default.fetch(new Request(input, init))
    trips = roundTrips(response)
    return response
  }
  const transport = new StreamableHTTPClientTransport(ENDPOINT, {
    authProvider: { token: async () => token },
    fetch: fetch as never,
  })
  const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  const call = async (name: string, args: object = {}): Promise<ToolAnswer> => {
    const result = (await client.callTool({ name, arguments: args as Record<string, unknown> })) as Any
    const { notice: _, data, problem, next } = result.structuredContent ?? {}
    return {
      data,
      problem,
      next,
      trips,
      text: result.content[0]?.text ?? '',
      isError: result.isError === true,
    }
  }
  /** Returns the data of a call, which must succeed. */
  const ask = async (name: string, args: object = {}): Promise<Any> => {
    const answer = await call(name, args)
    if (answer.isError) throw new Error(`${name} was refused: ${answer.text}`)
    if (answer.data.requestId) noteOperation(answer.data)
    return answer.data
  }
  return { client, call, ask }
}

export type Agent = Awaited<ReturnType<typeof agentOf>>

const CALLS: Record<string, string> = {
  policyholder: 'POST /policyholder/create',
  quote: 'POST /policy',
  issue: 'POST /policy/1/issue',
  endorsement: 'POST /policies/1/endorsements',
  renewal: 'POST /policies/1/renewals',
  cancellation: 'POST /policies/1/cancellations',
  reinstatement: 'PATCH /cancellations/1/reinstate',
}

/** Notes the HTTP call that the agent's operation stands for, so that the events it emits are checked against that call. */
export function noteOperation({ operation, requestId }: { operation: string; requestId: string }): void {
  const [method, path] = CALLS[operation]!.split(' ') as [string, string]
  noteCall(method, path, requestId)
}

/** Posts a raw JSON-RPC message, for messages that no client sends. */
export const postMessage = (token: string | undefined, body: unknown, headers: Record<string, string> = {}) =>
  callApi<Any>('POST', '/mcp', {
    ...(token !== undefined && { token }),
    body,
    headers: { accept: 'application/json, text/event-stream', ...headers },
  })
