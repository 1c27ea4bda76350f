// The data that the console is shown with: policies of examples/motor with a history of a year. They are created in the order of
// the events, only through the interface and with the tenant's clock.
import { Temporal } from 'temporal-polyfill'
import { type ApiClient, ApiFailure } from '../../scripts/api-client.ts'
import { type WorkedPolicy, workedPolicies } from '../../scripts/example.ts'
import { YEARS_ON_MS } from '../support/years.ts'

/** A name that would run as a script wherever text is interpreted as HTML. */
export const HOSTILE_NAME = '<img src=x onerror="window.struck=1"><script>window.struck=1</script>'

export type Book = {
  /** Endorsed twice (once retroactively), renewed, cancelled and reinstated; partly paid. */
  readonly policy: string
  readonly holder: string
  /** Not issued. Its policyholder has the name above. */
  readonly hostile: string
}

type Locator = { locator: string }
type Part = Locator & { name: string; perils: Part[] }
type PolicyRecord = Locator & { exposures: Part[]; invoices: (Locator & { settlementStatus: string })[] }

/** The instant of a local time in the tenant's time zone. */
const at = (time: string): number => Temporal.ZonedDateTime.from(`${time}[Europe/Berlin]`).epochMilliseconds

/** The example as a request, moved to later years: it is of 2027, which the clocks of tenants will soon have passed. */
function worked(name: string): WorkedPolicy['request'] {
  const { policyholder, policy } = workedPolicies().find(one => one.name === name)!.request
  const term = {
    policyStartTimestamp: (policy.policyStartTimestamp as number) + YEARS_ON_MS,
    policyEndTimestamp: (policy.policyEndTimestamp as number) + YEARS_ON_MS,
  }
  return { policyholder, policy: { ...policy, ...term } }
}

/** Advances the clock. It may stop on its way if much falls due, so it is advanced again until it arrives. */
async function advance(admin: ApiClient, timestamp: number): Promise<void> {
  for (let completed = false; !completed; )
    ({ completed } = await admin.call<{ completed: boolean }>('POST', '/test/clock', { timestamp }))
}

async function holderNamed(admin: ApiClient, names: Record<string, string>): Promise<string> {
  const { values } = worked('A plain year').policyholder
  const { locator } = await admin.call<Locator>('POST', '/policyholder/create', {
    completed: true,
    values: { ...(values as object), ...names },
  })
  return locator
}

/** Creates the history of the policy. A webhook to `receiver`, which rejects events, exists from the beginning. */
export async function writeBook(admin: ApiClient, tenantLocator: string, receiver: string): Promise<Book> {
  await admin.call('POST', `/event/${tenantLocator}/webhooks`, {
    name: 'Ledger',
    enabled: true,
    endpoint: { url: receiver, headers: {}, hmacEnabled: true },
    eventTypes: ['policy.issue', 'invoice.*'],
    failureHandling: { triggers: ['4xx', '5xx', 'timeout'], divert: false, suspend: false },
  })
  const request = worked('A plain year').policy as unknown as {
    exposures: { exposureName: string; fieldValues: Record<string, unknown>; perils: { name: string }[] }[]
  }
  const [vehicle] = request.exposures
  const holder = await holderNamed(admin, { first_name: 'Greta', last_name: 'Lindner' })
  const { locator } = await admin.call<PolicyRecord>('POST', '/policy', {
    ...request,
    policyholderLocator: holder,
    paymentScheduleName: 'quarterly',
  })
  const post = <Answer = PolicyRecord>(path: string, body: object = {}) =>
    admin.call<Answer>('POST', `/${path}`, body)
  const readPolicy = () => admin.call<PolicyRecord>('GET', `/policy/${locator}`)
  await post(`policy/${locator}/issue`)

  const pay = async (): Promise<void> => {
    for (const { locator: invoice, settlementStatus } of (await readPolicy()).invoices)
      if (settlementStatus === 'outstanding')
        await post(`invoice/${invoice}/pay`, {
          fieldValues: { method: 'card' },
        }).catch(paidMeanwhile)
  }
  await pay()

  await advance(admin, at('2035-02-10T09:12'))
  await pay()
  // A second car, from March on.
  await post(`policies/${locator}/endorsements`, {
    endorsementName: 'change_of_risk',
    state: 'issued',
    startTimestamp: at('2035-03-01T00:00'),
    addExposures: [
      {
        ...vehicle,
        fieldValues: { ...vehicle!.fieldValues, registration_plate: 'B-LI 2035', vehicle_value: '41000' },
        perils: [{ name: 'liability' }, { name: 'own_damage' }],
      },
    ],
  })
  await pay()

  await advance(admin, at('2035-04-12T14:31'))
  await pay()
  // A retroactive change: the first car has been driven more since April 1.
  const [first] = (await readPolicy()).exposures
  await post(`policies/${locator}/endorsements`, {
    endorsementName: 'change_of_risk',
    state: 'issued',
    startTimestamp: at('2035-04-01T00:00'),
    updateExposures: [{ exposureLocator: first!.locator, fieldValues: { annual_mileage_km: '24000' } }],
  })
  await pay()

  await advance(admin, at('2035-07-08T08:00'))
  await pay()
  await advance(admin, at('2035-09-08T11:47'))
  const cancellation = await post(`policies/${locator}/cancellations`, {
    effectiveTimestamp: at('2035-09-01T00:00'),
    name: 'customer_request',
    cancellationCategory: 'vehicle_sold',
    issue: true,
  })
  await advance(admin, at('2035-09-20T16:05'))
  await admin.call('PATCH', `/cancellations/${cancellation.locator}/reinstate`, {
    effectiveTimestamp: at('2035-09-15T00:00'),
    issue: true,
  })
  await pay()
  await advance(admin, at('2035-10-07T08:00'))
  await pay()
  // The next term, and a change that waits for acceptance.
  await advance(admin, at('2035-11-26T10:20'))
  await post(`policies/${locator}/renewals`, {
    state: 'issued',
    renewalEndTimestamp: at('2037-01-01T00:00'),
  })
  await post(`policies/${locator}/endorsements`, {
    endorsementName: 'change_of_contact',
    state: 'quoted',
    startTimestamp: at('2035-12-07T00:00'),
    fieldValues: { contact_email: 'greta@example.com' },
  })

  const stranger = await holderNamed(admin, { first_name: 'Mallory', last_name: HOSTILE_NAME })
  const hostile = await admin.call<Locator>('POST', '/policy', {
    ...request,
    policyholderLocator: stranger,
    finalize: false,
  })
  return { policy: locator, holder, hostile: hostile.locator }
}

/** Ignores a conflict, because credit may have settled the invoice since it was read. */
function paidMeanwhile(failure: unknown): void {
  if (failure instanceof ApiFailure && failure.status === 409) return
  throw failure
}
