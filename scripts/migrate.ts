// `npm run migrate [-- --environment NAME]`: every database of the service up to the migrations of this code. Run again after a failure,
// it goes on where it stopped.
import { parseArgs } from 'node:util'
import { MigrationFailures } from '../src/platform/database/migrations.ts'
import { openDatabasePlace, prepareDatabases } from './database-place.ts'
import { requireStarted } from './databases.ts'
import { ENVIRONMENT_OPTION, type Environment, environmentNamed } from './environments.ts'
import { isMisused } from './misuse.ts'
import { SOME_ARE_BEHIND } from './prepare-databases.ts'
import { readSecrets, readSettings } from './settings.ts'
import { writeConfig } from './write-config.ts'

const say = (line: string): void => console.log(`migrate: ${line}`)

async function main(): Promise<void> {
  const { values } = parseArgs({ options: ENVIRONMENT_OPTION })
  const environment = values.environment === undefined ? undefined : environmentNamed(values.environment)
  writeConfig(environment)
  await migrateAll(environment)
  say('all databases are up to date')
}

async function migrateAll(environment: Environment | undefined): Promise<void> {
  if (!environment) requireStarted(readSettings(process.env, readSecrets()).dataFolder)
  const place = await openDatabasePlace(environment)
  try {
    await prepareDatabases(place, await place.registered(), say)
  } finally {
    await place.close()
  }
}

await main().catch((error: unknown) => {
  const isPartial = error instanceof MigrationFailures && !error.isCutShort
  process.exitCode = isPartial ? SOME_ARE_BEHIND : 1
  console.error(`migrate: ${error instanceof Error ? error.message : String(error)}`)
  if (isMisused(error)) return
  console.error(
    'migrate: databases that were finished keep what they have; run the same command again to go on.',
  )
})
