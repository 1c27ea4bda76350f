// A thousand documents wait: all are generated, a bounded number at a time, and no request waits for them.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { noCalls } from '../../src/platform/calls.ts'
import { findTenant } from '../../src/platform/tenancy.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant, roundTrips } from '../support/motor.ts'
import { measured, size } from '../support/sizes.ts'

const FOLDER = 'products/private_motor/policy'

/** Documents of each policy, and the number of policies: 1,000 documents in the full run. */
const EACH = 20
const POLICIES = size(5, 50)

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  const files: Record<string, string | Uint8Array> = exampleFiles('motor')
  const policy = JSON.parse(new TextDecoder().decode(files[`${FOLDER}/policy.json`] as Uint8Array))
  policy.documents = Array.from({ length: EACH }, (_, at) => ({
    displayName: `Page ${at}`,
    fileName: `page_${at}.pdf`,
    templateName: 'card.template.liquid',
  }))
  files[`${FOLDER}/policy.json`] = JSON.stringify(policy)
  delete files[`${FOLDER}/invoice.template.liquid`]
  motor = await motorTenant('many', files)
})

it('all documents are generated, and the transactions that request them take no additional round trips', {
  timeout: 600_000,
}, async () => {
  const start = performance.now()
  for (let count = 0; count < POLICIES; count += 1) {
    const { body } = await motor.createPolicy()
    const issue = await motor.post(`/policy/${body.locator}/issue`)
    expect(roundTrips(issue)).toMatchObject({ d1: 1, object: 1, r2: 0 })
  }
  const tenant = (await findTenant(env, { name: motor.tenantName }, noCalls()))!
  const database = (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!
  const counted = async (): Promise<Record<string, number>> => {
    const { results } = await database
      .prepare('select state, count(*) as count from document group by state')
      .all<{ state: string; count: number }>()
    return Object.fromEntries(results.map(row => [row.state, row.count]))
  }
  for (let turn = 0; turn < 5_000 && (await counted()).ready !== POLICIES * EACH; turn += 1)
    await new Promise(resolve => setTimeout(resolve, 100))
  expect(await counted()).toEqual({ ready: POLICIES * EACH })
  measured(
    `documents made, ${POLICIES * EACH} waiting at once`,
    Math.round((performance.now() - start) / 100) / 10,
    's',
  )
  const jobs = await database.prepare('select count(*) as count from document_job').first('count')
  expect(jobs).toBe(0)
})
