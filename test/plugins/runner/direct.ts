// Calls of the plugin runner as the service makes them, without the service.
import { setTimeout as sleep } from 'node:timers/promises'
import { startPluginRunner } from '../../../scripts/plugin-runner.ts'
import { processRunner } from '../../../src/extension/plugins/runners/process-runner.ts'
import type {
  CallOutcome,
  PluginCall,
  PluginProgram,
  PluginRunner,
} from '../../../src/extension/plugins/runners/runner.ts'
import { runnerSecret } from '../../../src/extension/plugins/runners/runner-protocol.ts'
import { compileScript } from '../../../src/extension/plugins/runners/script.ts'
import type { LoadedConfiguration } from '../../../src/product/cache.ts'

const TOKEN_SECRET = 'a token secret that only this test uses'

type Started = Awaited<ReturnType<typeof startPluginRunner>>

export type DirectRunner = Started & { readonly runner: PluginRunner; readonly secret: string }

export async function directRunner(settings: Parameters<typeof startPluginRunner>[1]): Promise<DirectRunner> {
  const started = await startPluginRunner(TOKEN_SECRET, settings)
  const { PLUGIN_RUNNER_ADDRESS: address, PLUGIN_RUNNER_START: start } = started.vars
  const secret = await runnerSecret(TOKEN_SECRET, start)
  return { ...started, secret, runner: processRunner({ address, secret }) }
}

const RETRY_MS = 200
const LONGEST_PAUSE_MS = 5_000

let programs = 0

/** Returns a program of the tenant whose function of `data` has this body. */
export function programOf(tenant: string, body: string): PluginProgram {
  programs += 1
  const path = 'main/rater.js'
  const script = compileScript(path, `exports.getPerilRates = function (data) {\n${body}\n}`)
  const configuration = { configuration: { products: {}, tables: {} } } as unknown as LoadedConfiguration
  return { key: `${tenant}/1/1/${programs}`, configuration, scripts: new Map([[path, script]]) }
}

export const CALL: PluginCall = {
  product: 'motor',
  path: 'main/rater.js',
  function: 'getPerilRates',
  arguments: [{}],
  now: Date.UTC(2026, 10, 22, 12),
  seed: 7,
  known: { aux: [], auxLocators: [], entities: [], rows: [] },
  resourceTables: [],
  datedTables: [],
}

/** Returns the outcome of the call and how long it took. A call that got no turn is repeated, as by a client. */
export async function timed(
  runner: PluginRunner,
  program: PluginProgram,
  mostMs?: number,
): Promise<{ outcome: CallOutcome; ms: number }> {
  for (let tried = 0; ; tried += 1) {
    const began = performance.now()
    try {
      const outcome = await runner.run(program, CALL, mostMs)
      return { outcome, ms: performance.now() - began }
    } catch (problem) {
      if ((problem as { code?: string }).code !== 'unavailable' || tried === 300) throw problem
      // Each try takes a process. On a busy computer these tries may be all that keeps it busy.
      await sleep(Math.min(LONGEST_PAUSE_MS, RETRY_MS * 2 ** tried))
    }
  }
}
