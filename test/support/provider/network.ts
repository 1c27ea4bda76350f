// The network and the time as scripts see them: a host answers where a Worker of the account is deployed at it, and whenever a script
// waits, the provider's clock goes on by a minute. UNREADY is a version that does not get ready. Loaded by `node --import` in front of a script.
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { readAccount } from './account.ts'

// Scripts wait until running Workers know of a change; where none runs, nobody needs to.
const sleep = timers.setTimeout
timers.setTimeout = async <T>(ms?: number, value?: T) => {
  const { passMinute } = await import('./minute.ts')
  await passMinute(process.env.PROVIDER_FOLDER!)
  return process.env.TIME_FLIES ? (value as T) : await sleep(ms, value)
}
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
