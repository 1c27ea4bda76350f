// `npm run migrate [-- --environment NAME]`: brings every database of the service up to the migrations of this code. Run again
// after a failure, it continues where it stopped. `--needed` waits only for what this code needs.
import { MigrationFailures } from '../src/platform/database/migrations.ts'
import { Misuse, readArguments } from './command-line.ts'
import { openStores, requireStarted } from './databases.ts'
import { servingVersion } from './deployment/roll-out.ts'
import { ENVIRONMENT_OPTION, type Environment, environmentNamed } from './environments.ts'
import { checkFormerUnits } from './former-units.ts'
import { openLocalDatabases } from './local-databases.ts'
import { prepareControl, SOME_ARE_BEHIND } from './prepare-databases.ts'
import { progressBar } from './progress.ts'
import { readSecrets, readSettings } from './settings.ts'
import { announceMigrations, awaitUpgrades, SomeAreBehind } from './upgrades.ts'
import { remoteControl, toolFor } from './wrangler.ts'
import { writeConfig } from './write-config.ts'

const USAGE = `npm run migrate                          brings the databases of this machine up to date (BINDERY_DATA)
npm run migrate -- --environment NAME    those of that environment at the provider
  --needed                               waits only for the migrations that this code needs`

const say = (line: string): void => console.log(`migrate: ${line}`)

async function main(): Promise<void> {
  const { values } = readArguments(USAGE, {
    options: { ...ENVIRONMENT_OPTION, needed: { type: 'boolean', default: false } },
  })
  if (values.environment === undefined) {
    writeConfig()
    await migrateLocal()
  } else await migrateAtProvider(environmentNamed(values.environment), values.needed)
}

async function migrateLocal(): Promise<void> {
  const { dataFolder } = readSettings(process.env, readSecrets())
  requireStarted(dataFolder)
  const databases = openLocalDatabases(dataFolder)
  try {
    reportControl(await prepareControl(databases.control))
    await databases.prepare(await databases.registered(), progressBar(say))
  } finally {
    await databases.close()
  }
  say('all databases are up to date')
}

async function migrateAtProvider(environment: Environment, isNeeded: boolean): Promise<void> {
  if (!environment.controlId)
    throw new Error(`${environment.name} has no control database yet. Run npm run deploy to create it.`)
  writeConfig(environment)
  const tool = toolFor(environment)
  const control = remoteControl(tool)
  reportControl(await prepareControl(control))
  const { dataFolder } = readSettings(process.env, {})
  await checkFormerUnits(control, () => openStores(dataFolder, environment), { isServed: true })
  await announceMigrations(control, () => servingVersion(tool))
  if (await awaitUpgrades(control, say, { isNeeded }))
    say(isNeeded ? 'all databases have the migrations that this code needs' : 'all databases are up to date')
  else say('the deployed Worker does not migrate databases; the next one will')
}

function reportControl(applied: readonly string[]): void {
  if (applied.length > 0) say(`control database: ${applied.join(', ')}`)
}

await main().catch((error: unknown) => {
  const isPartial =
    error instanceof SomeAreBehind || (error instanceof MigrationFailures && !error.isCutShort)
  process.exitCode = isPartial ? SOME_ARE_BEHIND : 1
  console.error(`migrate: ${error instanceof Error ? error.message : String(error)}`)
  if (error instanceof Misuse) return
  console.error('migrate: finished databases stay migrated; run the same command again to continue.')
})
