// Starts the service of another commit, from a separate checkout.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Credentials } from '../../scripts/api-client.ts'
import { LIBRARY_FOLDER } from '../../scripts/local-worker.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { startWorker, type Worker } from './worker-process.ts'

/** Prepares databases in the folder that is its argument, and prints their administration account. */
const PREPARING = `
const { prepareStores } = await import('./tools/bench/world.ts').catch(() => import('./bench/world.ts'))
const log = console.log
console.log = console.error
log(JSON.stringify(await prepareStores(process.argv[2])))`

const PREPARING_FILE = 'prepare-bench.mjs'

export type OtherService = { worker: Worker; administrator: Credentials; dataFolder: string }

/** A Worker of this commit that wraps the service of the checkout and is started instead of it, and the files that it imports. */
export type Wrapper = { readonly script: string; readonly imports: readonly string[] }

/** Checks the commit out below `folder` and starts its service. `removeCheckout` removes the checkout. */
export async function startOtherCommit(
  commit: string,
  folder: string,
  wrapper?: Wrapper,
): Promise<OtherService> {
  const checkout = checkoutIn(folder)
  mkdirSync(folder, { recursive: true })
  execFileSync('git', ['worktree', 'add', '--detach', checkout, commit], { stdio: 'pipe' })
  providePackages(checkout)
  // The folder of static files that the Worker gets (run-worker.ts). An earlier commit may not have it.
  mkdirSync(join(checkout, LIBRARY_FOLDER), { recursive: true })
  for (const file of wrapper ? [wrapper.script, ...wrapper.imports] : []) cpSync(file, join(checkout, file))
  const dataFolder = resolve(folder, 'other')
  // A file, because code on the command line is passed on to threads, where it does not run as a module.
  writeFileSync(join(checkout, PREPARING_FILE), PREPARING)
  const printed = execFileSync(process.execPath, ['--no-warnings', PREPARING_FILE, dataFolder], {
    cwd: checkout,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const administrator = JSON.parse(printed) as Credentials
  const worker = await startWorker({
    config: join(checkout, CONFIG_FILE),
    script: join(checkout, wrapper?.script ?? 'src/worker.ts'),
    dataFolder,
    checkout,
  })
  return { worker, administrator, dataFolder }
}

/** Links the packages of this commit if the other has the same ones. Otherwise installs its own, which takes half a minute. */
function providePackages(checkout: string): void {
  const readLockFile = (folder: string): string => readFileSync(join(folder, 'package-lock.json'), 'utf8')
  if (readLockFile('.') === readLockFile(checkout))
    symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'))
  else
    execFileSync('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], {
      cwd: checkout,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
}

const checkoutIn = (folder: string): string => resolve(folder, 'checkout')

export function removeCheckout(folder: string): void {
  try {
    execFileSync('git', ['worktree', 'remove', '--force', checkoutIn(folder)], { stdio: 'pipe' })
  } catch {
    // No checkout was created.
  }
}
