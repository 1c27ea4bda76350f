// Round trips, counted: the one cost that does not depend on the machine (docs/design.md, section 1).
import { evictAllDurableObjects } from 'cloudflare:test'
import { beforeAll, describe, expect, it } from 'vitest'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('trips')
  await motor.createPolicy()
})

/** The tenant was read less than 5 s ago, so a token costs nothing. */
const warmUp = () => motor.get('/v1/ping/authorized')

describe('round trips', () => {
  it('a bearer token costs none within 5 seconds', async () => {
    await warmUp()
    expect(roundTrips(await motor.get('/v1/ping/authorized'))).toEqual({ d1: 0, object: 0, r2: 0, queue: 0 })
  })

  it('GET /policy/{l} is one D1 round trip and no Durable Object', async () => {
    const { body } = await motor.createPolicy()
    await warmUp()
    expect(roundTrips(await motor.get(`/policy/${body.locator}`))).toEqual({
      d1: 1,
      object: 0,
      r2: 0,
      queue: 0,
    })
  })

  it('POST /policy with finalize is at most two D1 round trips and one object', async () => {
    await warmUp()
    const trips = roundTrips(await motor.createPolicy())
    expect(trips.d1).toBeLessThanOrEqual(2)
    expect(trips.object).toBe(1)
  })

  it('quote to issue is at most 4 D1 round trips warm', async () => {
    await warmUp()
    const created = await motor.createPolicy({ finalize: false })
    const path = `/policy/${created.body.locator}`
    const steps = [
      created,
      await motor.post(`${path}/price`),
      await motor.post(`${path}/finalize`),
      await motor.post(`${path}/issue`),
    ]
    expect(steps.map(step => step.status)).toEqual([200, 200, 200, 200])
    const d1 = steps.map(step => roundTrips(step).d1!)
    expect(d1.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(4)
  })

  it('quote to issue is at most 7 D1 round trips when the object is cold at every step', async () => {
    await warmUp()
    const created = await motor.createPolicy({ finalize: false })
    const path = `/policy/${created.body.locator}`
    const steps = [created]
    for (const step of ['price', 'finalize', 'issue']) {
      await evictAllDurableObjects()
      steps.push(await motor.post(`${path}/${step}`))
    }
    expect(steps.map(step => step.status)).toEqual([200, 200, 200, 200])
    const d1 = steps.map(step => roundTrips(step).d1!)
    expect(d1.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(7)
  })
})
