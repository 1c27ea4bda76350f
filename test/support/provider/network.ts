// The network as scripts see it: a host answers where a Worker of the account is deployed at it. UNREADY_VERSION is one that does not
// get ready. Loaded by `node --import` in front of a script.
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { readAccount } from './account.ts'

// Scripts wait until running Workers know of a change; where none runs, nobody needs to.
if (process.env.TIME_FLIES) {
  timers.setTimeout = async <T>(_?: number, value?: T) => value as T
  syncBuiltinESMExports()
}

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
