// A tenant is deleted, and its databases and files are wiped, while it uploads a file slowly.
import { env, exports } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { deleteTenant } from '../../src/tenants/service.ts'
import { wipeReturned } from '../../src/tenants/wipe.ts'
import { elapse } from '../faults/injection.ts'
import { prepareDatabases } from '../support/databases.ts'
import { migratedAccount } from '../support/migrated.ts'
import { motorTenant } from '../support/motor.ts'

beforeAll(() => prepareDatabases({ tenants: 4 }))

const MINUTE_MS = 60_000

/** Half of it is more than the service reads before it begins to store. */
const LARGE = 2 * 5 * 1_048_576

/** A body whose second half is sent when `goOn` is called. */
function halves(text: string) {
  const bytes = new TextEncoder().encode(text)
  const middle = Math.floor(bytes.length / 2)
  const { promise, resolve: goOn } = Promise.withResolvers<void>()
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      sent += 1
      if (sent === 1) return controller.enqueue(bytes.subarray(0, middle))
      await promise
      controller.enqueue(bytes.subarray(middle))
      controller.close()
    },
  })
  return { body, goOn }
}

const filesOf = async (tenantLocator: string): Promise<string[]> =>
  (await env.FILES.list()).objects.map(({ key }) => key).filter(key => key.startsWith(tenantLocator))

it.each([
  ['a table', 'table', 'text/csv', `region,factor\n${'R1,0.86\n'.repeat(20)}${'\n'.repeat(LARGE)}`],
  [
    'a migration',
    'migration',
    'application/json',
    `${JSON.stringify([migratedAccount('slow-1')])}${' '.repeat(LARGE)}`,
  ],
])('%s leaves no file', async (_, kind, contentType, text) => {
  const { token, tenantLocator, tenantName, signIn } = await motorTenant(`slow${kind}`)
  const path =
    kind === 'table'
      ? `/resource/${tenantLocator}/tables?name=slow&staticName=slow`
      : `/migration/${tenantLocator}/migrations`
  const admin = await signIn('anna.admin').catch(() => token)
  const { body, goOn } = halves(text)
  const uploading = exports.default.fetch(
    new Request(`http://bindery.test${path}`, {
      method: 'POST',
      headers: { authorization: admin, 'content-type': contentType },
      body,
    }),
  )
  await scheduler.wait(300)
  await deleteTenant(env, tenantName)
  elapse(MINUTE_MS)
  const freed: string[] = []
  for (let ticks = 0; ticks < 10 && freed.length === 0; ticks += 1)
    freed.push(...(await wipeReturned(env, noCalls(), Date.now() as Instant)).freed)
  expect(freed).toHaveLength(1)
  goOn()
  const { status } = await uploading
  expect([401, 503]).toContain(status)
  await scheduler.wait(100)
  expect(await filesOf(tenantLocator)).toEqual([])
})
