// Plugins of domain tests: functions of the test instead of scripts, called as the sandbox would call them, with values that
// passed through JSON.

import type { CallOutcome, PluginCall, PluginProgram } from '../../src/extension/plugins/runner.ts'
import { PluginSession, type Sandbox, type SessionContext } from '../../src/extension/plugins/session.ts'
import type { Instant } from '../../src/kernel/time.ts'

export type PluginFunctions = Readonly<Record<string, (...given: never[]) => unknown>>

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** A session in which an attempt calls the functions by name. */
export function pluginFunctions(functions: PluginFunctions, now: Instant): PluginSession {
  const sandbox: Sandbox = {
    programOf: () => ({}) as PluginProgram,
    runner: {
      run: async (_program, call: PluginCall): Promise<CallOutcome> => ({
        value: plain(functions[call.function]!(...(plain(call.arguments) as never[]))),
        missing: [],
        logs: [],
        writes: [],
        events: [],
      }),
    },
  }
  const fetching = async () => ({ aux: [], auxLocators: [], entities: [], rows: [] })
  return new PluginSession(async () => sandbox, { now } as SessionContext, fetching)
}
