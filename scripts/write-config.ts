// Writes the configurations with which commands run the Worker and access its stores. wrangler.toml is the template. With the
// pool of this machine it becomes wrangler.generated.toml. With an environment's names, ids and pool it becomes the file of that
// environment.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Place } from '../src/platform/tenancy/places.ts'
import {
  apiHost,
  ENVIRONMENT_OPTION,
  type Environment,
  environmentFolder,
  environmentNamed,
  nameAtProvider,
} from './environments.ts'
import { formatPool, isMade, readPool } from './pool-file.ts'
import { replaceFile } from './replace-file.ts'

export const CONFIG_FILE = 'wrangler.generated.toml'

/** Returns the file of an environment, or of this machine. */
export const configFile = (environment?: Environment): string =>
  environment ? `wrangler.${environment.name}.generated.toml` : CONFIG_FILE

const HEADER = '# Generated from wrangler.toml and the list of databases by `npm run config`; do not edit.'

/** Variables of the local service. The defaults in the template are those of production. */
const LOCAL_VARIABLES: Readonly<Record<string, string>> = {
  ENVIRONMENT: 'local',
  DOMAIN: 'bindery.test',
  PLUGIN_RUNNER: 'quickjs',
}

const withVariables = (config: string, variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^${name} = "[^"]*"`, 'm'), `${name} = "${value}"`),
    config,
  )

/**
 * A cloud region near each place. The Worker runs there (`[placement]`), because it calls its databases several times in a
 * request.
 */
const REGIONS: Readonly<Record<Exclude<Place, ''>, string>> = {
  eu: 'aws:eu-central-1',
  us: 'aws:us-east-1',
  fedramp: 'aws:us-east-1',
  wnam: 'aws:us-west-2',
  enam: 'aws:us-east-1',
  weur: 'aws:eu-west-3',
  eeur: 'gcp:europe-central2',
  apac: 'aws:ap-southeast-1',
  oc: 'aws:ap-southeast-2',
}

/** Returns an id for a rate limit. Limits are counted by id over a whole account, so each environment has its own ids. */
function rateLimitId(environment: string, id: string): string {
  const base = createHash('sha256').update(environment).digest().readUInt32BE() % 100_000
  return String(base * 10_000 + Number(id))
}

/** Returns wrangler.toml with the names, ids and variables of the environment. */
export function environmentConfig(template: string, environment: Environment): string {
  const { name, domain, place, controlId } = environment
  const named = template
    .replace(/^name = "bindery"/m, `name = "${nameAtProvider(name)}"`)
    .replace(
      /^(database_name|bucket_name|queue|dead_letter_queue) = "bindery-([^"]*)"/gm,
      (_, key: string, what: string) => `${key} = "${nameAtProvider(name, what)}"`,
    )
    .replace(/^namespace_id = "(\d+)"/gm, (_, id: string) => `namespace_id = "${rateLimitId(name, id)}"`)
    .replace(
      /(binding = "CONTROL"\n(?:[^[\n].*\n)*?database_id = ")([^"]*)/,
      (_, before: string, planned: string) => before + (controlId ?? planned),
    )
  const placement = place === '' ? '' : `\n[placement]\nregion = "${REGIONS[place]}"\n`
  return (
    withVariables(named, {
      ENVIRONMENT: name,
      DOMAIN: domain,
      PLACE: place,
      PUBLIC_ORIGIN: `https://${apiHost(environment)}`,
    }) + placement
  )
}

/**
 * Returns the configuration of an environment with the databases that exist at the provider, or the configuration of this
 * machine.
 */
export function joinedConfig(environment?: Environment): string {
  const template = readFileSync('wrangler.toml', 'utf8')
  const [config, databases] = environment
    ? [environmentConfig(template, environment), readPool(environmentFolder(environment.name)).filter(isMade)]
    : [withoutAssets(withVariables(template, LOCAL_VARIABLES)), readPool()]
  return [HEADER, config, formatPool(databases)].join('\n')
}

export const writeConfig = (environment?: Environment): void =>
  replaceFile(configFile(environment), joinedConfig(environment))

/** Removes the static files of the Worker. For these, the local runtime would put two more Workers in front of each request. */
const withoutAssets = (config: string): string => config.replace(/^(?:#.*\n)*\[assets\]\n(?:.+\n)*\n/m, '')

const KEPT = /^(\[vars\]|\[\[d1_databases\]\]|\[\[r2_buckets\]\])/

/**
 * Reduces a configuration to variables and stores, for commands that access the stores from outside the Worker. Its stores are
 * those of the provider; openLocalStores opens the local ones by the same ids. `control` leaves out the databases of tenants.
 */
export function storesConfig(config: string, which: 'all' | 'control' = 'all'): string {
  const [head, ...sections] = config.split(/^(?=\[)/m)
  const isWanted = (section: string): boolean => which === 'all' || !/^binding = "TENANT_/m.test(section)
  const kept = sections.filter(section => KEPT.test(section) && isWanted(section))
  const remote = kept.map(section => section.replace(/^\[\[.*\n/, header => `${header}remote = true\n`))
  return [head!.replace(/^main = .*\n/m, ''), ...remote].join('')
}

if (import.meta.main) {
  const { environment } = parseArgs({ options: ENVIRONMENT_OPTION }).values
  writeConfig(environment === undefined ? undefined : environmentNamed(environment))
}
