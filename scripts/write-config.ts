// Joins wrangler.toml (written by hand) and pool.toml (written by `npm run pool`) into the file that every
// command runs with. Growing the pool is the only thing that changes bindings (docs/design.md, section 6).
import { readFileSync } from 'node:fs'
import { formatPool, isLocalId, isMade, readPool } from './pool-file.ts'
import { replaceFile } from './replace-file.ts'

export const CONFIG_FILE = 'wrangler.generated.toml'

const HEADER = '# Generated from wrangler.toml and pool.toml by `npm run config`; do not edit.'

const ownConfig = (): string => readFileSync('wrangler.toml', 'utf8')

/** The configuration with every database of the pool, or only with those that the provider has made. */
export function joinedConfig({ onlyMade }: { onlyMade: boolean }): string {
  const databases = readPool().filter(database => !onlyMade || isMade(database))
  return [HEADER, ownConfig(), formatPool(databases)].join('\n')
}

export const writeConfig = ({ onlyMade = false } = {}): void =>
  replaceFile(CONFIG_FILE, joinedConfig({ onlyMade }))

/** Throws while wrangler.toml names a control database that only this machine has. */
export function requireRemoteControl(): void {
  const id = ownConfig().match(/binding = "CONTROL"\n(?:.*\n)*?database_id = "([^"]*)"/)?.[1]
  if (id !== undefined && !isLocalId(id)) return
  throw new Error(
    'The control database is not made yet: `npm run deploy -- --domain example.com` makes it, and what else is missing.',
  )
}

const KEPT = /^(\[vars\]|\[\[d1_databases\]\]|\[\[r2_buckets\]\])/

/**
 * A configuration cut down to variables and stores, for commands that reach the stores from outside the Worker:
 * those of this machine, or with `remote` the provider's.
 */
export function storesConfig(config: string, { remote }: { remote: boolean }): string {
  const [head, ...sections] = config.split(/^(?=\[)/m)
  const kept = sections.filter(section => KEPT.test(section))
  const reached = remote ? kept.map(remoteSection) : kept
  return [head!.replace(/^main = .*\n/m, ''), ...reached].join('')
}

/** A store's section, for the provider's own store. */
const remoteSection = (section: string): string =>
  section.replace(/^preview_.*\n/m, '').replace(/^\[\[.*\n/, header => `${header}remote = true\n`)

if (import.meta.main) writeConfig({ onlyMade: process.argv.includes('--deploy') })
