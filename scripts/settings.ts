// What `npm start` and the commands beside it take from the environment and from .dev.vars.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { newTokenKeys } from './token-key.ts'

/** Secrets of the local service, KEY=value a line; read by wrangler too. Not in git. */
export const SECRETS_FILE = '.dev.vars'

const randomText = (): string => randomBytes(32).toString('base64url')

/**
 * Secrets that the Worker cannot do without, each with what makes a new one. Lost, all sessions end (the first), links to
 * files end (the second), no password fits (the third), and what is sealed cannot be read (the fourth): integrations,
 * secrets, keys of webhooks, paging tokens of events.
 */
const SECRETS: Readonly<Record<string, () => string>> = {
  TOKEN_KEYS: () => `'${newTokenKeys()}'`,
  TOKEN_SECRET: randomText,
  PASSWORD_PEPPER: randomText,
  SEALING_KEY: randomText,
}

export type Settings = {
  /** Port of the service on this machine. */
  port: number
  /** Folder of everything that the local service keeps. */
  dataFolder: string
  administrator: {
    username: string
    /** Undefined: one is made up and printed once. */
    password: string | undefined
  }
}

type Variables = Record<string, string | undefined>

/** Settings from the environment, else from .dev.vars, else the defaults; an Error says which one is wrong. */
export function readSettings(environment: Variables, secrets: Variables): Settings {
  const value = (name: string): string | undefined => environment[name] || secrets[name] || undefined
  const portText = value('PORT') ?? '8787'
  const port = Number(portText)
  if (!/^\d+$/.test(portText) || port < 1 || port > 65_535)
    throw new Error(`PORT is a number from 1 to 65535, not '${portText}'.`)
  return {
    port,
    dataFolder: value('BINDERY_DATA') ?? './data',
    administrator: {
      username: value('ADMIN_USERNAME') ?? 'administrator',
      password: value('ADMIN_PASSWORD'),
    },
  }
}

/** .dev.vars, or another file like it, as it is; empty when there is none. */
export const readSecrets = (folder = '.', name = SECRETS_FILE): Variables => {
  const file = join(folder, name)
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
}

/** Names of the secrets that the Worker cannot do without. */
export const SECRET_NAMES: readonly string[] = Object.keys(SECRETS)

/** Adds to .dev.vars, or another file like it, the secrets that it lacks; names of those added. */
export function completeSecrets(folder = '.', name = SECRETS_FILE): string[] {
  const present = readSecrets(folder, name)
  const missing = SECRET_NAMES.filter(name => !present[name])
  if (missing.length === 0) return []
  const file = join(folder, name)
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const gap = before === '' || before.endsWith('\n') ? '' : '\n'
  const lines = missing.map(name => `${name}=${SECRETS[name]!()}\n`)
  writeFileSync(file, `${before}${gap}${lines.join('')}`, { mode: 0o600 })
  // One that was there keeps its mode otherwise.
  chmodSync(file, 0o600)
  return missing
}
