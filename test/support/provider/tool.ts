// A stand-in for the provider's command line tool. It has the commands that the scripts call, with the same arguments and the
// same kind of output. PROVIDER_FOLDER is the account. Commands that begin with the text of PROVIDER_FAILS fail.
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
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

/** The outcome of a command. */
export type ToolEnded = { readonly code: number; readonly stdout: string; readonly stderr: string }

const readOptions = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
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

/** The context of a command. */
type Call = {
  readonly account: Account
  readonly folder: string
  readonly values: ReturnType<typeof readOptions>['values']
  /** Reads the file at a path that an option names. */
  readonly read: (file: string) => string
  readonly write: (file: string, text: string) => void
  readonly say: (text: string) => void
  /** Registers work to do after the account is written. */
  readonly afterwards: (work: () => Promise<void>) => void
}

class Failure extends Error {}

function fail(message: string): never {
  throw new Failure(message)
}

const print = ({ say }: Call, value: unknown): void => say(JSON.stringify(value))
const config = ({ values, read }: Call): string => read(values.config!)

/** Name of the database that the configuration binds under `binding`. */
function databaseBound(call: Call, binding: string): string {
  const section = config(call)
    .split('[[d1_databases]]')
    .find(text => text.includes(`binding = "${binding}"`))
  const id = section?.match(/database_id = "([^"]*)"/)?.[1]
  const found = Object.entries(call.account.databases).find(
    ([name, { id: own }]) => own === id || name === binding,
  )
  return found?.[0] ?? fail(`Couldn't find a D1 DB named '${binding}' with the id ${id}.`)
}

function execute(call: Call, binding: string): void {
  const { values, read } = call
  const database = openStored(call.folder, call.account.databases[databaseBound(call, binding)]!.id)
  try {
    if (values.command !== undefined)
      print(call, [{ results: database.prepare(values.command).all(), success: true }])
    else {
      database.exec(`begin immediate;\n${read(values.file!)}\ncommit`)
      print(call, [{ results: [], success: true }])
    }
  } catch (problem) {
    fail(String(problem))
  } finally {
    database.close()
  }
}

const workerName = (call: Call): string => call.values.name ?? config(call).match(/^name = "([^"]*)"/m)![1]!

const workerOf = (call: Call): StoredWorker =>
  call.account.workers[workerName(call)] ??
  fail(`A request failed. This Worker does not exist on your account. [code: 10007] ${workerName(call)}`)

function upload(call: Call): string {
  const { account, values, read } = call
  const id = randomUUID()
  const none: StoredWorker = { versions: [], shares: [], domains: [], objectUpdates: undefined }
  const worker = account.workers[workerName(call)] ?? none
  account.workers[workerName(call)] = worker
  const secrets = JSON.parse(read(values['secrets-file']!)) as Record<string, string>
  const former = worker.versions.at(-1)?.secrets ?? {}
  worker.versions.push({ id, config: config(call), secrets: { ...former, ...secrets } })
  return id
}

const COMMANDS: Record<string, (call: Call, ...words: string[]) => void> = {
  login: ({ say }) => say('Successfully logged in.'),
  whoami: call => print(call, { loggedIn: true }),
  'd1 list': call =>
    print(
      call,
      Object.entries(call.account.databases).map(([name, { id }]) => ({ name, uuid: id })),
    ),
  'd1 create'({ account, values, say }, name = '') {
    if (account.databases[name]) fail(`A database with that name already exists: ${name}`)
    const place = values.jurisdiction ?? values.location ?? ''
    const id = randomUUID()
    account.databases[name] = { id, place, bookmarks: [] }
    say(
      `Created your new D1 database.\n\n${JSON.stringify({ d1_databases: [{ database_name: name, database_id: id }] }, null, 2)}`,
    )
  },
  'd1 execute': (call, binding = '') => execute(call, binding),
  'd1 export'(call, binding = '') {
    const database = openStored(call.folder, call.account.databases[databaseBound(call, binding)]!.id)
    const tables = database.prepare(`select sql from sqlite_master where sql is not null`).all()
    database.close()
    call.write(call.values.output!, tables.map(({ sql }) => `${sql};\n`).join(''))
  },
  'd1 time-travel'(call, verb, binding = '') {
    const { account, folder, values } = call
    const name = databaseBound(call, binding)
    const at = values.timestamp
    if (verb === 'restore') {
      if (!account.databases[name]!.bookmarks.some(one => one.name === values.bookmark))
        fail(`no bookmark ${values.bookmark}`)
      print(call, { bookmark: values.bookmark, previous_bookmark: bookmark(folder, account, name) })
      call.afterwards(() => travelTo(folder, account.databases[name]!.id, values.bookmark!))
    } else if (verb !== 'info') fail(`no command ${verb}`)
    else if (at === undefined) print(call, { bookmark: bookmark(folder, account, name) })
    else
      print(call, {
        bookmark: bookmarkAt(account, name, Date.parse(at)) ?? fail(`no bookmark of ${name} at ${at}`),
      })
  },
  'r2 bucket'({ account, values, say }, verb, name = '') {
    const border = values.jurisdiction ?? ''
    if (verb === 'create') account.buckets.push(`${name}/${border}`)
    for (const bucket of account.buckets)
      if (verb === 'list' && bucket.endsWith(`/${border}`)) say(`name:  ${bucket.split('/')[0]}`)
  },
  'queues list': ({ account: { queues }, values, say }) => {
    const page = Number(values.page)
    for (const name of queues.slice((page - 1) * 10, page * 10)) say(`│ ${'0'.repeat(32)} │ ${name} │ now │`)
  },
  'queues create': ({ account: { queues } }, name = '') => void queues.push(name),
  'deployments list': call =>
    print(
      call,
      workerOf(call).versions.map(({ id }) => ({ id })),
    ),
  'deployments status': call => print(call, { versions: workerOf(call).shares }),
  deploy(call) {
    const { values } = call
    if (values['dry-run']) return
    const id = upload(call)
    const worker = workerOf(call)
    worker.shares = [{ version_id: id, percentage: 100 }]
    worker.domains = [values.domain!]
    worker.objectUpdates = values['durable-objects-code-update-mode']
  },
  'versions upload': call => call.say(`Uploaded ${workerName(call)}\nWorker Version ID: ${upload(call)}`),
  'versions deploy'(call, ...shares) {
    const worker = workerOf(call)
    worker.shares = shares.map(share => {
      const [id, percentage] = share.split('@')
      if (!worker.versions.some(version => version.id === id)) fail(`no version ${id}`)
      return { version_id: id!, percentage: Number(percentage) }
    })
    worker.objectUpdates = call.values['durable-objects-code-update-mode'] ?? worker.objectUpdates
  },
}

/** Carries out a command as the tool does when started in the folder. */
export async function runTool(args: readonly string[], cwd = '.'): Promise<ToolEnded> {
  const said: string[] = []
  const stdout = (): string => said.map(line => `${line}\n`).join('')
  try {
    await carryOut(args, cwd, said)
    return { code: 0, stdout: stdout(), stderr: '' }
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem
    return { code: 1, stdout: stdout(), stderr: `${problem.message}\n` }
  }
}

async function carryOut(args: readonly string[], cwd: string, said: string[]): Promise<void> {
  const { values, positionals } = readOptions(args)
  const [first = '', second = ''] = positionals
  const isPair = COMMANDS[`${first} ${second}`] !== undefined
  const command = COMMANDS[isPair ? `${first} ${second}` : first]
  if (!command) fail(`no command ${positionals.join(' ')}`)
  if (process.env.PROVIDER_FAILS && positionals.join(' ').startsWith(process.env.PROVIDER_FAILS))
    fail('the provider is tired')
  const folder = process.env.PROVIDER_FOLDER!
  let afterwards = async (): Promise<void> => {}
  changeAccount(folder, account => {
    account.commands.push(args.join(' '))
    const call: Call = {
      account,
      folder,
      values,
      read: file => readFileSync(resolve(cwd, file), 'utf8'),
      write: (file, text) => writeFileSync(resolve(cwd, file), text),
      say: text => said.push(text),
      afterwards(work) {
        afterwards = work
      },
    }
    command(call, ...positionals.slice(isPair ? 2 : 1))
  })
  await afterwards()
}
