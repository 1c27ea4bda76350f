// The environments at the provider. Each is a separate cell: a Worker with its control database, pool, buckets and queues, whose
// names all contain the name of the environment. The data that a deployment must remember is in deployments/<name>/, kept in git.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPlace, type Place } from '../src/platform/tenancy/places.ts'
import { Misuse } from './command-line.ts'
import { replaceFile } from './replace-file.ts'

const FOLDER = 'deployments'

export type Environment = {
  /** Such as `production` or `eu1`. */
  readonly name: string
  /** The domain. The API is at api.<name>.<domain>. */
  readonly domain: string
  /** Where its databases are created and its Worker runs, unless a tenant has its own place. */
  readonly place: Place
  /** Id of the control database at the provider. Absent until it is created. */
  readonly controlId?: string | undefined
}

/** The option, as `parseArgs` takes it, for commands that work on the provider's databases. */
export const ENVIRONMENT_OPTION = { environment: { type: 'string' } } as const

export const environmentFolder = (name: string): string => join(FOLDER, name)

const environmentFile = (name: string): string => join(environmentFolder(name), 'environment.json')

/** The file of the environment's secrets, which git ignores. */
export const secretsFile = (name: string): string => `.secrets.${name}`

export const apiHost = ({ name, domain }: Pick<Environment, 'name' | 'domain'>): string =>
  `api.${name}.${domain}`

/** The name at the provider of what wrangler.toml calls `bindery-<what>`. Without `what`, the name of the Worker. */
export const nameAtProvider = (environment: string, what?: string): string =>
  what === undefined ? `bindery-${environment}` : `bindery-${environment}-${what}`

/** Throws `Misuse` unless the name is valid: lower-case letters, digits and hyphens, at most 20. */
export function requireEnvironmentName(name: string): void {
  if (/^[a-z][a-z0-9-]{0,19}$/.test(name) && name !== 'local') return
  throw new Misuse(
    `'${name}' is not a valid name for an environment. Use at most 20 lower-case letters, digits and hyphens; 'local' is reserved for this machine.`,
  )
}

/** The names of the environments that this checkout has a file of. */
export const environmentNames = (): string[] =>
  existsSync(FOLDER)
    ? readdirSync(FOLDER)
        .filter(name => existsSync(environmentFile(name)))
        .sort()
    : []

/** Returns the environment as it was last deployed from this checkout. Undefined if it never was. */
export function findEnvironment(name: string): Environment | undefined {
  requireEnvironmentName(name)
  const file = environmentFile(name)
  if (!existsSync(file)) return undefined
  const { domain, place, controlId } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Environment>
  if (!domain || !isPlace(place ?? '?'))
    throw new Error(`${file} must have a domain, and a place or an empty string.`)
  return { name, domain, place: place!, controlId }
}

/** Returns the environment of that name. Throws a `Misuse` that lists the existing ones. */
export function environmentNamed(name: string): Environment {
  const found = findEnvironment(name)
  if (found) return found
  const names = environmentNames()
  throw new Misuse(
    `${FOLDER}/ has no environment '${name}'; ${names.length === 0 ? 'there is none yet, create one with npm run deploy' : `there are ${names.join(', ')}`}.`,
  )
}

/** Stores what a deployment must remember. */
export function writeEnvironment({ name, ...kept }: Environment): void {
  mkdirSync(environmentFolder(name), { recursive: true })
  replaceFile(environmentFile(name), `${JSON.stringify(kept, null, 2)}\n`)
}
