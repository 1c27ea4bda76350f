// Opens the sandbox. What reads tenant code is much code, which what never calls a plugin never needs: loaded when first opened.
import { loadSandbox } from '../../bundles/load.ts'
import { isolateRunner } from './isolate.ts'
import { localRunner } from './process-runner.ts'
import type { PluginProgram, PluginRunner } from './runner.ts'

export type Sandbox = {
  readonly runner: PluginRunner
  readonly programOf: (...given: Parameters<typeof import('./program.ts').pluginProgram>) => PluginProgram
  /** Milliseconds that a call may take in all its rounds; LONGEST_CALL_MS when left out. */
  readonly longestCallMs?: number
}

/** The sandbox that the variable PLUGIN_RUNNER names: `isolate`, or QuickJS in the process beside the service. */
export async function openSandbox(env: Env): Promise<Sandbox> {
  const { pluginProgram, workerCode } = await loadSandbox()
  const isIsolate = (env.PLUGIN_RUNNER as string) === 'isolate'
  const runner = isIsolate ? isolateRunner(env.LOADER, workerCode) : await localRunner(env)
  const { PLUGIN_CALL_MS: longest } = env
  return { runner, programOf: pluginProgram, ...(longest && { longestCallMs: Number(longest) }) }
}
