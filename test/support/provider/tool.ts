// The provider's command line tool, of which it has the commands that the scripts call, with the same words and the same kind of
// output. PROVIDER_FOLDER is the account; commands that begin like PROVIDER_FAILS fail.
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  type Account,
  bookmark,
  bookmarkAt,
  changeAccount,
  openStored,
  type StoredWorker,
  travelTo,
} from './account.ts'

const folder = process.env.PROVIDER_FOLDER!

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    bookmark: { type: 'string' },
    command: { type: 'string' },
    config: { type: 'string' },
    domain: { type: 'string' },
    'dry-run': { type: 'boolean' },
    'durable-objects-code-update-mode': { type: 'string' },
    file: { type: 'string' },
    json: { type: 'boolean' },
    jurisdiction: { type: 'string' },
    location: { type: 'string' },
    name: { type: 'string' },
    outdir: { type: 'string' },
    output: { type: 'string' },
    page: { type: 'string' },
    remote: { type: 'boolean' },
    'secrets-file': { type: 'string' },
    timestamp: { type: 'string' },
    yes: { type: 'boolean' },
  },
})

const print = (value: unknown): void => console.log(JSON.stringify(value))
const config = (): string => readFileSync(values.config!, 'utf8')

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

/** Name of the database that the configuration binds so. */
function databaseBound(account: Account, binding: string): string {
  const section = config()
    .split('[[d1_databases]]')
    .find(text => text.includes(`binding = "${binding}"`))
  const id = section?.match(/database_id = "([^"]*)"/)?.[1]
  const found = Object.entries(account.databases).find(
    ([name, { id: own }]) => own === id || name === binding,
  )
  return found?.[0] ?? fail(`Couldn't find a D1 DB named '${binding}' with the id ${id}.`)
}

function execute(account: Account, binding: string): void {
  const database = openStored(folder, account.databases[databaseBound(account, binding)]!.id)
  try {
    if (values.command !== undefined)
      print([{ results: database.prepare(values.command).all(), success: true }])
    else {
      database.exec(`begin immediate;\n${readFileSync(values.file!, 'utf8')}\ncommit`)
      print([{ results: [], success: true }])
    }
  } catch (problem) {
    fail(String(problem))
  } finally {
    database.close()
  }
}

/** A restore that is to be made when the account is written. */
let travel = async (): Promise<void> => {}

const workerName = (): string => values.name ?? config().match(/^name = "([^"]*)"/m)![1]!

const workerOf = (account: Account): StoredWorker =>
  account.workers[workerName()] ??
  fail(`A request failed. This Worker does not exist on your account. [code: 10007] ${workerName()}`)

function upload(account: Account): string {
  const id = randomUUID()
  const none: StoredWorker = { versions: [], shares: [], domains: [], objectUpdates: undefined }
  const worker = account.workers[workerName()] ?? none
  account.workers[workerName()] = worker
  const secrets = JSON.parse(readFileSync(values['secrets-file']!, 'utf8')) as Record<string, string>
  const former = worker.versions.at(-1)?.secrets ?? {}
  worker.versions.push({ id, config: config(), secrets: { ...former, ...secrets } })
  return id
}

const COMMANDS: Record<string, (account: Account, ...words: string[]) => void> = {
  login: () => console.log('Successfully logged in.'),
  whoami: () => print({ loggedIn: true }),
  'd1 list': ({ databases }) =>
    print(Object.entries(databases).map(([name, { id }]) => ({ name, uuid: id }))),
  'd1 create'(account, name = '') {
    if (account.databases[name]) fail(`A database with that name already exists: ${name}`)
    const place = values.jurisdiction ?? values.location ?? ''
    const id = randomUUID()
    account.databases[name] = { id, place, bookmarks: [] }
    console.log(
      `Created your new D1 database.\n\n${JSON.stringify({ d1_databases: [{ database_name: name, database_id: id }] }, null, 2)}`,
    )
  },
  'd1 execute': (account, binding = '') => execute(account, binding),
  'd1 export'(account, binding = '') {
    const database = openStored(folder, account.databases[databaseBound(account, binding)]!.id)
    const tables = database.prepare(`select sql from sqlite_master where sql is not null`).all()
    database.close()
    writeFileSync(values.output!, tables.map(({ sql }) => `${sql};\n`).join(''))
  },
  'd1 time-travel'(account, verb, binding = '') {
    const name = databaseBound(account, binding)
    const at = values.timestamp
    if (verb === 'restore') {
      if (!account.databases[name]!.bookmarks.some(one => one.name === values.bookmark))
        fail(`no bookmark ${values.bookmark}`)
      print({ bookmark: values.bookmark, previous_bookmark: bookmark(folder, account, name) })
      travel = () => travelTo(folder, account.databases[name]!.id, values.bookmark!)
    } else if (verb !== 'info') fail(`no command ${verb}`)
    else if (at === undefined) print({ bookmark: bookmark(folder, account, name) })
    else
      print({
        bookmark: bookmarkAt(account, name, Date.parse(at)) ?? fail(`no bookmark of ${name} at ${at}`),
      })
  },
  'r2 bucket'(account, verb, name = '') {
    const border = values.jurisdiction ?? ''
    if (verb === 'create') account.buckets.push(`${name}/${border}`)
    for (const bucket of account.buckets)
      if (verb === 'list' && bucket.endsWith(`/${border}`)) console.log(`name:  ${bucket.split('/')[0]}`)
  },
  'queues list': ({ queues }) => {
    const page = Number(values.page)
    for (const name of queues.slice((page - 1) * 10, page * 10))
      console.log(`│ ${'0'.repeat(32)} │ ${name} │ now │`)
  },
  'queues create': ({ queues }, name = '') => void queues.push(name),
  'deployments list': account => print(workerOf(account).versions.map(({ id }) => ({ id }))),
  'deployments status': account => print({ versions: workerOf(account).shares }),
  deploy(account) {
    if (values['dry-run']) return
    const id = upload(account)
    const worker = workerOf(account)
    worker.shares = [{ version_id: id, percentage: 100 }]
    worker.domains = [values.domain!]
    worker.objectUpdates = values['durable-objects-code-update-mode']
  },
  'versions upload': account =>
    console.log(`Uploaded ${workerName()}\nWorker Version ID: ${upload(account)}`),
  'versions deploy'(account, ...shares) {
    const worker = workerOf(account)
    worker.shares = shares.map(share => {
      const [id, percentage] = share.split('@')
      if (!worker.versions.some(version => version.id === id)) fail(`no version ${id}`)
      return { version_id: id!, percentage: Number(percentage) }
    })
    worker.objectUpdates = values['durable-objects-code-update-mode'] ?? worker.objectUpdates
  },
}

const [first = '', second = ''] = positionals
const [carryOut, words] = COMMANDS[`${first} ${second}`]
  ? [COMMANDS[`${first} ${second}`]!, positionals.slice(2)]
  : [COMMANDS[first], positionals.slice(1)]
if (!carryOut) fail(`no command ${positionals.join(' ')}`)
if (process.env.PROVIDER_FAILS && positionals.join(' ').startsWith(process.env.PROVIDER_FAILS))
  fail('the provider is tired')
changeAccount(folder, account => {
  account.commands.push(process.argv.slice(2).join(' '))
  carryOut(account, ...words)
})
await travel()
