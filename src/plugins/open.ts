// Opens the sandbox. It is much code, which what never calls a plugin never needs: loaded when first opened.
import type { PluginProgram, PluginRunner } from './runner.ts'

export type Sandbox = {
  readonly runner: PluginRunner
  readonly programOf: (...given: Parameters<typeof import('./program.ts').pluginProgram>) => PluginProgram
}

/** The sandbox that the variable PLUGIN_RUNNER names: `isolate`, or QuickJS. */
export async function openSandbox(env: Env): Promise<Sandbox> {
  const [{ pluginProgram }, runner] = await Promise.all([
    import('./program.ts'),
    (env.PLUGIN_RUNNER as string) === 'isolate'
      ? import('./isolate.ts').then(({ isolateRunner }) => isolateRunner(env.LOADER))
      : import('./quickjs.ts').then(({ quickjsRunner }) => quickjsRunner),
  ])
  return { runner, programOf: pluginProgram }
}
