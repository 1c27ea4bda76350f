// Settings of `npm start` and the related commands, from the environment and from .dev.vars.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { newTokenKeys } from './token-key.ts'

/** The secrets of the local service, one KEY=value on each line. wrangler reads it too. Not in git. */
export const SECRETS_FILE = '.dev.vars'

const randomText = (): string => randomBytes(32).toString('base64url')

/**
 * Secrets that the Worker requires, each with its generator. If one is lost, all sessions end (the first), links to files end
 * (the second), no password matches (the third), or sealed data cannot be read (the fourth): integrations, secrets, keys of
 * webhooks, paging tokens of events.
 */
const SECRETS: Readonly<Record<string, () => string>> = {
  TOKEN_KEYS: () => `'${newTokenKeys()}'`,
  TOKEN_SECRET: randomText,
  PASSWORD_PEPPER: randomText,
  SEALING_KEY: randomText,
}

export type Settings = {
  /** Port of the local service. */
  port: number
  /** Folder of everything that the local service stores. */
  dataFolder: string
  administrator: {
    username: string
    /** Undefined: a password is generated and printed once. */
    password: string | undefined
  }
}

type Variables = Record<string, string | undefined>

/** Reads settings from the environment, then from .dev.vars, then the defaults. Throws an Error that names an invalid one. */
export function readSettings(environment: Variables, secrets: Variables): Settings {
  const value = (name: string): string | undefined => environment[name] || secrets[name] || undefined
  const portText = value('PORT') ?? '8787'
  const port = Number(portText)
  if (!/^\d+$/.test(portText) || port < 1 || port > 65_535)
    throw new Error(`PORT must be a number from 1 to 65535, not '${portText}'.`)
  return {
    port,
    dataFolder: value('BINDERY_DATA') ?? './data',
    administrator: {
      username: value('ADMIN_USERNAME') ?? 'administrator',
      password: value('ADMIN_PASSWORD'),
    },
  }
}

/** Reads .dev.vars, or another file of its form. Empty if there is no file. */
export const readSecrets = (folder = '.', name = SECRETS_FILE): Variables => {
  const file = join(folder, name)
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
}

/** Names of the secrets that the Worker requires. */
export const SECRET_NAMES: readonly string[] = Object.keys(SECRETS)

/** Adds missing secrets to .dev.vars, or to another file of its form. Returns the names of those added. */
export function completeSecrets(folder = '.', name = SECRETS_FILE): string[] {
  const present = readSecrets(folder, name)
  const missing = SECRET_NAMES.filter(name => !present[name])
  if (missing.length === 0) return []
  const file = join(folder, name)
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const gap = before === '' || before.endsWith('\n') ? '' : '\n'
  const lines = missing.map(name => `${name}=${SECRETS[name]!()}\n`)
  writeFileSync(file, `${before}${gap}${lines.join('')}`, { mode: 0o600 })
  // `writeFileSync` does not change the mode of an existing file.
  chmodSync(file, 0o600)
  return missing
}
