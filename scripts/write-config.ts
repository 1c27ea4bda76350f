// The files that commands run the Worker and reach its stores with. wrangler.toml is the template: with the pool of this machine it
// becomes wrangler.generated.toml, and with an environment's names, ids and pool the file for that environment.
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

/** The file of an environment, or that of this machine. */
export const configFile = (environment?: Environment): string =>
  environment ? `wrangler.${environment.name}.generated.toml` : CONFIG_FILE

const HEADER = '# Generated from wrangler.toml and the list of databases by `npm run config`; do not edit.'

/** What the service needs on one machine in the place of the defaults, which are those of production. */
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

/** A cloud region near each place: there the Worker runs (`[placement]`), since it calls its databases several times a request. */
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

/** Rate limits are counted by these ids over a whole account, so each environment has its own. */
function rateLimitId(environment: string, id: string): string {
  const base = createHash('sha256').update(environment).digest().readUInt32BE() % 100_000
  return String(base * 10_000 + Number(id))
}

/** wrangler.toml as the environment's own: every name, id and variable. */
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

/** The configuration of an environment with the databases that the provider has made; or that of this machine. */
export function joinedConfig(environment?: Environment): string {
  const template = readFileSync('wrangler.toml', 'utf8')
  const [config, databases] = environment
    ? [environmentConfig(template, environment), readPool(environmentFolder(environment.name)).filter(isMade)]
    : [withoutAssets(withVariables(template, LOCAL_VARIABLES)), readPool()]
  return [HEADER, config, formatPool(databases)].join('\n')
}

export const writeConfig = (environment?: Environment): void =>
  replaceFile(configFile(environment), joinedConfig(environment))

/** Without the files beside the Worker: here the runtime would put two more Workers before each request for them. */
const withoutAssets = (config: string): string => config.replace(/^(?:#.*\n)*\[assets\]\n(?:.+\n)*\n/m, '')

const KEPT = /^(\[vars\]|\[\[d1_databases\]\]|\[\[r2_buckets\]\])/

/**
 * A configuration cut down to variables and stores, for commands that reach the stores from outside the Worker. Its stores
 * are the provider's; openLocalStores opens those of this machine by the same ids. `control`: without databases of tenants.
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
