// `npm run pool -- grow N [--jurisdiction J | --location L] [--environment NAME]`. Every step can be run again and skips what is
// already done.
import type { Place } from '../src/platform/tenancy/places.ts'
import { Misuse, readArguments, unknownText } from './command-line.ts'
import { ENVIRONMENT_OPTION, type Environment, environmentFolder, environmentNamed } from './environments.ts'
import { openLocalDatabases } from './local-databases.ts'
import { PLACE_OPTIONS, type PlaceValues, placeArguments, placeOfOptions } from './place-options.ts'
import { databasesToAdd, isMade, type PoolDatabase, readPool, writePool } from './pool-file.ts'
import { prepareControl } from './prepare-databases.ts'
import { progressBar } from './progress.ts'
import { readSecrets, readSettings } from './settings.ts'
import { registerNew } from './upgrades.ts'
import { databaseAtProvider, databasesMade, remoteControl, toolFor } from './wrangler.ts'
import { writeConfig } from './write-config.ts'

const USAGE = `npm run pool -- grow N    adds N databases for tenants

--jurisdiction eu|us|fedramp               for tenants whose data must stay there
--location wnam|enam|weur|eeur|apac|oc     created near there, if there is capacity
--environment NAME                         for that environment at the provider; default: this machine (BINDERY_DATA)`

const say = (line: string): void => console.log(`pool: ${line}`)

/** Databases of one Worker. The platform allows about 5,000 bindings, a few of which are not databases. */
const MOST_DATABASES = 4_500

/** Databases created at the same time. The provider's interface sustains four requests a second. */
const MADE_AT_ONCE = 4

/** Creates the databases at the provider, and notes each id immediately, so that none is created twice. */
async function makeRemote(environment: Environment, wanted: readonly PoolDatabase[]): Promise<void> {
  const folder = environmentFolder(environment.name)
  const tool = toolFor(environment)
  const made = await databasesMade(tool)
  const missing = wanted.filter(database => !isMade(database)).values()
  const make = async (): Promise<void> => {
    for (const { databaseName, place } of missing) {
      const databaseId = await databaseAtProvider(tool, databaseName, made, ...placeArguments(place))
      if (!made.has(databaseName)) say(`${databaseName} is created`)
      writePool(
        readPool(folder).map(other =>
          other.databaseName === databaseName ? { ...other, databaseId } : other,
        ),
        folder,
      )
    }
  }
  await Promise.all(Array.from({ length: MADE_AT_ONCE }, make))
}

/** Adds the databases to the file of the pool, and returns those to create. */
function listWanted(
  registered: ReadonlySet<string>,
  count: number,
  place: Place,
  environment?: Environment,
): PoolDatabase[] {
  const folder = environment && environmentFolder(environment.name)
  const listed = readPool(folder)
  const wanted = databasesToAdd(listed, registered, count, place, environment?.name)
  const known = new Set(listed.map(({ binding }) => binding))
  const joined = [...listed, ...wanted.filter(({ binding }) => !known.has(binding))]
  if (joined.length > MOST_DATABASES)
    throw new Misuse(
      `There would be ${joined.length} databases, but one Worker can have only ${MOST_DATABASES}. Create another cell: npm run deploy -- --environment NAME.`,
    )
  writePool(joined, folder)
  return wanted
}

async function growHere(count: number, place: Place): Promise<void> {
  writeConfig()
  const databases = openLocalDatabases(readSettings(process.env, readSecrets()).dataFolder)
  try {
    await prepareControl(databases.control)
    const rows = await databases.control.query('select binding from pool_database')
    const wanted = listWanted(new Set(rows.map(({ binding }) => String(binding))), count, place)
    writeConfig()
    await databases.prepare(wanted, progressBar(say))
  } finally {
    await databases.close()
  }
  say(
    `${count === 1 ? '1 database was added and is' : `${count} databases were added and are`} free${place && ` in ${place}`}`,
  )
}

async function growAtProvider(count: number, place: Place, environment: Environment): Promise<void> {
  if (!environment.controlId)
    throw new Error(`${environment.name} has no control database yet. Run npm run deploy to create it.`)
  writeConfig(environment)
  const control = remoteControl(toolFor(environment))
  await prepareControl(control)
  const rows = await control.query('select binding from pool_database')
  const wanted = listWanted(new Set(rows.map(({ binding }) => String(binding))), count, place, environment)
  await makeRemote(environment, wanted)
  writeConfig(environment)
  await registerNew(control, wanted)
  say(`${count === 1 ? '1 database was' : `${count} databases were`} created${place && ` in ${place}`}`)
  say(`free after the next deployment: npm run deploy -- --environment ${environment.name}`)
}

/** Grows the pool. In an environment, databases are created at its own place unless the options name another. */
function growIn(count: number, values: PlaceValues & { environment?: string }): Promise<void> {
  const environment = values.environment === undefined ? undefined : environmentNamed(values.environment)
  const place = placeOfOptions(values)
  return environment ? growAtProvider(count, place || environment.place, environment) : growHere(count, place)
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments(USAGE, {
    options: { ...PLACE_OPTIONS, ...ENVIRONMENT_OPTION },
    allowPositionals: true,
  })
  const [command, count, ...rest] = positionals
  if (command === 'grow' && /^[1-9]\d{0,3}$/.test(count ?? '') && rest.length === 0)
    return growIn(Number(count), values)
  const mistake =
    command === undefined || command === 'grow'
      ? 'Give the number of databases to add, from 1 to 9999.'
      : unknownText('command', command, ['grow'])
  throw new Misuse(`${mistake}\n\n${USAGE}`)
}

await main().catch((error: unknown) => {
  console.error(`pool: ${error instanceof Error ? error.message : String(error)}`)
  if (!(error instanceof Misuse))
    console.error('pool: completed steps are kept; run the same command again to continue.')
  process.exitCode = 1
})
