// `npm run pool -- grow N [--jurisdiction J | --location L] [--environment NAME]`. Every step can be run again: what is done already is
// left alone.
import { parseArgs } from 'node:util'
import type { Place } from '../src/platform/tenancy/places.ts'
import { openDatabasePlace, prepareDatabases } from './database-place.ts'
import { ENVIRONMENT_OPTION, type Environment, environmentFolder, environmentNamed } from './environments.ts'
import { isMisused, Misuse } from './misuse.ts'
import { PLACE_OPTIONS, type PlaceValues, placeArguments, placeOfOptions } from './place-options.ts'
import { databasesToAdd, isMade, type PoolDatabase, readPool, writePool } from './pool-file.ts'
import { prepareControl } from './prepare-databases.ts'
import { databaseAtProvider, databasesMade, toolFor } from './wrangler.ts'
import { writeConfig } from './write-config.ts'

const USAGE = `npm run pool -- grow N    N more databases for tenants

--jurisdiction eu|us|fedramp               of tenants whose data stays there
--location wnam|enam|weur|eeur|apac|oc     made near there, where there is room
--environment NAME                         of that environment at the provider; else of this machine (BINDERY_DATA)`

const say = (line: string): void => console.log(`pool: ${line}`)

/** Bindings that the control database knows. */
async function registeredBindings(environment: Environment | undefined): Promise<Set<string>> {
  const place = await openDatabasePlace(environment)
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
async function makeRemote(environment: Environment, wanted: readonly PoolDatabase[]): Promise<void> {
  const folder = environmentFolder(environment.name)
  const tool = toolFor(environment)
  const made = await databasesMade(tool)
  for (const database of wanted) {
    if (isMade(database)) continue
    const { databaseName } = database
    const databaseId = await databaseAtProvider(tool, databaseName, made, ...placeArguments(database.place))
    if (!made.has(databaseName)) say(`${databaseName} is made`)
    writePool(
      readPool(folder).map(other => (other.databaseName === databaseName ? { ...other, databaseId } : other)),
      folder,
    )
  }
}

async function grow(count: number, place: Place, environment: Environment | undefined): Promise<void> {
  writeConfig(environment)
  const folder = environment && environmentFolder(environment.name)
  const listed = readPool(folder)
  const registered = await registeredBindings(environment)
  const wanted = databasesToAdd(listed, registered, count, place, environment?.name)
  const known = new Set(listed.map(({ binding }) => binding))
  writePool([...listed, ...wanted.filter(({ binding }) => !known.has(binding))], folder)
  if (environment) await makeRemote(environment, wanted)
  writeConfig(environment)
  const databases = await openDatabasePlace(environment)
  try {
    await prepareDatabases(databases, wanted, say)
  } finally {
    await databases.close()
  }
  say(`${count} more databases are free${place && ` in ${place}`}`)
  if (environment)
    say(`the Worker can use them after the next deploy: npm run deploy -- --environment ${environment.name}`)
}

/** In an environment, databases are made at its own place unless the options say another. */
function growIn(count: number, values: PlaceValues & { environment?: string }): Promise<void> {
  const environment = values.environment === undefined ? undefined : environmentNamed(values.environment)
  return grow(count, placeOfOptions(values) || (environment?.place ?? ''), environment)
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { ...PLACE_OPTIONS, ...ENVIRONMENT_OPTION },
    allowPositionals: true,
  })
  const [command, count, ...rest] = positionals
  if (command === 'grow' && /^[1-9]\d{0,3}$/.test(count ?? '') && rest.length === 0)
    return growIn(Number(count), values)
  throw new Misuse(`It is used so:\n\n${USAGE}`)
}

await main().catch((error: unknown) => {
  console.error(`pool: ${error instanceof Error ? error.message : String(error)}`)
  if (!isMisused(error)) console.error('pool: what was done is kept; run the same command again to go on.')
  process.exitCode = 1
})
