// `npm run tenant -- …`: manages tenants. A tenant gets free databases of the pool; the Worker is never deployed for it.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { parseArgs } from 'node:util'
import { Refusal } from '../src/kernel/errors.ts'
import { countText } from '../src/kernel/text.ts'
import { noCalls } from '../src/platform/calls.ts'
import type { Place } from '../src/platform/tenancy/places.ts'
import { readQuotas, shareOf } from '../src/platform/tenancy/quotas.ts'
import { readTenant, type Tenant } from '../src/platform/tenancy.ts'
import {
  addShards,
  createTenant,
  deleteTenant,
  hasNewShards,
  listTenants,
  openNewShards,
  SHARDS_KNOWN_AFTER_MS,
  setQuotas,
} from '../src/tenants/service.ts'
import { claimsOf } from '../src/tenants/store.ts'
import { acceptUnits, resumeTenant } from '../src/tenants/suspension.ts'
import { Misuse, readArguments, unknownText } from './command-line.ts'
import { askToConfirm } from './confirm.ts'
import { openStores, requireStarted } from './databases.ts'
import {
  apiHost,
  ENVIRONMENT_OPTION,
  type Environment,
  environmentNamed,
  environmentNames,
} from './environments.ts'
import { PLACE_OPTIONS, placeOfOptions } from './place-options.ts'
import { readSecrets, readSettings } from './settings.ts'
import { factsOf, listingOf } from './tenants/facts.ts'
import { moveTenant } from './tenants/move.ts'
import { restoreTenant, timeToRestore } from './tenants/restore.ts'
import { suspend } from './tenants/suspend.ts'
import { migrateBound } from './upgrades.ts'
import { remoteControl, toolFor } from './wrangler.ts'
import { writeConfig } from './write-config.ts'

const USAGE = `npm run tenant -- list
npm run tenant -- create NAME [--type test|production] [--jurisdiction J | --location L]
npm run tenant -- show NAME
npm run tenant -- shards NAME N       spreads new policyholders over N databases in total
npm run tenant -- migrate NAME        migrates its databases before those of other tenants
npm run tenant -- suspend NAME [--reason TEXT]   responds to every call with 503; stops timers and deliveries
npm run tenant -- resume NAME
npm run tenant -- restore NAME --to TIME         restores its databases to a time such as 2026-11-21T08:00:00Z
npm run tenant -- move NAME --to ENVIRONMENT     moves it with its databases and files
npm run tenant -- units NAME [--yes]             serves it although its amounts may be in former minor units
npm run tenant -- quota NAME [databaseBytes=N] [configurationBytes=N]   sets these, and the others to their defaults
npm run tenant -- quota NAME none                sets all quotas to their defaults
npm run tenant -- delete NAME [--yes]

With --environment NAME, these commands act on an environment at the provider; otherwise on this machine (BINDERY_DATA).`

const OPTIONS = {
  ...PLACE_OPTIONS,
  type: { type: 'string', default: 'test' },
  ...ENVIRONMENT_OPTION,
  yes: { type: 'boolean', default: false },
  reason: { type: 'string' },
  to: { type: 'string' },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']

const say = (line: string): void => console.log(`tenant: ${line}`)
const isType = (type: string): type is 'test' | 'production' => type === 'test' || type === 'production'

/** Returns the tenant of that name from the control database. Throws if there is none. */
async function tenantNamed(env: Env, name: string): Promise<Tenant> {
  const tenant = await readTenant(env, { name }, noCalls())
  if (!tenant) throw new Error(`There is no tenant '${name}'. To list all tenants: npm run tenant -- list.`)
  return tenant
}

type Command = (env: Env, name: string, rest: readonly string[], values: Values) => Promise<void>

const COMMANDS: Readonly<Record<string, Command>> = {
  async create(env, name, _, values) {
    if (!isType(values.type))
      throw new Error(`The type of a tenant must be test or production, not '${values.type}'.`)
    const place = placeOfOptions(values)
    const environment = environmentOf(values.environment)
    const wanted = { name, type: values.type, ...(place !== '' && { place }) }
    const tenant = await createTenant(env, wanted).catch(async (problem: unknown) => {
      if (!environment || !(problem instanceof Refusal) || problem.code !== 'poolEmpty') throw problem
      throw new Error(`${problem.message}\n${await otherCells(environment, place || environment.place)}`)
    })
    say(`${tenant.name} (${tenant.type}) has the locator ${tenant.locator}`)
    const where = environment ? ` at https://${apiHost(environment)}` : ''
    say(`its users sign in${where} with the host name ${tenant.hostName}`)
  },
  async show(env, name) {
    const tenant = await tenantNamed(env, name)
    const { shards, isBehind } = tenant
    for (const [label, value] of factsOf(tenant)) console.log(label.padEnd(14) + value)
    const claims = await claimsOf(env, tenant.locator)
    const held = shards.map((binding, shard) => {
      const bytes = claims[shard]?.bytes
      return bytes == null ? binding : `${binding} (${Math.round(shareOf(tenant, bytes) * 100)} % full)`
    })
    const at = isBehind ? ' (waits for a migration: npm run migrate)' : ''
    console.log(`${'databases'.padEnd(14)}${held.join(' ')}${at}`)
    for (const [shard, { problem }] of claims.entries())
      if (problem) console.log(`${'problem'.padEnd(14)}${shards[shard]}: ${problem}`)
  },
  async shards(env, name, [shards = '']) {
    if (!/^\d{1,2}$/.test(shards)) throw new Error(`Give the number of databases for '${name}'.\n\n${USAGE}`)
    const tenant = await addShards(env, name, Number(shards))
    say(`${name} has ${countText(tenant.shards.length, 'database')}`)
    if (!hasNewShards(tenant)) return
    say(
      `waiting ${SHARDS_KNOWN_AFTER_MS / 1_000} s until the whole service knows them; if interrupted, run this again`,
    )
    await sleep(SHARDS_KNOWN_AFTER_MS)
    await openNewShards(env, name)
    say('the new databases are ready; new policyholders are spread over all databases within 10 s')
  },
  async migrate(env, name) {
    const { shards } = await tenantNamed(env, name)
    await migrateBound(env, shards)
    const count = shards.length
    say(
      count === 1
        ? `the database of ${name} is up to date`
        : `the ${count} databases of ${name} are up to date`,
    )
  },
  async suspend(env, name, _, { reason }) {
    await suspend(env, name, reason, say)
    say(`npm run tenant -- resume ${name} resumes it`)
  },
  async resume(env, name) {
    await resumeTenant(env, name)
    say(`${name} is served again within 5 s; timers that fell due in the meantime run within two minutes`)
  },
  async restore(env, name, _, { to, environment: environmentName }) {
    const environment = requireProvider('restore', environmentName)
    const time = timeToRestore(requireToOption(to))
    const folder = join(readSettings(process.env, readSecrets()).dataFolder, 'restores', environment.name)
    await restoreTenant({ env, say, tool: toolFor(environment), folder }, name, time)
  },
  async move(env, name, _, { to, environment: environmentName }) {
    const environment = requireProvider('move', environmentName)
    const target = environmentNamed(requireToOption(to))
    const { dataFolder } = readSettings(process.env, readSecrets())
    const stores = await openStores(dataFolder, target)
    try {
      await moveTenant({ env, environment }, { env: stores.env, environment: target }, name, say)
    } finally {
      await stores.close()
    }
  },
  async quota(env, name, rest) {
    if (rest.length === 0) throw new Misuse(`Give the quotas of ${name}, or 'none'.\n\n${USAGE}`)
    const quotas = readQuotas(rest)
    await setQuotas(env, name, quotas)
    const named = Object.entries(quotas).map(([quota, bytes]) => `${quota}=${bytes}`)
    say(
      `${name} has ${named.length === 0 ? 'the default quotas' : `${named.join(' ')}; all other quotas have their defaults`}`,
    )
  },
  async units(env, name, _, { yes }) {
    await tenantNamed(env, name)
    const what = `If ${name} has amounts from before an upgrade that changed the decimals of its currency, they will be read as a hundredth or less of their value.`
    if (!yes && !(await askToConfirm(what, name))) throw new Error('Nothing was changed.')
    const { suspension } = await acceptUnits(env, name)
    say(
      suspension
        ? `${name} stays suspended: ${suspension.reason}`
        : `${name} is served unchanged, within 5 s`,
    )
  },
  async delete(env, name, _, { yes }) {
    const { type, shards } = await tenantNamed(env, name)
    const what = `This deletes the ${type} tenant ${name} with all data in ${shards.length === 1 ? 'its database' : `its ${shards.length} databases`}.`
    if (!yes && !(await askToConfirm(what, name))) throw new Error('Nothing was deleted.')
    await deleteTenant(env, name)
    say(`${name} is deleted; its databases are wiped, and then are free again`)
  },
}

/** Lists the other environments of the domain that have room for a tenant. */
async function otherCells({ name, domain }: Environment, place: Place): Promise<string> {
  const lines: string[] = []
  for (const other of environmentNames().map(environmentNamed)) {
    if (other.name === name || other.domain !== domain || !other.controlId) continue
    writeConfig(other)
    const [row] = await remoteControl(toolFor(other)).query(
      `select count(*) as free from pool_database where state = 'free' and migration <> '' and place = '${place}'`,
    )
    if (Number(row?.free) > 0)
      lines.push(`--environment ${other.name} has ${countText(Number(row!.free), 'free database')} there`)
  }
  return lines.join('\n') || 'No other environment of this domain has a free database there.'
}

const environmentOf = (name: string | undefined): Environment | undefined =>
  name === undefined ? undefined : environmentNamed(name)

/** Returns the environment. Local databases have no bookmarks, and there is no other environment to move to. */
function requireProvider(command: string, name: string | undefined): Environment {
  const environment = environmentOf(name)
  if (!environment) throw new Misuse(`'${command}' only works at the provider. Add --environment NAME.`)
  writeConfig(environment)
  return environment
}

function requireToOption(to: string | undefined): string {
  if (to === undefined) throw new Misuse(`--to is missing.\n\n${USAGE}`)
  return to
}

/** Commands that accept more than a name. */
const TAKES_MORE: ReadonlySet<string> = new Set(['shards', 'quota'])

async function list(env: Env): Promise<void> {
  for (const line of listingOf(await listTenants(env))) console.log(line)
}

/** Returns what is wrong with the arguments of a command that cannot be carried out. */
function misuseOf(command: string, name: string | undefined, rest: readonly string[]): string {
  const known = ['list', ...Object.keys(COMMANDS)]
  if (command === '') return 'Name a command.'
  if (!known.includes(command)) return unknownText('command', command, known)
  const extra = command === 'list' ? name : rest[0]
  return extra === undefined ? 'Name the tenant.' : `'${extra}' is one argument too many.`
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments(USAGE, { options: OPTIONS, allowPositionals: true })
  const [command = '', name, ...rest] = positionals
  const carryOut = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined
  const isList = command === 'list' && name === undefined
  if (!isList && (!carryOut || !name || (rest.length > 0 && !TAKES_MORE.has(command))))
    throw new Misuse(`${misuseOf(command, name, rest)}\n\n${USAGE}`)
  const { dataFolder } = readSettings(process.env, readSecrets())
  const environment = environmentOf(values.environment)
  if (!environment) requireStarted(dataFolder)
  const stores = await openStores(dataFolder, environment)
  try {
    await (isList ? list(stores.env) : carryOut!(stores.env, name!, rest, values))
  } finally {
    await stores.close()
  }
}

await main().catch((error: unknown) => {
  console.error(`tenant: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
})
