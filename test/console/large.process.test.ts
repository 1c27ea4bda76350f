// Large data in the console: a list of 100,000 policies, a policy of 1,000 exposures, one of 150 transactions, and one of both.
// First content appears within a second of local time, and no task takes more than 200 ms.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, signIn } from '../../scripts/api-client.ts'
import { testUsers, workedPolicies } from '../../scripts/example.ts'
import { deployFiles, paperlessFiles } from '../../tools/bench/example-tenant.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { measured, size } from '../support/sizes.ts'
import { BROWSER, type ConsoleBrowser, settled, startBrowser, until } from './page.ts'

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the console is not tried.')

const DAY_MS = 86_400_000
const POLICIES = size(20_000, 100_000)
const EXPOSURES = size(60, 1_000)
const ENDORSEMENTS = size(8, 149)
const LARGE_EXPOSURES = size(300, 1_000)
const LARGE_ENDORSEMENTS = size(64, 149)

// The limits hold on a machine with nothing else to do. Next to other tests, only growth with the size is detected.
const FIRST_CONTENT_MS = size(10_000, 1_000)
const LONGEST_TASK_MS = size(2_000, 200)

const FIRST_CONTENT = `document.querySelector('main :is(tbody tr, .facts, .premium, .figure, dl, .work li, .empty)')`

type Locator = { locator: string }
type Covered = {
  exposures: {
    locator: string
    perils: { characteristics: { premium: number; replacedTimestamp?: string }[] }[]
  }[]
}

describe.skipIf(!BROWSER)('The console with large data', () => {
  let service: ServiceProcess
  let browser: ConsoleBrowser
  let tenant: { hostname: string }
  let admin: ApiClient
  let page: Page
  let faults: string[]
  let holder: string

  beforeAll(async () => {
    ;[service, browser] = await Promise.all([startServiceProcess(), startBrowser()])
    tenant = await deployFiles(await service.administration(), 'motor', paperlessFiles())
    const { username, password } = testUsers().find(({ roles }) => roles.includes('admin'))!
    admin = await signIn(service.origin, { username, password, hostName: tenant.hostname })
    const { policyholder } = workedPolicies().find(one => one.name === 'A plain year')!.request
    ;({ locator: holder } = await admin.call<Locator>('POST', '/policyholder/create', {
      completed: true,
      values: policyholder.values as object,
    }))
    ;({ page, faults } = await browser.open())
    await page.addInitScript(`new PerformanceObserver(list => {
      (window.longTasks ??= []).push(...list.getEntries().map(({ duration }) => Math.round(duration)))
    }).observe({ type: 'longtask' })`)
    await page.goto(`${service.origin}/console`)
    await page.getByLabel('Tenant').fill(tenant.hostname)
    await page.getByLabel('User name').fill(username)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await settled(page)
  }, 600_000)
  afterAll(async () => {
    await browser?.close()
    await service?.remove()
  })

  /** Creates a policy that has begun, with `changes` to the plain one. */
  const policyOf = (changes: object): Promise<Locator> => {
    const { policy } = workedPolicies().find(one => one.name === 'A plain year')!.request
    const begin = Date.now() - 10 * DAY_MS
    return admin.call<Locator>('POST', '/policy', {
      ...policy,
      policyholderLocator: holder,
      policyStartTimestamp: begin,
      policyEndTimestamp: begin + 365 * DAY_MS,
      ...changes,
    })
  }

  /** Returns the milliseconds until the first content of the view appears, and waits until the view is complete. */
  async function shown(path: string): Promise<number> {
    const begun = performance.now()
    await page.goto(`${service.origin}/console#${path}`)
    await until(page, `document.querySelector('main').dataset.shows === '#${path}' && ${FIRST_CONTENT}`)
    const took = performance.now() - begun
    await settled(page)
    return took
  }

  async function expectSoon(paths: readonly string[], what: string): Promise<void> {
    // The isolates are warm after the first visit.
    for (const path of paths) await shown(path)
    // After a new start nothing is loaded yet, and the policy has to be read.
    await page.goto('about:blank')
    for (const path of paths) {
      const took = await shown(path)
      measured(`first content of ${what} at ${path.replace(/\d{6,}/, '…')}`, Math.round(took), 'ms')
      expect([path, took < FIRST_CONTENT_MS], `${Math.round(took)} ms`).toEqual([path, true])
    }
    const tasks = (await page.evaluate('window.longTasks ?? []')) as number[]
    measured(`longest task of ${what}`, Math.max(0, ...tasks), 'ms')
    expect(Math.max(0, ...tasks)).toBeLessThan(LONGEST_TASK_MS)
  }

  /** Issues a policy with this many exposures, and then this many endorsements. */
  async function endorsedPolicy(exposures: number, endorsements: number): Promise<string> {
    const { policy } = workedPolicies().find(one => one.name === 'A plain year')!.request
    const [vehicle] = (policy as unknown as { exposures: object[] }).exposures
    const { locator } = await policyOf({ exposures: Array(exposures).fill(vehicle) })
    await admin.call('POST', `/policy/${locator}/issue`)
    const begin = Date.now() - 9 * DAY_MS
    for (let n = 0; n < endorsements; n += 1)
      await admin.call('POST', `/policies/${locator}/endorsements`, {
        endorsementName: 'change_of_contact',
        state: 'issued',
        startTimestamp: begin + n * 60_000,
        fieldValues: { contact_phone: `+49 30 ${1_000_000 + n}` },
      })
    return locator
  }

  test.each([
    [`a policy of ${EXPOSURES} exposures`, EXPOSURES, 2],
    [`a policy of ${ENDORSEMENTS + 1} transactions`, 8, ENDORSEMENTS],
  ])(
    'shows %s in time',
    async (what, exposures, endorsements) => {
      const root = `/policy/${await endorsedPolicy(exposures, endorsements)}`
      await expectSoon(
        [root, ...['cover', 'transactions', 'billing', 'worksheet', 'quotes'].map(tab => `${root}/${tab}`)],
        what,
      )
      await page.goto(`${service.origin}/console#${root}/transactions`)
      await settled(page)
      expect(await page.locator('main tbody tr').count()).toBeGreaterThan(2)
      expect(faults).toEqual([])
    },
    900_000,
  )

  test(`a policy of ${LARGE_EXPOSURES} exposures and ${LARGE_ENDORSEMENTS + 1} transactions, too large for one response`, async () => {
    const locator = await endorsedPolicy(LARGE_EXPOSURES, LARGE_ENDORSEMENTS)
    await expect(admin.call('GET', `/policy/${locator}`)).rejects.toThrow('perilCharacteristics=none')
    const root = `/policy/${locator}`
    await expectSoon(
      [root, ...['cover', 'transactions', 'billing', 'worksheet', 'quotes'].map(tab => `${root}/${tab}`)],
      'a policy that is too large for one answer',
    )
    await shown(`${root}/cover`)
    const exposure = page.locator('main details').nth(2)
    await exposure.locator('summary').click()
    await settled(page)
    const outline = await admin.call<Covered>('GET', `${root}?perilCharacteristics=none`)
    const { exposures } = await admin.call<Covered>(
      'GET',
      `${root}?perilCharacteristics=${outline.exposures[2]!.locator}`,
    )
    const held = exposures[2]!.perils[0]!.characteristics.filter(one => one.replacedTimestamp === undefined)
    const premium = held.reduce((sum, one) => sum + Math.round(one.premium * 100), 0)
    expect((await exposure.textContent())!.replaceAll(/[\s.,]/g, '')).toContain(String(premium))
    expect(faults.filter(fault => !fault.includes('413'))).toEqual([])
  }, 900_000)

  test(`lists of ${POLICIES.toLocaleString('en')} policies`, async () => {
    const ending = await policyOf({ policyEndTimestamp: Date.now() + 5 * DAY_MS })
    await admin.call('POST', `/policy/${ending.locator}/issue`)
    await service.stop()
    insertPolicies(service.dataFolder, POLICIES)
    await service.start()
    await expectSoon(['/', '/work/pastDue', '/work/policies', '/work/expiring'], 'a long list')
    expect(await page.locator('tbody tr').count()).toBeLessThanOrEqual(50)
    await page.goto(`${service.origin}/console#/work/expiring`)
    await settled(page)
    await page.getByRole('link', { name: 'Next page' }).click()
    await settled(page)
    expect(await page.locator('tbody tr').count()).toBe(50)
    await page.goto(`${service.origin}/console#/`)
    await settled(page)
    expect(await page.locator('.work a[href="#/work/expiring"] .count').textContent()).toBe('1,000+')
    expect(faults).toEqual([])
  }, 600_000)
})

/** Inserts copies of a policy that ends soon directly into the database of the example. */
function insertPolicies(dataFolder: string, count: number): void {
  for (const file of globSync(join(dataFolder, '**', '*.sqlite'))) {
    const database = new DatabaseSync(file)
    try {
      const [one] = database
        .prepare(`select name from sqlite_master where type = 'index' and name = 'policy_ending'`)
        .all()
      if (!one || database.prepare('select 1 from policy where issued_at is not null').get() === undefined)
        continue
      const columns = database
        .prepare(
          `select name from pragma_table_info('policy') where name not in ('locator', 'effective_end')`,
        )
        .all()
        .map(({ name }) => `"${name}"`)
        .join(', ')
      database.exec(`with recursive n(n) as (select 1 union all select n + 1 from n where n < ${count})
        insert into policy (locator, effective_end, ${columns})
        select 900000000000 + n * 64, p.effective_end + n * 1000, ${columns}
        from (select * from policy where issued_at is not null order by effective_end limit 1) p, n`)
    } finally {
      database.close()
    }
  }
}
