import { beforeAll, expect, it } from 'vitest'
import { newUuid } from '../../src/kernel/locators.ts'
import type { ExportResponse } from '../../src/reporting/export/contract.ts'
import { generateAccount } from '../../tools/book/account.ts'
import { fileAt, whenMade } from '../documents/waiting.ts'
import { callApi, callOk } from '../support/api.ts'
import { addDatabases, prepareDatabases } from '../support/databases.ts'
import { exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { settledMigration } from '../support/settled-migration.ts'

type Line = {
  kind: string
  record: Record<string, unknown>
  pagingToken?: string
  cursor?: string
  isCompleted?: boolean
}

let motor: Motor
let token: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  motor = await motorTenant('export')
  token = await motor.signIn('anna.admin')
  await addDatabases(motor.tenantLocator, 2)
  for (let at = 0; at < 7; at += 1) await sold()
})

async function sold(): Promise<string> {
  const policyholderLocator = await motor.newPolicyholder()
  const { body } = await motor.createPolicy({ policyholderLocator })
  await motor.post(`/policy/${body.locator}/issue`)
  return body.locator
}

async function linesOf(path: string): Promise<Line[]> {
  const { status, body, headers } = await callApi<string>('GET', path, { token })
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
  return body
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Line)
}

/** All records of the kind. Calls `between` after each page. */
async function exported(
  kind: string,
  pageSize: number,
  between = async (): Promise<void> => {},
): Promise<Line[]> {
  const all: Line[] = []
  let query = `?pageSize=${pageSize}`
  for (;;) {
    const lines = await linesOf(`/export/${kind}/records${query}`)
    const last = lines.pop()!
    expect(lines.length).toBeLessThanOrEqual(pageSize)
    all.push(...lines)
    if (last.kind === 'end') return all
    expect(last.kind).toBe('page')
    query = `?pageSize=${pageSize}&pagingToken=${last.pagingToken}`
    await between()
  }
}

const byLocator = (lines: readonly Line[]): Map<string, string> =>
  new Map(lines.map(({ record }) => [String(record.locator), withoutAddresses(record)]))

/** Omits URLs of files, which differ between responses. */
const withoutAddresses = (record: object): string =>
  JSON.stringify(record, (name, value) => (/^url/.test(name) ? undefined : value))

it('an export contains every record once, with any page size', async () => {
  const { kinds } = await callOk<ExportResponse>('GET', '/export', { token })
  for (const { kind, records } of kinds.filter(one => one.kind !== 'events')) {
    const whole = await exported(kind, 1_000)
    const paged = await exported(kind, 2)
    expect([kind, whole.length]).toEqual([kind, records])
    expect(paged.map(withoutAddresses)).toEqual(whole.map(withoutAddresses))
  }
  const [policy] = await exported('policies', 1)
  const { locator } = policy!.record
  const asked = await callOk<Record<string, unknown>>('GET', `/policy/${locator}`, { token })
  for (const name of ['modifications', 'exposures', 'characteristics', 'grossFees'])
    expect([name, withoutAddresses({ at: policy!.record[name] })]).toEqual([
      name,
      withoutAddresses({ at: asked[name] }),
    ])
  const events = await exported('events', 3)
  expect(new Set(events.map(one => one.record.locator)).size).toBe(events.length)
  expect(events.map(one => one.record.type)).toContain('policy.issue')
})

it('changes since the cursor complete an export made while others wrote', async () => {
  const { cursor } = await callOk<ExportResponse>('GET', '/export', { token })
  let written = 0
  const write = async (): Promise<void> => {
    if (written++ > 4) return
    const locator = await sold()
    const { body } = await motor.get(`/policy/${locator}`)
    await motor.post(`/invoice/${body.invoices[0]!.locator}/pay`, { fieldValues: { method: 'card' } })
  }
  const policies = byLocator(await exported('policies', 2, write))
  const holders = byLocator(await exported('policyholders', 1, write))
  const journal = new Map(
    (await exported('journal', 5, write)).map(one => [withoutAddresses(one.record), true]),
  )
  await motor.post(`/policies/${[...policies.keys()][0]}/endorsements`, {
    endorsementName: 'change_of_risk',
    state: 'issued',
    fieldValues: { claims_free_years: 9 },
    startTimestamp:
      Number((await motor.get(`/policy/${[...policies.keys()][0]}`)).body.originalContractStartTimestamp) +
      86_400_000,
  })
  let next: string | undefined = cursor
  for (let isCompleted = false; !isCompleted; ) {
    const lines = await linesOf(`/export/changes?cursor=${next}`)
    const last = lines.pop()!
    for (const { kind, record } of lines)
      if (kind === 'policy') policies.set(String(record.locator), withoutAddresses(record))
      else if (kind === 'policyholder') holders.set(String(record.locator), withoutAddresses(record))
      else journal.set(withoutAddresses(record), true)
    next = last.cursor
    isCompleted = last.isCompleted!
  }
  const sorted = (map: Map<string, string>) => [...map].sort()
  expect(sorted(policies)).toEqual(sorted(byLocator(await exported('policies', 50))))
  expect(sorted(holders)).toEqual(sorted(byLocator(await exported('policyholders', 50))))
  const rows = (await exported('journal', 500)).map(one => withoutAddresses(one.record))
  expect([...journal.keys()].sort()).toEqual(rows.sort())
  const [nothing] = await linesOf(`/export/changes?cursor=${next}`)
  expect(nothing).toEqual({ kind: 'cursor', cursor: next, isCompleted: true })
  expect(written).toBeGreaterThan(3)
})

it('an export contains working URLs of documents', async () => {
  const papers = await motorTenant('export-papers', exampleFiles('motor'))
  const { body } = await papers.createPolicy()
  await papers.post(`/policy/${body.locator}/issue`)
  const policy = await whenMade(
    async () => (await papers.get(`/policy/${body.locator}`)).body,
    one => one.documents,
  )
  const as = { token: await papers.signIn('anna.admin') }
  const page = await callApi<string>('GET', '/export/policies/records', as)
  const changes = await callApi<string>('GET', '/export/changes', as)
  for (const { body: text } of [page, changes]) {
    expect(text).not.toContain('file:documents')
    const line = text.split('\n').find(one => one.includes('"kind":"policy"'))!
    const { documents } = (JSON.parse(line) as { record: typeof policy }).record
    expect(documents.map(one => one.locator)).toEqual(policy.documents.map(one => one.locator))
    const { url, fileName, urlExpirationTimestamp } = documents.find(one => one.fileName === 'schedule.pdf')!
    expect(Number(urlExpirationTimestamp)).toBeGreaterThan(Date.now())
    const { status, headers, bytes } = await fileAt(url!)
    expect([status, new TextDecoder().decode(bytes.slice(0, 5))]).toEqual([200, '%PDF-'])
    expect(headers.get('content-disposition')).toContain(fileName)
  }
})

it('an export contains auxiliary data and quick quotes, and takes no text of a client for a file name', async () => {
  const value = JSON.stringify({ url: 'file:documents/x/y', urlExpirationTimestamp: '0' })
  const auxData = [
    { key: 'crm', value },
    { key: 'd:\u00fc_-.', value: 'x' },
  ]
  await callOk('PUT', '/auxData/anything', { token, body: { auxData } })
  const quoted = await callOk<{ locator: string }>('POST', `/policy/${motor.tenantLocator}/quickquotes`, {
    token,
    body: { ...plainYear().request.policy, policyholderLocator: await motor.newPolicyholder() },
  })
  const found = (await exported('auxData', 1)).map(one => one.record)
  expect(found.filter(one => one.locator === 'anything')).toEqual(
    auxData.map(one => ({ ...one, locator: 'anything', uiType: 'normal' })),
  )
  const [quick] = await exported('quickQuotes', 10)
  expect(quick!.record).toMatchObject({ locator: quoted.locator, answer: { locator: quoted.locator } })
  const { kinds } = await callOk<ExportResponse>('GET', '/export', { token })
  expect(kinds).toContainEqual({ kind: 'quickQuotes', records: 1 })
})

it('an export contains all bills and prices of a policy', async () => {
  const [line] = await exported('policies', 1)
  const { locator } = line!.record
  const shown = async (path: string): Promise<Record<string, object>> =>
    callOk('GET', `/policy/${locator}/${path}`, { token })
  const bills = await shown('checkInvoices')
  for (const name of ['invoices', 'futureInvoices'])
    expect([name, withoutAddresses({ at: line!.record[name] })]).toEqual([
      name,
      withoutAddresses({ at: bills[name] }),
    ])
  const { total } = line!.record.price as { total: number }
  const { segmentCharges, invoices, futureInvoices, grossFees } = line!.record as {
    segmentCharges: { premium: number; taxes: { amount: number }[] }[]
    [name: string]: unknown
  }
  const cents = (amounts: readonly number[]): number =>
    amounts.reduce((sum, one) => sum + Math.round(one * 100), 0)
  expect(
    cents(segmentCharges.flatMap(one => [one.premium, ...one.taxes.map(tax => tax.amount)])) +
      cents([grossFees as number]),
  ).toBe(cents([total]))
  const items = [...(invoices as object[]), ...(futureInvoices as object[])].flatMap(
    one => (one as { financialTransactions: { type: string; amount: number }[] }).financialTransactions,
  )
  expect(cents(items.filter(one => one.type !== 'commission').map(one => one.amount))).toBe(cents([total]))
  expect(line!.record.quotes).toHaveLength(1)
})

it('changes of many policies are returned in parts of at most 50, including migrated ones', async () => {
  const { cursor } = await callOk<ExportResponse>('GET', '/export', { token })
  const accounts = Array.from({ length: 60 }, (_, at) => generateAccount({ seed: 'export', policies: 1 }, at))
  const root = `/migration/${motor.tenantLocator}/migrations`
  const migration = await callOk<{ locator: string }>('POST', root, { token, body: accounts })
  expect(await settledMigration(`${root}/${migration.locator}`, token, 60_000)).toMatchObject({
    migrationState: 'finished',
  })
  const found: string[] = []
  let next = cursor
  let answers = 0
  for (let isCompleted = false; !isCompleted; answers += 1) {
    const answer = await callApi<string>('GET', `/export/changes?cursor=${next}`, { token })
    const lines = answer.body
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Line)
    const last = lines.pop()!
    const policies = lines.filter(one => one.kind === 'policy')
    expect(policies.length).toBeLessThanOrEqual(50)
    found.push(...policies.map(one => String(one.record.locator)))
    // For each of the two databases: the changes, and the records.
    expect(roundTrips(answer).d1).toBeLessThanOrEqual(4)
    expect(roundTrips(answer).r2).toBeLessThanOrEqual(1)
    next = last.cursor!
    isCompleted = last.isCompleted!
  }
  expect(answers).toBeGreaterThan(1)
  expect(new Set(found).size).toBe(60)
})

it('a page of policies is read in two batches, and a page of any other kind in one', async () => {
  for (const { kind, d1 } of [
    ...['policyholders', 'disbursements', 'auxData', 'quickQuotes', 'events', 'journal'].map(kind => ({
      kind,
      d1: 1,
    })),
    { kind: 'policies', d1: 2 },
  ]) {
    const answer = await callApi('GET', `/export/${kind}/records`, { token })
    expect([kind, roundTrips(answer)]).toEqual([kind, { d1, object: 0, r2: 0, queue: 0 }])
  }
  expect(roundTrips(await callApi('GET', '/export', { token })).d1).toBe(2)
})

it('an export contains no overwritten value in records, changes or the journal', async () => {
  const nameIn = (holder: string): string => /"last_name":\["?([^"\]]+)/.exec(holder)![1]!
  const holders = await exported('policyholders', 1_000)
  const all = holders.map(withoutAddresses).join()
  // A name that no company and no other person has.
  const { record } = holders.find(one => all.split(nameIn(withoutAddresses(one))).length === 2)!
  const locator = String(record.locator)
  const name = nameIn(withoutAddresses(record))
  await callOk('PATCH', `/policyholder/${locator}/overwriteData`, {
    token,
    body: { overwrites: { last_name: 'ERASED' } },
  })
  const after = withoutAddresses(
    (await exported('policyholders', 1_000)).find(one => one.record.locator === locator)!,
  )
  expect(after).not.toContain(name)
  expect(after).toContain('ERASED')
  for (const row of await exported('journal', 1_000)) expect(withoutAddresses(row)).not.toContain(name)
})

it('every policy with a text that contained an overwritten value is listed as changed', async () => {
  const policyholderLocator = await motor.newPolicyholder()
  const holder = await callOk<{ entity: { values: { last_name: string[] } } }>(
    'GET',
    `/policyholder/${policyholderLocator}`,
    { token },
  )
  const name = holder.entity.values.last_name[0]!
  const noted: string[] = []
  for (let at = 0; at < 52; at += 1) {
    const { body } = await motor.createPolicy({ policyholderLocator, finalize: false })
    const [quote] = (await motor.get<{ locator: string }[]>(`/policies/${body.locator}/quotes`)).body
    await callOk('PATCH', `/quotes/${quote!.locator}/quote`, { token })
    await callOk('POST', `/quotes/${quote!.locator}/underwriting`, {
      token,
      body: { decision: 'reject', note: `${name} called` },
    })
    noted.push(body.locator)
  }
  let { cursor } = await callOk<ExportResponse>('GET', '/export', { token })
  await callOk('PATCH', `/policyholder/${policyholderLocator}/overwriteData`, {
    token,
    body: { overwrites: { last_name: 'ERASED' } },
  })
  const told: string[] = []
  for (let isCompleted = false; !isCompleted; ) {
    const lines = await linesOf(`/export/changes?cursor=${cursor}`)
    const last = lines.pop()!
    for (const { kind, record } of lines) {
      const text = withoutAddresses(record)
      if (kind === 'policyholder') expect(text).toContain('ERASED')
      if (kind !== 'policy') continue
      expect(['ERASED', name].map(one => text.includes(`${one} called`))).toEqual([true, false])
      told.push(String(record.locator))
    }
    cursor = last.cursor!
    isCompleted = last.isCompleted!
  }
  expect(told).toEqual(noted)
  expect(await linesOf(`/export/changes?cursor=${cursor}`)).toEqual([
    { kind: 'cursor', cursor, isCompleted: true },
  ])
})

it.each<[path: string, status: number, message: RegExp]>([
  ['/export/policy/records', 404, /Use one of: policyholders, policies/],
  ['/export/policies/records?pagingToken=x', 400, /pagingToken/],
  ['/export/policies/records?pagingToken=9-1', 400, /pagingToken/],
  ['/export/auxData/records?pagingToken=0-eA', 400, /pagingToken/],
  [`/export/policies/records?pagingToken=0-${newUuid(0)}`, 400, /pagingToken/],
  ['/export/events/records?pagingToken=0-x', 400, /pagingToken/],
  ['/export/journal/records?pagingToken=0-1-2', 400, /pagingToken/],
  ['/export/policyholders/records?pagingToken=0-100000064513', 400, /pagingToken/],
  ['/export/disbursements/records?pagingToken=0-100000064513', 400, /pagingToken/],
  ['/export/quickQuotes/records?pagingToken=0-zz', 400, /pagingToken/],
  ['/export/changes?cursor=1', 400, /cursor/],
  ['/export/changes?cursor=1.1.1.1', 400, /cursor/],
  ['/export/changes?cursor=0.0_0.0_0.0', 400, /cursor/],
])('%s is rejected', async (path, status, message) => {
  const answer = await callApi<{ message: string }>('GET', path, { token })
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)])
})
