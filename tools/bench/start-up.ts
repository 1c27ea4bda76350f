// Measures the cost of the Worker before its first request: the CPU time to evaluate its bundle, compared with an empty app with
// as many routes, and the size of the bundle.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { median } from './figures.ts'

const run = promisify(execFile)

export const START_UP_GOAL = 3
export const BUNDLE_GOAL_BYTES = 1024 * 1024

export type StartUp = {
  routes: number
  /** Median CPU milliseconds. */
  serviceMs: number
  emptyAppMs: number
  ratio: number
}

/** `apart` counts the modules of src/bundles/ with fonts and WebAssembly, which are deployed too and loaded when first needed. */
export type BundleSize = { bytes: number; gzippedBytes: number; apart: { gzippedBytes: number } }

/** Bundles the service and the empty app, and evaluates both `evaluations` times, alternately. */
export async function measureStartUp(
  folder: string,
  evaluations: number,
): Promise<{ startUp: StartUp; bundle: BundleSize }> {
  const service = await bundleForDeploy(CONFIG_FILE, join(folder, 'service'))
  const routes = await figureOf('tools/bench/count-routes.ts', service)
  const emptyApp = await bundleForDeploy('tools/bench/empty-app/wrangler.toml', join(folder, 'empty-app'), [
    '--define',
    `ROUTES:${routes}`,
  ])
  const serviceMs: number[] = []
  const emptyAppMs: number[] = []
  for (let at = 0; at < evaluations; at += 1) {
    serviceMs.push(await evaluationMs(service))
    emptyAppMs.push(await evaluationMs(emptyApp))
  }
  const [ours, empty] = [median(serviceMs), median(emptyAppMs)]
  return {
    startUp: { routes, serviceMs: ours, emptyAppMs: empty, ratio: ours / empty },
    bundle: bundleSize(service),
  }
}

/** Returns the folder of the modules that a deploy would send. */
async function bundleForDeploy(
  config: string,
  folder: string,
  more: readonly string[] = [],
): Promise<string> {
  await run(
    process.execPath,
    [
      resolve('node_modules/wrangler/bin/wrangler.js'),
      'deploy',
      '--dry-run',
      '--config',
      config,
      '--outdir',
      folder,
      ...more,
    ],
    { env: { ...process.env, WRANGLER_SEND_METRICS: 'false' } },
  )
  return folder
}

const evaluationMs = async (folder: string): Promise<number> =>
  (await figureOf('tools/bench/evaluate.ts', folder)) / 1_000

/** Runs the script on the bundle in a separate process, and returns the number that it prints. */
async function figureOf(script: string, folder: string): Promise<number> {
  const { stdout } = await run(process.execPath, [
    '--no-warnings',
    '--experimental-vm-modules',
    script,
    join(folder, 'worker.js'),
  ])
  return Number(stdout)
}

/** Measures all modules as one stream, as the platform counts them. Source maps and notes are not sent. */
function bundleSize(folder: string): BundleSize {
  const modules = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.name.endsWith('.map') && entry.name !== 'README.md')
    .map(({ parentPath, name }) => join(parentPath, name))
  const isApart = (path: string): boolean => /\.(?:ttf|wasm|bundle\.mjs)$/.test(path)
  const { bytes, gzippedBytes } = sizeOf(modules.filter(path => !isApart(path)))
  return { bytes, gzippedBytes, apart: sizeOf(modules.filter(isApart)) }
}

function sizeOf(paths: readonly string[]): { bytes: number; gzippedBytes: number } {
  const bytes = Buffer.concat(paths.map(path => readFileSync(path)))
  return { bytes: bytes.length, gzippedBytes: gzipSync(bytes, { level: 9 }).length }
}
