// `npm run pool -- grow N [--remote]` and `npm run pool -- migrate [--remote]`. Every step can be run again: what
// is done already is left alone.
import { parseArgs } from 'node:util'
import type { MigrationTarget } from '../src/platform/migrations.ts'
import { openStores } from './databases.ts'
import { databasesToAdd, isMade, type PoolDatabase, readPool, writePool } from './pool-file.ts'
import { prepareControl, prepareTenantDatabases } from './prepare-databases.ts'
import { readSecrets, readSettings } from './settings.ts'
import { databasesMade, wrangler, wranglerTarget } from './wrangler.ts'
import { requireRemoteControl, writeConfig } from './write-config.ts'

const USAGE = `npm run pool -- grow N [--remote]     N more databases for tenants
npm run pool -- migrate [--remote]    applies new migrations to the control database and the whole pool

Without --remote it is the pool of this machine (BINDERY_DATA); with it, the provider's, through wrangler.`

const say = (line: string): void => console.log(`pool: ${line}`)

/** Where the databases are. */
type Place = {
  target(binding: string): MigrationTarget
  close(): Promise<void>
}

async function openPlace(remote: boolean): Promise<Place> {
  if (!remote) return openStores(readSettings(process.env, readSecrets()).dataFolder)
  requireRemoteControl()
  return { target: binding => wranglerTarget(binding, ['--remote']), close: async () => {} }
}

/** Bindings that the control database knows. */
async function registeredBindings(remote: boolean): Promise<Set<string>> {
  const place = await openPlace(remote)
  try {
    const control = place.target('CONTROL')
    await prepareControl(control)
    const rows = await control.query('select binding from pool_database')
    return new Set(rows.map(row => String(row.binding)))
  } finally {
    await place.close()
  }
}

/** Makes the databases at the provider, and notes each id at once, so that none is made twice. */
async function makeRemote(wanted: readonly PoolDatabase[]): Promise<void> {
  const made = await databasesMade()
  for (const database of wanted) {
    if (isMade(database)) continue
    const { databaseName } = database
    if (!made.has(databaseName)) {
      await wrangler('d1', 'create', databaseName)
      say(`${databaseName} is made`)
    }
    const databaseId = made.get(databaseName) ?? (await databasesMade()).get(databaseName)
    if (!databaseId)
      throw new Error(`${databaseName} was made, but the provider does not list it; run this again.`)
    writePool(
      readPool().map(other => (other.databaseName === databaseName ? { ...other, databaseId } : other)),
    )
  }
}

async function grow(count: number, remote: boolean): Promise<void> {
  writeConfig()
  const listed = readPool()
  const wanted = databasesToAdd(listed, await registeredBindings(remote), count)
  const known = new Set(listed.map(({ binding }) => binding))
  writePool([...listed, ...wanted.filter(({ binding }) => !known.has(binding))])
  if (remote) await makeRemote(wanted)
  writeConfig()
  await prepare(
    wanted.map(({ binding }) => binding),
    remote,
  )
  say(`${count} more databases are free`)
  if (remote)
    say(
      'the Worker can use them after the next deploy: npm run config -- --deploy, then npx wrangler deploy -c wrangler.generated.toml',
    )
}

/** Migrates the control database and these of the pool, and registers them. */
async function prepare(bindings: readonly string[], remote: boolean): Promise<void> {
  const place = await openPlace(remote)
  try {
    const control = place.target('CONTROL')
    const applied = await prepareControl(control)
    if (applied.length > 0) say(`control database: ${applied.join(', ')}`)
    await prepareTenantDatabases(
      control,
      bindings.map(binding => place.target(binding)),
      say,
    )
  } finally {
    await place.close()
  }
}

async function migratePool(remote: boolean): Promise<void> {
  writeConfig()
  const databases = readPool().filter(database => !remote || isMade(database))
  await prepare(
    databases.map(({ binding }) => binding),
    remote,
  )
  say('all databases are up to date')
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { remote: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const [command, count, ...rest] = positionals
  if (command === 'grow' && /^[1-9]\d{0,3}$/.test(count ?? '') && rest.length === 0)
    return grow(Number(count), values.remote)
  if (command === 'migrate' && count === undefined) return migratePool(values.remote)
  throw new Error(`It is used so:\n\n${USAGE}`)
}

await main().catch((error: unknown) => {
  console.error(`pool: ${error instanceof Error ? error.message : String(error)}`)
  console.error('pool: what was done is kept; run the same command again to go on.')
  process.exitCode = 1
})
