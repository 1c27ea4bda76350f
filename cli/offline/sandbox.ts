// Plugins with no service: the same sandbox and contracts, and its limits but that of time; of records, auxiliary data and secrets there are none.
import { startCell } from '../../runner/cells.ts'
import { Lanes } from '../../runner/lanes.ts'
import { outcomeOf } from '../../runner/outcomes.ts'
import { pluginProgram } from '../../src/extension/plugins/program.ts'
import { type Missing, type PluginRunner, readOutcome, tooLong } from '../../src/extension/plugins/runner.ts'
import { sentProgram, tenantOf } from '../../src/extension/plugins/sent-program.ts'
import {
  type Fetching,
  PluginSession,
  type Sandbox,
  type SessionContext,
} from '../../src/extension/plugins/session.ts'

/**
 * Milliseconds of a call: more than the service gives it, whose client waits for its answer, since a test on a busy machine must not fail
 * for that. Most scripts without an end are ended by their steps before. PLUGIN_CALL_MS sets another limit, as for the service.
 */
const longestCallMs = (): number => Number(process.env.PLUGIN_CALL_MS ?? 30_000)

let lanes: Lanes | undefined

/** As the plugin runner beside the service, without the way there. */
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
    return text === undefined ? tooLong(mostMs) : readOutcome(text.toString())
  },
}

export const openOfflineSandbox = async (): Promise<Sandbox> => ({
  runner,
  programOf: pluginProgram,
  longestCallMs: longestCallMs(),
})

/** A session whose calls find nothing stored; `missed` is told what they asked for. */
export function offlineSession(context: SessionContext, missed: (what: string) => void): PluginSession {
  const fetching: Fetching = async missing => {
    for (const one of missing) missed(wanted(one))
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
  return new PluginSession(openOfflineSandbox, context, fetching)
}

function wanted(missing: Missing): string {
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
