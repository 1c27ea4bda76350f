// Endorsing one vehicle costs the same for a fleet of a thousand as for one of ten: rows are read and written for what changes
// (docs/design.md, section 1). Where a part of the policy is not enough, the whole policy is read.
import { evictAllDurableObjects } from 'cloudflare:test'
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { size } from '../support/sizes.ts'

const BERLIN = 'Europe/Berlin' as TimeZone
const PRODUCT = 'products/private_motor/policy'
const PERILS = `${PRODUCT}/exposures/vehicle/perils`

const files = motorWithoutPapers()
const glass = new TextDecoder().decode(files[`${PERILS}/glass.json`] as Uint8Array)

/** The motor example with a fifth peril for vehicles, and endorsements that reprice nothing, what changed, or everything. */
const FILES = {
  ...files,
  [`${PERILS}/contents.json`]: glass.replaceAll('glass', 'contents').replaceAll('Glass', 'Contents'),
  [`${PERILS}/contents.premium.liquid`]: files[`${PERILS}/glass.premium.liquid`]!,
  [`${PRODUCT}/endorsements.json`]: JSON.stringify({
    endorsements: ['never', 'always', 'all'].map(reprice => ({
      name: reprice,
      displayName: reprice,
      reprice,
      documents: [],
    })),
  }),
}

let motor: Motor
let few: PolicyResponse
/** With more perils than a policy that is always read whole. */
let many: PolicyResponse

const vehicle = () => {
  const [one] = plainYear().request.policy.exposures as { perils: { name: string }[] }[]
  return { ...one!, perils: [...one!.perils, { name: 'contents' }] }
}

async function fleet(vehicles: number, tenant = motor): Promise<PolicyResponse> {
  const { body } = await tenant.createPolicy({ exposures: Array.from({ length: vehicles }, vehicle) })
  return (await tenant.post(`/policy/${body.locator}/issue`)).body
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('fleets', FILES)
  few = await fleet(10)
  many = await fleet(60)
}, 120_000)

const startOf = (policy: PolicyResponse): Instant => Number(policy.originalContractStartTimestamp) as Instant
const later = (policy: PolicyResponse, months: number): Instant =>
  add(startOf(policy), months, 'month', BERLIN)

type Rows = { read: number; written: number }

/** The rows that a request read and wrote, from the Server-Timing header of its response. */
function rowsOf({ headers }: { headers: Headers }): Rows {
  const [, read, written] = /rows;desc="(\d+) read, (\d+) written"/.exec(headers.get('server-timing')!)!
  return { read: Number(read), written: Number(written) }
}

const patch = <Body = EndorsementResponse>(path: string, body: unknown) =>
  callApi<Body>('PATCH', path, { token: motor.token, body })

/** Takes every step of an endorsement that changes one vehicle, and returns the responses and the rows read and written. */
async function endorsedInSteps(policy: PolicyResponse, at: Instant, value: string) {
  await evictAllDurableObjects()
  const created = await motor.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
    endorsementName: 'always',
    startTimestamp: at,
    updateExposures: [
      { exposureLocator: policy.exposures[4]!.locator, fieldValues: { vehicle_value: value } },
    ],
  })
  const steps = [created]
  for (const action of ['quote', 'accept', 'issue']) {
    await evictAllDurableObjects()
    steps.push(await patch(`/endorsements/${created.body.locator}`, { action }))
  }
  for (const step of steps) expect(step.status).toBe(200)
  return { rows: steps.map(rowsOf), answers: steps.map(step => step.body), trips: steps.map(roundTrips) }
}

const cents = (amount: number): number => Math.round(amount * 100)

const sumOf = <T>(list: readonly T[], amount: (one: T) => number | undefined): number =>
  list.reduce((sum, one) => sum + cents(amount(one) ?? 0), 0)

/** Checks that the amounts in force, the changes and the bills of the policy add up. */
async function addsUp({ locator }: PolicyResponse): Promise<PolicyResponse> {
  const { body: policy } = await motor.get(`/policy/${locator}`)
  const { body: price } = await motor.post<PolicyPriceResponse>(`/policy/${locator}/price`)
  const issued = policy.modifications.filter(one => one.issuedTimestamp)
  for (const one of issued)
    expect(
      sumOf(
        one.exposureModifications.flatMap(changed => changed.perilModifications),
        change => change.premiumChange,
      ),
    ).toBe(cents(one.premiumChange!))
  const inForce = policy.exposures
    .flatMap(one => one.perils.flatMap(peril => peril.characteristics))
    .filter(one => one.issuedTimestamp && !one.replacedTimestamp)
  expect(sumOf(inForce, one => one.premium)).toBe(cents(price.grossPremium))
  expect(sumOf(issued, one => one.premiumChange)).toBe(cents(price.grossPremium))
  const standing = policy.invoices.filter(one => one.settlementType !== 'invalidated')
  expect(sumOf(standing, one => one.totalDue)).toBe(cents(price.total))
  return policy
}

const apply = (policy: PolicyResponse, body: object) =>
  motor.post<EndorsementResponse & { message: string }>(`/policies/${policy.locator}/endorsements`, body)

const dearer = (policy: PolicyResponse, at: number, value: string) => ({
  updateExposures: [
    { exposureLocator: policy.exposures[at]!.locator, fieldValues: { vehicle_value: value } },
  ],
})

describe('Endorsing one vehicle of a fleet', () => {
  it('reads and writes at most three times the rows with 1,000 vehicles as with 10, in every step', async () => {
    const small = await endorsedInSteps(few, later(few, 6), '49000')
    const thousand = await fleet(1_000)
    const large = await endorsedInSteps(thousand, later(thousand, 6), '49000')
    for (const [at, rows] of large.rows.entries()) {
      expect(rows.read).toBeLessThanOrEqual(3 * small.rows[at]!.read)
      expect(rows.written).toBeLessThanOrEqual(3 * small.rows[at]!.written)
    }
    expect(large.answers.at(-1)!.invoice!.totalDue).toBe(small.answers.at(-1)!.invoice!.totalDue)
    // Reading all of the large policy takes most of this file's time.
    await addsUp(size(few, thousand))
  })

  it('by adding one and ending one reads fewer than 200 rows, and all amounts add up', async () => {
    const at = later(many, 3)
    const added = await apply(many, {
      endorsementName: 'never',
      startTimestamp: at,
      state: 'issued',
      addExposures: [vehicle()],
      endExposures: [many.exposures[7]!.locator],
    })
    expect(added.status).toBe(200)
    expect(rowsOf(added).read).toBeLessThan(200)
    const policy = await addsUp(many)
    expect(policy.exposures).toHaveLength(61)
    const { locator: ended } = many.exposures[7]!
    const left = policy.exposures
      .find(one => one.locator === ended)!
      .perils[0]!.characteristics.filter(one => one.issuedTimestamp && !one.replacedTimestamp)
    expect(left.at(-1)!.coverageEndTimestamp).toBe(String(at))
    // The added vehicle is endorsed like the others: later steps find it by the endorsement.
    const own = { ...policy, exposures: policy.exposures.slice(60) }
    await endorsedInSteps({ ...own, exposures: Array(5).fill(own.exposures[0]) }, later(many, 4), '30000')
    await addsUp(many)
  })

  it('has the same price before it is quoted, computed from the whole policy, as in its steps', async () => {
    const { body } = await apply(many, {
      endorsementName: 'always',
      startTimestamp: later(many, 2),
      ...dearer(many, 20, '31000'),
    })
    const priceNow = async () =>
      (await motor.get<PolicyPriceChangeResponse>(`/endorsements/${body.locator}/price`)).body
    const before = await priceNow()
    for (const action of ['quote', 'accept']) {
      expect((await patch(`/endorsements/${body.locator}`, { action })).status).toBe(200)
      expect(await priceNow()).toEqual(before)
    }
    const { body: issued } = await patch(`/endorsements/${body.locator}`, { action: 'issue' })
    expect(await priceNow()).toEqual(before)
    expect(issued.invoice!.totalDue).toBe(before.totalChange)
    await addsUp(many)
  })
})

describe('The whole policy is read', () => {
  it('when an endorsement reprices all vehicles', async () => {
    const all = await apply(many, { endorsementName: 'all', startTimestamp: later(many, 8), state: 'issued' })
    expect(all.status).toBe(200)
    expect(rowsOf(all).read).toBeGreaterThan(600)
    const region = await apply(many, {
      endorsementName: 'always',
      startTimestamp: later(many, 9),
      state: 'issued',
      fieldValues: { region_class: 'R5' },
    })
    expect(region.status).toBe(200)
    const policy = await addsUp(many)
    expect(policy.modifications.at(-1)!.exposureModifications).toHaveLength(60)
  })

  it('when another endorsement conflicts', async () => {
    const { body: first } = await apply(many, {
      endorsementName: 'always',
      startTimestamp: later(many, 10),
      state: 'accepted',
      ...dearer(many, 30, '31000'),
    })
    const second = {
      endorsementName: 'always',
      startTimestamp: later(many, 10),
      ...dearer(many, 31, '32000'),
    }
    const blocked = await apply(many, { ...second, state: 'issued' })
    expect(blocked.status).toBe(409)
    expect(blocked.body.message).toContain(first.locator)
    const forced = await apply(many, { ...second, state: 'issued', conflictHandling: 'invalidate' })
    expect(forced.body.state).toBe('issued')
    const policy = await addsUp(many)
    expect(policy.invoices.filter(one => one.settlementType === 'invalidated')).toHaveLength(1)
  })

  it('when a search value that others have too is removed', async () => {
    const plate = (value: string) => ({
      updateExposures: [
        { exposureLocator: many.exposures[40]!.locator, fieldValues: { registration_plate: value } },
      ],
    })
    const found = async (value: string) => {
      const { body } = await motor.get<{ policies: { locator: string }[] }>(
        `/policies?searchField=registration_plate&searchValue=${encodeURIComponent(value)}`,
      )
      return body.policies.map(one => one.locator)
    }
    const before = await found('B-GL 1985')
    const changed = await apply(many, {
      endorsementName: 'never',
      startTimestamp: startOf(many),
      state: 'issued',
      ...plate('B-XY 7'),
    })
    expect(changed.status).toBe(200)
    expect(await found('B-GL 1985')).toEqual(before)
  })

  it('to enforce the limit of 2000 exposures with 413', async () => {
    const refused = await apply(many, {
      endorsementName: 'never',
      startTimestamp: later(many, 11),
      addExposures: Array.from({ length: 1_940 }, vehicle),
    })
    expect(refused.status).toBe(413)
    expect(refused.body.message).toContain('2001 exposures; the limit is 2000')
  })
  it('when guidelines read all vehicles or their total premium', async () => {
    const reader = await motorTenant('readers', {
      ...FILES,
      [`${PRODUCT}/underwriting.guidelines.liquid`]: `
        {% assign first = data.policy.characteristics.first %}
        {% if data.policy.exposures.size == 60 and first.gross_premium > 20000 %}
          {{ "accept" | set_underwriting_decision }}
        {% else %}
          {{ "reject" | set_underwriting_decision }}
          {{ data.policy.exposures.size | append: " vehicles for " | append: first.gross_premium | add_underwriting_note }}
        {% endif %}`,
    })
    const policy = await fleet(60, reader)
    const answer = await reader.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
      endorsementName: 'never',
      startTimestamp: later(policy, 6),
      state: 'issued',
      ...dearer(policy, 3, '31000'),
    })
    expect(answer.body).toMatchObject({
      state: 'issued',
      automatedUnderwritingResult: { decision: 'accept' },
    })
  })
})
