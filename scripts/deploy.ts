// `npm run deploy`: creates what is missing at the provider, migrates, deploys, and checks that the service responds. Every step
// can be run again (docs/operate.md).
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { countText } from '../src/kernel/text.ts'
import { bindingStatements, prepareAdministrator } from './administrator.ts'
import { withCheckoutCopy } from './checkout-copy.ts'
import { Misuse, readArguments } from './command-line.ts'
import { openStores } from './databases.ts'
import {
  claimControl,
  hasSecretChecks,
  notedResources,
  noteResource,
  verifySecrets,
} from './deployment/identity.ts'
import { needsOf } from './deployment/needs.ts'
import { provider } from './deployment/provider.ts'
import { OBJECT_UPDATES, rollOut, servingVersion } from './deployment/roll-out.ts'
import { carryOut, listSteps, type Step } from './deployment/steps.ts'
import {
  apiHost,
  ENVIRONMENT_OPTION,
  type Environment,
  environmentFolder,
  environmentNames,
  findEnvironment,
  nameAtProvider,
  requireEnvironmentName,
  secretsFile,
  writeEnvironment,
} from './environments.ts'
import { checkFormerUnits } from './former-units.ts'
import { PLACE_OPTIONS, placeArguments, placeOfOptions } from './place-options.ts'
import { isMade, readPool } from './pool-file.ts'
import { SOME_ARE_BEHIND } from './prepare-databases.ts'
import { completeSecrets, readSecrets, readSettings, SECRET_NAMES } from './settings.ts'
import { awaitUpgrades, noteReadyMoves, SomeAreBehind } from './upgrades.ts'
import { databaseAtProvider, databasesMade, remoteControl, toolFor } from './wrangler.ts'
import { configFile, environmentConfig, joinedConfig, writeConfig } from './write-config.ts'

const USAGE = `npm run deploy -- --environment production --domain example.com --location weur
                               a new environment; --jurisdiction eu|us|fedramp instead of --location
                               wnam|enam|weur|eeur|apac|oc; --databases N: databases for tenants, default 4
npm run deploy -- --environment production
                               deploys the code of this checkout to it again
npm run deploy                 the same, if the checkout has only one environment
  --gradual                    moves 10, 50 and 100 % of the requests to the new code, and back if it does not respond
  --dry-run                    shows the steps without carrying them out`

const run = promisify(execFile)
const say = (line: string): void => console.log(`deploy: ${line}`)

type Options = {
  readonly environment?: string
  readonly domain?: string
  readonly jurisdiction?: string
  readonly location?: string
}

/**
 * Returns the environment to deploy: a new one as the options describe it, or one that was deployed before, as its file describes
 * it.
 */
function selectEnvironment(options: Options): Environment {
  const names = environmentNames()
  const name = options.environment ?? (names.length === 1 ? names[0] : undefined)
  if (name === undefined)
    throw new Misuse(
      `Choose an environment with --environment. This checkout has ${names.join(', ') || 'none'}.\n\n${USAGE}`,
    )
  requireEnvironmentName(name)
  const kept = findEnvironment(name)
  const domain = options.domain ?? kept?.domain
  const asked = placeOfOptions(options)
  if (!domain || !/^(?:[a-z0-9-]+\.)+[a-z]{2,}$/.test(domain))
    throw new Misuse(
      `A new environment needs --domain: a domain of yours under which it will be reachable.\n\n${USAGE}`,
    )
  if (kept && (domain !== kept.domain || (asked !== '' && asked !== kept.place)))
    throw new Misuse(
      `${name} is served at ${kept.domain} and its data is in '${kept.place}'. Neither can change. Create another environment.`,
    )
  if (!kept && asked === '')
    throw new Misuse(
      `Where should the data of ${name} be stored? Give --location or --jurisdiction.\n\n${USAGE}`,
    )
  return kept ?? { name, domain, place: asked }
}

type Choices = { readonly databases: number; readonly gradual: boolean }

/** The steps of a deployment. `current` gets the id of the control database as soon as that is created. */
function steps(chosen: Environment, { databases, gradual }: Choices, checkout = '.'): Step[] {
  let current = chosen
  const { name } = chosen
  const tool = toolFor(chosen, checkout)
  const config = environmentConfig(readFileSync('wrangler.toml', 'utf8'), chosen)
  const needs = needsOf(config)
  const { hasBucket, makeBucket, hasQueue, makeQueue, hasWorker } = provider(tool)
  const control = remoteControl(tool)
  const controlName = nameAtProvider(name, 'control')
  const source = secretsFile(name)
  let noted: Promise<Set<string>> | undefined
  const isNoted = async (what: string): Promise<boolean> => {
    if (current.controlId === undefined) return false
    noted ??= notedResources(control)
    return (await noted).has(what)
  }
  /** A step that creates a missing resource, once the control database has noted that it belongs to this environment. */
  const resource = (what: string, exists: () => Promise<boolean>, make: () => Promise<void>): Step => ({
    name: what,
    isDone: async () => (await isNoted(what)) && (await exists()),
    async carryOut() {
      if (!(await isNoted(what))) await noteResource(control, what, await exists())
      await make()
    },
  })
  return [
    {
      name: 'types',
      carryOut: async () => {
        execFileSync('npm', ['run', '--silent', 'check'], { stdio: 'inherit' })
      },
    },
    {
      name: `database ${controlName}`,
      isDone: async () => current.controlId !== undefined,
      async carryOut() {
        const made = await databasesMade(tool)
        const controlId = await databaseAtProvider(tool, controlName, made, ...placeArguments(chosen.place))
        current = { ...current, controlId }
        writeConfig(current)
        await claimControl(control, { environment: name, domain: chosen.domain })
        writeEnvironment(current)
      },
    },
    {
      name: 'check that the control database belongs to this environment',
      async carryOut() {
        await claimControl(control, { environment: name, domain: chosen.domain })
      },
    },
    {
      name: `secrets in ${source} (keep a copy in a safe: without them the data cannot be read)`,
      async carryOut() {
        if (!(await hasSecretChecks(control))) completeSecrets('.', source)
        const secrets = readSecrets('.', source)
        await verifySecrets(control, secrets, source)
        const missing = SECRET_NAMES.filter(secret => !secrets[secret])
        if (missing.length > 0)
          throw new Error(`${missing.join(' and ')} missing from ${source}. Restore that file from its copy.`)
      },
    },
    ...needs.buckets.map(bucket =>
      resource(
        `bucket ${bucket.name}${bucket.jurisdiction ? ` within ${bucket.jurisdiction}` : ''}`,
        () => hasBucket(bucket),
        () => makeBucket(bucket),
      ),
    ),
    ...needs.queues.map(queue =>
      resource(
        `queue ${queue}`,
        () => hasQueue(queue),
        () => makeQueue(queue),
      ),
    ),
    {
      name: `${countText(databases, 'database')} for tenants`,
      isDone: async () => readPool(environmentFolder(name)).some(isMade),
      carryOut: async () => {
        const script = ['scripts/pool.ts', 'grow', String(databases), '--environment', name]
        execFileSync(process.execPath, script, { stdio: 'inherit' })
      },
    },
    {
      name: 'migrations of every database, by the deployed Worker',
      carryOut: async () => {
        const script = ['scripts/migrate.ts', '--needed', '--environment', name]
        const { status } = spawnSync(process.execPath, script, { stdio: 'inherit' })
        if (status === SOME_ARE_BEHIND)
          say('requests for tenants whose database is not migrated yet get 503; all other tenants are served')
        else if (status !== 0) throw new Error('npm run migrate failed. See its output above.')
      },
    },
    { name: 'administration account', carryOut: () => administrator(current) },
    {
      name: `Worker ${nameAtProvider(name)} at ${apiHost(chosen)}`,
      async carryOut() {
        const worker = nameAtProvider(name)
        if (!(await isNoted(`Worker ${worker}`)))
          await noteResource(control, `Worker ${worker}`, await hasWorker(worker))
        await deployWorker(current, gradual)
      },
    },
    { name: `response from https://${apiHost(chosen)}/ready`, carryOut: () => waitUntilReady(chosen) },
    {
      name: 'check that no tenant has amounts in former minor units',
      carryOut: () =>
        checkFormerUnits(control, () => openStores(readSettings(process.env, {}).dataFolder, current)),
    },
    {
      name: 'note the moves of tables that this code supports',
      carryOut: () => noteReadyMoves(control, () => servingVersion(tool)),
    },
    {
      name: 'migrations of databases that the former Worker did not have',
      async carryOut() {
        const isDone = await awaitUpgrades(control, say, { isNeeded: true, withNew: true }).catch(
          (problem: unknown) => {
            if (!(problem instanceof SomeAreBehind)) throw problem
            say(problem.message)
            return true
          },
        )
        if (!isDone)
          throw new Error('The Worker did not start the migrations within three minutes. See its log.')
      },
    },
  ]
}

/** Creates the account on the first deployment, and shows its password once. */
async function administrator(environment: Environment): Promise<void> {
  const { dataFolder, administrator } = readSettings(process.env, {})
  const pepper = readSecrets('.', secretsFile(environment.name)).PASSWORD_PEPPER!
  const stores = await openStores(dataFolder, environment, 'control')
  try {
    const { username, password, madeUp } = await prepareAdministrator(
      bindingStatements(stores.env.CONTROL),
      pepper,
      administrator,
      false,
    )
    if (madeUp) say(`administration account ${username}, password ${password} (shown this once)`)
  } finally {
    await stores.close()
  }
}

/** Uploads the code with its secrets, for all requests immediately or for a growing share of them. */
async function deployWorker(environment: Environment, gradual: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-'))
  const secrets = readSecrets('.', secretsFile(environment.name))
  const file = join(folder, 'secrets.json')
  try {
    writeFileSync(file, JSON.stringify(Object.fromEntries(SECRET_NAMES.map(name => [name, secrets[name]]))), {
      mode: 0o600,
    })
    await withBuild(environment, async build => {
      const tool = toolFor(environment, build)
      if (gradual) return rollOut(tool, { secretsFile: file, isReady: () => isReady(environment), say })
      await tool('deploy', '--secrets-file', file, '--domain', apiHost(environment), ...OBJECT_UPDATES)
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Runs the work with a copy of this checkout, with all generated files and the bindings of what the provider has. Files that a
 * service running from this checkout reads are not changed.
 */
const withBuild = <Result>(
  environment: Environment,
  work: (build: string) => Promise<Result>,
): Promise<Result> =>
  withCheckoutCopy(async build => {
    writeFileSync(join(build, configFile(environment)), joinedConfig(environment))
    for (const script of ['route-index.ts', 'bundles.ts'])
      await run(process.execPath, [`scripts/${script}`], { cwd: build })
    return work(build)
  })

/** Whether the service reports that everything it needs is available. */
async function isReady(environment: Environment): Promise<boolean> {
  const response = await fetch(`https://${apiHost(environment)}/ready`).catch(() => undefined)
  return response?.ok ?? false
}

/** Waits until the service reports that it is ready. Certificates of a new host take some minutes. */
async function waitUntilReady(environment: Environment): Promise<void> {
  for (let tries = 0; tries < 60; tries += 1) {
    if (await isReady(environment)) return
    await sleep(5_000)
  }
  throw new Error(`https://${apiHost(environment)}/ready did not respond with 200 within five minutes.`)
}

/** Shows each step and builds the Worker. Changes nothing, here or at the provider. */
const showWhatWouldBeMade = (environment: Environment, choices: Choices): Promise<void> =>
  withBuild(environment, async build => {
    const tool = toolFor(environment, build)
    const isSignedIn = await provider(tool).isSignedIn()
    const all = steps(environment, choices, build)
    if (!isSignedIn) say('not signed in to the provider, so its resources are unknown: all steps are listed')
    await listSteps(isSignedIn ? all : all.map(({ isDone: _, ...step }) => step), say)
    await tool('deploy', '--dry-run', '--outdir', join(build, 'dist'))
    say('the Worker builds; nothing was changed')
  })

async function main(): Promise<void> {
  const { values } = readArguments(USAGE, {
    options: {
      ...ENVIRONMENT_OPTION,
      ...PLACE_OPTIONS,
      domain: { type: 'string' },
      databases: { type: 'string', default: '4' },
      gradual: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    },
  })
  if (!/^[1-9]\d{0,3}$/.test(values.databases))
    throw new Misuse(`--databases must be a number from 1 to 9999.\n\n${USAGE}`)
  const environment = selectEnvironment(values)
  const choices = { databases: Number(values.databases), gradual: values.gradual }
  if (values['dry-run']) return showWhatWouldBeMade(environment, choices)
  writeConfig(environment)
  if (!(await provider(toolFor(environment)).isSignedIn()))
    throw new Misuse('Sign in to the provider first: run npx wrangler login, or set CLOUDFLARE_API_TOKEN.')
  await carryOut(steps(environment, choices), say)
  say(
    `https://${apiHost(environment)} is ready; next: npm run tenant -- create NAME --environment ${environment.name}`,
  )
}

await main().catch((error: unknown) => {
  console.error(`deploy: ${error instanceof Error ? error.message : String(error)}`)
  if (!(error instanceof Misuse))
    console.error('deploy: completed steps are kept; run the same command again to continue.')
  process.exitCode = 1
})
