// A copy of the files that the service is made from, to build or run it separately from this checkout.
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const COPIED = [
  ...[
    'cli',
    'client',
    'console',
    'deployments',
    'durable',
    'examples',
    'migrations',
    'packages',
    'runner',
    'scripts',
    'src',
  ],
  ...['package.json', 'pool.toml', 'tsconfig.json', 'wrangler.toml'],
]

/** Creates the copy in a temporary folder, without secrets and data. It uses the installed packages of this checkout. */
export function copyCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-checkout-'))
  for (const name of COPIED.filter(name => existsSync(name)))
    cpSync(name, join(folder, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Runs the work with such a copy, and removes the copy afterwards. */
export async function withCheckoutCopy<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = copyCheckout()
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
