// Tenant code under QuickJS, an interpreter in WebAssembly: instructions, memory and stack are counted wherever the
// service runs. Each call has an interpreter of its own. Tens of times slower than an isolate.
import variant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { MOST_INTERRUPTS, MOST_JOBS, MOST_MEMORY_BYTES, MOST_STACK_BYTES } from './limits.ts'
import { readOutcome } from './outcome.ts'
import { realmSettings } from './program.ts'
import { type CallOutcome, failed, type PluginProgram, type PluginRunner } from './runner.ts'
import { REALM_SOURCE } from './sandbox/source.ts'
import { zoneOffsets } from './zone-offset.ts'

const offsetOf = zoneOffsets()

let interpreter: Promise<QuickJSWASMModule> | undefined
const broken = new WeakSet<QuickJSWASMModule>()

/** Its memory never grows: the library loses hold of what a promise's job made while it did. */
function loaded(wasmModule: WebAssembly.Module): Promise<QuickJSWASMModule> {
  if (interpreter) return interpreter
  const pages = Math.ceil((MOST_MEMORY_BYTES + OWN_BYTES) / PAGE_BYTES)
  const wasmMemory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  interpreter = newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule, wasmMemory }))
  return interpreter
}

const PAGE_BYTES = 64 * 1024

/** What the interpreter needs beside the tenant's code. */
const OWN_BYTES = 16 * 1024 * 1024

const TOO_LONG = failed({ reason: 'takes more steps than a plugin may (a loop without end?)', limit: true })
const TOO_MUCH = failed({ reason: 'needs more memory than a plugin may have', limit: true })

/** `wasmModule` is the interpreter, compiled; all runners share one instance. */
export const quickjsRunner = (wasmModule: WebAssembly.Module): PluginRunner => ({
  async run(program, call) {
    let module = await loaded(wasmModule)
    // Another call may have broken it while this one waited.
    while (broken.has(module)) module = await loaded(wasmModule)
    try {
      return inInterpreter(module, program, JSON.stringify(call))
    } catch (problem) {
      // The machine itself gave out, and is of no use any more.
      broken.add(module)
      interpreter = undefined
      if (problem instanceof WebAssembly.RuntimeError || problem instanceof RangeError) return TOO_MUCH
      throw problem
    }
  },
})

function inInterpreter(module: QuickJSWASMModule, program: PluginProgram, call: string): CallOutcome {
  const runtime = module.newRuntime({
    memoryLimitBytes: MOST_MEMORY_BYTES,
    maxStackSizeBytes: MOST_STACK_BYTES,
  })
  let interrupts = 0
  runtime.setInterruptHandler(() => {
    interrupts += 1
    return interrupts > MOST_INTERRUPTS
  })
  const context = runtime.newContext()
  const stopped = (): CallOutcome => (interrupts > MOST_INTERRUPTS ? TOO_LONG : TOO_MUCH)
  try {
    const realm = reached(newRealm(context, program))
    if (!realm) return stopped()
    const run = context.getProp(realm, 'run')
    const text = context.newString(call)
    const promise = reached(context.callFunction(run, realm, text))
    for (const handle of [realm, run, text]) handle.dispose()
    const jobs = runtime.executePendingJobs(MOST_JOBS)
    if (jobs.error) {
      jobs.dispose()
      return stopped()
    }
    if (!promise) return stopped()
    const state = context.getPromiseState(promise)
    promise.dispose()
    if (state.type === 'fulfilled') {
      const outcome = context.getString(state.value)
      state.value.dispose()
      return readOutcome(outcome)
    }
    if (state.type === 'rejected') state.error.dispose()
    return state.type === 'pending' ? TOO_LONG : stopped()
  } finally {
    context.dispose()
    runtime.dispose()
  }
}

type Result = ReturnType<QuickJSContext['callFunction']>

/** The value, or undefined when it was never reached. */
function reached(result: Result): QuickJSHandle | undefined {
  if (!result.error) return result.value
  result.error.dispose()
  return undefined
}

function newRealm(context: QuickJSContext, program: PluginProgram): Result {
  const settings = JSON.stringify(realmSettings(program))
  const host = context.unwrapResult(context.evalCode(`(${settings})`, 'settings'))
  const script = context.newFunction('script', path => {
    const name = context.getString(path)
    return context.evalCode(program.scripts.get(name)!.text, name)
  })
  const lookup = context.newFunction('lookup', (product, table, key) => {
    const find = program.configuration.lookup(context.getString(product))
    const found = find(context.getString(table), context.getString(key))
    return typeof found === 'object' ? context.newString(found.value) : context.null
  })
  const zoneOffset = context.newFunction('zoneOffset', (at, zone) => {
    const offset = offsetOf(context.getNumber(at), context.getString(zone))
    return offset === undefined ? context.undefined : context.newNumber(offset)
  })
  context.setProp(host, 'script', script)
  context.setProp(host, 'lookup', lookup)
  const make = context.unwrapResult(context.evalCode(REALM_SOURCE, 'sandbox'))
  const realm = context.callFunction(make, context.undefined, host, zoneOffset)
  for (const handle of [host, script, lookup, zoneOffset, make]) handle.dispose()
  return realm
}
