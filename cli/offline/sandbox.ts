// Plugins without a service: the same sandbox, contracts and limits, except for the time limit. There are no records, auxiliary
// data or secrets.
import { startCell } from '../../runner/cells.ts'
import { Lanes } from '../../runner/lanes.ts'
import { outcomeOf } from '../../runner/outcomes.ts'
import {
  AttemptCalls,
  type CallContext,
  type Fetching,
  type Sandbox,
} from '../../src/extension/plugins/attempt-calls.ts'
import { pluginProgram } from '../../src/extension/plugins/runners/program.ts'
import {
  type Missing,
  type PluginRunner,
  readOutcome,
  timeoutOutcome,
} from '../../src/extension/plugins/runners/runner.ts'
import { sentProgram, tenantOf } from '../../src/extension/plugins/runners/sent-program.ts'

/**
 * The maximum duration of a call in milliseconds. It is longer than in the service, where a client waits for the response, so
 * that a test does not fail on a busy machine. Most endless scripts exceed the limit on steps first. PLUGIN_CALL_MS sets another
 * limit, as for the service.
 */
const longestCallMs = (): number => Number(process.env.PLUGIN_CALL_MS ?? 30_000)

let lanes: Lanes | undefined

/** Like the service's plugin runner, but in this process. */
const runner: PluginRunner = {
  async run(program, call, mostMs = longestCallMs()) {
    lanes ??= new Lanes(startCell, { spares: 1 })
    const ended = await lanes.run({
      tenant: tenantOf(program),
      key: program.key,
      program: Buffer.from(JSON.stringify(sentProgram(program))),
      body: Buffer.from(JSON.stringify(call)),
      mostMs,
    })
    const text = outcomeOf(ended, mostMs)
    return text === undefined ? timeoutOutcome(mostMs) : readOutcome(text.toString())
  },
}

export const openOfflineSandbox = async (): Promise<Sandbox> => ({
  runner,
  programOf: pluginProgram,
  longestCallMs: longestCallMs(),
})

/** Returns plugin calls that find no stored data. Calls `missed` with a description of each request. */
export function offlineCalls(context: CallContext, missed: (what: string) => void): AttemptCalls {
  const fetching: Fetching = async missing => {
    for (const one of missing) missed(describeMissing(one))
    return {
      aux: missing.flatMap(one => (one.kind === 'aux' ? [[one.locator, one.key, ''] as const] : [])),
      auxLocators: missing.flatMap(one => (one.kind === 'aux' ? [one.locator] : [])),
      entities: missing.flatMap(one =>
        one.kind === 'entity' ? [[one.entity, one.locator, null] as const] : [],
      ),
      rows: [],
      secrets: missing.flatMap(one =>
        one.kind === 'secret' ? [[one.staticName, one.item, null] as const] : [],
      ),
    }
  }
  return new AttemptCalls(openOfflineSandbox, context, fetching)
}

function describeMissing(missing: Missing): string {
  switch (missing.kind) {
    case 'aux':
      return `auxiliary data '${missing.key}'`
    case 'entity':
      return `a stored ${missing.entity}`
    case 'secret':
      return `the secret '${missing.staticName}'`
    default:
      return `the table '${missing.table}'`
  }
}
