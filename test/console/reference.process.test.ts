// The page at /docs in a real browser, against the service as a process. `npm run docs:screenshots` stores its screenshot.
import { writeFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, sharedService } from '../support/service-process.ts'
import { BROWSER, type ConsoleBrowser, startBrowser } from './page.ts'

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the reference is not tried.')

describe.skipIf(!BROWSER)('The reference at /docs', () => {
  let service: Service
  let browser: ConsoleBrowser
  let page: Page
  /** Errors of scripts, of the policy and of requests, and requests to other hosts. There should be none. */
  const faults: unknown[] = []

  beforeAll(async () => {
    ;[service, browser] = await Promise.all([sharedService(), startBrowser()])
    page = await openPage()
  })
  afterAll(async () => {
    await browser?.close()
    await service?.remove()
  })

  /**
   * Opens one page for all tests, because rendering it takes the browser long. It has the size of the screenshot: after a change of
   * the size, the browser would compute the styles of all elements again.
   */
  async function openPage(): Promise<Page> {
    const { page: opened, faults: thrown } = await browser.open({ viewport: { width: 1180, height: 760 } })
    faults.push(thrown)
    opened.on('console', message => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
    })
    opened.on('request', request => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(service.origin))
        faults.push(request.url())
    })
    opened.on('response', response => {
      if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`)
    })
    await opened.goto(`${service.origin}/docs`)
    return opened
  }

  /** Shows one operation. The link consists of its tag and name. */
  async function show(link: string): Promise<Locator> {
    await page.goto(`${service.origin}/docs#tag/${link}`)
    const section = page.locator(`[id$="/tag/${link}"]`)
    await section.getByRole('button', { name: /Test Request/ }).waitFor()
    return section
  }

  test('shows the OpenAPI document, with requests to this service only', async () => {
    await page.getByRole('heading', { name: 'Bindery', exact: true }).waitFor()
    await page.getByText('idempotencyConflict').first().waitFor()
    for (const tag of ['Policies', 'Quotes', 'Webhooks'])
      await page.getByRole('button', { name: `Open Group - ${tag}`, exact: true }).waitFor()
    expect(await page.locator('#reference').textContent()).not.toMatch(/undefined|\[object/)
  })

  test('finds an operation by words and opens it', async () => {
    await page
      .getByRole('button', { name: /Search/ })
      .first()
      .click()
    // In one go: for single keys, the page would search the document each time.
    await page.keyboard.insertText('invoices of a policy')
    await page.getByRole('option', { name: '/policy/{policyLocator}/checkInvoices' }).click()
    await page.waitForURL(/#tag\/invoices\/getPolicyCheckInvoices$/)
    await page
      .locator('[id$="/getPolicyCheckInvoices"]')
      .getByRole('button', { name: /Test Request/ })
      .waitFor()
  })

  test('names the parameters of an operation, including those that many operations share', async () => {
    const section = await show('quotes/getPolicyQuotes')
    const text = await section.textContent()
    for (const name of ['policyLocator', 'If-None-Match', 'X-D1-Bookmark', 'quotes.read', 'unauthenticated'])
      expect(text).toContain(name)
    expect(text).not.toContain('undefined')
  })

  test('has a screenshot of 15 kB to 200 KiB', async () => {
    await show('policies/postPolicy')
    const picture = await page.screenshot()
    if (process.env.BINDERY_SCREENSHOTS) writeFileSync('docs/reference.png', picture)
    expect(picture.length).toBeGreaterThan(15_000)
    expect(picture.length).toBeLessThan(200 * 1_024)
  })

  test('has samples in curl, TypeScript and Python, and in no other language', async () => {
    const section = await show('quotes/getPolicyQuotes')
    const has = (text: string) => section.locator('pre').filter({ hasText: text }).first().waitFor()
    const choose = async (name: string): Promise<string[]> => {
      await section.getByRole('button', { name: /^Change code sample language/ }).click()
      const offered = await page.getByRole('option').allTextContents()
      await page.getByRole('option', { name }).click()
      return offered.map(text => text.trim())
    }
    await has('curl')
    expect(await choose('TypeScript')).toEqual(['TypeScript', 'Requests', 'Curl'])
    await has("from 'bindery/client'")
    await choose('Requests')
    await has('requests.get(')
  })

  test('sends a request with a token and shows the response', async () => {
    const { authorizationToken } = await fetch(`${service.origin}/account/authenticate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        username: 'alice.agent',
        password: 'password',
        hostName: service.example().hostname,
      }),
    }).then(answer => answer.json() as Promise<{ authorizationToken: string }>)
    const section = await show('service/getV1PingAuthorized')
    await section.getByRole('button', { name: /Test Request/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByPlaceholder('Token').fill(authorizationToken)
    await dialog.getByRole('button', { name: /Send get/ }).click()
    await dialog.getByText('200 OK').waitFor()
  })

  test('causes no errors, no violations of its policy and no requests to other hosts', () => {
    expect(faults.flat()).toEqual([])
  })
})
