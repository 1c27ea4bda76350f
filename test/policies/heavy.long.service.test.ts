// A tenant whose callers read its largest policy again and again leaves time of the isolate to others (src/platform/seats.ts).
import { beforeAll, expect, it } from 'vitest'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { motorTenant, plainYear } from '../support/motor.ts'

const VEHICLES = 1_000

beforeAll(() => prepareDatabases({ tenants: 2 }))

it('concurrent reads of 1,000 vehicles get 200 or 503 with Retry-After, and sequential reads 200', async () => {
  const [many, other] = [await motorTenant('many', motorWithoutPapers()), await motorTenant('other')]
  const [vehicle] = plainYear().request.policy.exposures
  const { body, status } = await many.createPolicy({
    exposures: Array.from({ length: VEHICLES }, () => vehicle),
  })
  expect(status).toBe(200)
  const small = (await other.createPolicy()).body.locator
  const reads = Array.from({ length: 12 }, () =>
    many.get<{ code?: string; exposures?: unknown[] }>(`/policy/${body.locator}`),
  )
  const beside = await other.get(`/policy/${small}`)
  expect(beside.status).toBe(200)
  const answers = await Promise.all(reads)
  const [read, refused] = [200, 503].map(wanted => answers.filter(answer => answer.status === wanted)) as [
    typeof answers,
    typeof answers,
  ]
  expect(read.length + refused.length).toBe(12)
  expect(read.length).toBeGreaterThanOrEqual(2)
  expect(read.every(answer => answer.body.exposures?.length === VEHICLES)).toBe(true)
  for (const answer of refused)
    expect([answer.body.code, Number(answer.headers.get('retry-after'))]).toEqual([
      'overloaded',
      expect.toSatisfy((seconds: number) => seconds >= 2),
    ])
  for (let count = 0; count < 3; count += 1)
    expect((await many.get(`/policy/${body.locator}`)).status).toBe(200)
})
