// The Worker as the bundle that a deployment sends, beside the options that the local runtime has from its configuration. It is built
// when something of it has changed, and kept by what it was made from: the next start takes it as it is.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { KEPT_IN, sourceKey } from './source-key.ts'

const run = promisify(execFile)

const [THIS, OPTIONS_READER] = ['worker-build.ts', 'worker-options.ts'].map(name =>
  join(import.meta.dirname, name),
) as [string, string]

/** Folders of the sources of every Worker; a configuration or script elsewhere is made from what lies beside it, too. */
const SOURCES = ['src', 'durable', 'packages']

const OPTIONS = 'options.json'
/** Builds that are kept: those used last. */
const MOST_KEPT = 6

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
  const beside = [config, ...(script === undefined ? [] : [script])].map(dirname).filter(path => path !== '.')
  const folders = [...new Set([...SOURCES, ...beside])]
  const folder = join(KEPT_IN, `worker-${sourceKey(folders, [config, THIS, OPTIONS_READER], script)}`)
  if (!existsSync(folder)) await build(config, script, folder)
  utimesSync(folder, new Date(), new Date())
  removeOldest()
  const { entry, options } = JSON.parse(readFileSync(join(folder, OPTIONS), 'utf8'))
  return { folder, entry, options }
}

/** Made apart and then given its place, so that nobody sees half of it. */
async function build(config: string, script: string | undefined, folder: string): Promise<void> {
  const made = `${folder}.${randomUUID()}`
  mkdirSync(dirname(folder), { recursive: true })
  const environment = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG: 'error' }
  try {
    const bundled = run(
      process.execPath,
      [
        resolve('node_modules/wrangler/bin/wrangler.js'),
        'deploy',
        ...(script === undefined ? [] : [script]),
        ...['--dry-run', '--config', config, '--outdir', made],
      ],
      { env: environment },
    )
    const read = run(process.execPath, [OPTIONS_READER, config], { env: environment })
    const [{ stdout }] = await Promise.all([read, bundled])
    const { main, options } = JSON.parse(stdout)
    const entry = `${basename(script ?? main).replace(/\.\w+$/, '')}.js`
    writeFileSync(join(made, OPTIONS), JSON.stringify({ entry, options }))
    renameSync(made, folder)
  } catch (problem) {
    // Another process has made the same meanwhile.
    if (existsSync(folder)) return
    const { stderr = '', stdout = '' } = problem as { stderr?: string; stdout?: string }
    throw new Error(`The Worker could not be built:\n${stderr + stdout || String(problem)}`, {
      cause: problem,
    })
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

function removeOldest(): void {
  const builds = readdirSync(KEPT_IN)
    .filter(name => /^worker-[0-9a-f]{24}$/.test(name))
    .map(name => join(KEPT_IN, name))
    .map(path => ({ path, usedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.usedAt - one.usedAt)
  for (const { path } of builds.slice(MOST_KEPT)) rmSync(path, { recursive: true, force: true })
}
