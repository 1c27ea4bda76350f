// `npm run migrate [-- --remote]`: every database of the service up to the migrations of this code. Run again after a failure,
// it goes on where it stopped.
import { parseArgs } from 'node:util'
import { openDatabasePlace, prepareDatabases } from './database-place.ts'
import { requireStarted } from './databases.ts'
import { isMisused } from './misuse.ts'
import { readSecrets, readSettings } from './settings.ts'
import { writeConfig } from './write-config.ts'

const say = (line: string): void => console.log(`migrate: ${line}`)

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { remote: { type: 'boolean', default: false } } })
  writeConfig()
  await migrateAll(values.remote)
  say('all databases are up to date')
}

async function migrateAll(remote: boolean): Promise<void> {
  if (!remote) requireStarted(readSettings(process.env, readSecrets()).dataFolder)
  const place = await openDatabasePlace(remote)
  try {
    await prepareDatabases(place, await place.registered(), say)
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
