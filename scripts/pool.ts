// `npm run pool -- grow N [--jurisdiction J | --location L] [--remote]`. Every step can be run again: what is done already is
// left alone.
import { parseArgs } from 'node:util'
import type { Place } from '../src/platform/tenancy/places.ts'
import { openDatabasePlace, prepareDatabases } from './database-place.ts'
import { isMisused, Misuse } from './misuse.ts'
import { PLACE_OPTIONS, placeArguments, placeOfOptions } from './place-options.ts'
import { databasesToAdd, isMade, type PoolDatabase, readPool, writePool } from './pool-file.ts'
import { prepareControl } from './prepare-databases.ts'
import { databaseAtProvider, databasesMade } from './wrangler.ts'
import { writeConfig } from './write-config.ts'

const USAGE = `npm run pool -- grow N    N more databases for tenants

--jurisdiction eu|us|fedramp               of tenants whose data stays there
--location wnam|enam|weur|eeur|apac|oc     made near there, where there is room
--remote                                   the provider's, through wrangler; else those of this machine (BINDERY_DATA)`

const say = (line: string): void => console.log(`pool: ${line}`)

/** Bindings that the control database knows. */
async function registeredBindings(remote: boolean): Promise<Set<string>> {
  const place = await openDatabasePlace(remote)
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
    const databaseId = await databaseAtProvider(databaseName, made, ...placeArguments(database.place))
    if (!made.has(databaseName)) say(`${databaseName} is made`)
    writePool(
      readPool().map(other => (other.databaseName === databaseName ? { ...other, databaseId } : other)),
    )
  }
}

async function grow(count: number, place: Place, remote: boolean): Promise<void> {
  writeConfig()
  const listed = readPool()
  const wanted = databasesToAdd(listed, await registeredBindings(remote), count, place)
  const known = new Set(listed.map(({ binding }) => binding))
  writePool([...listed, ...wanted.filter(({ binding }) => !known.has(binding))])
  if (remote) await makeRemote(wanted)
  writeConfig()
  const databases = await openDatabasePlace(remote)
  try {
    await prepareDatabases(databases, wanted, say)
  } finally {
    await databases.close()
  }
  say(`${count} more databases are free${place && ` in ${place}`}`)
  if (remote) say('the Worker can use them after the next deploy: npm run deploy')
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { ...PLACE_OPTIONS, remote: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const [command, count, ...rest] = positionals
  if (command === 'grow' && /^[1-9]\d{0,3}$/.test(count ?? '') && rest.length === 0)
    return grow(Number(count), placeOfOptions(values), values.remote)
  throw new Misuse(`It is used so:\n\n${USAGE}`)
}

await main().catch((error: unknown) => {
  console.error(`pool: ${error instanceof Error ? error.message : String(error)}`)
  if (!isMisused(error)) console.error('pool: what was done is kept; run the same command again to go on.')
  process.exitCode = 1
})
