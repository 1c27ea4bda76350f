// The network as scripts see it: a host answers where a Worker of the account is deployed at it. UNREADY_VERSION is one that does not
// get ready. Loaded by `node --import` in front of a script.
import { readAccount } from './account.ts'

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
