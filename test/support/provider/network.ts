// The network and the time as scripts see them: a host responds if a Worker of the account is deployed there, and whenever a
// script waits, the provider's clock advances by a minute. With UNREADY=newest, the newest version never becomes ready. Loaded by
// `node --import` before a script.
import children, { type ExecFileOptions, type ExecFileSyncOptions } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { promisify } from 'node:util'
import { readAccount } from './account.ts'

// Scripts wait until running Workers learn of a change. TIME_FLIES skips the wait, for tests in which none is running.
const sleep = timers.setTimeout
timers.setTimeout = async <T>(ms?: number, value?: T) => {
  const { passMinute } = await import('./minute.ts')
  await passMinute(process.env.PROVIDER_FOLDER!)
  return process.env.TIME_FLIES ? (value as T) : await sleep(ms, value)
}

// Scripts call `execFile` through `promisify`. A deployment calls the provider's tool dozens of times, and starting a process for
// each would be most of its work.
const { execFile } = children
const runFile = promisify(execFile)
const runFileOrTool = async (file: string, args: readonly string[], options: ExecFileOptions = {}) => {
  const [program = '', ...words] = args
  if (!program.endsWith('/wrangler/bin/wrangler.js')) return await runFile(file, args, options)
  const { runTool } = await import('./tool.ts')
  const { code, ...printed } = await runTool(words, String(options.cwd ?? '.'))
  if (code === 0) return printed
  throw Object.assign(new Error(`Command failed: ${words.join(' ')}`), { code, ...printed })
}
children.execFile = Object.assign((...given: Parameters<typeof execFile>) => execFile(...given), {
  [promisify.custom]: runFileOrTool,
}) as unknown as typeof execFile

// The types of a checkout are not checked: npm, which would check them, takes half a second to start.
const { execFileSync } = children
children.execFileSync = ((file: string, args: readonly string[], options: ExecFileSyncOptions) =>
  file === 'npm' && args.at(-1) === 'check' ? '' : execFileSync(file, args, options)) as typeof execFileSync
syncBuiltinESMExports()

globalThis.fetch = async input => {
  const host = new URL(String(input)).hostname
  const workers = Object.values(readAccount(process.env.PROVIDER_FOLDER!).workers)
  const worker = workers.find(({ domains }) => domains.includes(host))
  if (!worker) throw new TypeError(`fetch failed: no such host ${host}`)
  const newest = worker.versions.at(-1)!.id
  const isUnready =
    process.env.UNREADY === 'newest' && worker.shares.some(({ version_id: id }) => id === newest)
  return new Response('', { status: isUnready ? 503 : 200 })
}
