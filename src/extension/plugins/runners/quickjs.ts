// Runs tenant code under QuickJS, an interpreter in WebAssembly that is tens of times slower than an isolate. It cannot interrupt a
// built-in function, so it runs in a process that can be stopped (runner/cell.ts). Each call has its own interpreter.
import variant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { MOST_INTERRUPTS, MOST_JOBS, MOST_MEMORY_BYTES, MOST_STACK_BYTES } from './limits.ts'
import { failed } from './runner.ts'
import { zoneOffsets } from './sandbox/intl.ts'
import { REALM_SOURCE } from './sandbox/source.ts'
import { lookupIn, type Own, type SentProgram } from './sent-program.ts'

export type QuickjsProgram = {
  readonly settings: string
  readonly scripts: ReadonlyMap<string, string>
  readonly lookup: ReturnType<typeof lookupIn>
}

/** The outcome as JSON, and whether the interpreter had to stop the call. */
type QuickjsOutcome = { readonly text: string; readonly isStopped: boolean }

type Quickjs = {
  /** Executes the call, a PluginCall as JSON. If it throws, the WebAssembly module itself broke; do not use it again. */
  run(program: QuickjsProgram, call: string): QuickjsOutcome
  prepare(): void
}

const stoppedOutcome = (reason: string): QuickjsOutcome => ({
  text: JSON.stringify(failed({ reason, limit: true })),
  isStopped: true,
})

const TOO_LONG = stoppedOutcome('takes more steps than a plugin may (an endless loop?)')

/** Also the outcome if the module breaks: a script's demand for memory alone can break it. */
export const TOO_MUCH = stoppedOutcome('needs more memory than a plugin may have')

const PAGE_BYTES = 64 * 1024

/** The interpreter's own memory, in addition to the tenant's. */
const OWN_BYTES = 16 * 1024 * 1024

const own: Own = (record, name) =>
  record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined

/** Prepares a program as it was sent (`sentProgram`). */
export const quickjsProgram = ({ settings, scripts, tables, tableNames }: SentProgram): QuickjsProgram => {
  const travelled = Object.fromEntries(tables.map(([path, text]) => [path, { text }]))
  return {
    settings: `(${JSON.stringify(settings)})`,
    scripts: new Map(scripts),
    lookup: lookupIn(travelled, tableNames, own, JSON.parse),
  }
}

/** Loads the interpreter. Each call gets a new one; `prepare` makes that of the next call in advance. */
export async function quickjs(wasmModule: WebAssembly.Module): Promise<Quickjs> {
  // The memory never grows: if it did, the library would lose track of objects that a promise job created meanwhile.
  const pages = Math.ceil((MOST_MEMORY_BYTES + OWN_BYTES) / PAGE_BYTES)
  const wasmMemory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  const module = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule, wasmMemory }))
  let ready: Prepared | undefined
  return {
    prepare() {
      ready ??= prepareInterpreter(module)
    },
    run(program, call) {
      const interpreter = ready ?? prepareInterpreter(module)
      ready = undefined
      return runCall(interpreter, program, call)
    },
  }
}

/** An interpreter that has evaluated the sandbox's own code and no tenant code yet. */
type Prepared = {
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  readonly make: QuickJSHandle
  /** Whether the call has used up its interrupts. */
  isOver(): boolean
}

function prepareInterpreter(module: QuickJSWASMModule): Prepared {
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
  const make = context.unwrapResult(context.evalCode(REALM_SOURCE, 'sandbox'))
  return { runtime, context, make, isOver: () => interrupts > MOST_INTERRUPTS }
}

function runCall(
  { runtime, context, make, isOver }: Prepared,
  program: QuickjsProgram,
  call: string,
): QuickjsOutcome {
  const stopped = (): QuickjsOutcome => (isOver() ? TOO_LONG : TOO_MUCH)
  try {
    const realm = resultValue(newRealm(context, make, program))
    if (!realm) return stopped()
    const run = context.getProp(realm, 'run')
    const text = context.newString(call)
    const promise = resultValue(context.callFunction(run, realm, text))
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
      return { text: outcome, isStopped: isOver() }
    }
    if (state.type === 'rejected') state.error.dispose()
    return state.type === 'pending' ? TOO_LONG : stopped()
  } finally {
    context.dispose()
    runtime.dispose()
  }
}

type Result = ReturnType<QuickJSContext['callFunction']>

/** Returns undefined if the call was stopped first. */
function resultValue(result: Result): QuickJSHandle | undefined {
  if (!result.error) return result.value
  result.error.dispose()
  return undefined
}

const offsetOf = zoneOffsets()

function newRealm(context: QuickJSContext, make: QuickJSHandle, program: QuickjsProgram): Result {
  const host = context.unwrapResult(context.evalCode(program.settings, 'settings'))
  const script = context.newFunction('script', path => {
    const name = context.getString(path)
    return context.evalCode(program.scripts.get(name)!, name)
  })
  const lookup = context.newFunction('lookup', (product, table, key) => {
    const names = [product, table, key].map(one => context.getString(one)) as [string, string, string]
    const row = program.lookup(...names)
    if (row === undefined) return context.undefined
    return row === null ? context.null : context.newString(row)
  })
  const zoneOffset = context.newFunction('zoneOffset', (at, zone) => {
    const offset = offsetOf(context.getNumber(at), context.getString(zone))
    return offset === undefined ? context.undefined : context.newNumber(offset)
  })
  context.setProp(host, 'script', script)
  context.setProp(host, 'lookup', lookup)
  const realm = context.callFunction(make, context.undefined, host, zoneOffset)
  for (const handle of [host, script, lookup, zoneOffset, make]) handle.dispose()
  return realm
}
