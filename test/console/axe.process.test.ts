// Checks every page of the console with axe, light and dark. The axe script is injected through the browser's own protocol, so the
// Content-Security-Policy of the page stays in force.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { workedPolicies } from '../../scripts/example.ts'
import { migratedAccount } from '../support/migrated.ts'
import { type Service, sharedTenant } from '../support/service-process.ts'
import { deployNext } from './next-version.ts'
import { BROWSER, type ConsoleBrowser, goAnew, POLICY_TABS, settled, startBrowser, until } from './page.ts'

if (!BROWSER)
  console.warn('SKIPPED: no browser (chromium) is installed, so axe does not look at the console.')

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const DAY_MS = 86_400_000

const TENANT_PAGES = [
  ...['', '/deployments', '/deployments/2?since=1', '/tables?since=1', '/tables/uploaded/rates'],
  '/tables/configuration?version=1&path=products/private_motor/policy/tables/region_factor.csv',
  ...['/users', '/roles', '/tokens', '/access', '/plugins', '/audit', '/migrations'],
]

type Locator = { locator: string }

describe.skipIf(!BROWSER)('Accessibility checks with axe, light and dark', () => {
  let service: Service
  let browser: ConsoleBrowser
  let admin: ApiClient
  let page: Page
  let policy: string
  let holder: string

  beforeAll(async () => {
    const [started, opened] = await Promise.all([sharedTenant(), startBrowser()])
    service = started
    browser = opened
    await deployNext(service)
    admin = await service.signInAs('admin')
    const request = workedPolicies().find(one => one.name === 'A plain year')!.request
    ;({ locator: holder } = await admin.call<Locator>('POST', '/policyholder/create', {
      completed: true,
      values: request.policyholder.values as object,
    }))
    const begin = Date.now() - 10 * DAY_MS
    const made = await admin.call<Locator>('POST', '/policy', {
      ...request.policy,
      policyholderLocator: holder,
      policyStartTimestamp: begin,
      policyEndTimestamp: begin + 365 * DAY_MS,
    })
    policy = made.locator
    await admin.call('POST', `/policy/${policy}/issue`)
    await admin.call('POST', `/policies/${policy}/endorsements`, {
      endorsementName: 'change_of_contact',
      state: 'quoted',
      fieldValues: { contact_phone: '+49 30 7654321' },
    })
    await admin.call('POST', '/notes', {
      recordType: 'policy',
      recordLocator: policy,
      text: 'Calls on Monday.',
    })
    ;({ page } = await browser.open({ colorScheme: 'light' }))
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await service?.remove()
  })

  /** Creates a webhook whose endpoint does not respond, with an event, and a migration of an account that fails. */
  async function writeTenant(): Promise<{ webhook: string; migration: string }> {
    const { tenantLocator } = service.example()
    const { locator: webhook } = await admin.call<Locator>('POST', `/event/${tenantLocator}/webhooks`, {
      name: 'Ledger',
      enabled: true,
      endpoint: { url: 'http://127.0.0.1:9/events', headers: {}, hmacEnabled: true },
      eventTypes: ['migration.*'],
    })
    const runs = `/migration/${tenantLocator}/migrations`
    const [policy] = migratedAccount('BAD').policies
    const { locator: migration } = await admin.call<Locator>('POST', runs, [
      { ...migratedAccount('BAD'), policies: [{ ...policy, productName: 'private_boat' }] },
    ])
    await expect
      .poll(
        async () =>
          (await admin.call<{ migrationState: string }>('GET', `${runs}/${migration}`)).migrationState,
        { timeout: 30_000 },
      )
      .toBe('failed')
    return { webhook, migration }
  }

  /** Checks all rules in light mode. In dark mode only the contrast is checked, the one rule that depends on colors. */
  const found = async (): Promise<string[]> => {
    if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE)
    const light = await violations({})
    await page.emulateMedia({ colorScheme: 'dark' })
    const dark = await violations({ runOnly: ['color-contrast'] })
    await page.emulateMedia({ colorScheme: 'light' })
    return [...light, ...dark.map(one => `dark ${one}`)]
  }

  const violations = async (options: object): Promise<string[]> =>
    (await page.evaluate(
      `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) =>
        violations.flatMap(one => one.nodes.map(node => one.id + ': ' + node.html.slice(0, 160))))`,
    )) as string[]

  const open = (path: string): Promise<void> => goAnew(page, `${service.origin}/console#${path}`)

  /** Navigates within the page, without loading it again. */
  async function moveTo(path: string): Promise<void> {
    await page.goto(`${service.origin}/console#${path}`)
    await settled(page)
  }

  async function look(path: string): Promise<void> {
    await moveTo(path)
    expect([path, await found()]).toEqual([path, []])
  }

  test('find no violation when signing in, on the overview, in lists, figures and forms', async () => {
    await page.goto(`${service.origin}/console`)
    await page.getByLabel('Password').waitFor()
    expect(await found()).toEqual([])
    await page.getByLabel('Tenant').fill(service.example().hostname)
    await page.getByLabel('User name').fill('anna.admin')
    await page.getByLabel('Password').fill('password')
    await page.keyboard.press('Enter')
    await settled(page)
    for (const path of [
      '/',
      '/work/policies',
      '/work/quoted',
      '/work/deliveries',
      '/figures',
      '/search?q=lind',
      `/policyholder/${holder}`,
      '/new/policyholder',
      `/new/quote/${holder}`,
      '/policy/1',
    ])
      await look(path)
  })

  /** Opens the first rows of each list, because the rows of a list are alike. */
  const openRows = async (most: number): Promise<void> => {
    await page.evaluate(`{
      const rows = [...document.querySelectorAll(
        'main details:not([open]) > summary, main .toggle[aria-expanded="false"]'
      )]
      const lists = Map.groupBy(rows, row => row.closest('details, tr').parentElement)
      for (const list of lists.values()) for (const row of list.slice(0, ${most})) row.click()
    }`)
    await settled(page)
  }

  test('find no violation in any view of a policy, with its rows opened', async () => {
    for (const tab of POLICY_TABS) {
      await moveTo(`/policy/${policy}${tab}`)
      await openRows(4)
      expect([tab, await found()]).toEqual([tab, []])
    }
  })

  test('find no violation on any page for running a tenant, with its rows and dialogs opened', async () => {
    const { webhook, migration } = await writeTenant()
    for (const path of [...TENANT_PAGES, `/webhooks/${webhook}`, `/migrations/${migration}`]) {
      await moveTo(`/tenant${path}`)
      await openRows(2)
      expect([path, await found()]).toEqual([path, []])
    }
    await moveTo('/tenant/deployments')
    await page.locator('main table').last().locator('a').first().click()
    await until(page, `location.hash.includes('/log/')`)
    await settled(page)
    expect(await found()).toEqual([])
    await moveTo('/tenant/access')
    await page.getByRole('button', { name: 'Add a provider' }).click()
    await page.getByRole('dialog').waitFor()
    await page.getByRole('button', { name: 'Add another' }).click()
    expect(await found()).toEqual([])
    await page.keyboard.press('Escape')
    await moveTo('/tenant/tokens')
    await page.getByRole('button', { name: 'Create a token' }).click()
    await page.getByRole('dialog').waitFor()
    await page.getByText('Policies', { exact: true }).click()
    expect(await found()).toEqual([])
    await page.keyboard.press('Escape')
    await moveTo('/tenant/access')
    await page.getByRole('button', { name: 'Block agents' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await found()).toEqual([])
  })

  test('find no violation in any dialog, with a preview and with errors', async () => {
    const dialog = async (name: string): Promise<void> => {
      await page.getByRole('button', { name, exact: true }).first().click()
      await page.getByRole('dialog').waitFor()
      expect([name, await found()]).toEqual([name, []])
    }
    const close = async (hasEntries = false): Promise<void> => {
      const button = page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true })
      await button.click()
      if (!hasEntries) return
      await page.getByText('Close the dialog again to discard them.').waitFor()
      expect(await found()).toEqual([])
      await button.click()
    }
    await open(`/policy/${policy}`)
    for (const name of ['Endorse', 'Renew', 'Cancel policy']) {
      await dialog(name)
      // Perils with their limits and fields.
      await page.evaluate(
        `for (const one of document.querySelectorAll('dialog details:not([open]) > summary')) one.click()`,
      )
      if (name === 'Cancel policy') await page.getByLabel('Category').selectOption('other')
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.locator('.preview h3, .preview .notice').first().waitFor()
      expect([name, await found()]).toEqual([name, []])
      await close(name === 'Cancel policy')
    }
    await dialog('Change fees')
    await page.getByLabel('New fee').selectOption('installment_fee')
    await page.getByLabel('Amount').fill('a lot')
    expect(await found()).toEqual([])
    await close(true)
    for (const name of ['Change payment schedule', 'Withdraw policy']) {
      await dialog(name)
      await close()
    }
    await open(`/policy/${policy}/billing`)
    await page.getByRole('button', { name: /Details of New business/ }).click()
    await dialog('Take a payment')
    await page.getByRole('button', { name: 'Post the payment' }).click()
    await page.locator('dialog .fault').first().waitFor()
    expect(await found()).toEqual([])
    await close()
    await open(`/policy/${policy}/documents`)
    await dialog('Upload a document')
    await close()
    await open(`/policy/${policy}/transactions`)
    await page.getByRole('button', { name: /Details of Endorsement/ }).click()
    await dialog('Accept')
    await close()
    await dialog('Decide')
  })
})
