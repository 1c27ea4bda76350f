// `kill -9` at several moments of a report (ten in a full run): its files are the same as without disturbance.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import type { ReportStatusResponse } from '../../src/reporting/contract.ts'
import type { MigrationResponse } from '../../src/servicing/migration/contract.ts'
import { requests } from '../../tools/book/requests.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { size } from '../support/sizes.ts'

const KILLS = size(3, 10)
const ACCOUNTS = size(80, 260)

let service: ServiceProcess

afterAll(() => service?.remove())

/** Submits a generated book and waits until it is migrated. */
async function migrated(agent: ApiClient): Promise<void> {
  const asOf = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  const texts = [
    ...requests({ accounts: ACCOUNTS, accountsOfRequest: ACCOUNTS, faults: 0, seed: 'reports', asOf }),
  ]
  const body = new Blob([`[${texts.map(({ text }) => text).join()}]`], { type: 'application/json' })
  const root = `/migration/${service.example().tenantLocator}/migrations`
  const { locator } = await agent.call<MigrationResponse>('POST', root, body)
  for (;;) {
    const { migrationState } = await agent.call<MigrationResponse>('GET', `${root}/${locator}`)
    if (migrationState === 'finished') return
    if (!['submitted', 'processing'].includes(migrationState)) throw new Error(`It is ${migrationState}.`)
    await sleep(100)
  }
}

const hashesOf = ({ files }: ReportStatusResponse) =>
  files
    .filter(({ format }) => format !== 'manifest')
    .map(({ format, rows, sha256 }) => [format, rows, sha256])

test(`killed ${KILLS} times, a report ends with the files of an undisturbed one`, async () => {
  service = await startServiceProcess()
  const agent = await service.signInAs('admin')
  await migrated(agent)
  const body = { from: 0, to: Date.now(), by: ['peril', 'month'], knownAt: Date.now() }
  const started = performance.now()
  const whole = await agent.call<ReportStatusResponse>('POST', '/report/ledger?wait=30', body)
  const wholeMs = performance.now() - started
  expect(whole.state).toBe('finished')
  expect(whole.lines).toBeGreaterThan(1_000)
  let { locator } = await agent.call<ReportStatusResponse>('POST', '/report/ledger', body)
  let within = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep((wholeMs * kill) / KILLS)
    const { state } = await agent.call<ReportStatusResponse>('GET', `/report/${locator}/status`)
    if (state === 'running') within += 1
    await service.kill9()
    await service.start()
    // Starts another report if this one has finished.
    const now = await agent.call<ReportStatusResponse>('GET', `/report/${locator}/status`)
    if (now.state !== 'finished') continue
    expect(hashesOf(now)).toEqual(hashesOf(whole))
    ;({ locator } = await agent.call<ReportStatusResponse>('POST', '/report/ledger', body))
  }
  for (;;) {
    const now = await agent.call<ReportStatusResponse>('GET', `/report/${locator}/status`)
    if (now.state === 'running') {
      await sleep(200)
      continue
    }
    expect(now.state).toBe('finished')
    expect(now.totals).toEqual(whole.totals)
    expect(hashesOf(now)).toEqual(hashesOf(whole))
    break
  }
  expect(within).toBeGreaterThan(0)
}, 600_000)
