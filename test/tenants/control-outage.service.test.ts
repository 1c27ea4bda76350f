// The control database does not respond: callers that were served before are still served, and requests that need it fail with
// 503.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Shared, Snapshots } from '../../src/platform/tenancy/snapshots.ts'
import { elapse } from '../faults/injection.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorTenant } from '../support/motor.ts'
import { administrator } from '../support/sign-in.ts'

beforeAll(() => prepareDatabases({ tenants: 4 }))

const MINUTE_MS = 60_000

/** Tables of the control database only. */
const OF_CONTROL =
  /"(?:tenant|shard|administrator|administration_\w+|pool_database|allowed_origin|revocation)"/

type Batch = (this: unknown, statements: { statement: string }[]) => Promise<unknown>

/** Until the returned function is called, the control database behaves as if unreachable. */
function breakControl(): () => void {
  const sessions = Object.getPrototypeOf(env.CONTROL.withSession()) as { batch: Batch }
  const own = sessions.batch
  sessions.batch = async function (statements) {
    if (statements.some(({ statement }) => OF_CONTROL.test(statement)))
      throw new Error('D1_ERROR: Network connection lost.')
    return await own.call(this, statements)
  }
  return () => {
    sessions.batch = own
  }
}

describe('while the control database is unreachable', () => {
  it('policies are sold and read for ten minutes, but signing in and administration return 503', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const motor = await motorTenant('outage')
    const adminToken = await administrator()
    expect((await motor.get('/products')).status).toBe(200)
    const mend = breakControl()
    try {
      for (let minute = 0; minute < 10; minute += 1) {
        elapse(MINUTE_MS)
        const created = await motor.createPolicy()
        expect(created.status).toBe(200)
        expect((await motor.post(`/policy/${created.body.locator}/issue`)).status).toBe(200)
        expect((await motor.get(`/policy/${created.body.locator}`)).status).toBe(200)
      }
      const credentials = { username: 'alice.agent', password: 'password', hostName: motor.hostname }
      const needing = await Promise.all([
        callApi('POST', '/account/authenticate', { body: credentials }),
        callApi('GET', '/audit/administration/list', { token: adminToken }),
      ])
      for (const { status, body } of needing)
        expect([status, body]).toMatchObject([503, { code: 'unavailable' }])
    } finally {
      mend()
    }
    elapse(6_000)
    expect((await motor.createPolicy()).status).toBe(200)
  })
})

describe('a snapshot of a control record', () => {
  const shared: Shared<string> = {
    url: `https://snapshots.invalid/${crypto.randomUUID()}`,
    text: value => value,
    read: text => text,
  }
  const isolate = () => new Snapshots<string>(10, 5_000)
  const failing = () => Promise.reject(new Error('away'))
  let reads = 0
  const reading = (value: string) => async () => {
    reads += 1
    return value
  }
  afterEach(() => {
    reads = 0
  })

  it('is read once per place in 5 s, and is available to new isolates when the source fails', async () => {
    const [first, second] = [isolate(), isolate()]
    expect(await first.find('k', reading('one'), shared)).toMatchObject({ value: 'one', isStale: false })
    expect(await second.find('k', reading('two'), shared)).toMatchObject({ value: 'one', isStale: false })
    expect(reads).toBe(1)
    elapse(5_001)
    expect(await second.find('k', reading('two'), shared)).toMatchObject({ value: 'two', isRenewed: true })
    elapse(5_001)
    vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await isolate().find('k', failing, shared)).toMatchObject({ value: 'two', isStale: true })
    expect(await first.find('k', failing, shared)).toMatchObject({ value: 'one', isStale: true })
  })

  it('that another release stored in an unreadable form is ignored', async () => {
    const url = `https://snapshots.invalid/${crypto.randomUUID()}`
    const unreadable: Shared<string> = { ...shared, url, read: () => JSON.parse('{') }
    await isolate().find('k', reading('one'), unreadable)
    expect(await isolate().find('k', reading('two'), unreadable)).toMatchObject({ value: 'two' })
  })

  it('that is older than an hour is ignored', async () => {
    const one = isolate()
    await one.find('k', reading('one'))
    elapse(60 * MINUTE_MS + 1)
    await expect(one.find('k', failing)).rejects.toThrow('away')
  })

  it('is read again after a change, even if an earlier read ends after the change', async () => {
    const one = isolate()
    const slow = Promise.withResolvers<string>()
    const before = one.find('k', () => slow.promise)
    one.forget()
    slow.resolve('before')
    expect((await before).value).toBe('before')
    expect((await one.find('k', reading('after'))).value).toBe('after')
    expect((await one.find('k', reading('never'))).value).toBe('after')
  })

  it('from before a change in this isolate is used only if no later one can be read', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const one = isolate()
    await one.find('k', reading('before'))
    one.forget()
    const slow = async () => {
      await scheduler.wait(2_500)
      return 'after'
    }
    expect(await one.find('k', slow)).toMatchObject({ value: 'after', isStale: false })
    one.forget()
    expect(await one.find('k', failing)).toMatchObject({ value: 'after', isStale: true })
    expect(await one.find('k', reading('at last'))).toMatchObject({ value: 'at last', isStale: false })
  })

  it('is read again after a change even if a read failed at a later time of a clock that was ahead', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const one = isolate()
    await one.find('k', reading('before'))
    elapse(MINUTE_MS)
    expect(await one.find('k', failing)).toMatchObject({ value: 'before', isStale: true })
    elapse(-MINUTE_MS)
    one.forget()
    await one.find('k', reading('changed'))
    // The time of the failed read is reached again.
    elapse(MINUTE_MS + 1_000)
    expect(await one.find('k', reading('after'))).toMatchObject({ value: 'after', isStale: false })
  })

  it('that is cached is used if a read takes longer than two seconds, and no read is tried for 5 s', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const one = isolate()
    await one.find('k', reading('one'))
    elapse(5_001)
    const hanging = vi.fn(() => new Promise<string>(() => {}))
    const begun = performance.now()
    expect(await one.find('k', hanging)).toMatchObject({ value: 'one', isStale: true })
    expect(await one.find('k', hanging)).toMatchObject({ value: 'one', isStale: true })
    expect(hanging).toHaveBeenCalledTimes(1)
    expect(performance.now() - begun).toBeLessThan(60_000)
  })
})
