// Plugins with no service: the same interpreter, limits and contracts; of records, auxiliary data and secrets there are none.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { now } from '../../src/platform/time.ts'
import type { Sandbox } from '../../src/plugins/open.ts'
import { pluginProgram } from '../../src/plugins/program.ts'
import { quickjsRunner } from '../../src/plugins/quickjs.ts'
import type { Missing } from '../../src/plugins/runner.ts'
import { type Fetching, PluginSession, type SessionContext } from '../../src/plugins/session.ts'

const INTERPRETER = '@jitl/quickjs-wasmfile-release-sync/package.json'

/** The types are the Worker's, which compiles nothing while it runs. */
const { Module } = WebAssembly as unknown as { Module: new (bytes: Uint8Array) => WebAssembly.Module }

async function openSandbox(): Promise<Sandbox> {
  const folder = dirname(createRequire(import.meta.url).resolve(INTERPRETER))
  const file = join(folder, 'dist', 'emscripten-module.wasm')
  return { runner: quickjsRunner(new Module(readFileSync(file))), programOf: pluginProgram }
}

/** A session whose calls find nothing stored; `missed` is told what they asked for. */
export function offlineSession(
  tenant: SessionContext['tenant'],
  missed: (what: string) => void,
): PluginSession {
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
  return new PluginSession(openSandbox, { tenant, now: now() }, fetching)
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
