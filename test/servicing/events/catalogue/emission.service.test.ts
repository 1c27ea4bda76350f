// Performs every operation that emits events: each emits everything that the catalogue lists for it, and nothing else. (A check
// after every test file asserts that no other operation emits events.)
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  EVENT_TYPES,
  type EventType,
  eventTypes,
  isEventType,
} from '../../../../src/platform/events/catalogue.ts'
import type { PolicyResponse } from '../../../../src/policy/contract/response.ts'
import type { PolicyholderResponse } from '../../../../src/policyholders/contract.ts'
import { CAUSES } from '../../../../src/servicing/events/stream/causes.ts'
import { dataContract } from '../../../../src/servicing/events/stream/notifications.ts'
import type { MigrationResponse } from '../../../../src/servicing/migration/contract.ts'
import type { CancellationResponse } from '../../../../src/transactions/cancellations/contract.ts'
import type { EndorsementResponse } from '../../../../src/transactions/endorsements/contract.ts'
import type {
  GracePeriodResponse,
  LapseReinstatementResponse,
} from '../../../../src/transactions/lapses/contract.ts'
import type { PolicyQuoteResponse } from '../../../../src/transactions/quotes/contract-quote.ts'
import type { ReinstatementResponse } from '../../../../src/transactions/reinstatements/contract.ts'
import { whenMade } from '../../../documents/waiting.ts'
import { callApi, callOk } from '../../../support/api.ts'
import { prepareDatabases } from '../../../support/databases.ts'
import { type Caused, emitted } from '../../../support/emission/read.ts'
import {
  type ArchiveFiles,
  deployExample,
  deployNextVersion,
  exampleFiles,
} from '../../../support/examples.ts'
import { migratedAccount, migratedPolicy } from '../../../support/migrated.ts'
import { motorTenant, plainYear, workedOf } from '../../../support/motor.ts'
import { openProvider } from '../../../support/oidc.ts'
import { readApi } from '../../../support/openapi.ts'

const DAY_MS = 86_400_000
const FOLDER = 'products/private_motor/policy'

/** The motor example with one document that is generated on issue, and one that fails. */
function motorFiles(): ArchiveFiles {
  const files: ArchiveFiles = exampleFiles('motor')
  const json = (path: string, change: (value: Record<string, unknown>) => void) => {
    files[path] = JSON.stringify(
      JSON.parse(new TextDecoder().decode(files[path] as Uint8Array), (key, value) =>
        key === 'documents' && Array.isArray(value) ? [] : value,
      ),
    )
    const parsed = JSON.parse(files[path])
    change(parsed)
    files[path] = JSON.stringify(parsed)
  }
  for (const name of ['endorsements', 'renewals', 'cancellations']) json(`${FOLDER}/${name}.json`, () => {})
  json(`${FOLDER}/policy.json`, policy => {
    policy.documents = ['good', 'bad'].map(name => ({
      displayName: name,
      fileName: `${name}.html`,
      templateName: `${name}.template.liquid`,
      type: 'html',
    }))
  })
  files[`${FOLDER}/good.template.liquid`] = '<p>Good.</p>'
  files[`${FOLDER}/bad.template.liquid`] = '{{ 1 | divided_by: 0 }}'
  for (const name of ['invoice', 'gracePeriod']) delete files[`${FOLDER}/${name}.template.liquid`]
  return files
}

type Send = <Body = PolicyResponse>(method: string, path: string, body?: unknown) => Promise<Body>

const sender =
  (token: string): Send =>
  (method, path, body) =>
    callOk(method, path, { token, body })

const REFERRED = { previous_insurer_cancelled: 'yes', cancellation_reason: 'Unpaid premium.' }
const CONTACT = { endorsementName: 'change_of_contact' }
const TELEPHONE = { contact_phone: '+49 30 7654321' }

let events: Caused[]
const emittedBy = (cause: string) => events.filter(event => event.cause === cause)

async function newBusiness(
  send: Send,
  underwriter: Send,
  create: (more?: object) => Promise<PolicyResponse>,
) {
  const draft = await create({ finalize: false })
  await send('POST', `/policy/${draft.locator}/update`, { fieldValues: TELEPHONE, finalize: false })
  const [quote] = await send<PolicyQuoteResponse[]>('GET', `/policies/${draft.locator}/quotes`)
  const copied = await send<PolicyQuoteResponse>('POST', `/quotes/${quote!.locator}/createNew`, {})
  await send('PATCH', `/quotes/${copied.locator}`, { fieldValues: REFERRED })
  await send('PATCH', `/quotes/${copied.locator}/quote`)
  await underwriter('POST', `/quotes/${copied.locator}/underwriting`, { decision: 'accept' })
  await underwriter('POST', `/quotes/${copied.locator}/underwriting`, { decision: 'reject' })
  await send('PATCH', `/quotes/${copied.locator}/discard`)
  await send('PATCH', `/quotes/${quote!.locator}/quote`)
  await send('PATCH', `/quotes/${quote!.locator}/accept`)
  await send('PATCH', `/quotes/${quote!.locator}/invalidate`)
  await send('POST', `/policy/${draft.locator}/discard`)
  const referred = await create({
    finalize: false,
    fieldValues: { ...plainYear().request.policy.fieldValues, ...REFERRED },
  })
  await send('POST', `/policy/${referred.locator}/finalize`)
  const whole = await create({ finalize: false })
  await send('POST', `/policy/${whole.locator}/finalize`)
  await send('POST', `/policy/${whole.locator}/issue`)
  const note = { recordType: 'policy', recordLocator: whole.locator, text: 'Called.' }
  const { locator: noted } = await send<{ locator: string }>('POST', '/notes', note)
  await send('DELETE', `/notes/${noted}`)
  await whenMade(
    () => send('GET', `/policy/${whole.locator}`),
    one => one.documents,
  )
}

async function changes(send: Send, underwriter: Send, issue: (more?: object) => Promise<PolicyResponse>) {
  const policy = await issue({ paymentScheduleName: 'monthly' })
  const path = `/policies/${policy.locator}`
  const end = Number(policy.originalContractEndTimestamp)
  await send('POST', `${path}/endorsements`, { ...CONTACT, fieldValues: TELEPHONE, state: 'issued' })
  await send('POST', `/policy/${policy.locator}/endorse`, { ...CONTACT, fieldValues: TELEPHONE })
  const endorsement = async (): Promise<string> => {
    const { locator } = await send<EndorsementResponse>('POST', `${path}/endorsements`, {
      ...CONTACT,
      fieldValues: TELEPHONE,
    })
    return `/endorsements/${locator}`
  }
  const renewal = async (): Promise<string> => {
    const { locator } = await send<EndorsementResponse>('POST', `${path}/renewals`, {
      renewalEndTimestamp: end + 365 * DAY_MS,
    })
    return `/renewals/${locator}`
  }
  for (const begin of [endorsement, renewal]) {
    const kept = await begin()
    const act = (one: string, action: string) => send('PATCH', one, { action })
    await underwriter('POST', `${kept}/underwriting`, { decision: 'accept' })
    const update = { fieldValues: TELEPHONE }
    await send('PATCH', kept, begin === renewal ? { renewalUpdate: update } : { endorsementUpdate: update })
    await act(kept, 'discard')
    const dropped = await begin()
    await act(dropped, 'quote')
    await act(dropped, 'invalidate')
    const issued = await begin()
    for (const action of ['quote', 'accept', 'issue']) await act(issued, action)
  }
  await send('POST', `${path}/renewals`, { renewalEndTimestamp: end + 730 * DAY_MS, state: 'issued' })
  await send('POST', `/policy/${policy.locator}/issueRenewal`, { renewalEndTimestamp: end + 1_095 * DAY_MS })
  await send('POST', `/policy/${policy.locator}/issueNextInvoice`)
  await send('PATCH', `/policy/${policy.locator}/fees`, {
    newFees: [
      {
        feeName: 'policy_fee',
        amount: 5,
        startTimestamp: policy.originalContractStartTimestamp,
        endTimestamp: end,
      },
    ],
    reverseFees: [],
  })
  await send('POST', `/policy/${policy.locator}/paymentSchedule`, { newPaymentScheduleName: 'quarterly' })
}

async function ends(send: Send, issue: (more?: object) => Promise<PolicyResponse>) {
  const now = Date.now()
  const request = (effectiveTimestamp: number) => ({
    name: 'customer_request',
    cancellationCategory: 'other',
    effectiveTimestamp,
  })
  const gone = await issue()
  const cancellations = `/policies/${gone.locator}/cancellations`
  const rescinded = await send<CancellationResponse>('POST', cancellations, request(now))
  await send('PATCH', `/cancellations/${rescinded.locator}`, { effectiveTimestamp: now - 1_000 })
  await send('PATCH', `/cancellations/${rescinded.locator}/rescind`)
  const cancelled = await send<CancellationResponse>('POST', cancellations, { ...request(now), issue: true })
  const reinstate = () =>
    send<ReinstatementResponse>('PATCH', `/cancellations/${cancelled.locator}/reinstate`, {})
  const reinstated = await reinstate()
  await send('PATCH', `/reinstatements/${reinstated.locator}/accept`)
  await send('PATCH', `/reinstatements/${reinstated.locator}/invalidate`)
  await send('PATCH', `/reinstatements/${reinstated.locator}/accept`)
  await send('PATCH', `/reinstatements/${reinstated.locator}/issue`)
  const again = await send<CancellationResponse>('POST', cancellations, request(now))
  await send('PATCH', `/cancellations/${again.locator}/issue`)
  // Its deadline passes when the clock moves.
  await send('PATCH', `/cancellations/${again.locator}/reinstate`, {})
  await send('POST', `/policy/${(await issue()).locator}/cancel`, { coverageEndTimestamp: now })
  await send('POST', `/policy/${(await issue()).locator}/withdraw`)
  // Its cover ends when the clock moves.
  const later = await issue()
  await send('POST', `/policies/${later.locator}/cancellations`, {
    ...request(now + 20 * DAY_MS),
    issue: true,
  })
}

async function money(send: Send, issue: (more?: object) => Promise<PolicyResponse>) {
  const [invoice] = (await issue({ paymentScheduleName: 'upfront' })).invoices
  const card = { fieldValues: { method: 'card' } }
  const { locator } = await send<{ locator: string }>('POST', `/invoice/${invoice!.locator}/pay`, card)
  await send('POST', `/payments/${locator}/reverse`)
  // It is paid, so that it expires at the end of its term when the clock moves.
  const [paid] = (await issue({ paymentScheduleName: 'upfront' })).invoices
  await send('POST', `/invoice/${paid!.locator}/pay`, card)
}

async function motorStory() {
  const files = motorFiles()
  const { token, hostname, tenantName, signIn } = await deployExample(files, 'emission')
  const send = sender(token)
  const underwriter = sender(await signIn('ulrich.underwriter'))
  const account = { hostName: hostname, username: 'alice.agent', password: 'password' }
  await callApi('POST', '/account/authenticate', { body: account })
  await callApi('POST', '/account/authenticate', { body: { ...account, password: 'wrong' } })
  const administrator = { ...account, username: 'anna.admin' }
  for (const password of ['password', 'wrong'])
    await callApi('POST', '/account/authenticateAdmin', { body: { ...administrator, password } })
  const provider = await openProvider({ pia: { groups: ['staff'] }, otto: { groups: [] } })
  await sender(await signIn('anna.admin'))('PUT', '/auth/providers/acme', {
    issuer: provider.issuer,
    clientId: 'bindery',
    mappings: [{ claim: 'groups', value: 'staff', roles: ['employee'] }],
  })
  for (const person of ['pia', 'otto'])
    await callApi('POST', '/account/authenticateByProvider', {
      body: { hostName: hostname, idToken: await provider.idToken(person) },
    })
  const { policyholder, policy } = plainYear().request
  const holder = await send<PolicyholderResponse>('POST', '/policyholder/create', {
    completed: true,
    values: policyholder.values,
  })
  await send('POST', '/policyholder/update', {
    locator: holder.locator,
    completed: true,
    version: 1,
    values: { city: 'Potsdam' },
  })
  const create = (more: object = {}): Promise<PolicyResponse> => {
    const request = { ...policy, policyholderLocator: holder.locator, paymentScheduleName: 'upfront' }
    const { policyStartTimestamp: _, policyEndTimestamp: __, ...starting } = request
    return send('POST', '/policy', { ...starting, ...more })
  }
  const issue = async (more: object = {}) => {
    const { locator } = await create(more)
    return await send('POST', `/policy/${locator}/issue`)
  }
  await newBusiness(send, underwriter, create)
  await changes(send, underwriter, issue)
  await ends(send, issue)
  await money(send, issue)
  const unpaid = await issue()
  const old = await issue()
  await deployNextVersion(tenantName, {
    ...files,
    'products/private_motor/policy/fees.json': JSON.stringify({ fees: feesWithOneMore(files) }),
  })
  await send('POST', `/policy/${old.locator}/upgrade`, {})
  const clock = (days: number) =>
    send<{ failed: number }>('POST', '/test/clock', { advance: { amount: days, unit: 'day' } })
  await send('POST', '/report/conversion?wait=20', {})
  await clock(25)
  const [grace] = await send<GracePeriodResponse[]>('GET', `/policy/${unpaid.locator}/gracePeriods`)
  await send('PATCH', `/gracePeriod/${grace!.locator}`, {
    endTimestamp: Number(grace!.endTimestamp) + DAY_MS,
  })
  await clock(80)
  await clock(330)
  const values = Object.fromEntries(Object.entries(policyholder.values).slice(0, 1))
  const admin = sender(await signIn('anna.admin'))
  await admin('PATCH', `/policyholder/${holder.locator}/overwriteData`, {
    overwrites: Object.fromEntries(Object.keys(values).map(name => [name, 'erased'])),
  })
}

function feesWithOneMore(files: ArchiveFiles): object[] {
  const { fees } = JSON.parse(new TextDecoder().decode(files[`${FOLDER}/fees.json`] as Uint8Array))
  return [...fees, { name: 'reminder_fee', displayName: 'Reminder', proration: 'flat' }]
}

/** The home example has no cancellation types: its policies lapse in the legacy way. */
async function homeStory() {
  const { token } = await deployExample('home', 'emission-home')
  const send = sender(token)
  const { policy, policyholder } = workedOf('home')[0]!.request
  const { locator } = await send<PolicyholderResponse>('POST', '/policyholder/create', {
    completed: true,
    values: policyholder.values,
  })
  const { policyStartTimestamp: _, policyEndTimestamp: __, ...starting } = policy
  const issue = async (): Promise<PolicyResponse> => {
    const request = { ...starting, policyholderLocator: locator, paymentScheduleName: 'monthly' }
    const created = await send('POST', '/policy', request)
    return await send('POST', `/policy/${created.locator}/issue`)
  }
  const lapsing = [await issue(), await issue(), await issue()]
  await send('POST', '/test/clock', { advance: { amount: 40, unit: 'day' } })
  const [closed, back] = await Promise.all(
    lapsing.map(one =>
      send<LapseReinstatementResponse>('POST', `/policy/${one.locator}/createReinstatement`),
    ),
  )
  await send('POST', `/reinstatement/${closed!.locator}/close`)
  const [{ lapse }] = await send<[{ lapse: { lapseTimestamp: string } }]>(
    'GET',
    `/policy/${lapsing[1]!.locator}/graceLapseReinstatements`,
  )
  const { invoiceLocator } = await send<LapseReinstatementResponse>(
    'POST',
    `/reinstatement/${back!.locator}/invoice`,
    { reinstatementTimestamp: lapse.lapseTimestamp },
  )
  await send('POST', `/invoice/${invoiceLocator}/pay`, { fieldValues: { method: 'card' } })
  await send('POST', '/test/clock', { advance: { amount: 60, unit: 'day' } })
}

async function migrationStory() {
  const { tenantLocator, signIn } = await motorTenant('moved')
  const send = sender(await signIn('anna.admin'))
  const root = `/migration/${tenantLocator}/migrations`
  const until = async (locator: string, state: string) => {
    for (let tries = 0; tries < 1_000; tries += 1) {
      if ((await send<MigrationResponse>('GET', `${root}/${locator}`)).migrationState === state) return
      await new Promise(resolve => setTimeout(resolve, 10))
    }
    throw new Error(`The migration does not become ${state}.`)
  }
  const submit = async (...accounts: object[]) =>
    (await send<MigrationResponse>('POST', root, accounts)).locator
  const wrong = { policies: [migratedPolicy('P1', 'I1', { productName: 'none' })], accounting: undefined }
  const failing = await submit(migratedAccount('A', wrong))
  await until(failing, 'failed')
  const { items } = await send<{ items: { accountLocator: string }[] }>(
    'GET',
    `${root}/${failing}/failures/list`,
  )
  const policies = { P1: migratedPolicy('P1', 'I1') }
  await send('PATCH', `${root}/${failing}`, { accountLocator: items[0]!.accountLocator, policies })
  await until(failing, 'finished')

  const pausing = await submit(migratedAccount('B'), migratedAccount('C'))
  await send('PATCH', `${root}/${pausing}/pause`)
  await send('PATCH', `${root}/${pausing}/resume`)
  await until(pausing, 'finished')

  const erring = await submit(migratedAccount('D'))
  const { key } = (await env.FILES.list()).objects.find(one => one.key.includes(erring))!
  const bytes = await (await env.FILES.get(key))!.arrayBuffer()
  await env.FILES.delete(key)
  await until(erring, 'error')
  await env.FILES.put(key, bytes)
  await send('PATCH', `${root}/${erring}/recover`)
  await until(erring, 'finished')
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  await motorStory()
  await homeStory()
  await migrationStory()
  events = await emitted()
}, 120_000)

describe('every cause of the catalogue', () => {
  it('is an existing operation or the clock', async () => {
    const { operations } = await readApi()
    const known = new Set(operations.map(({ method, path }) => `${method} ${path}`))
    expect(Object.keys(CAUSES).filter(cause => !cause.startsWith('clock ') && !known.has(cause))).toEqual([])
  })

  it.each(Object.keys(CAUSES).filter(cause => !cause.startsWith('clock ')))(
    '%s emits every type that the catalogue lists for it',
    cause => {
      const seen = new Set(emittedBy(cause).map(({ type }) => type))
      expect(CAUSES[cause]!.does.filter(type => !seen.has(type))).toEqual([])
    },
  )

  it('the clock emits every type that the catalogue lists for due work', () => {
    const seen = new Set(emittedBy('clock').map(({ type }) => type))
    const due = Object.entries(CAUSES).filter(([cause]) => cause.startsWith('clock '))
    expect([...new Set(due.flatMap(([, { does }]) => does))].filter(type => !seen.has(type))).toEqual([])
  })
})

it('events of one call are in the order of the catalogue', () => {
  const calls = Map.groupBy(
    events.filter(({ cause }) => cause !== 'clock'),
    event => event.requestId,
  )
  for (const ofCall of calls.values()) {
    const [{ cause }] = ofCall as [Caused]
    const { does } = CAUSES[cause]!
    const places = ofCall.map(({ type }) => does.indexOf(type as EventType)).filter(place => place >= 0)
    expect([cause, places]).toEqual([cause, [...places].sort((a, b) => a - b)])
  }
  expect(calls.size).toBeGreaterThan(60)
})

it('events are attributed to their caller, and those of the clock to the system', () => {
  const clock = events.filter(({ cause }) => cause === 'clock')
  expect(new Set(clock.map(({ username }) => username))).toEqual(new Set(['system']))
  const referrals = emittedBy('POST /quotes/{quoteLocator}/underwriting')
  expect(new Set(referrals.map(({ username }) => username))).toEqual(new Set(['ulrich.underwriter']))
  const [issued] = emittedBy('POST /policy/{policyLocator}/withdraw')
  expect(issued!.username).toBe('alice.agent')
})

it('every emitted type has a cause, and no other type has one', () => {
  const caused = new Set(Object.values(CAUSES).flatMap(({ does, mayFollow = [] }) => [...does, ...mayFollow]))
  expect(eventTypes.filter(type => caused.has(type) === (EVENT_TYPES[type].isForeign ?? false))).toEqual([])
})

it('the data of every event satisfies the contract of its type', () => {
  const contracts = new Map<EventType, ReturnType<typeof dataContract>>()
  for (const { type, data } of events) {
    if (!isEventType(type)) continue
    const contract = contracts.get(type) ?? dataContract(type)
    contracts.set(type, contract)
    const { error } = contract.safeParse(data)
    expect([type, error?.issues]).toEqual([type, undefined])
  }
  expect(contracts.size).toBeGreaterThan(50)
})

it('no event contains a value of a policyholder or of a field', () => {
  const { policyholder, policy } = plainYear().request
  const values = [...Object.values(policyholder.values), ...Object.values(policy.fieldValues as object)]
    .flat()
    .map(String)
    .filter(value => value.length > 3)
  const dataText = JSON.stringify(events.map(({ data }) => data))
  expect(values.filter(value => dataText.includes(`"${value}"`))).toEqual([])
})
