// Running a tenant in a real browser, as its administrator does: compared with what the interface answers.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, apiClient } from '../../scripts/api-client.ts'
import { workedPolicies } from '../../scripts/example.ts'
import { migratedAccount } from '../support/migrated.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { deployNext } from './next-version.ts'
import {
  BROWSER,
  type ConsoleBrowser,
  faintTexts,
  overflows,
  settled,
  startBrowser,
  unlabelled,
  until,
} from './page.ts'

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the console is not tried.')

/** More than the service is done with before a page is shown. */
const ACCOUNTS = 30

const PAGES = [
  ...['', '/deployments', '/tables', '/users', '/roles', '/tokens', '/access'],
  ...['/webhooks', '/plugins', '/audit', '/migrations'],
]

type Locator = { locator: string }
type Migration = Locator & { migrationState: string; accounts: Record<string, number> }
type Failures = {
  items: {
    accountOriginalId: string
    policies: Record<string, { errors: { validationItems: { errors: string[] }[] } }>
  }[]
}
type Delivery = { eventLocator: string; state: string; attempts: unknown[] }
type Got = { id: string; body: string }

describe.skipIf(!BROWSER)('running a tenant in the console', () => {
  let service: ServiceProcess
  let browser: ConsoleBrowser
  let admin: ApiClient
  let page: Page
  let faults: string[]
  let receiver: Server
  const received: Got[] = []
  /** What answers at `/gone`, and suspends its webhook by that, is there again. */
  let isBack = false
  let tenant: string
  let webhook: string
  const pictures = process.env.BINDERY_SCREENSHOTS ? 'docs' : mkdtempSync(join(tmpdir(), 'bindery-pictures-'))

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const isGone = request.url === '/gone' && !isBack
        if (request.url === '/events')
          received.push({ id: String(request.headers['webhook-id']), body: Buffer.concat(chunks).toString() })
        response.writeHead(isGone ? 410 : 200, { 'content-type': 'text/plain' }).end('Taken.')
      })
    }).listen(0, '127.0.0.1')
    const [started, opened] = await Promise.all([
      startServiceProcess(),
      startBrowser(),
      once(receiver, 'listening'),
    ])
    service = started
    browser = opened
    tenant = service.example().tenantLocator
    await deployNext(service)
    admin = await service.signInAs('admin')
    const { port } = receiver.address() as AddressInfo
    ;({ locator: webhook } = await admin.call<Locator>('POST', `/event/${tenant}/webhooks`, {
      name: 'Ledger',
      enabled: true,
      endpoint: { url: `http://127.0.0.1:${port}/events`, headers: {}, hmacEnabled: true },
      eventTypes: ['policyholder.create'],
    }))
    ;({ page, faults } = await browser.open({ acceptDownloads: true }))
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await service?.remove()
    receiver?.close()
    if (pictures !== 'docs') rmSync(pictures, { recursive: true, force: true })
  })

  const address = (path: string): string => `${service.origin}/console#${path}`

  async function go(to: string, on = page): Promise<void> {
    await on.goto(address(to))
    await settled(on)
  }

  async function signIn(on: Page, username: string): Promise<void> {
    await on.goto(address('/'))
    await on.getByLabel('Tenant').fill(service.example().hostname)
    await on.getByLabel('User name').fill(username)
    await on.getByLabel('Password').fill('password')
    await on.getByRole('button', { name: 'Sign in' }).click()
    await settled(on)
  }

  const heading = (on = page): Promise<string | null> => on.locator('h1').textContent()

  const firstCells = (caption: string): Promise<string[]> =>
    page.evaluate(
      `[...document.querySelectorAll('table')].filter(one => one.caption.textContent === ${JSON.stringify(caption)})
        .flatMap(one => [...one.tBodies[0].rows]).filter(row => !row.matches('.detail'))
        .map(row => row.cells[0].textContent)`,
    ) as Promise<string[]>

  /** Presses the button of what opens, as somebody in a hurry does: twice. */
  async function confirm(name: string, done: string): Promise<void> {
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).dblclick()
    await page.getByText(done).waitFor()
    await settled(page)
  }

  test('the frame leads to the pages, and each says what it is and fits a phone', async () => {
    await signIn(page, 'anna.admin')
    await page.getByRole('link', { name: 'Tenant', exact: true }).click()
    await until(page, `location.hash === '#/tenant'`)
    await settled(page)
    expect(await heading()).toBe('Tenant')
    expect(await page.locator('main .work a').count()).toBe(PAGES.length - 1)
    for (const path of PAGES) {
      await go(`/tenant${path}`)
      expect([path, await unlabelled(page), await page.locator('main .notice.bad').count()]).toEqual([
        path,
        [],
        0,
      ])
      expect(await page.title()).toBe(`${await heading()} · Bindery`)
      await page.setViewportSize({ width: 375, height: 800 })
      expect([path, await overflows(page)]).toEqual([path, false])
      // Its name is cut, and the word beside it stays one line.
      expect(await page.evaluate(`document.querySelector('.tenant .badge').offsetHeight < 40`)).toBe(true)
      await page.setViewportSize({ width: 1280, height: 860 })
    }
    await go('/tenant/nothing')
    await page.getByText('There is no page of that name.').waitFor()
    expect(faults).toEqual([])
  })

  test('deployments are listed with who made them, and show what each one changed', async () => {
    const versions = await admin.call<{ version: string; username: string }[]>('GET', '/deployments/versions')
    await go('/tenant/deployments')
    expect(await firstCells('Deployments')).toEqual(['Version 2', 'Version 1'])
    for (const { username } of versions) await page.getByText(username).first().waitFor()
    await page.getByRole('link', { name: 'Version 2' }).click()
    await until(page, `location.hash === '#/tenant/deployments/2'`)
    await settled(page)
    const changes = await admin.call<{ count: number; changes: { subject: string }[] }>(
      'GET',
      '/deployments/2/changes',
    )
    expect(changes.changes.map(({ subject }) => subject)).toContain("table 'region_factor'")
    await page.getByText(`${changes.count} changes`).waitFor()
    for (const { subject } of changes.changes)
      await page.getByText(subject, { exact: true }).first().waitFor()
    await page.getByRole('button', { name: "Details of table 'region_factor'" }).click()
    await page.getByText('value: 1.08 → 1.12').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the archive' }).click(),
    ])
    expect(
      readFileSync(await download.path())
        .subarray(0, 2)
        .toString(),
    ).toBe('PK')
    expect(await page.content()).not.toContain('/files/')
    await go('/tenant/deployments/1')
    await page.getByText('There is no version before this one.').waitFor()
    expect(faults).toEqual([])
  })

  test('tables of a version have their rows, and differ from those of another', async () => {
    await go('/tenant/tables')
    await page.getByLabel('Compare with version').selectOption('1')
    await page.getByRole('button', { name: 'Show' }).click()
    await until(page, `location.hash.includes('since=1')`)
    await settled(page)
    await page.getByText('Differences between version 1 and version 2').first().waitFor()
    expect(await page.locator('tbody tr.opens th').allTextContents()).toEqual(["table 'region_factor'"])
    await page.getByRole('link', { name: 'region_factor' }).click()
    await until(page, `location.hash.includes('path=')`)
    await settled(page)
    expect(await heading()).toBe('region_factor')
    expect(await firstCells('Rows of region_factor')).toEqual(['R1', 'R2', 'R3', 'R4', 'R5', 'R6'])
    await page.getByText('1.12').waitFor()
    // An uploaded one, at two times.
    const resource = `/resource/${tenant}`
    const upload = (name: string, text: string) =>
      admin.call(
        'POST',
        `${resource}/tables?name=${name}&staticName=rates`,
        new Blob([text], { type: 'text/csv' }),
      )
    await upload('rates_1', 'area,value\nA,1\nB,2\n')
    await upload('rates_2', 'area,value\nA,1\nB,3\nC,4\n')
    for (const [name, selectionStartTime] of [
      ['rates_1', '2026-01-01T00:00:00Z'],
      ['rates_2', '2027-01-01T00:00:00Z'],
    ] as const)
      await admin.call('POST', `${resource}/groups`, { name, selectionStartTime, resourceNames: [name] })
    await go('/tenant/tables')
    expect(await firstCells('Uploaded tables')).toEqual(['rates_1', 'rates_2'])
    await page.getByRole('button', { name: 'Details of rates_1' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download: rates_1' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('rates_1.zip')
    expect(
      readFileSync(await download.path())
        .subarray(0, 2)
        .toString(),
    ).toBe('PK')
    await page.getByRole('link', { name: 'Compare two times' }).click()
    await settled(page)
    await page.getByLabel('At', { exact: true }).fill('2026-06-01T00:00:00Z')
    await page.getByLabel('And at').fill('2027-06-01T00:00:00Z')
    await page.keyboard.press('Enter')
    await until(page, `location.hash.includes('to=')`)
    await settled(page)
    expect(await firstCells('Differences')).toEqual(['B', 'C'])
    await page.getByText('value: 2 → 3').waitFor()
    expect(faults).toEqual([])
  })

  test('a delivery is sent again, once, and the receiver has it twice in all', async () => {
    const { policyholder } = workedPolicies()[0]!.request
    await admin.call('POST', '/policyholder/create', { completed: true, values: policyholder.values })
    const deliveries = async (): Promise<Delivery[]> =>
      (
        await admin.call<{ items: Delivery[] }>(
          'GET',
          `/event/${tenant}/webhooks/${webhook}/deliveries/list?state=sent`,
        )
      ).items
    await expect.poll(async () => (await deliveries()).length, { timeout: 30_000 }).toBe(1)
    await go('/tenant/webhooks')
    await page.getByRole('link', { name: 'Ledger' }).click()
    await until(page, `location.hash.startsWith('#/tenant/webhooks/')`)
    await settled(page)
    expect(await heading()).toBe('Ledger active')
    expect(await firstCells('Deliveries')).toEqual(['policyholder.create'])
    await page.getByRole('button', { name: 'Details of policyholder.create' }).click()
    await page.locator('.detail pre', { hasText: 'Taken.' }).waitFor()
    await page.getByRole('button', { name: 'Send again' }).click()
    expect(await faintTexts(page)).toEqual([])
    // The answer is lost on its way back: trying again is the same request.
    const keys: (string | undefined)[] = []
    await page.route('**/redeliver', async route => {
      keys.push(route.request().headers()['idempotency-key'])
      if (keys.length > 1) return await route.continue()
      await route.fetch()
      await route.abort()
    })
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).dblclick()
    await page.getByText('It is not known whether this was done.').waitFor()
    await confirm('Try again', 'The event is on its way.')
    await page.unroute('**/redeliver')
    expect(keys).toEqual([keys[0], keys[0]])
    await expect.poll(() => received.length, { timeout: 30_000 }).toBe(2)
    await expect.poll(async () => (await deliveries())[0]?.attempts.length, { timeout: 30_000 }).toBe(2)
    const [delivery] = await deliveries()
    expect(received.map(({ id }) => id)).toEqual([delivery!.eventLocator, delivery!.eventLocator])
    await page.getByRole('button', { name: 'Reload' }).click()
    await settled(page)
    expect(await page.locator('td[data-head="Attempts"]').first().textContent()).toBe('2')
    // Paused, and going on.
    await page.getByRole('button', { name: 'Pause' }).click()
    await confirm('Pause', 'Ledger is paused.')
    expect(await heading()).toBe('Ledger paused')
    expect(await admin.call('GET', `/event/${tenant}/webhooks/${webhook}`)).toMatchObject({ enabled: false })
    await page.getByRole('button', { name: 'Let it go on' }).click()
    await confirm('Let it go on', 'Ledger goes on.')
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send a test event' }).click()
    await page.getByText(/Answer 200 after/).waitFor()
    await page.keyboard.press('Escape')
    expect(received).toHaveLength(3)
    expect(faults).toEqual([])
  })

  test('a webhook that was suspended goes on, with what came meanwhile', async () => {
    const { port } = receiver.address() as AddressInfo
    const gone = await admin.call<Locator>('POST', `/event/${tenant}/webhooks`, {
      name: 'Archive',
      enabled: true,
      endpoint: { url: `http://127.0.0.1:${port}/gone`, headers: {}, hmacEnabled: true },
      eventTypes: ['policyholder.create'],
    })
    const path = `/event/${tenant}/webhooks/${gone.locator}`
    const { policyholder } = workedPolicies()[0]!.request
    await admin.call('POST', '/policyholder/create', { completed: true, values: policyholder.values })
    await expect
      .poll(async () => (await admin.call<{ suspended: boolean }>('GET', path)).suspended, {
        timeout: 30_000,
      })
      .toBe(true)
    await go(`/tenant/webhooks/${gone.locator}`)
    expect(await heading()).toBe('Archive suspended')
    isBack = true
    await page.getByRole('button', { name: 'Lift it, and send what came meanwhile' }).click()
    await confirm('Lift it, and send what came meanwhile', 'Archive is not suspended any more.')
    expect(await heading()).toBe('Archive active')
    await expect
      .poll(
        async () =>
          (await admin.call<{ items: Delivery[] }>('GET', `${path}/deliveries/list`)).items[0]?.state,
        { timeout: 30_000 },
      )
      .toBe('sent')
    expect(faults).toEqual([])
  })

  const runs = (): string => `/migration/${tenant}/migrations`

  const read = (locator: string): Promise<Migration> => admin.call<Migration>('GET', `${runs()}/${locator}`)

  /** Accounts that wait: the migration is paused at once. */
  async function waiting(accounts: readonly object[]): Promise<string> {
    const { locator } = await admin.call<Migration>('POST', runs(), accounts)
    await admin.call('PATCH', `${runs()}/${locator}/pause`)
    return locator
  }

  test('a migration is watched from its start to its end, with what failed and why', async () => {
    const bad = migratedAccount('BAD')
    const [policy] = bad.policies
    const accounts = Array.from({ length: ACCOUNTS }, (_, at) =>
      at === 0
        ? { ...bad, policies: [{ ...policy, productName: 'private_boat' }] }
        : migratedAccount(`M-${at}`),
    )
    const locator = await waiting(accounts)
    await go('/tenant/migrations')
    await page.getByRole('link', { name: locator }).click()
    await until(page, `location.hash === '#/tenant/migrations/${locator}'`)
    await settled(page)
    expect(await page.locator('.migration').getAttribute('data-state')).toBe('paused')
    let asked = 0
    page.on('request', request => {
      if (request.method() === 'GET' && request.url().endsWith(locator)) asked += 1
    })
    await page.getByRole('button', { name: 'Resume' }).click()
    await confirm('Resume', 'The migration is resumed.')
    // Nothing but the page itself asks again.
    await page.locator('.migration[data-state="failed"]').waitFor({ timeout: 60_000 })
    await settled(page)
    expect(asked).toBeGreaterThan(0)
    const ended = await read(locator)
    expect(ended).toMatchObject({
      migrationState: 'failed',
      accounts: { completed: ACCOUNTS - 1, failed: 1 },
    })
    await page.getByText(`${ACCOUNTS} of ${ACCOUNTS} accounts are done`).waitFor()
    const { items } = await admin.call<Failures>('GET', `${runs()}/${locator}/failures/list`)
    const reasons = items.flatMap(({ policies }) =>
      Object.values(policies).flatMap(({ errors }) => errors.validationItems.flatMap(one => one.errors)),
    )
    expect(reasons.length).toBeGreaterThan(0)
    for (const reason of reasons) await page.getByText(reason, { exact: true }).first().waitFor()
    expect((await firstCells('What failed'))[0]).toBe('BAD')
    if (process.env.BINDERY_SCREENSHOTS)
      await page.screenshot({ path: join(pictures, 'console-migration.png') })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download all failures' }).click(),
    ])
    const csv = readFileSync(await download.path(), 'utf8')
    expect(csv.split('\r\n')[0]).toBe('account,kind,item,place,reason')
    for (const reason of reasons) expect(csv.replaceAll('""', '"')).toContain(reason)
    await page.getByText('Every account, as it was sent').click()
    await page.getByRole('button', { name: 'Details of BAD' }).waitFor()
    const accountsShown = await firstCells('Accounts')
    expect(accountsShown).toHaveLength(ACCOUNTS)
    expect(accountsShown[0]).toBe('BAD')
    // It has ended: nobody asks any more.
    const before = asked
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.waitForTimeout(300)
    expect(asked).toBe(before)
    expect(faults).toEqual([])
  })

  test('a page that nobody sees asks nothing, and catches up when it is seen', async () => {
    const locator = await waiting(Array.from({ length: ACCOUNTS }, (_, at) => migratedAccount(`H-${at}`)))
    await go(`/tenant/migrations/${locator}`)
    const seen = (isHidden: boolean): Promise<unknown> =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
        document.dispatchEvent(new Event('visibilitychange'))`)
    await seen(true)
    let asked = 0
    page.on('request', request => {
      if (request.url().endsWith(locator)) asked += 1
    })
    await admin.call('PATCH', `${runs()}/${locator}/resume`)
    await expect.poll(async () => (await read(locator)).migrationState, { timeout: 60_000 }).toBe('finished')
    expect([asked, await page.locator('.migration').getAttribute('data-state')]).toEqual([0, 'paused'])
    await seen(false)
    await page.locator('.migration[data-state="finished"]').waitFor()
    await page.getByText('No account has failed.').waitFor()
  })

  test('users, tokens and agents: a token is shown once, and is nowhere afterwards', async () => {
    await go('/tenant/users')
    const { items } = await admin.call<{ items: { username: string }[] }>('GET', '/auth/users')
    expect(await firstCells('Users')).toEqual(items.map(({ username }) => username))
    await page.getByLabel('User name begins with').fill('nora')
    await page.keyboard.press('Enter')
    await until(page, `location.hash.includes('username=nora')`)
    await settled(page)
    expect(await firstCells('Users')).toEqual(['nora.none'])
    await page.getByRole('button', { name: 'Details of nora.none' }).click()
    await settled(page)
    await page.getByRole('button', { name: 'Disable' }).click()
    await confirm('Disable', 'nora.none is disabled.')
    await page.locator('.badge', { hasText: 'disabled' }).waitFor()
    await page.getByRole('button', { name: 'Details of nora.none' }).click()
    await page.getByRole('button', { name: 'Enable' }).click()
    await confirm('Enable', 'nora.none is enabled.')

    // Somebody has guessed too often.
    const user = async (username: string) =>
      (
        await admin.call<{ items: { id: string; locked: boolean }[] }>(
          'GET',
          `/auth/users?username=${username}`,
        )
      ).items[0]!
    const guess = { username: 'nora.none', password: 'a guess', hostName: service.example().hostname }
    for (let tries = 0; tries < 5; tries += 1)
      await apiClient(service.origin)
        .call('POST', '/account/authenticate', guess)
        .catch(() => {})
    expect((await user('nora.none')).locked).toBe(true)
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.locator('.badge', { hasText: 'locked' }).waitFor()
    await settled(page)
    await page.getByRole('button', { name: 'Details of nora.none' }).click()
    await page.getByRole('button', { name: 'Unlock' }).click()
    await confirm('Unlock', 'nora.none is unlocked.')
    expect((await user('nora.none')).locked).toBe(false)

    // A program gets a token from who made its account.
    await admin.call('POST', '/account/v1/account', {
      ...{ username: 'robot', name: 'Night run', email: 'robot@example.com', type: 'service', password: '' },
    })
    await go('/tenant/users?service=true')
    await page.getByRole('button', { name: 'Details of robot' }).click()
    await page.getByRole('button', { name: 'Make a token' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name', { exact: true }).fill('night')
    await form.getByText('Reports', { exact: true }).click()
    await form.getByLabel('All of reports').check()
    await form.getByRole('button', { name: 'Make a token' }).click()
    await form.getByLabel('Token', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('The token night is made.').waitFor()
    await settled(page)
    const { id } = await user('robot')
    expect(await admin.call('GET', `/auth/users/${id}/tokens`)).toMatchObject([{ name: 'night' }])

    await go('/tenant/roles')
    await page.getByRole('button', { name: 'Details of Portal' }).click()
    await page.locator('.detail:not([hidden]) code', { hasText: 'read' }).waitFor()

    await go('/tenant/tokens')
    await page.getByRole('button', { name: 'Make a token' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Make a token' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Name', { exact: true }).fill('pipeline')
    await dialog.getByText('Policies', { exact: true }).click()
    await dialog.getByLabel('policies.read').check()
    await dialog.getByText('1 permission is chosen.').waitFor()
    await dialog.getByRole('button', { name: 'Make a token' }).dblclick()
    const token = await dialog.getByLabel('Token', { exact: true }).inputValue()
    expect(token).toMatch(/^bdy_/)
    await dialog.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByText('The token pipeline is made.').waitFor()
    await settled(page)
    expect(await firstCells('Long-lived tokens')).toEqual(['pipeline'])
    const kept = await page.evaluate(
      `JSON.stringify([location.href, document.documentElement.outerHTML, [...document.querySelectorAll('input')].map(one => one.value), { ...sessionStorage }, { ...localStorage }])`,
    )
    expect(String(kept)).not.toContain(token)
    const program = apiClient(service.origin, token)
    expect(await program.call('GET', '/auth/permissions')).toMatchObject({ permissions: ['policies.read'] })
    await page.getByRole('button', { name: 'Details of pipeline' }).click()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await confirm('Revoke', 'pipeline is revoked.')
    await page.getByText('There is no long-lived token.').waitFor()
    await expect
      .poll(() => program.call('GET', '/auth/permissions').catch(({ status }) => status), { timeout: 30_000 })
      .toBe(401)

    await go('/tenant/access')
    await page.getByText('People sign in with passwords alone.').waitFor()
    await page.getByRole('button', { name: 'Keep agents out' }).click()
    await confirm('Keep agents out', 'Agents are kept out.')
    expect(await admin.call('GET', '/tenant/agentAccess')).toEqual({ allowed: false })
    await page.getByRole('button', { name: 'Let agents come' }).waitFor()
    expect(faults).toEqual([])
  })

  test('the audit trail is chosen by kind, user and day, in the address', async () => {
    await go('/tenant/audit')
    await page.getByLabel('Action').selectOption('webhooks.resend')
    await page.getByLabel('User', { exact: true }).fill('anna.admin')
    await page.getByRole('button', { name: 'Show' }).click()
    await until(
      page,
      `location.hash.includes('action=webhooks.resend') && location.hash.includes('username=anna.admin')`,
    )
    await settled(page)
    const { entries } = await admin.call<{ entries: { subject: string }[] }>(
      'GET',
      '/audit/list?action=webhooks.resend&username=anna.admin',
    )
    // Both clicks of the confirmation were one.
    expect(entries).toHaveLength(1)
    expect(await page.locator('tbody tr.opens').count()).toBe(1)
    await page.getByText(entries[0]!.subject).first().waitFor()
    await page.reload()
    await settled(page)
    expect(await page.locator('tbody tr.opens').count()).toBe(1)
    await go('/tenant/audit?from=2020-01-01&until=2020-02-01')
    await page.getByText('The trail has no entry in this time.').waitFor()
    expect(faults).toEqual([])
  })

  test('the log of plugins shows what each call printed, and is chosen by function and policy', async () => {
    const { policyholder, policy } = workedPolicies()[0]!.request
    const holder = await admin.call<Locator>('POST', '/policyholder/create', {
      completed: true,
      values: policyholder.values,
    })
    const made = await admin.call<Locator>('POST', '/policy', {
      ...policy,
      policyholderLocator: holder.locator,
    })
    await go(`/tenant/plugins?plugin=getUnderwritingResult&policyLocator=${made.locator}`)
    const { logs } = await admin.call<{ logs: unknown[] }>(
      'GET',
      `/plugin/logs?policyLocator=${made.locator}`,
    )
    expect(logs.length).toBeGreaterThan(0)
    expect(await page.locator('tbody tr.opens').count()).toBe(logs.length)
    await page.locator('.toggle').first().click()
    await page.getByText('info decided accept').waitFor()
    expect(faults).toEqual([])
  })

  test('it is all within reach of the keyboard', async () => {
    await go('/tenant/webhooks')
    await page.getByRole('link', { name: 'Ledger' }).focus()
    await page.keyboard.press('Enter')
    await until(page, `location.hash.startsWith('#/tenant/webhooks/')`)
    await settled(page)
    const toggle = page.getByRole('button', { name: 'Details of policyholder.create' }).first()
    await toggle.focus()
    await page.keyboard.press('Enter')
    const again = page.getByRole('button', { name: 'Send again' }).first()
    await again.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await until(page, `!document.querySelector('dialog')`)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Send again')
  })

  test('who may do some of it sees that, and is not offered the rest', async () => {
    const { page: other, faults: otherFaults } = await browser.open()
    await signIn(other, 'alice.agent')
    await other.getByRole('link', { name: 'Tenant', exact: true }).click()
    await until(other, `location.hash === '#/tenant'`)
    await settled(other)
    expect(await other.locator('main .work strong').allTextContents()).toEqual([
      'Deployments',
      'Tables',
      'Your tokens',
    ])
    for (const path of ['/deployments', '/tables', '/tokens']) {
      await go(`/tenant${path}`, other)
      expect([path, await other.locator('main .notice').count()]).toEqual([path, 0])
    }
    expect(await other.getByRole('button', { name: 'Make a token' }).count()).toBe(0)
    await go('/tenant/deployments', other)
    expect(await other.locator('tbody a').count()).toBe(0)
    expect(otherFaults).toEqual([])
    await other.context().close()
  })

  test('who may do none of it sees no way to it, and no page', async () => {
    const { page: other, faults: otherFaults } = await browser.open()
    const asked: string[] = []
    other.on('request', request => asked.push(new URL(request.url()).pathname))
    await signIn(other, 'nora.none')
    expect(await other.getByRole('link', { name: 'Tenant', exact: true }).count()).toBe(0)
    await go('/tenant', other)
    await other.getByText('This account may open no page of the tenant.').waitFor()
    for (const path of PAGES.slice(1)) {
      await go(`/tenant${path}`, other)
      expect([path, await other.locator('main .tabs a').count()]).toEqual([path, 0])
      await other.getByText('This page needs the permission').waitFor()
    }
    const refused = /^\/(?:audit|auth\/(?!permissions)|event|migration|plugin|deployments|resource|tenant)/
    expect(asked.filter(path => refused.test(path))).toEqual([])
    expect(otherFaults).toEqual([])
    await other.context().close()
  })
})
