// Generated files among the sources: the index of routes, and modules that are loaded when needed.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CHECKOUT_SOURCES, KEPT_IN, sourceKey, sourcesAlone } from './source-key.ts'

const THIS = fileURLToPath(import.meta.url)

/** The mark that the sources and the generated files belong together. */
const mark = (): string => join(KEPT_IN, `generated-${sourceKey(CHECKOUT_SOURCES, [])}`)

/** Generates the files, unless they already match the sources. */
export async function refreshGenerated(): Promise<void> {
  if (existsSync(mark())) return
  const before = sourcesAlone()
  // Runs in a separate process: the builders would stay in the memory of this one.
  await promisify(execFile)(process.execPath, [THIS])
  // An edit during the build may be missing from the result. Without the mark, the next start builds again.
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
