// Builds the Worker into the bundle that a deployment sends, with the options that the local runtime derives from its
// configuration. It is built again only if one of its sources has changed.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { cachedBuild } from './kept-builds.ts'
import { sourceKey } from './source-key.ts'

const run = promisify(execFile)

const OPTIONS_READER = join(import.meta.dirname, 'worker-options.ts')

/** Relative paths, which are the same in each copy of the checkout. */
const SCRIPTS = ['scripts/worker-build.ts', 'scripts/worker-options.ts']

/** Folders of the sources of every Worker. A configuration or script in another folder also depends on that folder. */
const SOURCES = ['src', 'durable', 'packages']

const OPTIONS = 'options.json'

export type BuiltWorker = {
  /** The folder of the modules. */
  readonly folder: string
  /** The file name of the entry. */
  readonly entry: string
  /** The runtime's options for the Worker, without secrets. */
  readonly options: { readonly bindings?: Record<string, string> }
}

/**
 * Returns the Worker of a configuration in the current folder, built if necessary. `script` replaces the entry that the
 * configuration names.
 */
export async function buildWorker(config: string, script?: string): Promise<BuiltWorker> {
  // Relative paths, as in SCRIPTS. The folder of an absolute path would be the whole checkout, with its packages and everything
  // else.
  const place = relative('', config)
  const entryPlace = script === undefined ? [] : [relative('', script)]
  const beside = [place, ...entryPlace].map(dirname).filter(path => path !== '.')
  const folders = [...new Set([...SOURCES, ...beside])]
  const key = () => sourceKey(folders, [place, ...SCRIPTS], ...entryPlace)
  const folder = await cachedBuild('worker', key, made => build(config, script, made))
  const { entry, options } = JSON.parse(readFileSync(join(folder, OPTIONS), 'utf8'))
  return { folder, entry, options }
}

/** Writes the modules of the Worker and its options into the folder. */
async function build(config: string, script: string | undefined, folder: string): Promise<void> {
  const environment = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG: 'error' }
  try {
    const bundled = run(
      process.execPath,
      [
        resolve('node_modules/wrangler/bin/wrangler.js'),
        'deploy',
        ...(script === undefined ? [] : [script]),
        '--dry-run',
        '--config',
        config,
        '--outdir',
        folder,
      ],
      { env: environment },
    )
    const read = run(process.execPath, [OPTIONS_READER, config], { env: environment })
    const [{ stdout }] = await Promise.all([read, bundled])
    const { main, options } = JSON.parse(stdout)
    const entry = `${basename(script ?? main).replace(/\.\w+$/, '')}.js`
    writeFileSync(join(folder, OPTIONS), JSON.stringify({ entry, options }))
  } catch (problem) {
    const { stderr = '', stdout = '' } = problem as { stderr?: string; stdout?: string }
    throw new Error(`The Worker could not be built:\n${stderr + stdout || String(problem)}`, {
      cause: problem,
    })
  }
}
