// Clients that change one issued policy concurrently: the changes are serialized, none is lost, and each client gets its result.
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Plain, plainTenant } from '../support/plain-product.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const START = 1_798_758_000_000 as Instant
const CLIENTS = 100

const later = (count: number, unit: 'day' | 'month'): Instant => add(START, count, unit, BERLIN)

let plain: Plain

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  plain = await plainTenant('atonce', { timezone: BERLIN })
})

type Told = { status: number; body: { locator: string; state: string; message: string } }

const cents = (amount: number): number => Math.round(amount * 100)

async function issued(): Promise<PolicyResponse> {
  return await plain.issue({ start: START, end: later(12, 'month') }, '1200')
}

const read = ({ locator }: PolicyResponse): Promise<PolicyResponse> => plain.ok('GET', `/policy/${locator}`)

/** Checks that the changes of all transactions add up to the premium in force, and the invoices to the price. */
async function addsUp(policy: PolicyResponse): Promise<PolicyResponse> {
  const now = await read(policy)
  expect(now.modifications.map(one => one.number)).toEqual(now.modifications.map((_, at) => at))
  const price = await plain.ok<PolicyPriceResponse>('POST', `/policy/${policy.locator}/price`)
  expect(now.modifications.reduce((sum, one) => sum + cents(one.premiumChange!), 0)).toBe(
    cents(price.grossPremium),
  )
  const standing = now.invoices.filter(one => one.settlementType !== 'invalidated')
  expect(standing.reduce((sum, one) => sum + cents(one.totalDue), 0)).toBe(cents(price.total))
  return now
}

describe(`${CLIENTS} concurrent clients`, () => {
  it('endorse a policy for different days, and all endorsements are recorded in order', async () => {
    const policy = await issued()
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, (_, at) =>
        plain.call<Told['body']>('POST', `/policies/${policy.locator}/endorsements`, {
          endorsementName: 'always',
          startTimestamp: later(3 * at + 1, 'day'),
          fieldValues: { note: `client ${at}` },
          state: 'issued',
        }),
      ),
    )
    expect(answers.map(one => [one.status, one.body.state])).toEqual(answers.map(() => [200, 'issued']))
    const now = await addsUp(policy)
    expect(now.modifications).toHaveLength(CLIENTS + 1)
    expect(new Set(now.modifications.flatMap(one => one.endorsementLocator ?? []))).toEqual(
      new Set(answers.map(one => one.body.locator)),
    )
    const inForce = now.characteristics.filter(one => !one.replacedTimestamp)
    expect(inForce).toHaveLength(CLIENTS + 1)
  })

  it('quote one endorsement each: one is quoted, and the others get 409 with its locator', async () => {
    const policy = await issued()
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, () =>
        plain.call<Told['body']>('POST', `/policies/${policy.locator}/endorsements`, {
          endorsementName: 'always',
          startTimestamp: later(2, 'month'),
          fieldValues: { note: 'mine' },
          state: 'quoted',
        }),
      ),
    )
    const [won, ...others] = answers.filter(one => one.status === 200)
    expect(others).toEqual([])
    const refused = answers.filter(one => one !== won)
    for (const { status, body } of refused) {
      expect(status).toBe(409)
      expect(body.message).toContain(
        `conflict with this request: ${won!.body.locator}. Invalidate them, or send`,
      )
    }
    const all = await plain.ok<unknown[]>('GET', `/policies/${policy.locator}/endorsements`)
    expect(all).toHaveLength(1)
  })

  it('issue the same endorsement, which is issued and billed once', async () => {
    const policy = await issued()
    const { locator } = await plain.ok<Told['body']>('POST', `/policies/${policy.locator}/endorsements`, {
      endorsementName: 'always',
      startTimestamp: later(6, 'month'),
      updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly: '2400' } }],
      state: 'quoted',
    })
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, () =>
        plain.call<Told['body']>('PATCH', `/endorsements/${locator}`, { action: 'issue' }),
      ),
    )
    expect(answers.filter(one => one.status === 200)).toHaveLength(1)
    for (const { status, body } of answers.filter(one => one.status !== 200)) {
      expect(status).toBe(409)
      expect(body.message).toMatch(/is issued and cannot be issued/)
    }
    const now = await addsUp(policy)
    expect(now.modifications).toHaveLength(2)
    expect(now.invoices.map(one => one.totalDue)).toEqual([1200, 600])
  })

  it('endorse, renew and cancel a policy, and exactly the changes answered with 200 are recorded', async () => {
    const policy = await issued()
    const { locator } = policy
    const asked = Array.from({ length: CLIENTS }, (_, at) => {
      switch (at % 4) {
        case 0:
          return {
            path: `/policies/${locator}/renewals`,
            body: { renewalEndTimestamp: later(12 + 6 * (at + 1), 'month'), state: 'issued' },
          }
        case 1:
          return {
            path: `/policies/${locator}/cancellations`,
            body: { name: 'wish', effectiveTimestamp: later(11, 'month') - at * 86_400_000, issue: true },
          }
        case 2:
          return { path: `/policy/${locator}/cancel`, body: { coverageEndTimestamp: later(300 - at, 'day') } }
        default:
          return {
            path: `/policies/${locator}/endorsements`,
            body: {
              endorsementName: 'all',
              startTimestamp: later(2 * at, 'day'),
              fieldValues: { note: `client ${at}` },
              state: 'issued',
            },
          }
      }
    })
    const answers = await Promise.all(
      asked.map(({ path, body }) => plain.call<Told['body']>('POST', path, body)),
    )
    for (const { status, body } of answers) {
      expect([200, 400, 409]).toContain(status)
      if (status !== 200)
        expect(body.message).toMatch(
          /must be (at or )?after|must be before .* takes effect|no coverage|cannot be renewed/,
        )
    }
    const now = await addsUp(policy)
    expect(now.modifications).toHaveLength(1 + answers.filter(one => one.status === 200).length)
    const inForce = now.characteristics
      .filter(one => !one.replacedTimestamp)
      .sort((a, b) => Number(a.startTimestamp) - Number(b.startTimestamp))
    expect(inForce[0]!.startTimestamp).toBe(String(START))
    for (const [at, one] of inForce.entries())
      if (at > 0) expect(one.startTimestamp).toBe(inForce[at - 1]!.endTimestamp)
    expect(inForce.at(-1)!.endTimestamp).toBe(now.effectiveContractEndTimestamp)
  })
})
