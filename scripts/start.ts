// `npm start`: runs the whole service on this machine, from nothing or from the data folder. `npm run dev` does the same, with a
// Worker that is built again whenever a source changes.
import { type Administrator, prepareAdministrator } from './administrator.ts'
import { signIn } from './api-client.ts'
import { Misuse, readArguments } from './command-line.ts'
import { curlLines } from './curl-lines.ts'
import { oneLine, prepareDataFolder } from './data-folder.ts'
import { claimControl, verifySecrets } from './deployment/identity.ts'
import { type DeployedExample, deployExample, deployedExample, testUsers, workedPolicies } from './example.ts'
import { refreshGenerated } from './generated.ts'
import { openLocalDatabases, prepareLocalDatabases } from './local-databases.ts'
import { progressBar } from './progress.ts'
import {
  callScheduled,
  checkPort,
  endStaleService,
  type Service,
  startService,
  waitForHealth,
} from './service.ts'
import { completeSecrets, readSecrets, readSettings, SECRETS_FILE, type Settings } from './settings.ts'
import { CONFIG_FILE, writeConfig } from './write-config.ts'

const say = (line: string): void => console.log(`bindery: ${line}`)

const USAGE = `npm start      runs the service on this machine
npm run dev    does the same, and builds the Worker again whenever a source file changes

docs/local.md lists the settings, such as PORT and BINDERY_DATA.`

/** Writes the files that the service reads at its start, and checks that it can use the port and the data. */
async function prepareFiles(): Promise<Settings> {
  const added = completeSecrets()
  if (added.length > 0) say(`${SECRETS_FILE} has new random secrets: ${added.join(', ')}`)
  const settings = readSettings(process.env, readSecrets())
  prepareDataFolder(settings.dataFolder)
  if (await endStaleService(settings.dataFolder)) say('stopped a service that was left running after a crash')
  await checkPort(settings.port)
  writeConfig()
  await refreshGenerated()
  say(`${CONFIG_FILE} is written; data is stored in ${settings.dataFolder}`)
  return settings
}

/** Creates and migrates the databases, and prepares the administration account. */
async function prepareStores(settings: Settings, firstStart: boolean): Promise<Administrator> {
  say(firstStart ? 'creating the databases' : 'checking the databases')
  const databases = openLocalDatabases(settings.dataFolder)
  try {
    const applied = await prepareLocalDatabases(databases, progressBar(say))
    say(
      applied.length === 0 ? 'the control database is up to date' : `control database: ${applied.join(', ')}`,
    )
    await claimControl(databases.control, { environment: 'local', domain: 'bindery.test' })
    await verifySecrets(databases.control, readSecrets(), SECRETS_FILE)
    const pepper = readSecrets().PASSWORD_PEPPER!
    return await prepareAdministrator(databases.control, pepper, settings.administrator, firstStart)
  } finally {
    await databases.close()
  }
}

async function deployOnFirstStart(
  service: Service,
  settings: Settings,
  administrator: Administrator,
): Promise<DeployedExample> {
  const present = deployedExample(settings.dataFolder)
  if (present) return present
  say('deploying examples/motor')
  const { username, password } = administrator
  const administration = await signIn(service.origin, { username, password: password! })
  return deployExample(administration, settings.dataFolder)
}

function printWhatToDo(service: Service, administrator: Administrator, example: DeployedExample): void {
  const { username, password } = testUsers()[0]!
  const { policyholder, policy } = workedPolicies()[0]!.request
  const lines = curlLines({
    origin: service.origin,
    credentials: { username, password, hostName: example.hostname },
    policyholder: { completed: true, ...policyholder },
    policy,
  })
  const account = administrator.madeUp
    ? `${administrator.username}, password ${administrator.password} (shown this once)`
    : administrator.username
  console.log(`
Bindery answers on ${service.origin}

  API reference            ${service.origin}/docs
  Console                  ${service.origin}/console
  Administration account   ${account}
  Example tenant           ${example.hostname} (${example.tenantName}), from examples/motor
  Tenant user              ${username}, password ${password}

Commands to paste (sign in; create a policyholder; create a policy):

${lines.join('\n\n')}

\`npm run demo\` takes a policy from the policyholder to the issue. Press Ctrl+C to stop the service; the data is kept.
`)
}

async function start(): Promise<number> {
  const { watch } = readArguments(USAGE, { options: { watch: { type: 'boolean', default: false } } }).values
  const settings = await prepareFiles()
  const firstStart = !deployedExample(settings.dataFolder)
  const administrator = await prepareStores(settings, firstStart)
  say(`starting the service on port ${settings.port}`)
  const service = await startService(settings.port, settings.dataFolder, watch)
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      say('stopping')
      void service.stop()
    })
  try {
    await waitForHealth(service, say)
    const example = await deployOnFirstStart(service, settings, administrator)
    printWhatToDo(service, administrator, example)
  } catch (error) {
    if (stopping) return await service.ended
    await service.stop()
    throw error
  }
  // The local runtime does not run cron by itself.
  const everyMinute = setInterval(async () => {
    if (!(await callScheduled(service)) && !stopping) say('the scheduled handler failed; see the log above')
  }, 60_000)
  const code = await service.ended
  clearInterval(everyMinute)
  if (!stopping) say(`the service exited unexpectedly (code ${code})`)
  return stopping ? 0 : code
}

process.exitCode = await start().catch((error: unknown) => {
  console.error(`bindery: ${error instanceof Misuse ? error.message : oneLine(error)}`)
  return 1
})
