// The console as users see it: in a real browser, against the service as a process. `npm run docs:screenshots` stores the
// screenshots; other runs only check them.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { type Service, sharedTenant } from '../support/service-process.ts'
import { type Book, HOSTILE_NAME, writeBook } from './book.ts'
import {
  BROWSER,
  type ConsoleBrowser,
  faintTexts,
  focused,
  goAnew,
  overflows,
  POLICY_TABS,
  settled,
  startBrowser,
  stretchedBadges,
  unlabelled,
  until,
} from './page.ts'

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the console is not tried.')

describe.skipIf(!BROWSER)('The console', () => {
  let service: Service
  let browser: ConsoleBrowser
  let admin: ApiClient
  let book: Book
  let receiver: Server
  let received = 0
  /** Signed in as the tenant's administrator, at the policy. */
  let page: Page
  let faults: string[]
  const pictures = process.env.BINDERY_SCREENSHOTS ? 'docs' : mkdtempSync(join(tmpdir(), 'bindery-pictures-'))

  beforeAll(async () => {
    receiver = createServer((_, response) => {
      received += 1
      response.writeHead(500, { 'content-type': 'text/plain' }).end('The ledger is closed.')
    }).listen(0, '127.0.0.1')
    const [started, opened] = await Promise.all([sharedTenant(), startBrowser(), once(receiver, 'listening')])
    service = started
    browser = opened
    admin = await service.signInAs('admin')
    const { port } = receiver.address() as AddressInfo
    book = await writeBook(admin, service.example().tenantLocator, `http://127.0.0.1:${port}/events`)
    ;({ page, faults } = await browser.open())
  })
  afterAll(async () => {
    await browser?.close()
    await service?.remove()
    receiver?.close()
    if (pictures !== 'docs') rmSync(pictures, { recursive: true, force: true })
  })

  /** The premium of all segments in force that begin in the span, as the interface returns it. */
  async function premiumBetween(start: number, end: number): Promise<number> {
    const { characteristics } = await admin.call<{ characteristics: Characteristics[] }>(
      'GET',
      `/policy/${book.policy}`,
    )
    const cents = characteristics
      .filter(one => one.replacedTimestamp === undefined && one.issuedTimestamp !== undefined)
      .filter(({ startTimestamp: at }) => Number(at) >= start && Number(at) < end)
      .map(({ grossPremium }) => Math.round(Number(grossPremium) * 100))
    return cents.reduce((sum, one) => sum + one, 0) / 100
  }

  const address = (path: string): string => `${service.origin}/console#${path}`
  const policyAt = (view = ''): string => address(`/policy/${book.policy}${view}`)

  async function signIn(on: Page, username: string, password = 'password'): Promise<void> {
    await on.getByLabel('Tenant').fill(service.example().hostname)
    await on.getByLabel('User name').fill(username)
    await on.getByLabel('Password').fill(password)
    await on.getByRole('button', { name: 'Sign in' }).click()
  }

  async function go(on: Page, to: string): Promise<void> {
    await on.goto(to)
    await settled(on)
  }

  test('asks to sign in, reports what is wrong, and then opens the page of the URL', async () => {
    await page.goto(policyAt())
    expect(await unlabelled(page)).toEqual([])
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Enter the tenant.').waitFor()
    expect(await focused(page)).toBe('tenant')
    await signIn(page, 'anna.admin', 'no such password')
    const refusal = page.locator('.notice.bad')
    expect(await refusal.textContent()).toMatch(/password/i)
    await page.getByLabel('Password').fill('password')
    await page.keyboard.press('Enter')
    await settled(page)
    expect(await page.locator('h1').textContent()).toBe('Greta Lindner')
    expect(await page.title()).toBe(`Policy ${book.policy} · Bindery`)
    expect(await page.evaluate('location.hash')).toBe(`#/policy/${book.policy}`)
  })

  test('shows the premiums of the snapshot for every date, as known at every transaction', async () => {
    const { modifications } = await admin.call<{ modifications: { issuedTimestamp?: string }[] }>(
      'GET',
      `/policy/${book.policy}`,
    )
    const steps = modifications.flatMap(one => one.issuedTimestamp ?? [])
    expect(await page.locator('#known-at').getAttribute('max')).toBe(String(steps.length - 1))
    const stateText = await page.locator('.state').textContent()
    for (const [step, asOfTimestamp] of steps.entries())
      for (const dayOfTerm of [20, 100, 250, 300, 400]) {
        await page.evaluate(`for (const [id, value] of [['known-at', ${step}], ['as-of', ${dayOfTerm}]]) {
          document.getElementById(id).value = value
          document.getElementById(id).dispatchEvent(new Event('input'))
        }`)
        const effectiveTimestamp = TERM_START + dayOfTerm * DAY_MS + DAY_MS / 2
        const snapshot = await admin.call<Snapshot>('POST', `/policies/${book.policy}/snapshot`, {
          asOfTimestamp,
          effectiveTimestamp,
        })
        const perils = snapshot.exposures.flatMap(one =>
          one.perils.flatMap(({ characteristics }) => characteristics),
        )
        const expected = perils.map(({ premium }) => EUROS.format(premium)).sort()
        const shown = await page.locator('.state tbody td:last-child').allTextContents()
        expect(shown.toSorted(), `day ${dayOfTerm}, step ${step}`).toEqual(expected)
        expect(await page.locator('.state .notice').count()).toBe(expected.length === 0 ? 1 : 0)
      }
    expect(await page.locator('.state').textContent()).not.toBe(stateText)
  })

  test('shows the figures of a month, which link to their lines, and these to policies', async () => {
    // The term begins at midnight in Berlin.
    const month = new Date(TERM_START + DAY_MS / 2).toISOString().slice(0, 7)
    const [year, index] = month.split('-').map(Number) as [number, number]
    const next = new Date(Date.UTC(year, index, 1)).toISOString().slice(0, 10)
    const { totals } = await admin.call<{ totals: { sums: Record<string, string> }[] }>(
      'POST',
      '/report/writtenPremium?wait=20',
      { from: `${month}-01`, to: next, by: ['product'] },
    )
    await go(page, address(`/figures?month=${month}`))
    await page.getByRole('heading', { name: 'Quotes and conversion' }).waitFor()
    await until(page, `document.querySelectorAll('[aria-busy="true"]').length === 0`)
    expect(await page.locator('h1').textContent()).toBe(
      `Figures of ${new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric' }).format(TERM_START + DAY_MS / 2)}`,
    )
    const written = page.locator('section', { hasText: 'Written premium' }).first()
    expect(await written.locator('tbody tr').first().textContent()).toContain(
      EUROS.format(Number(totals[0]!.sums.premium)),
    )
    expect(await unlabelled(page)).toEqual([])
    expect(await faintTexts(page)).toEqual([])
    expect(await overflows(page)).toBe(false)
    await written.locator('tbody a').first().click()
    await settled(page)
    expect(await page.locator('h1').textContent()).toContain('Lines of')
    // In the time zone of the tenant, where the term begins a day later than in UTC.
    const firstDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'Europe/Berlin' })
    expect(await page.locator('tbody').textContent()).toContain(firstDay.format(TERM_START))
    await page.locator('tbody a').first().click()
    await settled(page)
    expect(await page.evaluate('location.hash')).toMatch(/^#\/policy\/\d+$/)
  })

  test('can be used with the keyboard alone', async () => {
    await goAnew(page, policyAt())
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
    await page.keyboard.press('/')
    expect(await focused(page)).toBe(
      'Find policies and policyholders by names, field values, locators or invoice numbers',
    )
    await page.keyboard.press('Escape')
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')

    // To the diagram: past the policyholder, Reload, the premium of the term, the actions and the views, to its one segment that is
    // a tab stop.
    for (let at = 0; at < 40 && !/^Renewal: /.test(await focused(page)); at += 1)
      await page.keyboard.press('Tab')
    expect(await focused(page)).toMatch(/^Renewal: €1,565\.01, 1 Jan 2036 – 1 Jan 2037, known from/)
    await page.keyboard.press('ArrowLeft')
    expect(await focused(page)).toMatch(/^Reinstatement: /)
    await expect.poll(() => page.locator('.tip').isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.tip').isVisible()).toBe(false)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toMatch(/^Cancellation: /)
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toMatch(/^Change of risk: /)
    for (let at = 0; at < 3; at += 1) await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toMatch(/^New business: €671\.17/)
    await expect.poll(() => page.locator('#known-at').inputValue()).toBe('0')
    expect(await page.locator('.state h2').textContent()).toMatch(/as known on/)
    // Then the sliders.
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('as-of')
    await page.keyboard.press('End')
    await page.getByText('No cover was known for this time.').waitFor()
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
    expect(outline).toBe('solid')
  })

  test('shows cover, transactions with prices, invoices, documents and quotes', async () => {
    await go(page, policyAt('/cover'))
    expect(await page.locator('.node-name').allTextContents()).toEqual(['Vehicle', 'Vehicle'])
    await page.getByText('unlimited in aggregate').first().waitFor()
    // Shown to the month, the precision of its field.
    await page.getByText('April 2021', { exact: true }).first().waitFor()
    await go(page, policyAt('/transactions'))
    const premiums = await page.locator('table').first().locator('tr.opens td:nth-child(5)').allTextContents()
    expect(premiums.at(-1)).toBe(EUROS.format(await premiumBetween(TERM_START, Infinity)))
    // The policy is renewed, but its first term is the current one.
    expect(await page.locator('.tiles dd').nth(1).textContent()).toBe(
      EUROS.format(await premiumBetween(TERM_START, TERM_END)),
    )
    await page.getByRole('button', { name: /Details of Endorsement Change of contact/ }).click()
    await page.getByText('Change of the total').waitFor()
    await go(page, policyAt('/billing'))
    expect(await page.locator('.sheet').filter({ hasText: 'Outstanding' }).first().textContent()).toContain(
      '€468.73',
    )
    await page.getByRole('button', { name: /Details of New business/ }).click()
    expect(await page.locator('.detail:not([hidden])').textContent()).toContain('Received')
    await go(page, policyAt('/documents'))
    const file = page.getByRole('link', { name: /Policy schedule/ }).first()
    const made = async (): Promise<number> => {
      await page.getByRole('button', { name: 'Reload' }).click()
      await settled(page)
      return file.count()
    }
    await expect.poll(made, { timeout: 20_000, interval: 500 }).toBeGreaterThan(0)
    const bytes = await (await fetch((await file.getAttribute('href'))!)).text()
    expect(bytes.slice(0, 5)).toBe('%PDF-')
    await go(page, policyAt('/quotes'))
    await page.getByRole('button', { name: /^Details of/ }).click()
    await page.getByText('€811.19').waitFor()
  })

  test('shows the deliveries of an event to a webhook, and sends it again', async () => {
    await go(page, policyAt('/events'))
    await page.getByRole('button', { name: 'Details of policy.quote.issue' }).last().click()
    await page.getByText('The ledger is closed.').or(page.getByText('Send again')).first().waitFor()
    expect(await page.locator('.delivery').textContent()).toMatch(/Ledger.*Failed/s)
    await page
      .getByRole('button', { name: /Details of .* 20/ })
      .last()
      .click()
    await page.getByText('The ledger is closed.').waitFor()
    const before = received
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('It is being sent again.').waitFor()
    await expect.poll(() => received, { timeout: 60_000 }).toBeGreaterThan(before)
  })

  test('reads the events of a policy with one call, however many the tenant has, and reads further on request', async () => {
    const asked: string[] = []
    const busy = (at: number, count: number) => ({
      pagingToken: `after-${at}`,
      events: Array.from({ length: count }, (_, n) => ({
        locator: `${at}-${n}`,
        requestId: 'r',
        userLocator: 'u',
        type: 'policy.create',
        timestamp: '2035-01-01T00:00:00.000Z',
        data: { policyLocator: n === 0 ? book.policy : '1' },
      })),
    })
    const { page: own } = await browser.open()
    await own.route('**/events/list?*', route => {
      asked.push(new URL(route.request().url()).searchParams.get('pagingToken') ?? 'first')
      return route.fulfill({ json: busy(asked.length, asked.length < 6 ? 1_000 : 2) })
    })
    await own.goto(policyAt('/events'))
    await signIn(own, 'anna.admin')
    await settled(own)
    const found = () => own.getByRole('button', { name: 'Details of policy.create' }).count()
    const further = own.getByRole('button', { name: 'Search further' })
    await further.waitFor()
    expect([asked, await found()]).toEqual([['first'], 1])
    await further.click()
    await expect.poll(found).toBe(4)
    expect(asked).toEqual(['first', 'after-1', 'after-2', 'after-3'])
    await further.click()
    await expect.poll(found).toBe(6)
    expect([asked.length, await further.count()]).toEqual([6, 0])
    await own.context().close()
  })

  test('finds a policy by a name, words of a name, a field of the policy and its locator', async () => {
    const find = async (text: string): Promise<string> => {
      await page.locator('#search').fill(text)
      await page.keyboard.press('Enter')
      await until(
        page,
        `location.hash.includes(${JSON.stringify(encodeURIComponent(text).replaceAll('%20', '+'))})`,
      )
      await settled(page)
      return (await page.locator('main').textContent())!
    }
    const asked: string[] = []
    const note = (request: { url(): string }): void => void asked.push(new URL(request.url()).pathname)
    page.on('request', note)
    for (const text of ['lindn', 'greta lindner', 'b-li 20']) expect(await find(text)).toContain(book.policy)
    expect(asked.filter(path => path === '/search')).toHaveLength(3)
    // The policyholder of a found policy is read once, and found policyholders are kept.
    expect(asked.filter(path => path.startsWith('/polic'))).toEqual([])
    page.off('request', note)
    // The locators of records are those of their policy.
    const { invoices } = await admin.call<{ invoices: { locator: string }[] }>(
      'GET',
      `/policy/${book.policy}`,
    )
    expect(await find(invoices[0]!.locator)).toContain(book.policy)
    expect(await find('Nobody')).toContain('Nothing begins with “Nobody”')
    await find(book.policy)
    expect(await page.locator('h1').textContent()).toBe('Greta Lindner')
    await page.getByRole('link', { name: 'Greta Lindner' }).click()
    await until(
      page,
      `document.title === 'Greta Lindner · Bindery' && !document.querySelector('[aria-busy]')`,
    )
    expect(await page.locator('main').textContent()).toContain(book.policy)
    expect(await find('999999999')).toContain('Nothing begins with “999999999”')
    await go(page, address('/policy/999999999'))
    expect(await page.locator('main').textContent()).toContain("There is no policy '999999999'.")
    expect(await page.getByRole('link', { name: 'Overview' }).count()).toBe(1)
    await find(book.holder)
    await page.getByRole('link', { name: 'Greta Lindner' }).click()
    await until(page, `document.title === 'Greta Lindner · Bindery'`)
    await go(page, address('/nowhere'))
    expect(await page.locator('main').textContent()).toContain('There is no page with this address.')
    await go(page, address('/'))
    expect(await page.locator('.chips').textContent()).toContain(book.policy)
    expect(await page.locator('tbody tr').count()).toBeGreaterThan(1)
  })

  test('shows a name with HTML in it as text', async () => {
    const name = `Mallory ${HOSTILE_NAME}`
    for (const path of [`/policy/${book.hostile}`, '/', '/search?q=mallory']) {
      await go(page, address(path))
      await page.getByText(name, { exact: true }).first().waitFor()
    }
    // The diagram of an unissued policy has a draft segment.
    await go(page, address(`/policy/${book.hostile}`))
    expect(await page.locator('.segment.draft').count()).toBe(1)
    await go(page, address(`/search?q=${encodeURIComponent(HOSTILE_NAME)}`))
    expect(await page.locator('h1').textContent()).toBe(`Search for “${HOSTILE_NAME}”`)
    expect(await page.evaluate('[typeof window.struck, document.images.length]')).toEqual(['undefined', 0])
    // A word that is wider than a phone is broken.
    await page.setViewportSize({ width: 320, height: 800 })
    for (const path of [`/policy/${book.hostile}`, '/', `/search?q=${encodeURIComponent(HOSTILE_NAME)}`]) {
      await go(page, address(path))
      expect(await overflows(page), path).toBe(false)
      expect(await stretchedBadges(page), path).toEqual([])
    }
    await page.setViewportSize({ width: 1280, height: 860 })
    await go(page, address(`/policy/${encodeURIComponent(`../x?${HOSTILE_NAME}`)}`))
    expect(await page.locator('.notice').textContent()).toContain('Not found')
  })

  test('links the premium of the term to its worksheet, peril by peril', async () => {
    await go(page, policyAt())
    await page.getByTitle('How it was calculated').click()
    await settled(page)
    const peril = page.locator('details.node').first()
    await peril.locator('summary').click()
    await until(
      page,
      `document.querySelector('details.node table') && !document.querySelector('[aria-busy]')`,
    )
    const { worksheet } = await admin.call<{ worksheet: { perils: { premium: string }[] } }>(
      'POST',
      `/policy/${book.policy}/price?explain=true`,
    )
    const premium = EUROS.format(Number(worksheet.perils[0]!.premium))
    expect(await peril.textContent()).toContain(`Premium ${premium}`)
    expect(await peril.textContent()).toContain('set_year_premium')
  })

  test('has labels, enough contrast and no overflow in any view, light and dark, also on a phone', async () => {
    const token = await page.evaluate(`sessionStorage.getItem('bindery.session')`)
    const look = async (width: number, colorScheme: 'light' | 'dark'): Promise<void> => {
      const isPhone = width < 500
      const { page: other, faults: others } = await browser.open({
        viewport: { width, height: isPhone ? 800 : 960 },
        colorScheme,
        reducedMotion: 'reduce',
        ...(isPhone && { isMobile: true, hasTouch: true, deviceScaleFactor: 1 }),
      })
      await other.addInitScript(`sessionStorage.setItem('bindery.session', ${JSON.stringify(token)})`)
      for (const view of POLICY_TABS) {
        await go(other, policyAt(view))
        const toggle = other.locator('.toggle').first()
        if (await toggle.count()) {
          await toggle.click()
          await settled(other)
        }
        const where = `${view} ${width} ${colorScheme}`
        expect(await faintTexts(other), where).toEqual([])
        expect(await unlabelled(other), where).toEqual([])
        expect(await overflows(other), where).toBe(false)
        expect(await stretchedBadges(other), where).toEqual([])
      }
      await go(other, policyAt())
      expect(
        await other.evaluate(`getComputedStyle(document.querySelector('.segment rect')).transitionDuration`),
      ).toBe('0s')
      if (isPhone) {
        await other.evaluate(`document.querySelector('.tabs').scrollIntoView()`)
        if (width === 414) await other.screenshot({ path: join(pictures, 'console-phone.png') })
        await other.locator('.segment.create').tap()
        await expect.poll(() => other.locator('#known-at').inputValue()).toBe('0')
      } else if (colorScheme === 'dark') {
        await go(other, policyAt('/billing'))
        await other.screenshot({ path: join(pictures, 'console-dark.png') })
      } else {
        await other.screenshot({ path: join(pictures, 'console-timeline.png') })
      }
      expect(others).toEqual([])
      await other.context().close()
    }
    await Promise.all([look(1280, 'light'), look(1280, 'dark'), look(320, 'light'), look(414, 'dark')])
    for (const name of ['console-timeline', 'console-dark', 'console-phone']) {
      const picture = readFileSync(join(pictures, `${name}.png`))
      expect(picture.length).toBeGreaterThan(15_000)
      expect(picture.length).toBeLessThan(200 * 1_024)
    }
  })

  test('shows what the account may see, and asks to sign in again when the session has ended', async () => {
    const { page: agent } = await browser.open()
    await agent.goto(policyAt('/events'))
    await signIn(agent, 'alice.agent')
    await settled(agent)
    await agent.getByRole('button', { name: 'Details of policy.create' }).click()
    await agent.getByText('This account may not read webhooks.').waitFor()
    expect(await agent.getByText('Send again').count()).toBe(0)
    // With a wrong signature the service rejects the token, as it does when a session was revoked.
    await agent.evaluate(
      `sessionStorage.setItem('bindery.session', sessionStorage.getItem('bindery.session').replace(/\\.[^.]+$/, '.AAAA'))`,
    )
    await agent.reload()
    await agent.getByText('Your session has ended.').waitFor()
    expect(await agent.evaluate('sessionStorage.length')).toBe(0)
    await agent.getByLabel('User name').fill('alice.agent')
    await agent.getByLabel('Password').fill('password')
    await agent.keyboard.press('Enter')
    await agent.getByRole('button', { name: 'Details of policy.create' }).waitFor()
    await agent.getByRole('button', { name: 'Sign out' }).click()
    await agent.getByLabel('Password').waitFor()
    expect(await agent.evaluate('sessionStorage.length')).toBe(0)
    await agent.goto(policyAt())
    await agent.getByLabel('Password').waitFor()
    expect(await agent.locator('.segment').count()).toBe(0)
  })

  test('caused no script errors and no violations of its Content-Security-Policy', () => {
    expect(faults).toEqual([])
  })
})

const DAY_MS = 86_400_000
/** 2035-01-01 in the tenant's time zone, when the policy begins. */
const TERM_START = 2_051_218_800_000
const TERM_END = 2_082_754_800_000
const EUROS = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' })

type Characteristics = {
  startTimestamp: string
  issuedTimestamp?: string
  replacedTimestamp?: string
  grossPremium: string
}
type Snapshot = { exposures: { perils: { characteristics: { premium: number }[] }[] }[] }
