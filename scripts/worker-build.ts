// The Worker as the bundle that a deployment sends, beside the options that the local runtime has from its configuration. It is built
// when something of it has changed.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { keptBuild } from './kept-builds.ts'
import { sourceKey } from './source-key.ts'

const run = promisify(execFile)

const OPTIONS_READER = join(import.meta.dirname, 'worker-options.ts')

/** By their places in the checkout: the same in each copy of it. */
const SCRIPTS = ['scripts/worker-build.ts', 'scripts/worker-options.ts']

/** Folders of the sources of every Worker; a configuration or script elsewhere is made from what lies beside it, too. */
const SOURCES = ['src', 'durable', 'packages']

const OPTIONS = 'options.json'

export type BuiltWorker = {
  /** Of the modules. */
  readonly folder: string
  /** File name of the entry. */
  readonly entry: string
  /** What the runtime is to give the Worker, without secrets. */
  readonly options: { readonly bindings?: Record<string, string> }
}

/** The Worker of the configuration in the current folder, built unless it is; `script` instead of the entry that it names. */
export async function builtWorker(config: string, script?: string): Promise<BuiltWorker> {
  // By their places, as SCRIPTS: a whole path of the current folder would be another folder, with the packages and all else in it.
  const place = relative('', config)
  const entryPlace = script === undefined ? [] : [relative('', script)]
  const beside = [place, ...entryPlace].map(dirname).filter(path => path !== '.')
  const folders = [...new Set([...SOURCES, ...beside])]
  const key = () => sourceKey(folders, [place, ...SCRIPTS], ...entryPlace)
  const folder = await keptBuild('worker', key, made => build(config, script, made))
  const { entry, options } = JSON.parse(readFileSync(join(folder, OPTIONS), 'utf8'))
  return { folder, entry, options }
}

/** Writes the modules of the Worker, and its options beside them, into the folder. */
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
