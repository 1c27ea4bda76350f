// The steps of users at the desk, and a service with a browser for them. The journeys share these.
import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { workedPolicies } from '../../scripts/example.ts'
import { bareArchive } from '../support/bare-archive.ts'
import { sharedTenant } from '../support/service-process.ts'
import { goAnew, settled, startBrowser } from './page.ts'

export const DAY_MS = 86_400_000

const money = (currency: string): Intl.NumberFormat =>
  new Intl.NumberFormat('en-GB', { style: 'currency', currency })
export const EUROS = money('EUR')
export const DOLLARS = money('USD')

export type Locator = { locator: string }
type Payment = Locator & { amount: string; reversedTimestamp?: string }
export type Invoice = Locator & {
  displayId: string
  invoiceType: string
  totalDue: string
  settlementStatus: string
  payments: Payment[]
}
type Segment = {
  replacedTimestamp?: string
  fieldValues: Record<string, string[]>
  fieldGroupsByLocator: Record<string, Record<string, string[]>>
  mediaByLocator: Record<string, { fileName: string }>
}
type Peril = Locator & {
  name: string
  characteristics: { deductible?: number; replacedTimestamp?: string }[]
}
export type Policy = Locator & {
  policyholderLocator: string
  paymentScheduleName: string
  cancellation?: { modificationName: string }
  characteristics: Segment[]
  exposures: (Locator & { name: string; characteristics: Segment[]; perils: Peril[] })[]
  documents: (Locator & { displayName: string; state: string })[]
  fees: (Locator & { name: string; amount: string; reversed: boolean })[]
  invoices: Invoice[]
  modifications: { name: string; issuedTimestamp?: string; premiumChange: string }[]
}
export type Quote = Locator & {
  name: string
  state: string
  characteristics: { grossPremium: string }
  automatedUnderwritingResult?: { decision: string; notes: string[] }
}

export const plainRequest = () => workedPolicies().find(one => one.name === 'A plain year')!.request

/** The steps of one user on the page, in the tenant with that host name. */
export function stepsOn(page: Page, origin: string, hostName: string) {
  const dialog = page.getByRole('dialog')
  const address = (path: string): string => `${origin}/console#${path}`
  const steps = {
    page,
    dialog,
    async go(to: string): Promise<void> {
      await goAnew(page, address(to))
    },
    async signIn(username = 'anna.admin'): Promise<void> {
      await page.goto(address('/'))
      await page.getByLabel('Tenant').fill(hostName)
      await page.getByLabel('User name').fill(username)
      await page.getByLabel('Password').fill('password')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await settled(page)
    },
    /** Clicks the button of the dialog once. */
    press: (name: string): Promise<void> => dialog.getByRole('button', { name, exact: true }).click(),
    said: (text: string | RegExp): Promise<void> => page.locator('.done').getByText(text).waitFor(),
    /** Opens the form, and waits until it has loaded its data. */
    async open(name: string): Promise<void> {
      await page.getByRole('button', { name, exact: true }).click()
      await dialog.waitFor()
    },
    /** The texts of a column of the dialog's table with the caption. */
    cells: (caption: string, column: number): Promise<string[]> =>
      dialog
        .locator('table', { has: page.locator('caption', { hasText: caption }) })
        .locator(`tbody tr > :nth-child(${column})`)
        .allTextContents(),
    async previewed(): Promise<void> {
      await steps.press('Preview')
      await page.getByRole('heading', { name: 'Result' }).waitFor()
    },
    /** Lets the service respond to a write but loses the response, this many times. Returns a function that counts the losses. */
    async losing(path: string, times: number): Promise<() => number> {
      let lost = 0
      await page.route(path, async (route: Route) => {
        if (route.request().method() === 'GET' || lost >= times) return await route.continue()
        lost += 1
        await route.fetch()
        await route.abort('connectionreset')
      })
      return () => lost
    },
  }
  return steps
}

export type Steps = ReturnType<typeof stepsOn>

/** Reads the policies and quotes of a tenant through the interface. */
export function recordsOf(admin: ApiClient) {
  const records = {
    policyOf: (locator: string): Promise<Policy> => admin.call<Policy>('GET', `/policy/${locator}`),
    quotesOf: (locator: string): Promise<Quote[]> =>
      admin.call<Quote[]>('GET', `/policies/${locator}/quotes`),
    quoteOf: async (locator: string): Promise<Quote> => (await records.quotesOf(locator))[0]!,
    /** Waits for documents that are made in the background, because they outdate a preview. */
    documentsMade: (locator: string): Promise<void> =>
      expect
        .poll(
          async () => (await records.policyOf(locator)).documents.every(({ state }) => state !== 'draft'),
          { timeout: 60_000, interval: 200 },
        )
        .toBe(true),
  }
  return records
}

export type Desk = Awaited<ReturnType<typeof startDesk>>

/**
 * A tenant of examples/motor without its documents, and with a policyholder. Its administrator is not signed in on the page yet.
 */
export async function startDesk() {
  const [service, browser] = await Promise.all([sharedTenant(bareArchive), startBrowser()])
  const admin = await service.signInAs('admin')
  const { policyholder } = plainRequest()
  const { locator: holder } = await admin.call<Locator>('POST', '/policyholder/create', {
    completed: true,
    values: policyholder.values as object,
  })
  const { page, faults } = await browser.open()
  const records = recordsOf(admin)
  const on = (other: Page): Steps => stepsOn(other, service.origin, service.example().hostname)
  const steps = on(page)
  /** A policy that has been in force for 30 days, paid upfront. */
  const paidPolicy = async (): Promise<Policy> => {
    const begin = Date.now() - 30 * DAY_MS
    const { locator } = await admin.call<Locator>('POST', '/policy', {
      ...plainRequest().policy,
      policyholderLocator: holder,
      policyStartTimestamp: begin,
      policyEndTimestamp: begin + 365 * DAY_MS,
      paymentScheduleName: 'upfront',
    })
    await admin.call('POST', `/policy/${locator}/issue`)
    for (const { locator: invoice } of (await records.policyOf(locator)).invoices)
      await admin.call('POST', `/invoice/${invoice}/pay`, { fieldValues: { method: 'card' } })
    return await records.policyOf(locator)
  }
  /**
   * Previews an endorsement of a new policy on the page, which another client endorses before it is issued. Returns the policy's
   * locator.
   */
  const overtakenEndorsement = async (): Promise<string> => {
    const { locator } = await paidPolicy()
    await steps.go(`/policy/${locator}`)
    await steps.open('Endorse')
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    await page.getByLabel('Kilometres a year').fill('30000')
    await steps.previewed()
    await admin.call('POST', `/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_contact',
      state: 'issued',
      fieldValues: { contact_phone: '+49 30 7654321' },
    })
    return locator
  }
  return {
    service,
    browser,
    admin,
    holder,
    faults,
    on,
    ...records,
    ...steps,
    paidPolicy,
    overtakenEndorsement,
    async close(): Promise<void> {
      await browser.close()
      await service.remove()
    },
  }
}
