// Plugins of domain tests: functions of the test instead of scripts, called as the sandbox would call them, with values that
// passed through JSON.

import { AttemptCalls, type CallContext, type Sandbox } from '../../src/extension/plugins/attempt-calls.ts'
import type { CallOutcome, PluginCall, PluginProgram } from '../../src/extension/plugins/runners/runner.ts'
import type { Instant } from '../../src/kernel/time.ts'

export type PluginFunctions = Readonly<Record<string, (...given: never[]) => unknown>>

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** The plugin calls of an attempt, which calls the functions by name. */
export function pluginFunctions(functions: PluginFunctions, now: Instant): AttemptCalls {
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
  return new AttemptCalls(async () => sandbox, { now } as CallContext, fetching)
}
