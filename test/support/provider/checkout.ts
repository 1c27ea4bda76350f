// A checkout with the packages of this one, except for the provider's tool, which is replaced by the stand-in.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { copyCheckout } from '../../../scripts/checkout-copy.ts'

export type Ended = { readonly code: number; readonly output: string }

export type Checkout = {
  readonly folder: string
  /** Environment of the scripts that run next. */
  readonly environment: Record<string, string | undefined>
  /** Runs one of its scripts against the account: `run('deploy', '--dry-run')`. */
  run(script: string, ...options: string[]): Promise<Ended>
  /** Runs the provider's tool. */
  tool(...command: string[]): Promise<Ended>
  remove(): void
}

/** Creates a folder for an account at the provider. */
export const newAccountFolder = (): string => mkdtempSync(join(tmpdir(), 'bindery-account-'))

/** Links every package, and the stand-in for the one that calls the provider. */
function linkPackages(folder: string): void {
  rmSync(folder)
  mkdirSync(folder)
  for (const name of readdirSync('node_modules'))
    if (name !== 'wrangler') symlinkSync(resolve('node_modules', name), join(folder, name))
  symlinkSync(resolve('test/support/provider/wrangler'), join(folder, 'wrangler'))
}

/** Copies this checkout to work on the account in that folder. Skips its type check and the build of its Worker. */
export function newCheckout(accountFolder: string, environment: Record<string, string> = {}): Checkout {
  const folder = copyCheckout()
  linkPackages(join(folder, 'node_modules'))
  for (const script of ['bundles', 'route-index']) writeFileSync(join(folder, `scripts/${script}.ts`), '')
  const network = resolve('test/support/provider/network.ts')
  const env = {
    ...process.env,
    ...environment,
    PROVIDER_FOLDER: accountFolder,
    BINDERY_DATA: join(folder, 'data'),
    NODE_OPTIONS: `--import ${network}`,
  }
  const start = (file: string, options: readonly string[]): Promise<Ended> =>
    new Promise(ended =>
      execFile(process.execPath, [file, ...options], { cwd: folder, env }, (problem, stdout, stderr) =>
        ended({ code: problem ? Number(problem.code ?? 1) : 0, output: stdout + stderr }),
      ),
    )
  return {
    folder,
    environment: env,
    run: (script, ...options) => start(`scripts/${script}.ts`, options),
    tool: (...command) => start('node_modules/wrangler/bin/wrangler.js', command),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
