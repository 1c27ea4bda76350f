// A copy of what the service is made from, to build or run it apart from this checkout.
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

/** Makes the copy in a temporary folder, without secrets and data; the installed packages are those of this checkout. */
export function copyCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-checkout-'))
  for (const name of COPIED.filter(name => existsSync(name)))
    cpSync(name, join(folder, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Does the work with such a copy, which is removed afterwards. */
export async function withCheckoutCopy<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = copyCheckout()
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
