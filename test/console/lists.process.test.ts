// Work lists in a real browser, as servicing staff use them, compared with what the interface returns.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { workedPolicies } from '../../scripts/example.ts'
import { bareArchive } from '../support/bare-archive.ts'
import { type Service, sharedTenant } from '../support/service-process.ts'
import {
  BROWSER,
  type ConsoleBrowser,
  faintTexts,
  focused,
  overflows,
  settled,
  startBrowser,
  unlabelled,
} from './page.ts'

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the console is not tried.')

const DAY_MS = 86_400_000
/** More than one page and less than two. */
const ENDING = 70

type Locator = { locator: string }
type Item = Locator & { policyLocator: string; timestamp: string }
type List = { items: Item[]; pagingToken?: string }

describe.skipIf(!BROWSER)('Work lists in the console', () => {
  let service: Service
  let browser: ConsoleBrowser
  let admin: ApiClient
  let page: Page
  let faults: string[]
  let referred: string
  const pictures = process.env.BINDERY_SCREENSHOTS ? 'docs' : mkdtempSync(join(tmpdir(), 'bindery-pictures-'))

  const list = (path: string): Promise<List> => admin.call<List>('GET', `/workLists/${path}`)

  beforeAll(async () => {
    const [started, opened] = await Promise.all([sharedTenant(bareArchive), startBrowser()])
    service = started
    browser = opened
    admin = await service.signInAs('admin')
    await writeWork()
    ;({ page, faults } = await browser.open())
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await service?.remove()
    if (pictures !== 'docs') rmSync(pictures, { recursive: true, force: true })
  })

  async function writeWork(): Promise<void> {
    const { policy, policyholder } = workedPolicies().find(one => one.name === 'A plain year')!.request
    const { locator: holder } = await admin.call<Locator>('POST', '/policyholder/create', {
      completed: true,
      values: { ...(policyholder.values as object), first_name: 'Greta', last_name: 'Lindner' },
    })
    const now = Date.now()
    const create = (changes: object) =>
      admin.call<Locator>('POST', '/policy', {
        ...policy,
        policyholderLocator: holder,
        policyStartTimestamp: now,
        policyEndTimestamp: now + 365 * DAY_MS,
        ...changes,
      })
    const values = (policy as unknown as { fieldValues: object }).fieldValues
    const { locator } = await create({
      fieldValues: { ...values, previous_insurer_cancelled: 'yes', cancellation_reason: 'Many claims.' },
    })
    const [quote] = await admin.call<Locator[]>('GET', `/policies/${locator}/quotes`)
    referred = quote!.locator
    for (let at = 0; at < ENDING; at += 10)
      await Promise.all(
        Array.from({ length: Math.min(10, ENDING - at) }, async (_, place) => {
          const ending = await create({ policyEndTimestamp: now + 5 * DAY_MS + (at + place) * 60_000 })
          await admin.call('POST', `/policy/${ending.locator}/issue`)
        }),
      )
  }

  const address = (path: string): string => `${service.origin}/console#${path}`

  async function go(to: string, on = page): Promise<void> {
    await on.goto(address(to))
    await settled(on)
  }

  async function signIn(on: Page, username = 'anna.admin'): Promise<void> {
    await on.goto(address('/'))
    await on.getByLabel('Tenant').fill(service.example().hostname)
    await on.getByLabel('User name').fill(username)
    await on.getByLabel('Password').fill('password')
    await on.getByRole('button', { name: 'Sign in' }).click()
    await settled(on)
  }

  const links = (on = page): Promise<string[]> =>
    on.evaluate(
      `[...document.querySelectorAll('tbody tr')].map(row => /policy\\/(\\d+)/.exec(row.querySelector('a').hash)[1])`,
    ) as Promise<string[]>

  test('are linked on the overview, with the same counts as the interface returns', async () => {
    await signIn(page)
    expect(await page.locator('h1').textContent()).toBe('Overview')
    const counts = await admin.call<{ workList: string; count: number }[]>('GET', '/workLists')
    expect(counts.find(({ workList }) => workList === 'expiring')!.count).toBe(ENDING)
    for (const { workList, count } of counts)
      expect([
        workList,
        await page.locator(`.work a[href="#/work/${workList}"] .count`).textContent(),
      ]).toEqual([workList, String(count)])
    for (const name of ['deliveries', 'migrations'])
      expect(await page.locator(`.work a[href="#/work/${name}"] .count`).textContent()).toBe('0')
    expect(await unlabelled(page)).toEqual([])
    expect(await faintTexts(page)).toEqual([])
    await page.screenshot({ path: join(pictures, 'console-work.png') })
    await page.getByRole('link', { name: 'Referred quotes' }).click()
    await settled(page)
    expect(await page.locator('h1').textContent()).toContain('Referred quotes')
    const { items } = await list('referred')
    expect(items.map(({ locator }) => locator)).toEqual([referred])
    expect(await links()).toEqual(items.map(({ policyLocator }) => policyLocator))
    expect(await page.locator('tbody').textContent()).toContain('A previous insurer has cancelled')
    expect(await page.locator('tbody').textContent()).toContain('Greta Lindner')
    await page.locator('tbody a').click()
    await settled(page)
    expect(await page.evaluate('location.hash')).toBe(`#/policy/${items[0]!.policyLocator}/quotes`)
  })

  test('no longer show a quote once it is decided', async () => {
    await admin.call('POST', `/quotes/${referred}/underwriting`, { decision: 'accept', note: 'Known to us.' })
    await go('/work/referred')
    expect(await page.locator('main').textContent()).toContain('No quote is waiting for a decision.')
    await go('/work/quoted')
    expect(await links()).toHaveLength(1)
    await page.getByLabel('Record').selectOption('endorsement')
    await page.getByRole('button', { name: 'Show' }).click()
    await settled(page)
    expect(await page.evaluate('location.hash')).toBe('#/work/quoted?type=endorsement')
    expect(await page.locator('main').textContent()).toContain('Nothing on the list matches this selection.')
    await page.getByRole('link', { name: 'Show the whole list' }).click()
    await settled(page)
    expect(await links()).toHaveLength(1)
  })

  test('have pages, and their URL keeps the filter and the page', async () => {
    const all = await list('expiring?pageSize=1000')
    const locators = all.items.map(({ policyLocator }) => policyLocator)
    expect(locators).toHaveLength(ENDING)
    await go('/work/expiring')
    expect(await page.locator('h1').textContent()).toContain(String(ENDING))
    expect(await links()).toEqual(locators.slice(0, 50))
    await page.getByRole('link', { name: 'Next page' }).click()
    await settled(page)
    // The rows of the previous page are gone.
    expect(await links()).toEqual(locators.slice(50))
    const second = await page.evaluate('location.hash')
    await page.reload()
    await settled(page)
    expect([await page.evaluate('location.hash'), await links()]).toEqual([second, locators.slice(50)])
    await page.goBack()
    await settled(page)
    expect(await links()).toEqual(locators.slice(0, 50))
    await page.getByLabel('Ends within (days)').fill('4')
    await page.keyboard.press('Enter')
    await settled(page)
    expect(await page.evaluate('location.hash')).toBe('#/work/expiring?days=4')
    expect(await page.locator('main').textContent()).toContain('Nothing on the list matches this selection.')
    await go('/work/expiring?days=20&product=private_motor')
    await expect.poll(() => page.getByLabel('Product').inputValue()).toBe('private_motor')
    await expect.poll(() => page.getByLabel('Ends within (days)').inputValue()).toBe('20')
    expect(await links()).toHaveLength(50)
    await go('/work/expiring?pagingToken=x&from=AAAA')
    expect(await page.locator('.notice').textContent()).toContain('This page of the list does not exist.')
    await page.getByRole('link', { name: 'First page' }).click()
    await settled(page)
    expect(await links()).toHaveLength(50)
    await go('/work/lost')
    expect(await page.locator('main').textContent()).toContain('There is no list of that name.')
  })

  test('say which value of an address they do not accept, and ignore filters that they do not have', async () => {
    const days = '“Ends within (days)” must be a whole number from 1 to 366.'
    const choice = (value: string, filter: string) => `“${value}” is not a choice of “${filter}”.`
    const noPage = 'This page of the list does not exist.'
    for (const [to, text] of [
      ['/work/expiring?days=abc', days],
      ['/work/expiring?days=0', days],
      ['/work/expiring?days=1.5', days],
      ['/work/expiring?days=367', days],
      ['/work/quoted?type=policy', choice('policy', 'Record')],
      ['/work/policies?state=ended', choice('ended', 'State')],
      ['/work/deliveries?state=sent', choice('sent', 'State')],
      ['/tenant/users?accountType=x', choice('x', 'Account type')],
      ['/tenant/users?disabled=x', choice('x', 'State')],
      ['/tenant/users?page=x', noPage],
      ['/tenant/audit?action=x', choice('x', 'Action')],
      ['/tenant/audit?page=x', noPage],
      ['/tenant/audit?from=2026-02-30', '“From” must be a day, such as 2026-11-01.'],
      ['/tenant/audit?until=x', '“Before” must be a day, such as 2026-11-01.'],
      ['/tenant/plugins?from=2027-01-01&until=2026-01-01', 'The period ends before it begins.'],
      ['/tenant/deployments?refused=x', choice('x', 'Which')],
      ['/tenant/migrations?open=x', choice('x', 'Which')],
    ] as const) {
      await go(to)
      const notice = page.locator('.notice')
      expect([to, await notice.textContent()]).toEqual([to, expect.stringContaining(text)])
      // The link leads to a list that is shown.
      await notice.getByRole('link').click()
      await settled(page)
      expect([to, await notice.count()]).toEqual([to, 0])
    }
    for (const to of ['/work/expiring?type=quote&state=x', '/figures?month=9999-12']) {
      await go(to)
      expect([to, await page.locator('.notice').count()]).toEqual([to, 0])
    }
    for (const [to, text] of [
      ['/search?q=', 'Type a locator, a name or a number plate above.'],
      [`/search?q=${'x'.repeat(201)}`, 'Search for at most 200 characters.'],
      ['/new/lost', 'There is no page with this address.'],
    ] as const) {
      await go(to)
      expect([to, await page.locator('main').textContent()]).toEqual([to, expect.stringContaining(text)])
    }
  })

  test('can be used with the keyboard alone', async () => {
    await go('/')
    const press = async (key: string, times = 1): Promise<void> => {
      for (let at = 0; at < times; at += 1) await page.keyboard.press(key)
    }
    const hash = () => page.evaluate('document.activeElement.hash ?? ""')
    for (let at = 0; at < 30 && (await hash()) !== '#/work/expiring'; at += 1) await press('Tab')
    expect(await hash()).toBe('#/work/expiring')
    await press('Enter')
    await settled(page)
    // The heading is where a screen reader continues.
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
    for (let at = 0; at < 8 && (await focused(page)) !== 'filter-days'; at += 1) await press('Tab')
    expect(await focused(page)).toBe('filter-days')
    await page.keyboard.type('12')
    await press('Enter')
    await settled(page)
    expect(await page.evaluate('location.hash')).toBe('#/work/expiring?days=12')
    expect(await links()).toHaveLength(50)
  })

  test('are neither cut off nor faint on a phone in dark mode, and wait for a slow service', async () => {
    const { page: phone, faults: wrong } = await browser.open({
      viewport: { width: 375, height: 720 },
      colorScheme: 'dark',
    })
    await signIn(phone)
    await phone.route('**/workLists**', async route => {
      await new Promise(resolve => setTimeout(resolve, 600))
      await route.continue()
    })
    for (const path of ['/', '/work/expiring', '/work/quoted', '/work/deliveries', '/work/migrations']) {
      await go(path, phone)
      expect([path, await overflows(phone)]).toEqual([path, false])
      expect([path, await faintTexts(phone)]).toEqual([path, []])
      expect([path, await unlabelled(phone)]).toEqual([path, []])
    }
    expect(wrong).toEqual([])
    await phone.context().close()
  })

  test('include all policies, a page at a time', async () => {
    await go('/')
    await page.getByRole('link', { name: 'All policies' }).click()
    await settled(page)
    const { policies } = await admin.call<{ policies: Locator[] }>('GET', '/policies?pageSize=50')
    expect(await links()).toEqual(policies.map(({ locator }) => locator))
    await go('/work/policies?state=issued&product=private_motor')
    await expect.poll(() => page.getByLabel('State').inputValue()).toBe('issued')
    await page.getByRole('link', { name: 'Next page' }).click()
    await settled(page)
    expect(await links()).toHaveLength(ENDING - 50)
  })

  test('are shown only to accounts that may see them', async () => {
    const { page: agent } = await browser.open()
    await signIn(agent, 'alice.agent')
    const { permissions } = await (await service.signInAs('agent')).call<{ permissions: string[] }>(
      'GET',
      '/auth/permissions',
    )
    const shown = await agent.locator('.work a').count()
    const expected =
      (permissions.includes('policies.list') ? 8 : 0) +
      (permissions.some(name => /^webhooks\.(read|list)$/.test(name)) ? 1 : 0) +
      (permissions.includes('migration.list') ? 1 : 0)
    expect(shown).toBe(expected)
    await agent.context().close()
  })

  test('cause no script errors and no violations of the Content-Security-Policy', () =>
    expect(faults).toEqual([]))
})
