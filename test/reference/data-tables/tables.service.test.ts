import { exports } from 'cloudflare:workers'
import Big from 'big.js'
import { unzipSync, zipSync } from 'fflate'
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../../src/kernel/time.ts'
import type { TableUseResponse } from '../../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import type { BasicResourceResponse } from '../../../src/reference/contract.ts'
import { type Answer, callApi } from '../../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../../support/databases.ts'
import { motorWithoutPapers } from '../../support/examples.ts'
import { noteExchange } from '../../support/exchanges/note.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../../support/motor.ts'
import { size } from '../../support/sizes.ts'
import { withPlugins } from '../../support/with-plugins.ts'
import { YEARS_ON } from '../../support/years.ts'

/** Within the months in which July's table is in force. */
const START_IN_JULY = Date.UTC(2027 + YEARS_ON, 6, 10)

const DECLARED = {
  tables: {
    motor_base: {
      columns: {
        state: { dataType: 'string', isKey: true },
        class: { dataType: 'int', isKey: true },
        rate: { dataType: 'decimal' },
        since: { dataType: 'date' },
        fleet: { dataType: 'boolean' },
      },
      selectionTimeBasis: 'policyStartTime',
    },
  },
  rangeTables: {
    curve: {
      columns: {
        state: { isKey: true },
        from: { dataType: 'decimal' },
        to: { dataType: 'decimal' },
        factor: { dataType: 'decimal' },
      },
      rangeStart: 'from',
      rangeEnd: 'to',
    },
    age_factor: {
      columns: {
        state: { dataType: 'string', isKey: true },
        from: { dataType: 'decimal' },
        to: { dataType: 'decimal' },
        factor: { dataType: 'decimal' },
      },
      rangeStart: 'from',
      rangeEnd: 'to',
      selectionTimeBasis: 'policyStartTime',
    },
  },
}

let motor: Motor
let root = ''

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  const files = withPlugins(
    { getUnderwritingResult: UNDERWRITER, executeLambda: DATED },
    motorWithoutPapers(),
  )
  const config = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array))
  files['config.json'] = JSON.stringify({ ...config, ...DECLARED })
  motor = await motorTenant('restables', files)
  motor = { ...motor, token: await motor.signIn('anna.admin') }
  const { token } = motor
  motor.get = path => callApi('GET', path, { token })
  motor.post = (path, body, headers = {}) => callApi('POST', path, { token, body, headers })
  root = `/resource/${motor.tenantLocator}`
})

type Problem = { code: string; message: string; tableErrors?: { line: number; message: string }[] }

const formOf = (content: string | Uint8Array<ArrayBuffer>, fileName = 'table.csv'): FormData => {
  const form = new FormData()
  form.set('file', new Blob([content]), fileName)
  return form
}

const put = <Body = BasicResourceResponse>(
  kind: 'tables' | 'rangeTables',
  name: string,
  staticName: string,
  content: string | Uint8Array<ArrayBuffer>,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<Answer<Body>> =>
  callApi('POST', `${root}/${kind}?name=${name}&staticName=${staticName}${query}`, {
    token: motor.token,
    body: formOf(content),
    headers,
  })

const patch = <Body = BasicResourceResponse>(
  path: string,
  content: string | Uint8Array<ArrayBuffer>,
): Promise<Answer<Body>> => callApi('PATCH', `${root}/${path}`, { token: motor.token, body: formOf(content) })

const record = (path: string) => motor.get<{ value: object } & Problem>(`${root}/${path}`)

const group = (name: string, start: string, resourceNames: string[]) =>
  motor.post(`${root}/groups`, { name, selectionStartTime: start, resourceNames })

describe('a data table', () => {
  it('is uploaded, looked up by its declared keys, and downloaded unchanged', async () => {
    const csv =
      '\ufeffstate,class,Rate,since,fleet,note\r\n"CA, US",1,1.73 ,2026-01-01,TRUE,"a ""b""\r\nc"\r\nNY,02,0.12345678901234567890,,,\r\n'
    const made = await put('tables', 'base_1', 'motor_base', csv)
    expect(made.body).toMatchObject({
      name: 'base_1',
      resourceType: 'table',
      staticName: 'motor_base',
      jurisdictions: [],
      lookupTableLocator: expect.any(String),
      warnings: ["Line 1: The column 'Rate' is read as 'rate'; write it that way."],
    })
    expect(made.status).toBe(200)
    const own = 'tables/base_1/record?byStaticName=false'
    const found = await record(`${own}&key=${encodeURIComponent(' CA, US ')}&key=1.0`)
    expect(found.body).toEqual({
      value: { state: 'CA, US', class: 1, rate: 1.73, since: '2026-01-01', fleet: true, note: 'a "b"\r\nc' },
    })
    expect((await record(`${own}&key=NY&key=2`)).body).toEqual({
      value: { state: 'NY', class: 2, rate: '0.12345678901234567890', since: null, fleet: null, note: '' },
    })
    expect(await downloaded('tables/base_1')).toEqual({ 'base_1.csv': csv })
    expect(await codeOf(record(`${own}&key=NY&key=3`))).toEqual([
      404,
      'tableRecordNotFound',
      "The table 'base_1' has no record for state 'NY', class '3'.",
    ])
    expect(await codeOf(record(`${own}&key=NY`))).toEqual([
      400,
      'invalidParameter',
      "The table 'base_1' has 2 keys (state, class), but the request has 1; send 'key' once for each, in this order.",
    ])
    expect((await codeOf(record(`${own}&key=NY&key=x`))).slice(0, 2)).toEqual([400, 'invalidParameter'])
    expect((await codeOf(record('tables/no_such/record?byStaticName=false&key=1'))).slice(0, 2)).toEqual([
      404,
      'notFound',
    ])
    expect(
      (await codeOf(record('rangeTables/base_1/record?byStaticName=false&key=1&boundValue=1'))).slice(0, 2),
    ).toEqual([404, 'notFound'])
  })

  it('may have keys of several lines, which a look-up sends unchanged', async () => {
    await put('tables', 'lines_1', 'lines', 'key,value\r\n"a\r\nb",1\r\n"c\nd\te",2\r\n')
    const found = async (key: string) =>
      (await record(`tables/lines_1/record?byStaticName=false&key=${encodeURIComponent(key)}`)).body
    expect(await found('a\r\nb')).toEqual({ value: { key: 'a\r\nb', value: '1' } })
    expect(await found('c\nd\te')).toEqual({ value: { key: 'c\nd\te', value: '2' } })
    expect(await found('a\nb')).toMatchObject({ code: 'tableRecordNotFound' })
    for (const control of ['\0', '\u001f', '\u007f', '\u0085'])
      expect(await found(`a${control}b`)).toMatchObject({
        code: 'invalidParameter',
        message: 'The query has control characters; remove them.',
      })
  })

  it('may be uploaded as a zip of one CSV or as the body itself, with warnings about its header', async () => {
    const csv = 'Key,Value\nred,1.50\nblue,2\nred,3\n'
    const packed = zipSync({
      'prices.csv': [Buffer.from(csv), { level: 9 }],
      '__MACOSX/._prices.csv': Buffer.from('x'),
    })
    const made = await put('tables', 'colours', 'colours', new Uint8Array(packed))
    expect(made.body.warnings).toEqual([
      "Line 1: The column 'Key' is read as 'key'; write it that way.",
      "Line 1: The column 'Value' is read as 'value'; write it that way.",
      'Line 4: The row has the same key as line 2, which counts.',
    ])
    expect((await record('tables/colours/record?byStaticName=false&key=red')).body).toEqual({
      value: { key: 'red', value: '1.50' },
    })
    expect(await downloaded('tables/colours')).toEqual({ 'colours.csv': csv })
    const raw = await callApi<BasicResourceResponse>('PATCH', `${root}/tables/colours`, {
      token: motor.token,
      body: 'key,value\nred,7',
      headers: { 'content-type': 'text/csv' },
    })
    expect(raw.body.createdAt).toBe(made.body.createdAt)
    expect(raw.body.lookupTableLocator).not.toBe(made.body.lookupTableLocator)
    expect((await record('tables/colours/record?byStaticName=false&key=red')).body).toEqual({
      value: { key: 'red', value: '7' },
    })
    expect(await downloaded('tables/colours')).toEqual({ 'colours.csv': 'key,value\nred,7' })
  })

  it('is looked up by static name at a date and a jurisdiction, by default now', async () => {
    for (const [name, place] of [
      ['rate_old', ''],
      ['rate_new', ''],
      ['rate_ca', '&jurisdiction=CA&jurisdiction=NV'],
    ] as const)
      expect((await put('tables', name, 'rate', `key,value\na,${name}\n`, { query: place })).status).toBe(200)
    const at = async (query: string) => {
      const { body } = await record(`tables/rate/record?key=a${query}`)
      return body.code ?? (body.value as { value: string }).value
    }
    expect(await at('')).toBe('resourceNotInForce')
    expect((await group('rates 2026', '2026-01-01T00:00:00Z', ['rate_old', 'rate_ca'])).status).toBe(200)
    expect((await group('rates 2030', '2030-01-01T00:00:00Z', ['rate_new'])).status).toBe(200)
    expect(await at('')).toBe('rate_old')
    expect(await at('&jurisdiction=NV')).toBe('rate_ca')
    expect(await at('&jurisdiction=TX')).toBe('rate_old')
    expect(await at('&date=2030-01-01T00:00:00Z')).toBe('rate_new')
    expect(await at('&date=2029-12-31T23:59:59Z')).toBe('rate_old')
    // As people write it: a plus in the query is a blank.
    expect(await at('&date=2030-01-01T01:00:00+01:00')).toBe('rate_new')
    expect(await at('&date=2030-01-01T00:59:59+01:00')).toBe('rate_old')
    expect(await at('&date=2025-12-31T23:59:59Z')).toBe('resourceNotInForce')
    expect(await at('&byStaticName=false')).toBe('notFound')
    const why = async (name: string, query: string) =>
      (
        await motor.get<{ explanation: { group: string; reasons: string[] } }>(
          `${root}/resources/${name}?explain=true&date=2029-01-01T00:00:00Z${query}`,
        )
      ).body.explanation
    const reason = `Group 'rates 2026' from 2026-01-01T00:00:00.000Z: it has a matching instance, and no group that began later has one.`
    expect(await why('rate', '&byStaticName=true&jurisdiction=NV')).toMatchObject({
      group: 'rates 2026',
      reasons: [reason, "'rate_ca' is for 'NV'."],
    })
    expect((await why('rate', '&byStaticName=true&jurisdiction=TX')).reasons).toEqual([
      reason,
      "'rate_old' is for every jurisdiction, and the group has none for 'TX' alone.",
    ])
    expect((await why('rate_ca', '')).reasons.slice(1)).toEqual([
      "'rate_old' is for every jurisdiction, and none was requested.",
      "So 'rate_old' is in force at that time and place, and 'rate_ca' is not.",
    ])
  })

  it('is missing from the explanation if none is in force, and the reasons are given', async () => {
    for (const [name, place] of [
      ['tariff_ny', '&jurisdiction=NY'],
      ['tariff_fl', '&jurisdiction=FL'],
    ] as const)
      await put('tables', name, 'tariff', 'key,value\na,1\n', { query: place })
    const explained = (name: string, query: string) =>
      motor.get<object>(`${root}/resources/${name}?explain=true${query}`)
    const nothing = (...reasons: string[]) => ({ staticName: 'tariff', explanation: { reasons } })
    const none = await explained('tariff', '&byStaticName=true&date=2025-06-01T00:00:00Z')
    expect([none.status, none.body]).toEqual([
      200,
      nothing(
        "No group has a resource of the static name 'tariff'.",
        "So no resource of the static name 'tariff' is in force at 2025-06-01T00:00:00.000Z.",
      ),
    ])
    await group('tariffs', '2026-01-01T00:00:00Z', ['tariff_ny', 'tariff_fl'])
    const early = await explained('tariff', '&byStaticName=true&date=2025-06-01T00:00:00Z')
    expect(early.body).toEqual(
      nothing(
        "Group 'tariffs' begins at 2026-01-01T00:00:00.000Z, which is later.",
        "So no resource of the static name 'tariff' is in force at 2025-06-01T00:00:00.000Z.",
      ),
    )
    const elsewhere = await explained(
      'tariff',
      '&byStaticName=true&date=2029-01-01T00:00:00Z&jurisdiction=CA',
    )
    const reasons = [
      "Group 'tariffs' from 2026-01-01T00:00:00.000Z: its instances are for other jurisdictions.",
      "So no resource of the static name 'tariff' is in force at 2029-01-01T00:00:00.000Z in 'CA'.",
    ]
    expect(elsewhere.body).toEqual(nothing(...reasons))
    expect(roundTrips(elsewhere).d1).toBe(1)
    const byName = await explained('tariff_ny', '&date=2029-01-01T00:00:00Z&jurisdiction=CA')
    expect(byName.body).toMatchObject({ name: 'tariff_ny', explanation: { reasons } })
    const unexplained = await motor.get(`${root}/resources/tariff?byStaticName=true&jurisdiction=CA`)
    expect(unexplained).toMatchObject({ status: 404, body: { code: 'resourceNotInForce' } })
    expect((await explained('nobody', '&byStaticName=true')).status).toBe(404)
  })

  it('is looked up in one D1 round trip, and in none if the record is cached', async () => {
    await put('tables', 'trips', 'trips', 'key,value\na,1\nb,2\n')
    await group('trips', '2026-01-01T00:00:00Z', ['trips'])
    const trips = async (key: string) => roundTrips(await record(`tables/trips/record?key=${key}`)).d1
    expect([await trips('a'), await trips('a'), await trips('b'), await trips('b')]).toEqual([1, 0, 1, 0])
  })

  it('is rejected with every problem and its line, and then nothing changes', async () => {
    await put('tables', 'kept', 'motor_base', 'state,class,rate,since,fleet\nCA,1,1,,\n')
    const bad = await patch<Problem>(
      'tables/kept',
      'state,class,rate,since,fleet\nCA,x,1,,\nCA,2\nCA,3,1,2026-02-30,maybe\nNY,1,1,,\nNY,1.0,2,,\n',
    )
    expect([bad.status, bad.body.code]).toEqual([400, 'invalidTable'])
    expect(bad.body.tableErrors).toEqual([
      {
        line: 2,
        column: 'class',
        text: 'x',
        message: "The cell 'class' is not a whole number of at most 32 bits.",
      },
      {
        line: 3,
        message:
          'The row has 2 cells, but the header has 5; add or remove commas, or quote cells that contain one.',
      },
      {
        line: 4,
        column: 'since',
        text: '2026-02-30',
        message: "The cell 'since' is not a date such as 2026-11-21.",
      },
      { line: 4, column: 'fleet', text: 'maybe', message: "The cell 'fleet' is not true or false." },
      { line: 6, message: 'The row has the same key as line 5; remove one of them.' },
    ])
    for (const [body, type, told] of [
      ['', 'text/csv', /^The request contains no file; send it as the part 'file' of a form/],
      ['{"state":"CA"}', 'application/json', /^Send the table as text\/csv/],
    ] as const) {
      const refused = await callApi<Problem>('PATCH', `${root}/tables/kept`, {
        token: motor.token,
        body,
        headers: { 'content-type': type },
      })
      expect(refused.status).toBeGreaterThanOrEqual(400)
      expect(refused.body.message).toMatch(told)
    }
    const missing = await patch<Problem>('tables/kept', 'state,class,rate,since\nCA,1,1,\n')
    expect(missing.body.tableErrors).toEqual([
      { line: 1, message: "The declared column 'fleet' is missing; add it." },
    ])
    const many = await patch<Problem>(
      'tables/kept',
      `state,class,rate,since,fleet\n${'CA,x,1,,\n'.repeat(99)}`,
    )
    expect(many.body.tableErrors).toHaveLength(50)
    expect(many.body.message).toMatch(/Only the first problems are listed\.$/)
    for (const [zip, told] of [
      [{}, /is empty/],
      [{ 'a.csv': 'a', 'b.csv': 'b' }, /contains 'a\.csv', 'b\.csv'/],
      [{ 'a.zip': 'PK' }, /contains 'a\.zip'/],
      [{ '[Content_Types].xml': 'x', 'xl/workbook.xml': 'x' }, /is a workbook; save the sheet as CSV/],
      [{ 'a.csv': 'PK\x03\x04' }, /contains another zip/],
    ] as const) {
      const packed = zipSync(
        Object.fromEntries(Object.entries(zip).map(([name, text]) => [name, Buffer.from(text)])),
      )
      const refused = await patch<Problem>('tables/kept', new Uint8Array(packed))
      expect([refused.status, refused.body.code]).toEqual([400, 'invalidTable'])
      expect(refused.body.message).toMatch(told)
    }
    expect((await record('tables/kept/record?byStaticName=false&key=CA&key=1')).body).toMatchObject({
      value: { rate: 1 },
    })
    expect(await downloaded('tables/kept')).toEqual({
      'kept.csv': 'state,class,rate,since,fleet\nCA,1,1,,\n',
    })
    expect((await put<Problem>('tables', 'never', 'never', '')).body.tableErrors).toEqual([
      { line: 1, message: 'The file is empty; its first line must name the columns.' },
    ])
    expect((await motor.get<Problem>(`${root}/resources/never`)).body.code).toBe('notFound')
  })

  it('of more than 10 MiB is uploaded in parts, and downloaded unchanged', async () => {
    const cells = Array.from({ length: 199 }, (_, at) => `${at}`.padEnd(8_000, 'x')).join()
    const header = Array.from({ length: 199 }, (_, at) => `c${at}`).join()
    const long = `key,${header}\n${['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(key => `${key},${cells}\n`).join('')}`
    expect(long.length).toBeGreaterThan(2 * 5 * 1_048_576)
    expect((await put('tables', 'long', 'long', long)).status).toBe(200)
    const found = await record('tables/long/record?byStaticName=false&key=g')
    expect((found.body.value as Record<string, string>).c198).toBe('198'.padEnd(8_000, 'x'))
    expect(await downloaded('tables/long')).toEqual({ 'long.csv': long })
  })

  it('is created once for an Idempotency-Key and once for a name, and a static name has one type', async () => {
    const headers = { 'idempotency-key': 'table-once' }
    const first = await put('tables', 'once', 'once', 'key,value\na,1\n', { headers })
    const again = await put('tables', 'once', 'once', 'key,value\na,1\n', { headers })
    expect(again.body).toEqual(first.body)
    const other = await put<Problem>('tables', 'once', 'once', 'key,value\na,2\n', { headers })
    expect([other.status, other.body.code]).toEqual([409, 'idempotencyConflict'])
    const taken = await put<Problem>('tables', 'once', 'once', 'key,value\na,1\n')
    expect([taken.status, taken.body.code]).toEqual([409, 'alreadyExists'])
    const type = await put<Problem>('rangeTables', 'once_range', 'once', 'rangeStart,value\n1,1\n')
    expect([type.status, type.body.code]).toEqual([409, 'alreadyExists'])
  })

  it.each([
    ['tables', 'swap', 'key', 'k', 'key='],
    ['rangeTables', 'swap_range', 'rangeStart', '-', 'boundValue='],
  ] as const)(
    'is replaced atomically: readers of %s see the old contents or the new',
    async (kind, name, first, prefix, asked) => {
      const rows = size(3_000, 1_000_000)
      const contents = (version: number) =>
        `${first},version,check\n${Array.from({ length: rows }, (_, at) => `${prefix}${at + 1},${version},${version}-${at + 1}`).join('\n')}\n`
      expect((await put(kind, name, name, contents(0))).status).toBe(200)
      await group(name, '2026-01-01T00:00:00Z', [name])
      let isDone = false
      const seen = new Set<string>()
      const reader = async (number: number) => {
        // Three reads after the replacement, and as many before it as there is time for.
        for (let turn = 0, left = 3; left > 0; turn += 1, left -= isDone ? 1 : 0) {
          const at = ((number * 7_919 + turn * 104_729) % rows) + 1
          const read = await record(`${kind}/${name}/record?${asked}${prefix}${at}`)
          const { version, check } = (read.body as { value: Record<string, string> }).value
          expect([read.status, check]).toEqual([200, `${version}-${at}`])
          seen.add(version!)
        }
      }
      const readers = Array.from({ length: size(5, 50) }, (_, number) => reader(number))
      // Holding more than 8 MiB of the file at a time would end this with 500.
      expect((await patch(`${kind}/${name}`, contents(1))).status).toBe(200)
      isDone = true
      await Promise.all(readers)
      expect(seen).toEqual(new Set(['0', '1']))
      const read = () => record(`${kind}/${name}/record?${asked}${prefix}7`)
      expect((await read()).body).toMatchObject({ value: { version: '1', check: '1-7' } })
      const trips = async () => roundTrips(await read()).d1!
      // The least of three, because what is in force is read again after 5 s.
      expect(Math.min(await trips(), await trips(), await trips())).toBe(0)
    },
    900_000,
  )
})

describe('GET /resource/{tenantLocator}/tables/{name}/diff', () => {
  type Diff = Problem & {
    items: { change: string; key: string[]; from?: object; to?: object }[]
    listCompleted: boolean
    pagingToken?: string
    from: { name: string; revision: string }
  }
  const diff = async (query: string) => (await motor.get<Diff>(`${root}/tables/${query}`)).body
  const told = ({ items }: Diff) => items.map(({ change, key }) => `${change} ${key.join('/')}`)

  it('returns the changes between the contents in force at two dates, page by page', async () => {
    await put('tables', 'plan_1', 'plan', 'state,class,value\nCA,1,10\nCA,2,20\nNY,1,30\nTX,1,40\n')
    await put('tables', 'plan_2', 'plan', 'class,state,value\n1,CA,10\n2,CA,21\n3,CA,25\n1,TX,40\n')
    await put('tables', 'plan_3', 'plan', 'state,class,value\nCA,1,10.0\n')
    for (const [at, name] of ['2026', '2031', '2032'].entries())
      await group(`plan ${name}`, `${name}-01-01T00:00:00Z`, [`plan_${at + 1}`])
    const keys = await diff('plan/diff?from=2026-06-01T00:00:00Z&to=2031-06-01T00:00:00Z')
    expect([keys.code, keys.message]).toEqual([
      'invalidParameter',
      "'plan_1' has the keys state (string), class (string), but 'plan_2' has class (string), state (string); only tables with the same keys can be compared.",
    ])
    await patch('tables/plan_2', 'state,class,value\nCA,1,10\nCA,2,21\nCA,3,25\nTX,1,40\n')
    const years = 'plan/diff?from=2026-06-01T00:00:00Z&to=2031-06-01T00:00:00Z'
    const all = await diff(years)
    expect(all.items).toEqual([
      {
        change: 'changed',
        key: ['CA', '2'],
        from: { state: 'CA', class: '2', value: '20' },
        to: { state: 'CA', class: '2', value: '21' },
      },
      { change: 'added', key: ['CA', '3'], to: { state: 'CA', class: '3', value: '25' } },
      { change: 'removed', key: ['NY', '1'], from: { state: 'NY', class: '1', value: '30' } },
    ])
    expect([all.from.name, all.listCompleted]).toEqual(['plan_1', true])
    const pages: string[] = []
    for (let token: string | undefined = ''; token !== undefined; ) {
      const page: Diff = await diff(`${years}&count=1${token && `&pagingToken=${token}`}`)
      pages.push(...told(page))
      token = page.pagingToken
    }
    expect(pages).toEqual(told(all))
    expect((await diff(`${years}&pagingToken=nonsense`)).code).toBe('invalidParameter')
    expect(told(await diff('plan/diff?from=2031-06-01T00:00:00Z&to=2032-06-01T00:00:00Z'))).toEqual([
      'changed CA/1',
      'removed CA/2',
      'removed CA/3',
      'removed TX/1',
    ])
    expect((await diff('plan/diff?from=2025-06-01T00:00:00Z&to=2032-06-01T00:00:00Z')).code).toBe(
      'resourceNotInForce',
    )
  })

  it('returns the changes even if 150 columns are in another order', async () => {
    const names = Array.from({ length: 150 }, (_, at) => `c${at}`)
    const line = (id: number, changed: string, order = names) =>
      [id, ...order.map(name => (name === changed ? 'new' : `${id}-${name}`))].join(',')
    const contents = (order: string[], changed: string) =>
      [['id', ...order].join(','), line(1, '', order), line(2, changed, order)].join('\n')
    const first = await put('tables', 'wide', 'wide', contents(names, ''))
    const second = await patch('tables/wide', contents(names.toReversed(), 'c7'))
    const [from, to] = [first, second].map(({ body }) => body.lookupTableLocator)
    expect(told(await diff(`wide/diff?byStaticName=false&from=${from}&to=${to}`))).toEqual(['changed 2'])
  })

  it('returns the changes of replaced contents by reading the file again after their rows were dropped', async () => {
    const header = 'state,class,rate,since,fleet\n'
    const first = await put('tables', 'base_9', 'motor_base', `${header}CA,1,1.50,,\nCA,2,2,,\n`)
    const second = await patch('tables/base_9', `${header}CA,1,1.5,,\nCA,2,3,,\n`)
    const [from, to] = [first, second].map(({ body }) => body.lookupTableLocator)
    const both = `base_9/diff?byStaticName=false&from=${from}&to=${to}`
    expect(told(await diff(both))).toEqual(['changed CA/2'])
    const third = await patch('tables/base_9', 'note,state,class,rate,since,fleet\n,CA,1,1.5,,\n,CA,2,3,,\n')
    // With another column, every record has changed.
    const latest = `base_9/diff?byStaticName=false&from=${to}&to=${third.body.lookupTableLocator}`
    expect(told(await diff(latest))).toEqual(['changed CA/1', 'changed CA/2'])
    const rowsOf = async (locator = '') => {
      const { results } = await boundDatabase(poolBinding(1))
        .prepare(
          'select c.state, count(r.line) as rows from table_contents c left join table_row r on r.contents = c.number where c.revision = ? group by c.number',
        )
        .bind(locator)
        .all()
      return results
    }
    expect(await rowsOf(from)).toEqual([{ state: 'loaded', rows: 2 }])
    await motor.post('/test/clock', { advance: { amount: 1, unit: 'hour' } })
    expect(await rowsOf(from)).toEqual([{ state: 'dropped', rows: 0 }])
    expect(await rowsOf(third.body.lookupTableLocator)).toEqual([{ state: 'loaded', rows: 2 }])
    expect(told(await diff(both))).toEqual(['changed CA/2'])
    expect(await rowsOf(from)).toEqual([
      { state: 'dropped', rows: 0 },
      { state: 'loaded', rows: 2 },
    ])
    expect((await diff(`base_9/diff?byStaticName=false&from=${from}&to=no`)).code).toBe('notFound')
  })
})

describe('a range table', () => {
  const at = async (path: string) => {
    const { body } = await record(path)
    return body.code ?? (body.value as { factor: unknown }).factor
  }

  it('returns the record whose range contains the bound, to the last digit', async () => {
    const csv =
      'state,from,to,factor\nCA,-10.5,0,0.9\nCA,0,10,1.1\nCA,10,20.25,1.2\nCA,30,,1.5\nNY,-0.1,0.1,2\nCA,0.30000000000000001,0.30000000000000001,9\n'
    const overlapping = await put<Problem>('rangeTables', 'age_0', 'age_factor', csv)
    expect(overlapping.body.tableErrors?.map(({ line, message }) => [line, message])).toEqual([
      [
        7,
        'The range begins before the range of line 3 has ended; ranges with the same key may share only an edge.',
      ],
    ])
    const sound = csv.split('\n').slice(0, 6).join('\n')
    const made = await put('rangeTables', 'age_1', 'age_factor', sound)
    expect([made.status, made.body.rangeTableLocator]).toEqual([200, expect.any(String)])
    await group('ages', '2026-01-01T00:00:00Z', ['age_1'])
    const bound = (value: string, key = 'CA') =>
      at(`rangeTables/age_factor/record?key=${key}&boundValue=${value}`)
    for (const [value, factor] of [
      ['-10.5', 0.9],
      ['-10.50000000000000000000000000000000001', 'tableRecordNotFound'],
      ['-0.00000000000000000000000000000000001', 0.9],
      ['0', 1.1],
      ['-0', 1.1],
      ['9.99999999999999999999', 1.1],
      ['10', 1.2],
      ['10.0', 1.2],
      ['20.25', 1.2],
      ['20.2500000000000000001', 'tableRecordNotFound'],
      ['29.99', 'tableRecordNotFound'],
      ['30', 1.5],
      ['99999999999999999999999999999999999999', 1.5],
      ['1e3', 'invalidParameter'],
      ['', 'invalidParameter'],
    ] as const)
      expect([value, await bound(value)]).toEqual([value, factor])
    expect([await bound('-0.1', 'NY'), await bound('0.1', 'NY'), await bound('0', 'TX')]).toEqual([
      2,
      2,
      'tableRecordNotFound',
    ])
    expect(await at('rangeTables/age_factor/record?key=CA')).toBe('invalidParameter')
    expect(await downloaded('rangeTables/age_1')).toEqual({ 'age_1.csv': sound })
    const trips = async (value: string) =>
      roundTrips(await record(`rangeTables/age_factor/record?key=CA&boundValue=${value}`)).d1
    expect([await trips('5'), await trips('5'), await trips('6')]).toEqual([1, 0, 1])
  })

  it('with touching ranges returns for every bound the row that starts there or next before it', async () => {
    // Negative and uneven starts, not in the order of the file, and one end at which no range begins.
    const starts = ['-1000.25', '-1', '-0.5', '0', '0.0001', '7', '7.5', '12345678901234567890.5'].map(
      (start, at, all) => [start, all[at + 1] ?? '99999999999999999999'],
    ) as [string, string][]
    const rows = [...starts].reverse().map(([from, to]) => `CA,${from},${to},${from}`)
    expect(
      (
        await put(
          'rangeTables',
          'touching',
          'touching',
          `state,rangeStart,rangeEnd,value\n${rows.join('\n')}\n`,
        )
      ).status,
    ).toBe(200)
    const valueAt = async (bound: string) => {
      const { body } = await record(
        `rangeTables/touching/record?byStaticName=false&key=CA&boundValue=${bound}`,
      )
      return body.code ?? (body.value as { value: string }).value
    }
    for (const [from, to] of starts) {
      expect(await valueAt(from)).toBe(from)
      const middle = new Big(from).plus(to).div(2).toFixed()
      expect([middle, await valueAt(middle)]).toEqual([middle, from])
    }
    expect(await valueAt('99999999999999999999')).toBe('12345678901234567890.5')
    expect(await valueAt('-1000.250001')).toBe('tableRecordNotFound')
    expect(await valueAt('100000000000000000000')).toBe('tableRecordNotFound')
  })

  it('without a declaration has rangeStart and rangeEnd, and may have no key', async () => {
    expect(
      (await put('rangeTables', 'tiers', 'tiers', 'rangeStart,factor\n10,b\n0,a\n20.5,c\n')).status,
    ).toBe(200)
    const tier = (value: string) => at(`rangeTables/tiers/record?byStaticName=false&boundValue=${value}`)
    expect([
      await tier('0'),
      await tier('9.9'),
      await tier('10'),
      await tier('20.5'),
      await tier('1000'),
      await tier('-1'),
    ]).toEqual(['a', 'a', 'b', 'c', 'c', 'tableRecordNotFound'])
    const bad = await patch<Problem>(
      'rangeTables/tiers',
      'rangeStart,rangeEnd,factor\n5,1,a\n,1,b\nx,2,c\n7,9,d\n7.0,8,e\n',
    )
    expect(bad.body.tableErrors?.map(({ line, message }) => [line, message])).toEqual([
      [2, 'The range ends before it begins; swap its bounds.'],
      [3, "The bound 'rangeStart' is empty; every row must have one."],
      [4, "The cell 'rangeStart' is not a plain decimal number."],
      [6, 'The row has the same key and start as line 5; remove one of them.'],
    ])
  })
})

/** Looks the table up at each of the times, as older scripts do. */
const DATED = `
exports.executeLambda = (operation, times) =>
  times.map(at => socotraApi.tableLookup(0, 'own_damage_rate', '0603-BTP', at))`

/** Notes what the table of the price says during underwriting, and asks for more rows than there are rounds. */
const UNDERWRITER = `
const absent = () => Array.from({ length: 40 }, (_, n) => socotraApi.tableLookup(0, 'own_damage_rate', 'absent ' + n))
exports.getUnderwritingResult = () => ({
  decision: absent().every(one => one === '') ? 'accept' : 'reject',
  notes: ['0603-BTP', 'no such'].map(key => 'rate ' + socotraApi.tableLookup(0, 'own_damage_rate', key)).concat(
    [['record'], ['lowerAdjacent'], ['upperAdjacent'], ['interpolate', { factor: 'linear' }]].flatMap(([how, columns]) => {
      const found = socotraApi.rangeLookup('curve', ['CA'], '12.5', how, columns)
      return found ? [how + ' ' + found.factor] : []
    }),
  ),
})`

describe('rating', () => {
  const BERLIN = 'Europe/Berlin' as TimeZone
  const premiumOf = (policy: PolicyResponse, name = 'own_damage'): number => {
    const peril = policy.exposures[0]!.perils.find(one => one.name === name)!
    return peril.characteristics.filter(one => !one.replacedTimestamp).at(-1)!.premium!
  }
  const notesOf = async ({ locator }: PolicyResponse) =>
    (await motor.get<{ notes: string[] }>(`/policy/${locator}/automatedUnderwritingResult`)).body.notes
  const from = (policy: PolicyResponse, months: number) =>
    add(Number(policy.originalContractStartTimestamp) as Instant, months, 'month', BERLIN)

  it("uses the table in force at each transaction's time in templates and plugins, else the configuration's", async () => {
    const bound = (await motor.createPolicy({ finalize: true })).body
    expect(premiumOf(bound)).toBe(453.25)
    expect(await notesOf(bound)).toEqual(['rate 0.0185', 'rate '])
    await motor.post(`/policy/${bound.locator}/issue`)
    const july = from(bound, 6)
    // One table in force from July, and another from October.
    const rateJuly = await put('tables', 'rate_july', 'own_damage_rate', 'key,value\n0603-BTP,0.0200\n')
    const rateOctober = await put('tables', 'rate_october', 'own_damage_rate', 'key,value\n0603-BTP,0.0300\n')
    await group('july', new Date(july).toISOString(), ['rate_july'])
    await group('october', new Date(from(bound, 9)).toISOString(), ['rate_october'])

    const startingAt = (at: number) => ({
      policyStartTimestamp: at,
      policyEndTimestamp: add(at as Instant, 12, 'month', BERLIN),
      finalize: true,
    })
    const months = [0, 5, 6, 8, 9, 20].map(count => from(bound, count))
    const asked = await motor.post<string[]>('/lambda/rates', months)
    expect(asked.body).toEqual(['0.0185', '0.0185', '0.0200', '0.0200', '0.0300', '0.0300'])

    const again = (await motor.createPolicy(startingAt(from(bound, 0)))).body
    expect([premiumOf(again), await notesOf(again)]).toEqual([453.25, ['rate 0.0185', 'rate ']])
    const later = await motor.createPolicy(startingAt(july))
    expect(later.status).toBe(200)
    // 24,500 × 0.02, and × 0.03.
    expect([premiumOf(later.body), await notesOf(later.body)]).toEqual([490, ['rate 0.0200', 'rate ']])
    expect(premiumOf((await motor.createPolicy(startingAt(from(bound, 9)))).body)).toBe(735)

    // Bound before the tables existed, and endorsed before and after they begin.
    const endorse = (months: number, value: string) =>
      motor.post(`/policies/${bound.locator}/endorsements`, {
        endorsementName: 'change_of_risk',
        startTimestamp: from(bound, months),
        state: 'issued',
        updateExposures: [
          { exposureLocator: bound.exposures[0]!.locator, fieldValues: { vehicle_value: value } },
        ],
      })
    expect((await endorse(3, '49000')).status).toBe(200)
    const read = async () => (await motor.get<PolicyResponse>(`/policy/${bound.locator}`)).body
    // 49,000 × 0.0185 for nine months: the configuration's rate applies until July.
    expect(premiumOf(await read())).toBe(679.88)
    expect((await endorse(6, '36000')).status).toBe(200)
    // 36,000 × 0.02 for six months.
    expect(premiumOf(await read())).toBe(360)
    expect((await endorse(9, '40000')).status).toBe(200)
    expect(premiumOf(await read())).toBe(300)
    // Each transaction names the contents that rated it. Those of the configuration are not listed.
    const { body: uses } = await motor.get<TableUseResponse[]>(`/policy/${bound.locator}/tableRevisions`)
    const names = (await read()).modifications.map(({ number, locator }) => [
      number,
      uses.filter(use => use.modificationLocator === locator).map(({ name, revision }) => [name, revision]),
    ])
    expect(names).toEqual([
      [0, []],
      [1, []],
      [2, [['rate_july', rateJuly.body.lookupTableLocator]]],
      [3, [['rate_october', rateOctober.body.lookupTableLocator]]],
    ])
    expect((await motor.get<Problem>('/policy/999999999999/tableRevisions')).status).toBe(404)
  })

  it('lets plugins read records, neighbours and interpolated values of range tables', async () => {
    const curve = 'state,from,to,factor\nCA,0,10,1\nCA,10,12,1.5\nCA,20,,3\n'
    expect((await put('rangeTables', 'curve_1', 'curve', curve)).status).toBe(200)
    await group('curve', '2026-01-01T00:00:00Z', ['curve_1'])
    const { body: policy } = await motor.createPolicy({ policyStartTimestamp: START_IN_JULY, finalize: true })
    // The range from 10 has ended at 12. Between the starts 10 and 20, 12.5 is a quarter of the way from 1.5 to 3.
    expect((await notesOf(policy)).slice(2)).toEqual([
      'lowerAdjacent 1.5',
      'upperAdjacent 3',
      'interpolate 1.875',
    ])
  })

  it('makes no more round trips for a known table, and fails as usual if the table lacks the key', async () => {
    const created = async (tenant: Motor) => {
      const changes = { policyStartTimestamp: START_IN_JULY, finalize: true }
      await tenant.createPolicy(changes)
      const answer = await tenant.createPolicy(changes)
      expect(answer.status).toBe(200)
      return roundTrips(answer)
    }
    const bare = await motorTenant('bare', withPlugins({ getUnderwritingResult: UNDERWRITER }))
    expect(await created(motor)).toEqual(await created(bare))
    const { exposures } = plainYear().request.policy as { exposures: { fieldValues: object }[] }
    const [vehicle] = exposures
    const fieldValues = { ...vehicle!.fieldValues, vehicle_type: '0035-AXZ' }
    const failed = await motor.createPolicy({
      policyStartTimestamp: START_IN_JULY,
      exposures: [{ ...vehicle, fieldValues }],
      finalize: true,
    })
    const problem = failed.body as unknown as Problem
    expect([failed.status, problem.code]).toEqual([422, 'templateFailed'])
    expect(problem.message).toContain("The table 'own_damage_rate' has no key '0035-AXZ'.")
  })
})

const codeOf = async (answer: Promise<Answer<Problem>>) => {
  const { status, body } = await answer
  return [status, body.code, body.message]
}

/** Returns the files of the zip that a download returns. */
async function downloaded(path: string): Promise<Record<string, string>> {
  const response = await exports.default.fetch(
    new Request(`http://bindery.test${root}/${path}`, {
      headers: { authorization: `Bearer ${motor.token}` },
    }),
  )
  expect(response.headers.get('content-type')).toBe('application/zip')
  noteExchange({ method: 'GET', path: `${root}/${path}`, body: undefined, status: 200, answer: 'PK' })
  const files = unzipSync(new Uint8Array(await response.arrayBuffer()))
  return Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString('utf8')]),
  )
}
