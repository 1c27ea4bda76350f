// The files of a report are the same as without disturbance, regardless of what fails and when the work is interrupted.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import type { Uuid } from '../../src/kernel/locators.ts'
import { now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { openDatabase } from '../../src/platform/database.ts'
import type { Timer } from '../../src/platform/events/timers.ts'
import { forgetTenants, readTenant } from '../../src/platform/tenancy.ts'
import type { ReportStatusResponse } from '../../src/reporting/contract.ts'
import type { ReportedPolicy } from '../../src/reporting/kind.ts'
import { nextPortion, readPortion } from '../../src/reporting/run/reading.ts'
import { runReportAlarm } from '../../src/reporting/run/run.ts'
import { scheduleDue } from '../../src/reporting/scheduled.ts'
import { addShards, openNewShards } from '../../src/tenants/service.ts'
import { callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { faultyDatabase } from '../support/faulty-database.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const POLICIES = 6
const DAY_MS = 86_400_000

let motor: Motor
let token: string
let start: number

const shard = () => ({ tenantLocator: motor.tenantLocator as Uuid, generation: 1, shard: 0 })
const database = () => boundDatabase(poolBinding(1))

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('report-faults')
  token = await motor.signIn('anna.admin')
  for (let at = 0; at < POLICIES; at += 1) {
    const { body } = await motor.createPolicy({})
    await motor.post(`/policy/${body.locator}/issue`)
    start = Number(body.originalContractStartTimestamp)
  }
})

const run = (name: string) =>
  callOk<ReportStatusResponse>('POST', `/report/${name}?wait=20`, {
    token,
    body: { from: 0, to: start + 400 * DAY_MS },
  })

const status = (locator: string) =>
  callOk<ReportStatusResponse>('GET', `/report/${locator}/status`, { token })

/** Restarts the report without the knowledge of its own object. */
const beginAgain = (locator: string) =>
  database()
    .prepare(
      `update report set state = 'running', shard = 0, after = 0, portions = 0, steps = 0, processed = 0, rows_read = 0, files = null,
        totals = '{"lines":0,"groups":{}}', finished_at = null where locator = ?`,
    )
    .bind(locator)
    .run()

const hashesOf = ({ files }: ReportStatusResponse) =>
  files
    .filter(({ format }) => format !== 'manifest')
    .map(({ format, rows, sha256 }) => [format, rows, sha256])

it.each(['ledger', 'conversion'])(
  'the report %s is complete despite failing batches and pauses',
  async name => {
    const whole = await run(name)
    expect(whole).toMatchObject({ state: 'finished', processed: POLICIES })
    await beginAgain(whole.locator)
    for (let at = 0; at < 40; at += 1) {
      const faulty = {
        ...env,
        [poolBinding(1)]: faultyDatabase(database(), batch =>
          batch === at % 10 ? (at % 2 === 0 ? 'before' : 'after') : undefined,
        ),
      } as unknown as Env
      let asked = 0
      // Every third attempt is interrupted after some policies, as by a pause.
      const isHalted = () => at % 3 === 2 && ++asked > 3
      await runReportAlarm(faulty, shard(), whole.locator as Uuid, isHalted).catch(() => undefined)
      const { state } = await status(whole.locator)
      if (state === 'error') await callOk('PATCH', `/report/${whole.locator}/resume`, { token })
      if (state === 'finished' && at < 20) await beginAgain(whole.locator)
    }
    for (let tries = 0; tries < 10; tries += 1)
      await runReportAlarm(env, shard(), whole.locator as Uuid, () => false).catch(() => undefined)
    const now = await status(whole.locator)
    expect(now).toMatchObject({ state: 'finished', processed: POLICIES, lines: whole.lines })
    expect(now.totals).toEqual(whole.totals)
    expect(hashesOf(now)).toEqual(hashesOf(whole))
  },
)

it('an alarm that has sent as many statements as it should leaves the report to the next one', async () => {
  const { locator } = await run('ledger')
  await beginAgain(locator)
  const full = { ...noCalls(), statements: 501 }
  expect(await runReportAlarm(env, shard(), locator as Uuid, () => false, full)).toBe(0)
  expect(await status(locator)).toMatchObject({ state: 'running', processed: 0 })
  while ((await runReportAlarm(env, shard(), locator as Uuid, () => false)) !== undefined);
  expect(await status(locator)).toMatchObject({ state: 'finished', processed: POLICIES })
})

it('a portion needs two batches to read it, one to record it, and one file', async () => {
  const { locator } = await run('ledger')
  await beginAgain(locator)
  await database().prepare('update books set brought_in_at = 1').run()
  const calls = noCalls()
  await runReportAlarm(env, shard(), locator as Uuid, () => false, calls)
  const { d1, r2, object, queue, renewed } = calls
  const { rowsRead } = await status(locator)
  expect(rowsRead).toBeGreaterThan(POLICIES)
  expect(rowsRead).toBeLessThanOrEqual(calls.rowsRead)
  // Reads: the report, versions, what is brought in, policies, their rows, the end of the shard, disbursements. Writes: the
  // portion, the shard, the files with the event. Reading the tenant again depends on the clock and is not counted.
  expect({ d1: d1 - renewed, r2, object, queue }).toEqual({ d1: 10, r2: 7, object: 0, queue: 0 })
})

it('a portion with many perils is read in several batches, with the same files', async () => {
  const whole = await run('conversion')
  const batchesOf = async (perils: number) => {
    await database().prepare('update policy set peril_count = ?').bind(perils).run()
    await beginAgain(whole.locator)
    const calls = noCalls()
    await runReportAlarm(env, shard(), whole.locator as Uuid, () => false, calls)
    expect(hashesOf(await status(whole.locator))).toEqual(hashesOf(whole))
    return calls.d1 - calls.renewed
  }
  const one = await batchesOf(5)
  // Six policies with 60 perils each: one batch per policy, and one portion for all.
  expect(await batchesOf(60)).toBe(one + POLICIES - 1)
})

it('journals are read eight policies at a time, so that other requests do not wait long', async () => {
  const calls = noCalls()
  const open = openDatabase(database(), calls)
  const everything = { by: [], products: [] } as never
  const [first] = await nextPortion(open, 0, everything, { journal: true }, now())
  const portion = Array.from({ length: 20 }, () => first!)
  const read: (readonly ReportedPolicy[])[] = []
  for await (const policies of readPortion(open, portion, { journal: true }, now())) read.push(policies)
  expect(read.map(policies => policies.length)).toEqual([8, 8, 4])
  expect(read[0]![0]!.journal).not.toEqual([])
  expect(calls.d1).toBe(1 + read.length)
})

it('a scheduled report is run later if the database is interrupted twice at its time', async () => {
  const made = await callOk<{ locator: string }>('POST', '/reports/schedules', {
    token,
    body: {
      reportName: 'ledger',
      calendar: { every: 'day', hour: 6 },
      parameters: { period: 'previousDay' },
    },
  })
  const row = () =>
    database()
      .prepare('select next_at as next, last_report_locator as report from report_schedule where locator = ?')
      .bind(made.locator)
      .first<{ next: number; report: string | null }>()
  const tenant = (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!
  for (let first = 0; first < 12; first += 1) {
    await database().prepare('update report_schedule set next_at = 1, last_report_locator = null').run()
    const faulty = {
      ...env,
      [poolBinding(1)]: faultyDatabase(database(), batch =>
        batch === first || batch === first + 1 ? 'before' : undefined,
      ),
    } as unknown as Env
    const place = { env: faulty, tenant, shard: 0, calls: noCalls() }
    await scheduleDue({ subject: made.locator } as Timer, place).catch(() => undefined)
    const { next, report } = (await row())!
    expect([first, next > 1, report !== null]).toEqual([first, report !== null, report !== null])
    // Makes room for the next report.
    await database().prepare("update report set state = 'finished'").run()
  }
})

it('a report is tried again if a shard is not bound yet in an isolate with earlier code', async () => {
  const { locator } = await run('ledger')
  const { name } = (await readTenant(env, { locator: motor.tenantLocator }, noCalls()))!
  const { shards } = await addShards(env, name, 2)
  await openNewShards(env, name)
  forgetTenants()
  await beginAgain(locator)
  const former = { ...env, [shards[1]!]: undefined } as unknown as Env
  await expect(runReportAlarm(former, shard(), locator as Uuid, () => false)).rejects.toThrow(
    'is not bound yet',
  )
  expect(await status(locator)).toMatchObject({ state: 'running', processed: POLICIES })
  await runReportAlarm(env, shard(), locator as Uuid, () => false)
  expect(await status(locator)).toMatchObject({ state: 'finished', processed: POLICIES })
})
