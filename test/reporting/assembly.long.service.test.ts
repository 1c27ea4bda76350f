// The files of a large report: many steps, uploads of several parts, and each step repeated as if after a crash.
import { env } from 'cloudflare:workers'
import { parse } from 'csv-parse/sync'
import { parquetReadObjects } from 'hyparquet'
import { beforeAll, expect, it } from 'vitest'
import type { Uuid } from '../../src/kernel/locators.ts'
import type { TimeZone } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import type { Tenant, TenantPlace } from '../../src/platform/tenancy.ts'
import type { Layout } from '../../src/reporting/columns.ts'
import { assemble, type ReportFile } from '../../src/reporting/files/assembly.ts'
import { putPortion, reportKey } from '../../src/reporting/files/portions.ts'
import type { Cell } from '../../src/reporting/kind.ts'
import { size } from '../support/sizes.ts'

const PORTIONS = 30
const LINES = 400
const REPORT = '5b9a3f61-0000-4000-8000-000000000000' as Uuid
const ZONE = 'Europe/Berlin' as TimeZone

const layout: Layout = {
  columns: [
    { name: 'policyLocator', type: 'text', about: '' },
    { name: 'currency', type: 'text', about: '' },
    { name: 'note', type: 'text', about: '' },
    { name: 'at', type: 'time', about: '' },
    { name: 'count', type: 'integer', about: '', isMeasure: true },
    { name: 'amount', type: 'amount', about: '', isMeasure: true },
  ],
  dimensions: 0,
  currency: 1,
  measures: [4, 5],
  cellsOf: () => [],
}

/**
 * Makes the NDJSON file larger than one part of an upload. In the small size the others stay within one part, because JSON writes
 * this character as six.
 */
const LONG_NOTE = size('\u001f'.repeat(2_000), 'x'.repeat(12_000))

/** Texts that are difficult for spreadsheets, quoting and character sets. */
const NOTES = ['=1+1', 'a "quoted", text', 'two\nlines', '', 'Zürich – 東京 🚲', '@cmd', LONG_NOTE, '-5']

const lineOf = (portion: number, at: number): Cell[] => [
  String(100_000_000 + portion * LINES + at),
  at % 3 === 0 ? 'EUR' : at % 3 === 1 ? 'JPY' : 'BHD',
  NOTES[(portion + at) % NOTES.length]!,
  at % 7 === 0 ? null : 1_795_000_000_000 + at,
  at % 5,
  (at % 2 === 0 ? 1 : -1) * (portion * LINES + at),
]

let place: TenantPlace

beforeAll(async () => {
  const tenant = { locator: '6b9a3f61-0000-4000-8000-000000000000', generation: 1, place: '' } as Tenant
  place = { env, tenant, calls: noCalls() }
  for (let portion = 0; portion < PORTIONS; portion += 1)
    await putPortion(
      place,
      REPORT,
      portion,
      Array.from({ length: LINES }, (_, at) => lineOf(portion, at)),
    )
})

async function assembled(repeats: boolean): Promise<{ files: ReportFile[]; steps: number }> {
  const work = { place, report: REPORT, layout, portions: PORTIONS, timeZone: ZONE, rest: async () => {} }
  for (let step = 0; ; step += 1) {
    if (repeats && step > 0) await assemble(work, step - 1)
    const files = await assemble(work, step)
    if (files) return { files: repeats ? (await assemble(work, step))! : files, steps: step + 1 }
  }
}

const bytesOf = async (name: string): Promise<ArrayBuffer> =>
  await (await env.FILES.get(reportKey(place, REPORT, name)))!.arrayBuffer()

it('files of a large report are the same if steps are repeated, and other libraries read them correctly', async () => {
  const { files, steps } = await assembled(false)
  expect(steps).toBeGreaterThan(2)
  expect(files.map(({ rows }) => rows)).toEqual([PORTIONS * LINES, PORTIONS * LINES, PORTIONS * LINES])
  // Large enough for uploads of several parts.
  expect(files.find(({ format }) => format === 'ndjson')!.bytes).toBeGreaterThan(16 * 1_048_576)
  const parquet = await parquetReadObjects({ file: await bytesOf('lines.parquet') })
  const csv = parse(new TextDecoder().decode(await bytesOf('lines.csv')), { columns: true }) as Record<
    string,
    string
  >[]
  expect([parquet.length, csv.length]).toEqual([PORTIONS * LINES, PORTIONS * LINES])
  const digits: Record<string, number> = { EUR: 2, JPY: 0, BHD: 3 }
  for (let at = 0; at < parquet.length; at += 371) {
    const [policy, currency, note, time, count, minor] = lineOf(Math.floor(at / LINES), at % LINES)
    const amount = Number(minor) / 10 ** digits[String(currency)]!
    expect(parquet[at]).toMatchObject({ policyLocator: policy, currency, note, count: BigInt(count!) })
    expect(Number(parquet[at]!.amount)).toBeCloseTo(amount, 4)
    expect(parquet[at]!.at === null || parquet[at]!.at === undefined).toBe(time === null)
    expect(Number(csv[at]!.amount)).toBe(amount)
    expect(csv[at]!.note).toBe(/^[=+\-@]/.test(String(note)) ? `'${note}` : note)
  }
  expect((await assembled(true)).files).toEqual(files)
}, 120_000)
