// `npm run deploy`: makes at the provider what is missing, migrates, deploys, and looks whether it works. Every step can be
// run again (docs/operate.md).
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { bindingStatements, prepareAdministrator } from './administrator.ts'
import { withCheckoutCopy } from './checkout-copy.ts'
import { openStores } from './databases.ts'
import { controlId, needsOf, withControlId } from './deployment/needs.ts'
import { provider, type Tool } from './deployment/provider.ts'
import { carryOut, type Step, tell } from './deployment/steps.ts'
import { isMisused, Misuse } from './misuse.ts'
import { isLocalId, isMade, readPool } from './pool-file.ts'
import { completeSecrets, readSecrets, readSettings, SECRET_NAMES } from './settings.ts'
import { databaseAtProvider, databasesMade, wrangler, wranglerIn } from './wrangler.ts'
import { writeConfig } from './write-config.ts'

const USAGE = `npm run deploy -- --domain example.com [--environment production] [--databases 4]
npm run deploy                the same again: what was said is kept in deployment.json
npm run deploy -- --dry-run   tells what would be made, and makes nothing`

const DEPLOYMENT_FILE = 'deployment.json'
const CONTROL_DATABASE = 'bindery-control'

/** What a deployment is told once; kept in git beside pool.toml. */
type Deployment = {
  /** Hosts are <tenant>.co.<environment>.<domain>, and the API answers at api.<environment>.<domain>. */
  readonly domain: string
  readonly environment: string
}

const run = promisify(execFile)
const say = (line: string): void => console.log(`deploy: ${line}`)
const secretsFile = ({ environment }: Deployment): string => `.secrets.${environment}`
const apiHost = ({ environment, domain }: Deployment): string => `api.${environment}.${domain}`
const node = (...script: string[]): void => {
  execFileSync(process.execPath, script, { stdio: 'inherit' })
}

function readDeployment(options: { domain?: string; environment?: string }): Deployment {
  const kept = existsSync(DEPLOYMENT_FILE)
    ? (JSON.parse(readFileSync(DEPLOYMENT_FILE, 'utf8')) as Partial<Deployment>)
    : {}
  const domain = options.domain ?? kept.domain
  const environment = options.environment ?? kept.environment ?? 'production'
  if (!domain || !/^(?:[a-z0-9-]+\.)+[a-z]{2,}$/.test(domain))
    throw new Misuse(`Which domain of yours is it to answer at?\n\n${USAGE}`)
  if (!/^[a-z0-9-]+$/.test(environment) || environment === 'local')
    throw new Misuse(
      `'${environment}' is no name for an environment: lower-case letters, digits, hyphens; 'local' is that of one machine.`,
    )
  return { domain, environment }
}

function steps(deployment: Deployment, databases: number, tool: Tool = wrangler): Step[] {
  const config = (): string => readFileSync('wrangler.toml', 'utf8')
  const needs = needsOf(config())
  const { hasBucket, makeBucket, hasQueue, makeQueue } = provider(tool)
  return [
    {
      name: 'types',
      carryOut: async () => {
        execFileSync('npm', ['run', '--silent', 'check'], { stdio: 'inherit' })
      },
    },
    {
      name: `secrets in ${secretsFile(deployment)} (keep a copy in a safe: without them the data cannot be read)`,
      isDone: async () => {
        const present = readSecrets('.', secretsFile(deployment))
        return SECRET_NAMES.every(name => present[name])
      },
      carryOut: async () => {
        completeSecrets('.', secretsFile(deployment))
      },
    },
    {
      name: `database ${CONTROL_DATABASE}`,
      isDone: async () => !isLocalId(controlId(config())),
      async carryOut() {
        const id = await databaseAtProvider(CONTROL_DATABASE, await databasesMade())
        writeFileSync('wrangler.toml', withControlId(config(), id))
        writeConfig()
      },
    },
    ...needs.buckets.map(bucket => ({
      name: `bucket ${bucket.name}${bucket.jurisdiction ? ` within ${bucket.jurisdiction}` : ''}`,
      isDone: () => hasBucket(bucket),
      carryOut: () => makeBucket(bucket),
    })),
    ...needs.queues.map(queue => ({
      name: `queue ${queue}`,
      isDone: () => hasQueue(queue),
      carryOut: () => makeQueue(queue),
    })),
    {
      name: `${databases} databases for tenants`,
      isDone: async () => readPool().some(isMade),
      carryOut: async () => node('scripts/pool.ts', 'grow', String(databases), '--remote'),
    },
    {
      name: 'migrations of every database, each with a bookmark to go back to',
      carryOut: async () => node('scripts/migrate.ts', '--remote'),
    },
    { name: 'administration account', carryOut: () => administrator(deployment) },
    { name: `Worker at ${apiHost(deployment)}`, carryOut: () => deployWorker(deployment) },
    { name: `answers at https://${apiHost(deployment)}/ready`, carryOut: () => answers(deployment) },
  ]
}

/** Makes the account on the first deployment; its password is told once. */
async function administrator(deployment: Deployment): Promise<void> {
  const { dataFolder, administrator } = readSettings(process.env, {})
  const pepper = readSecrets('.', secretsFile(deployment)).PASSWORD_PEPPER!
  const stores = await openStores(dataFolder, { remote: true })
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

async function deployWorker(deployment: Deployment): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-'))
  const secrets = readSecrets('.', secretsFile(deployment))
  const file = join(folder, 'secrets.json')
  try {
    writeFileSync(file, JSON.stringify(Object.fromEntries(SECRET_NAMES.map(name => [name, secrets[name]]))), {
      mode: 0o600,
    })
    await withBuild(build =>
      uploadWorker(build, deployment, '--secrets-file', file, '--domain', apiHost(deployment)),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Does the work with a copy of this checkout, with all generated files and the bindings of what the provider has: nothing that a
 * service reads that runs from here is written.
 */
const withBuild = <Result>(work: (build: string) => Promise<Result>): Promise<Result> =>
  withCheckoutCopy(async build => {
    for (const command of [['write-config.ts', '--deploy'], ['route-index.ts'], ['bundles.ts']]) {
      const [script, ...options] = command as [string, ...string[]]
      await run(process.execPath, [`scripts/${script}`, ...options], { cwd: build })
    }
    return work(build)
  })

/** Gives the Worker of the build to the tool. */
async function uploadWorker(
  build: string,
  { environment, domain }: Deployment,
  ...options: string[]
): Promise<void> {
  const variables = { ENVIRONMENT: environment, DOMAIN: domain, PLUGIN_RUNNER: 'isolate' }
  await wranglerIn(
    build,
    'deploy',
    ...Object.entries(variables).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
    ...options,
  )
}

/** Waits until the service says that it is ready: certificates of a new host take some minutes. */
async function answers(deployment: Deployment): Promise<void> {
  const address = `https://${apiHost(deployment)}/ready`
  let last = ''
  for (let tries = 0; tries < 60; tries += 1) {
    const response = await fetch(address).catch((problem: Error) => problem)
    if (response instanceof Response && response.ok) return
    last = response instanceof Response ? `${response.status} ${await response.text()}` : response.message
    await sleep(5_000)
  }
  throw new Error(`${address} did not answer 200 within five minutes; it last said: ${last}`)
}

/** Shows each step and builds the Worker; writes nothing, here or at the provider. */
const showWhatWouldBeMade = (deployment: Deployment, databases: number): Promise<void> =>
  withBuild(async build => {
    const tool: Tool = (...command) => wranglerIn(build, ...command)
    const isSignedIn = await provider(tool).isSignedIn()
    const all = steps(deployment, databases, tool)
    if (!isSignedIn) say('not signed in with the provider, so what it has is not known: everything is listed')
    await tell(isSignedIn ? all : all.map(({ isDone: _, ...step }) => step), say)
    await uploadWorker(build, deployment, '--dry-run', '--outdir', join(build, 'dist'))
    say('the Worker can be built; nothing was changed')
  })

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      domain: { type: 'string' },
      environment: { type: 'string' },
      databases: { type: 'string', default: '4' },
      'dry-run': { type: 'boolean', default: false },
    },
  })
  if (!/^[1-9]\d{0,3}$/.test(values.databases))
    throw new Misuse(`--databases is a number from 1.\n\n${USAGE}`)
  const deployment = readDeployment(values)
  if (values['dry-run']) return showWhatWouldBeMade(deployment, Number(values.databases))
  writeConfig()
  if (!(await provider(wrangler).isSignedIn()))
    throw new Misuse('Sign in with the provider first: npx wrangler login, or set CLOUDFLARE_API_TOKEN.')
  const all = steps(deployment, Number(values.databases))
  writeFileSync(DEPLOYMENT_FILE, `${JSON.stringify(deployment, null, 2)}\n`)
  await carryOut(all, say)
  say(`https://${apiHost(deployment)} serves; next: npm run tenant -- create NAME --remote`)
}

await main().catch((error: unknown) => {
  console.error(`deploy: ${error instanceof Error ? error.message : String(error)}`)
  if (!isMisused(error)) console.error('deploy: what was done is kept; run the same command again to go on.')
  process.exitCode = 1
})
