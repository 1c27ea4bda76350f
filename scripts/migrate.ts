// `npm run migrate [-- --remote]`: every database of the service up to the migrations of this code. Run again after a failure,
// it goes on where it stopped.
import { parseArgs } from 'node:util'
import { databasesThere, openDatabasePlace, prepareDatabases } from './database-place.ts'
import { untilConnected } from './local-retry.ts'
import { isMisused } from './misuse.ts'
import { writeConfig } from './write-config.ts'

const say = (line: string): void => console.log(`migrate: ${line}`)

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { remote: { type: 'boolean', default: false } } })
  writeConfig()
  await untilConnected(() => migrateAll(values.remote), say)
  say('all databases are up to date')
}

async function migrateAll(remote: boolean): Promise<void> {
  const place = await openDatabasePlace(remote)
  try {
    await prepareDatabases(place, databasesThere(remote), say)
  } finally {
    await place.close()
  }
}

await main().catch((error: unknown) => {
  process.exitCode = 1
  console.error(`migrate: ${error instanceof Error ? error.message : String(error)}`)
  if (isMisused(error)) return
  console.error(
    'migrate: databases that were finished keep what they have; run the same command again to go on.',
  )
})
