// Runs tenant code under QuickJS in the plugin runner, a separate process next to the service that can stop code that hangs.

import { Refusal } from '../../../kernel/errors.ts'
import { callWithin } from '../../../platform/outbound/address.ts'
import { ANSWER_MS, LONGEST_CALL_MS, LONGEST_SENT_CALL, LONGEST_SENT_PROGRAM } from './limits.ts'
import { type CallOutcome, failed, type PluginProgram, type PluginRunner, readOutcome } from './runner.ts'
import { HEADERS, PATHS, PROGRAM_UNKNOWN, runnerSecret } from './runner-protocol.ts'
import { sentProgram, tenantOf } from './sent-program.ts'

/** The runner's address, such as `http://127.0.0.1:4711`, and the secret that belongs to its start. */
type RunnerPlace = { readonly address: string; readonly secret: string }

type Send = (address: string, request: RequestInit) => Promise<Response>

/**
 * The waits after each failed attempt to reach the runner, in milliseconds. It restarts within their sum, even on a slow computer.
 */
const WAITS = [100, 200, 400, 800, 1_600] as const

/** How often a program is sent for one call: other programs may push it out of the runner's memory. */
const MOST_SENDINGS = 3

/** Runs plugins in another process, which it calls over HTTP. A call that is too long for it fails without being sent. */
export const processRunner = (
  place: RunnerPlace,
  send: Send = (address, request) => fetch(address, request),
): PluginRunner => ({
  async run(program, call, mostMs = LONGEST_CALL_MS) {
    const body = new TextEncoder().encode(JSON.stringify(call))
    if (body.length > LONGEST_SENT_CALL)
      return failed({
        reason: `receives ${body.length} bytes of JSON, which is more than ${LONGEST_SENT_CALL}`,
        limit: true,
      })
    // One limit for all attempts together. The runner itself stops a call in time.
    return await callWithin(mostMs + ANSWER_MS, async signal => {
      const request = {
        method: 'POST',
        headers: { ...headersOf(place, program), [HEADERS.most]: `${mostMs}` },
        body,
      }
      for (let sendings = 0; ; sendings += 1) {
        const response = await fetchFromRunner(
          () => send(place.address + PATHS.calls, { ...request, signal }),
          signal,
        )
        if (response.status !== PROGRAM_UNKNOWN) return outcomeOf(response)
        await response.body?.cancel()
        if (sendings === MOST_SENDINGS)
          throw new Refusal('unavailable', 'The plugin runner is busy; try again.', {}, 1)
        const problem = await sendProgram(place, program, send, signal)
        if (problem !== undefined) return failed({ reason: problem, limit: true })
      }
    })
  },
})

const headersOf = ({ secret }: RunnerPlace, program: PluginProgram): Record<string, string> => ({
  authorization: `Bearer ${secret}`,
  [HEADERS.program]: encodeURIComponent(program.key),
  [HEADERS.tenant]: encodeURIComponent(tenantOf(program)),
})

async function sendProgram(
  place: RunnerPlace,
  program: PluginProgram,
  send: Send,
  signal: AbortSignal,
): Promise<string | undefined> {
  const body = new TextEncoder().encode(JSON.stringify(sentProgram(program)))
  if (body.length > LONGEST_SENT_PROGRAM)
    return `the scripts have ${body.length} bytes, which is more than ${LONGEST_SENT_PROGRAM}`
  const put = { method: 'PUT', headers: headersOf(place, program), body, signal }
  const response = await fetchFromRunner(() => send(place.address + PATHS.programs, put), signal)
  await response.body?.cancel()
  if (!response.ok) throw runnerRefusal(response)
  return undefined
}

/** Sends the request again if the runner dies: a call has no side effects. */
async function fetchFromRunner(ask: () => Promise<Response>, signal: AbortSignal): Promise<Response> {
  for (const wait of [...WAITS, undefined]) {
    try {
      return await ask()
    } catch (problem) {
      if (signal.aborted || wait === undefined) {
        console.error(JSON.stringify({ at: 'plugin runner', problem: String(problem) }))
        throw new Refusal('unavailable', 'The plugin runner does not answer; try again.', {}, 1)
      }
      await new Promise(resolve => setTimeout(resolve, wait))
    }
  }
  throw new Error('Every attempt returns or throws.')
}

async function outcomeOf(response: Response): Promise<CallOutcome> {
  if (!response.ok) {
    await response.body?.cancel()
    throw runnerRefusal(response)
  }
  try {
    return readOutcome(await response.text())
  } catch (problem) {
    console.error(JSON.stringify({ at: 'plugin runner', problem: String(problem) }))
    throw new Refusal('unavailable', 'The plugin runner cut off its answer; try again.', {}, 1)
  }
}

function runnerRefusal({ status, headers }: Response): Refusal {
  const seconds = Number(headers.get('retry-after') ?? 1)
  if (status === 503)
    return new Refusal('unavailable', 'Too many plugins are running; try again.', {}, seconds)
  console.error(JSON.stringify({ at: 'plugin runner', problem: `answers ${status}` }))
  return new Refusal('unavailable', 'The plugin runner rejects the service; start the service again.', {}, 5)
}

/** Returns the runner of a service outside of Cloudflare. Throws 503 if none is running. */
export async function localRunner(env: Env): Promise<PluginRunner> {
  const { PLUGIN_RUNNER_ADDRESS: address, PLUGIN_RUNNER_START: start, TOKEN_SECRET } = env
  if (!address || !start)
    throw new Refusal(
      'unavailable',
      'No plugin runner is running. `npm start` starts one next to the service; otherwise set PLUGIN_RUNNER to `isolate`.',
      {},
      60,
    )
  return processRunner({ address, secret: await runnerSecret(TOKEN_SECRET, start) })
}
