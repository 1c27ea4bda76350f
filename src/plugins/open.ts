// Opens the sandbox. It is much code, which what never calls a plugin never needs: loaded when first opened.
import { loadSandbox } from '../bundles/load.ts'
import type { PluginProgram, PluginRunner } from './runner.ts'

export type Sandbox = {
  readonly runner: PluginRunner
  readonly programOf: (...given: Parameters<typeof import('./program.ts').pluginProgram>) => PluginProgram
}

/** The sandbox that the variable PLUGIN_RUNNER names: `isolate`, or QuickJS. */
export async function openSandbox(env: Env): Promise<Sandbox> {
  const { pluginProgram, quickjsRunner, workerCode } = await loadSandbox()
  if ((env.PLUGIN_RUNNER as string) === 'isolate') {
    const { isolateRunner } = await import('./isolate.ts')
    return { runner: isolateRunner(env.LOADER, workerCode), programOf: pluginProgram }
  }
  return { runner: quickjsRunner(await interpreter()), programOf: pluginProgram }
}

/** QuickJS, compiled. */
export async function interpreter(): Promise<WebAssembly.Module> {
  // By its path: the bundler takes for WebAssembly what is named so, and the package has another name for it.
  const { default: wasmModule } = await import(
    '../../node_modules/@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm'
  )
  return wasmModule
}
