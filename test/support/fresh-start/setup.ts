// Files of one worker share a runtime, since to start one costs seconds. Each file begins as in a runtime of its own: no
// database, file, object or queue has anything of an earlier file, and nobody remembers its tenants.
import { reset } from 'cloudflare:test'
import { forgetEarlierFiles } from './memory.ts'

await reset()
globalThis.forgetTenants?.()
forgetEarlierFiles()
