// One thread answers the requests of all tenants: one that sends very many at once leaves others their part (src/platform/neighbours.ts).
import { beforeAll, expect, it } from 'vitest'
import { prepareDatabases } from '../../support/databases.ts'
import { type Motor, motorTenant } from '../../support/motor.ts'

let large: Motor
let small: Motor
beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  large = await motorTenant('large')
  small = await motorTenant('small')
})

const MANY = 300

/** Takes the thread for some milliseconds. */
const LONG = '{% for i in (1..2000) %}{{ i | plus: 1 }} {% endfor %}'

it('of three hundred requests at once some are refused beside another tenant, whose request is answered', async () => {
  const [policy, other] = await Promise.all([large.createPolicy(), small.createPolicy()])
  const read = async (): Promise<number> => (await small.get(`/policy/${other.body.locator}`)).status
  const print = async () => {
    const body = {
      policyLocator: policy.body.locator,
      type: 'html',
      template: LONG,
    }
    const headers = { accept: 'text/html' }
    return await large.post<{ code: string }>('/document/renderPolicyDocument', body, headers)
  }
  expect([(await print()).status, await read()]).toEqual([200, 200])
  const [printed, status] = await Promise.all([Promise.all(Array.from({ length: MANY }, print)), read()])
  expect(status).toBe(200)
  const refused = printed.filter(one => one.status !== 200)
  expect(refused.length).toBeGreaterThan(0)
  expect(printed.length - refused.length).toBeGreaterThan(MANY / 30)
  for (const { status, body, headers } of refused)
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'overloaded', '2'])
})
