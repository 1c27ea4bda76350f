// What the console is shown with: policies of examples/motor with a past of two and a half years, told in the order in which
// it happened, by the interface alone and by the tenant's own clock.
import { type ApiClient, ApiFailure } from '../../scripts/api-client.ts'
import { type WorkedPolicy, workedPolicies } from '../../scripts/example.ts'

/** A name that would run as a script wherever text is taken for markup. */
export const HOSTILE_NAME = '<img src=x onerror="window.struck=1"><script>window.struck=1</script>'

export type Book = {
  /** Endorsed twice, once into the past, renewed, cancelled and reinstated; paid in part. */
  readonly policy: string
  readonly holder: string
  /** Not issued, of a policyholder by the name above. */
  readonly hostile: string
}

type Locator = { locator: string }
type Part = Locator & { name: string; perils: Part[] }
type Told = Locator & { exposures: Part[]; invoices: (Locator & { settlementStatus: string })[] }

const DAY_MS = 86_400_000

const worked = (name: string): WorkedPolicy['request'] =>
  workedPolicies().find(policy => policy.name === name)!.request

/** The clock stands at what falls due on its way, if there is much; it is sent on until it is there. */
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

/** Tells the past of the policy. A webhook to `receiver`, an address that refuses, is there from the beginning. */
export async function writeBook(admin: ApiClient, tenantLocator: string, receiver: string): Promise<Book> {
  await admin.call('POST', `/event/${tenantLocator}/webhooks`, {
    name: 'Ledger',
    enabled: true,
    endpoint: { url: receiver, headers: {}, hmacEnabled: true },
    eventTypes: ['policy.issue', 'invoice.*'],
    failureHandling: { triggers: ['4xx', '5xx', 'timeout'], divert: false, suspend: false },
  })
  const request = worked('A plain year').policy as {
    policyStartTimestamp: number
    exposures: { exposureName: string; fieldValues: Record<string, unknown>; perils: { name: string }[] }[]
  }
  const start = request.policyStartTimestamp
  const [vehicle] = request.exposures
  const holder = await holderNamed(admin, { first_name: 'Greta', last_name: 'Lindner' })
  const { locator } = await admin.call<Told>('POST', '/policy', {
    ...request,
    policyholderLocator: holder,
    paymentScheduleName: 'quarterly',
  })
  const post = <Answer = Told>(path: string, body: object = {}) =>
    admin.call<Answer>('POST', `/${path}`, body)
  const told = () => admin.call<Told>('GET', `/policy/${locator}`)
  await post(`policy/${locator}/issue`)

  const pay = async (): Promise<void> => {
    for (const { locator: invoice, settlementStatus } of (await told()).invoices)
      if (settlementStatus === 'outstanding')
        await post(`invoice/${invoice}/pay`, {
          fieldValues: { method: 'card' },
        }).catch(paidMeanwhile)
  }
  await pay()

  await advance(admin, start + 40 * DAY_MS)
  await pay()
  // A second car, from the next week on.
  await post(`policies/${locator}/endorsements`, {
    endorsementName: 'change_of_risk',
    state: 'issued',
    startTimestamp: start + 59 * DAY_MS,
    addExposures: [
      {
        ...vehicle,
        fieldValues: { ...vehicle!.fieldValues, registration_plate: 'B-LI 2027', vehicle_value: '41000' },
        perils: [{ name: 'liability' }, { name: 'own_damage' }],
      },
    ],
  })
  await pay()

  await advance(admin, start + 100 * DAY_MS)
  await pay()
  // It is told only now that the first car has been driven more since March.
  const [first] = (await told()).exposures
  await post(`policies/${locator}/endorsements`, {
    endorsementName: 'change_of_risk',
    state: 'issued',
    startTimestamp: start + 90 * DAY_MS,
    updateExposures: [{ exposureLocator: first!.locator, fieldValues: { annual_mileage_km: '24000' } }],
  })
  await pay()

  await advance(admin, start + 190 * DAY_MS)
  await pay()
  await advance(admin, start + 250 * DAY_MS)
  const cancellation = await post(`policies/${locator}/cancellations`, {
    effectiveTimestamp: start + 240 * DAY_MS,
    name: 'customer_request',
    cancellationCategory: 'vehicle_sold',
    issue: true,
  })
  await advance(admin, start + 262 * DAY_MS)
  await admin.call('PATCH', `/cancellations/${cancellation.locator}/reinstate`, {
    effectiveTimestamp: start + 251 * DAY_MS,
    issue: true,
  })
  await pay()
  await advance(admin, start + 280 * DAY_MS)
  await pay()
  // The next term, and a change that waits for acceptance.
  await advance(admin, start + 330 * DAY_MS)
  await post(`policies/${locator}/renewals`, {
    state: 'issued',
    renewalEndTimestamp: start + 731 * DAY_MS,
  })
  await post(`policies/${locator}/endorsements`, {
    endorsementName: 'change_of_contact',
    state: 'quoted',
    startTimestamp: start + 340 * DAY_MS,
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

/** Credit may have settled an invoice since it was read. */
function paidMeanwhile(failure: unknown): void {
  if (failure instanceof ApiFailure && failure.status === 409) return
  throw failure
}
