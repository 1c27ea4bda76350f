// One book written twice: through the live API, and migrated as an account of another system to a tenant with the same
// configuration. Every later request has the same response, except for locators and times of entry.
import { beforeAll, describe, expect, it } from 'vitest'
import type {
  CheckInvoicesResponse,
  PaymentResponse,
  PolicyholderCreditsResponse,
  PolicyInvoiceResponse,
  PolicyPriceResponse,
} from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type {
  AccountMigrationIdMappingsResponse,
  MigrationResponse,
} from '../../src/servicing/migration/contract.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import { accountFromResponses, type LiveBook } from '../support/account-from-responses.ts'
import { callOk } from '../support/api.ts'
import { comparable } from '../support/comparable.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear, workedOf, yearFromSoon } from '../support/motor.ts'
import { withPlugins } from '../support/with-plugins.ts'

const DAY = 86_400_000

type Side = { motor: Motor; holder: string; policies: string[] }

let live: Side
let again: Side
/** The second policy again in a separate account, with theft and glass nested in own damage. */
let nested: Side
/** A policy with an invoice that a plugin writes off: live, and migrated. */
let givenUp: Side
let givenUpAgain: Side

/** Bills the premiums on an invoice that is written off when it is created, and everything else on another. */
const GIVES_UP = `
exports.createInstallments = ({ charges, coverageStartTimestamp, coverageEndTimestamp }) => {
  const on = (some, more) => ({
    startTimestamp: coverageStartTimestamp, endTimestamp: coverageEndTimestamp,
    issueTimestamp: Number(coverageStartTimestamp) - 300 * 86400000, dueTimestamp: coverageStartTimestamp,
    invoiceItems: some.map(({ chargeId, amount }) => ({ chargeId, amount })), ...more,
  })
  const isPremium = one => one.type === 'premium'
  return { installments: [on(charges.filter(one => !isPremium(one))), on(charges.filter(isPremium), { writeOff: true })] }
}`
let migration: MigrationResponse

const ok = <Body>({ motor: { token } }: Pick<Side, 'motor'>, method: string, path: string, body?: unknown) =>
  callOk<Body>(method, path, { token, body })

const post = <Body>(side: Pick<Side, 'motor'>, path: string, body?: unknown) =>
  ok<Body>(side, 'POST', path, body)

/** Creates policies with all kinds of transactions and payments. Each ends in a different way. */
async function writtenLive(motor: Motor): Promise<Side> {
  const side = { motor }
  const holder = await motor.newPolicyholder()
  const [plain, two, many] = workedOf('motor')
  const issued = async (worked: typeof plain, changes: object = {}): Promise<PolicyResponse> => {
    const body = { ...worked!.request.policy, policyholderLocator: holder, ...changes }
    const { locator } = await post<PolicyResponse>(side, '/policy', body)
    return await post(side, `/policy/${locator}/issue`)
  }
  const endorse = (policy: PolicyResponse, body: object) =>
    post(side, `/policies/${policy.locator}/endorsements`, { state: 'issued', ...body })
  const at = (policy: PolicyResponse, share: number): number => {
    const [start, end] = [
      Number(policy.originalContractStartTimestamp),
      Number(policy.originalContractEndTimestamp),
    ]
    return start + Math.floor(((end - start) * share) / DAY) * DAY
  }
  const pay = (locator: string, more: object = {}) =>
    post<{ locator: string }>(side, `/invoice/${locator}/pay`, { fieldValues: { method: 'card' }, ...more })

  /** Pays open invoices and pays out refunds, because a request cannot express an invoice that settles a part of another. */
  const payAll = async ({ locator: policy }: PolicyResponse): Promise<void> => {
    const { invoices } = await ok<PolicyResponse>(side, 'GET', `/policy/${policy}`)
    for (const { locator } of invoices.filter(one => one.settlementStatus === 'outstanding'))
      await pay(locator)
  }

  // A policy with changed cover: a peril and an exposure end, the data of a vehicle and a driver change, and it is billed
  // quarterly.
  const changed = await issued(many)
  const [first, second, trailer] = changed.exposures
  const reversed = await pay(changed.invoices[0]!.locator)
  await post(side, `/payments/${reversed.locator}/reverse`)
  await pay(changed.invoices[0]!.locator)
  await endorse(changed, {
    endorsementName: 'change_of_risk',
    startTimestamp: at(changed, 0.3),
    addFieldGroups: [
      {
        fieldName: 'named_drivers',
        fieldValues: { full_name: 'Jo Roth', birth_date: '1990-05-05', licence_withdrawn: 'no' },
      },
    ],
    updateExposures: [
      {
        exposureLocator: first!.locator,
        fieldValues: { annual_mileage_km: 30_000 },
        endPerils: [first!.perils.find(one => one.name === 'glass')!.locator],
      },
    ],
    endExposures: [trailer!.locator],
  })
  await endorse(changed, {
    endorsementName: 'change_of_risk',
    startTimestamp: at(changed, 0.6),
    updateExposures: [{ exposureLocator: second!.locator, addPerils: [{ name: 'glass' }] }],
  })
  await payAll(changed)
  const next = await post<{ locator: string }>(side, `/policy/${changed.locator}/issueNextInvoice`)
  await pay(next.locator, { amount: 10 })

  // Cancelled pro rata and reinstated with a gap. Then cancelled again and reinstated without one.
  const gapped = await issued(plain)
  await pay(gapped.invoices[0]!.locator)
  const cancel = (policy: PolicyResponse, effectiveTimestamp: number) =>
    post<{ locator: string }>(side, `/policies/${policy.locator}/cancellations`, {
      name: 'customer_request',
      cancellationCategory: 'other',
      effectiveTimestamp,
      issue: true,
    })
  const reinstate = (locator: string, body: object = {}) =>
    ok(side, 'PATCH', `/cancellations/${locator}/reinstate`, { issue: true, ...body })
  const { locator } = await cancel(gapped, at(gapped, 0.4))
  await payAll(gapped)
  await reinstate(locator, { effectiveTimestamp: at(gapped, 0.5) })
  await payAll(gapped)
  const again = await cancel(gapped, at(gapped, 0.8))
  await payAll(gapped)
  await reinstate(again.locator)
  await payAll(gapped)
  await ok(side, 'PUT', `/auxData/${gapped.locator}`, {
    auxData: [{ key: 'crm', value: 'K-17' }],
  })

  // Renewed and paid, the second term with more than its amount due, so that the rest becomes credit. Then cancelled flat, so
  // that all of the second term is given back.
  const renewed = await issued(two, { paymentScheduleName: 'upfront' })
  const end = Number(renewed.originalContractEndTimestamp)
  await pay(renewed.invoices[0]!.locator)
  await post(side, `/policies/${renewed.locator}/renewals`, {
    renewalEndTimestamp: end + 365 * DAY,
    state: 'issued',
  })
  const { invoices } = await ok<PolicyResponse>(side, 'GET', `/policy/${renewed.locator}`)
  const [renewal] = invoices.filter(one => one.settlementStatus === 'outstanding')
  await pay(renewal!.locator, { amount: Number((renewal!.totalDue + 12.34).toFixed(2)) })
  await cancel(renewed, end)

  // Paid from that credit when it is created, and with new credit that remains.
  const credited = await issued(plain, { paymentScheduleName: 'upfront' })
  const [{ locator: owed, outstandingAmount, payments }] = credited.invoices as [PolicyInvoiceResponse]
  expect(payments.map(one => [one.source, one.amount])).toEqual([['credit', 12.34]])
  await pay(owed, { amount: Number((outstandingAmount! + 5.67).toFixed(2)) })
  return { motor, holder, policies: [changed, gapped, renewed, credited].map(one => one.locator) }
}

async function givenUpLive(motor: Motor): Promise<Side> {
  const holder = await motor.newPolicyholder()
  const body = { ...plainYear().request.policy, ...yearFromSoon(), policyholderLocator: holder }
  const { locator } = await post<PolicyResponse>({ motor }, '/policy', body)
  const { invoices } = await post<PolicyResponse>({ motor }, `/policy/${locator}/issue`)
  const [outstanding] = invoices.filter(one => one.settlementStatus === 'outstanding')
  const part = { fieldValues: { method: 'card' }, amount: 7 }
  await post({ motor }, `/invoice/${outstanding!.locator}/pay`, part)
  return { motor, holder, policies: [locator] }
}

const read = <Body>(side: Side, path: string) => ok<Body>(side, 'GET', path)

// biome-ignore lint/suspicious/noExplicitAny: requests as they are sent
type Wire = any

/** Nests theft and glass into own damage. */
function nest(transaction: Wire): void {
  for (const exposure of transaction.segment.rootElement.elements) {
    const outer = exposure.elements.find((one: Wire) => one.elementType === 'own_damage')
    const isInner = (one: Wire): boolean => ['theft', 'glass'].includes(one.elementType)
    if (!outer) continue
    outer.elements = exposure.elements.filter(isInner)
    exposure.elements = exposure.elements.filter((one: Wire) => !isInner(one))
  }
}

const policiesOf = (from: Side): Promise<LiveBook['policies']> =>
  Promise.all(
    from.policies.map(async (one, index) => ({
      policy: await read<PolicyResponse>(from, `/policy/${one}`),
      bills: await read<CheckInvoicesResponse>(from, `/policy/${one}/checkInvoices`),
      price: await post<PolicyPriceResponse>(from, `/policy/${one}/price`),
      auxData: (index === 1 ? { crm: 'K-17' } : {}) as Record<string, string>,
    })),
  )

/** The book as one account, its second policy as another, and the policy with the write-off as a third. */
async function migratedAgain(from: Side, other: Side, motor: Motor): Promise<Side[]> {
  const policies = await policiesOf(from)
  const { values } = plainYear().request.policyholder
  const account = (id: string, of: LiveBook['policies']) =>
    accountFromResponses({ id, values, policies: of, disbursements: [] })
  const second = account('A-2', [policies[1]!])
  for (const { transactions } of second.policies[0]!.terms as Wire[])
    for (const one of transactions) nest(one)
  const body = [account('A-1', policies), second, account('A-3', await policiesOf(other))]
  const token = await motor.signIn('anna.admin')
  const root = `/migration/${motor.tenantLocator}/migrations`
  migration = await callOk('POST', root, { token, body })
  for (let tries = 0; ['submitted', 'processing'].includes(migration.migrationState); tries += 1) {
    if (tries > 600) throw new Error('The migration does not end.')
    await new Promise(resolve => setTimeout(resolve, 20))
    migration = await callOk('GET', `${root}/${migration.locator}`, { token })
  }
  const failures = await callOk<{ items: unknown[] }>('GET', `${root}/${migration.locator}/failures/list`, {
    token,
  })
  expect(failures.items).toEqual([])
  const { items } = await callOk<{ items: AccountMigrationIdMappingsResponse[] }>(
    'GET',
    `${root}/${migration.locator}/mappings/list`,
    { token },
  )
  return ['A-1', 'A-2', 'A-3'].map(id => {
    const { accountLocator: holder, policies } = items.find(one => one.originalAccountId === id)!
    const byId = new Map(Object.entries(policies).map(([locator, one]) => [one.originalId, locator]))
    return {
      motor,
      holder,
      policies: [...from.policies, ...other.policies].flatMap(one => byId.get(one) ?? []),
    }
  })
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  live = await writtenLive(await motorTenant('live'))
  givenUp = await givenUpLive(await motorTenant('given-up', withPlugins({ createInstallments: GIVES_UP })))
  const sides = await migratedAgain(live, givenUp, await motorTenant('again'))
  ;[again, nested, givenUpAgain] = sides as [Side, Side, Side]
})

/** Removes what a request cannot express: the result of underwriting, the description of fees, and reversed payments. */
const told = (value: unknown): unknown =>
  comparable(
    JSON.parse(
      JSON.stringify(value, (name, one) => {
        if (name === 'automatedUnderwritingResult') return undefined
        if (name === 'fees') return (one as object[]).map(fee => ({ ...fee, description: undefined }))
        if (name === 'payments')
          return (
            (one as PaymentResponse[])
              .filter(payment => !payment.reversedTimestamp)
              // Sorts payments from credit first, since the request only implies them.
              .sort((a, b) => (a.source < b.source ? -1 : a.source > b.source ? 1 : 0))
          )
        return one
      }),
    ),
  )

async function bothSay(ask: (side: Side, at: number) => Promise<unknown>): Promise<void> {
  for (const at of live.policies.keys()) {
    const [one, other] = [await ask(live, at), await ask(again, at)]
    expect(told(other)).toEqual(told(one))
  }
}

describe('a book that is written live and migrated', () => {
  it('is migrated completely', () => {
    expect(migration).toMatchObject({ migrationState: 'finished', processedAccounts: 3 })
  })

  it('has the same policies, invoices and payments', async () => {
    await bothSay(async (side, at) => {
      const policy = await read<PolicyResponse>(side, `/policy/${side.policies[at]}`)
      // A request does not state which bills a change only continued, and the first bill of a plan has the type of its
      // transaction.
      const typeOf = (type: string): string => (type === 'endorsement' ? 'installment' : type)
      return {
        ...policy,
        invoices: policy.invoices.map(({ statuses: _, invoiceType, ...one }) => ({
          ...one,
          invoiceType: typeOf(invoiceType),
        })),
      }
    })
  })

  it('has the same prices in detail', async () => {
    await bothSay((side, at) => post(side, `/policy/${side.policies[at]}/price`))
    await bothSay((side, at) => read(side, `/policy/${side.policies[at]}/price`))
  })

  it('has the same snapshot at each time of issue', async () => {
    await bothSay(async (side, at) => {
      const { modifications } = await read<PolicyResponse>(side, `/policy/${side.policies[at]}`)
      const snapshots: unknown[] = []
      for (const { issuedTimestamp } of modifications) {
        const asOfTimestamp = Number(issuedTimestamp)
        const known = await post<PolicyResponse>(side, `/policies/${side.policies[at]}/snapshot`, {
          asOfTimestamp,
        })
        snapshots.push({ ...known, invoices: [] })
      }
      return snapshots
    })
  })

  it('has the same preview of a further change', async () => {
    const figures = (preview: PolicyPreviewResponse): unknown =>
      JSON.parse(
        JSON.stringify(preview.price, (name, one) =>
          /[lL]ocator$|^description$/.test(name) ? undefined : one,
        ),
      )
    const change = { kind: 'customer_request', share: 0.9 }
    for (const at of [0, 1]) {
      const both = await Promise.all(
        [live, again].map(async side => {
          const { originalContractStartTimestamp: start } = await read<PolicyResponse>(
            side,
            `/policy/${side.policies[at]}`,
          )
          const effectiveTimestamp = Number(start) + Math.floor(365 * change.share) * DAY
          return figures(
            await post<PolicyPreviewResponse>(side, `/policies/${side.policies[at]}/preview`, {
              cancellation: { name: change.kind, cancellationCategory: 'other', effectiveTimestamp },
            }),
          )
        }),
      )
      expect(both[1]).toEqual(both[0])
    }
  })

  it('has the same credit, auxiliary data and list of invoices', async () => {
    const credits = async (side: Side) => {
      const { balances, movements } = await read<PolicyholderCreditsResponse>(
        side,
        `/policyholder/${side.holder}/credits`,
      )
      const moved = movements.map(one => `${one.type} ${one.amount}`).sort()
      return { balances, moved }
    }
    const left = {
      balances: [{ amount: 5.67, amountCurrency: 'EUR' }],
      moved: ['overpayment 12.34', 'overpayment 5.67', 'use -12.34'],
    }
    expect(await credits(live)).toEqual(left)
    expect(await credits(again)).toEqual(left)
    const crm = (side: Side) => read<{ value: string }>(side, `/auxData/${side.policies[1]}/crm`)
    expect((await crm(again)).value).toBe((await crm(live)).value)
    const invoices = (side: Side) =>
      read<{ totalDue: number }[]>(side, `/policyholder/${side.holder}/invoices`)
    const dues = async (side: Side) => (await invoices(side)).map(one => one.totalDue)
    expect(await dues(again)).toEqual(await dues(live))
  })

  it('gives the same results when both are endorsed, renewed, cancelled and billed further', async () => {
    const stories = await Promise.all(
      [live, again].map(async side => {
        const policy = await read<PolicyResponse>(side, `/policy/${side.policies[0]}`)
        const end = Number(policy.effectiveContractEndTimestamp)
        const start = Number(policy.originalContractStartTimestamp)
        await post(side, `/policies/${policy.locator}/endorsements`, {
          endorsementName: 'change_of_risk',
          startTimestamp: start + 300 * DAY,
          state: 'issued',
          fieldValues: { claims_free_years: 0 },
        })
        await post(side, `/policies/${policy.locator}/renewals`, {
          renewalEndTimestamp: end + 365 * DAY,
          state: 'issued',
        })
        await post(side, `/policies/${policy.locator}/cancellations`, {
          name: 'customer_request',
          cancellationCategory: 'other',
          effectiveTimestamp: end + 100 * DAY,
          issue: true,
        })
        const { modifications } = await read<PolicyResponse>(side, `/policy/${policy.locator}`)
        const price = await post<PolicyPriceResponse>(side, `/policy/${policy.locator}/price`)
        return {
          changes: modifications.map(one => [one.name, one.premiumChange]),
          total: price.total,
          taxes: price.taxGroups,
        }
      }),
    )
    expect(stories[1]).toEqual(stories[0])
  })

  it('has the same invoices, written off and paid in part', async () => {
    const invoices = async (side: Side) =>
      (await read<PolicyResponse>(side, `/policy/${side.policies[0]}`)).invoices
    const [one, other] = [await invoices(givenUp), await invoices(givenUpAgain)]
    expect(one.map(({ settlementType, payments }) => [settlementType, payments.map(p => p.amount)])).toEqual([
      [undefined, [7]],
      ['writtenOff', []],
    ])
    expect(told(other)).toEqual(told(one))
    expect(told(await read(givenUpAgain, `/policy/${givenUpAgain.policies[0]}`))).toEqual(
      told(await read(givenUp, `/policy/${givenUp.policies[0]}`)),
    )
  })

  it('has the same policy with nested coverages except for parents, which changes and renewals keep', async () => {
    const policyOf = (side: Side, at: number) => read<PolicyResponse>(side, `/policy/${side.policies[at]}`)
    const parents = ({ exposures }: PolicyResponse) =>
      exposures.flatMap(({ perils }) =>
        perils.map(one => [one.name, perils.findIndex(other => other.locator === one.parentLocator)]),
      )
    const shown = (policy: PolicyResponse) =>
      told(
        JSON.parse(
          JSON.stringify(policy, (name, one) =>
            ['parentLocator', 'statuses'].includes(name) ? undefined : one,
          ),
        ),
      )
    const before = await policyOf(nested, 0)
    expect(shown(before)).toEqual(shown(await policyOf(live, 1)))
    const term = [
      ['liability', -1],
      ['own_damage', -1],
      ['theft', 1],
      ['glass', 1],
    ]
    expect(parents(before)).toEqual(term)
    await post(nested, `/policies/${before.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: Number(before.originalContractStartTimestamp) + 300 * DAY,
      state: 'issued',
      updateExposures: [
        { exposureLocator: before.exposures[0]!.locator, fieldValues: { annual_mileage_km: 30_000 } },
      ],
    })
    await post(nested, `/policies/${before.locator}/renewals`, {
      renewalEndTimestamp: Number(before.effectiveContractEndTimestamp) + 365 * DAY,
      state: 'issued',
    })
    const renewed = [
      ['liability', -1],
      ['own_damage', -1],
      ['theft', 5],
      ['glass', 5],
    ]
    expect(parents(await policyOf(nested, 0))).toEqual([...term, ...renewed])
  })
})
