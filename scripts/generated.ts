// What lies among the sources and is made from them: the index of routes, and modules that are loaded when they are needed.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CHECKOUT_SOURCES, KEPT_IN, sourceKey, sourcesAlone } from './source-key.ts'

const THIS = fileURLToPath(import.meta.url)

/** A mark that the sources and what was made from them belong together. */
const mark = (): string => join(KEPT_IN, `generated-${sourceKey(CHECKOUT_SOURCES, [])}`)

/** Makes it, unless it is as the sources are. */
export async function refreshGenerated(): Promise<void> {
  if (existsSync(mark())) return
  const before = sourcesAlone()
  // In a process of its own: what builds them stays in the memory of the process that has built.
  await promisify(execFile)(process.execPath, [THIS])
  // What was edited meanwhile may not be in what was made: the next start makes it again.
  if (sourcesAlone() !== before) return
  mkdirSync(KEPT_IN, { recursive: true })
  writeFileSync(mark(), '')
}

if (import.meta.main) {
  const [{ writeRouteIndex }, { buildBundles }] = await Promise.all([
    import('./route-index.ts'),
    import('./bundles.ts'),
  ])
  await Promise.all([writeRouteIndex(), buildBundles()])
}
