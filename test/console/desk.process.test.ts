// Working at the desk in a real browser: each journey as a person goes it, compared with what the interface then says.
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { workedPolicies } from '../../scripts/example.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import {
  BROWSER,
  type ConsoleBrowser,
  faintTexts,
  focused,
  overflows,
  settled,
  startBrowser,
  unlabelled,
  until,
} from './page.ts'

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the desk is not tried.')

const DAY_MS = 86_400_000
const EUROS = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' })

type Locator = { locator: string }
type Payment = Locator & { amount: string; reversedTimestamp?: string }
type Invoice = Locator & {
  displayId: string
  invoiceType: string
  totalDue: string
  settlementStatus: string
  payments: Payment[]
}
type Policy = Locator & {
  policyholderLocator: string
  exposures: (Locator & { name: string })[]
  invoices: Invoice[]
  modifications: { name: string; issuedTimestamp?: string; premiumChange: string }[]
}
type Quote = Locator & { state: string; automatedUnderwritingResult?: { decision: string; notes: string[] } }

describe.skipIf(!BROWSER)('the desk', () => {
  let service: ServiceProcess
  let browser: ConsoleBrowser
  let admin: ApiClient
  let page: Page
  let faults: string[]
  let holder: string

  beforeAll(async () => {
    const [started, opened] = await Promise.all([startServiceProcess(), startBrowser()])
    service = started
    browser = opened
    admin = await service.signInAs('admin')
    const { policyholder } = plain()
    ;({ locator: holder } = await admin.call<Locator>('POST', '/policyholder/create', {
      completed: true,
      values: policyholder.values as object,
    }))
    ;({ page, faults } = await browser.open())
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await service?.remove()
  })

  const plain = () => workedPolicies().find(one => one.name === 'A plain year')!.request

  /** In force since 30 days ago, paid upfront. */
  async function paidPolicy(): Promise<Policy> {
    const begin = Date.now() - 30 * DAY_MS
    const { locator } = await admin.call<Locator>('POST', '/policy', {
      ...plain().policy,
      policyholderLocator: holder,
      policyStartTimestamp: begin,
      policyEndTimestamp: begin + 365 * DAY_MS,
      paymentScheduleName: 'upfront',
    })
    await admin.call('POST', `/policy/${locator}/issue`)
    for (const { locator: invoice } of (await policyOf(locator)).invoices)
      await admin.call('POST', `/invoice/${invoice}/pay`, { fieldValues: { method: 'card' } })
    await documentsMade(locator)
    return await policyOf(locator)
  }

  /** Documents that are made in the background outdate a preview. */
  const documentsMade = (locator: string): Promise<void> =>
    expect
      .poll(
        async () => {
          const { documents } = await admin.call<{ documents: { state?: string }[] }>(
            'GET',
            `/policy/${locator}`,
          )
          return documents.every(({ state }) => state !== 'draft')
        },
        { timeout: 30_000, interval: 200 },
      )
      .toBe(true)

  const policyOf = (locator: string): Promise<Policy> => admin.call<Policy>('GET', `/policy/${locator}`)
  const quoteOf = async (locator: string): Promise<Quote> =>
    (await admin.call<Quote[]>('GET', `/policies/${locator}/quotes`))[0]!

  const address = (path: string): string => `${service.origin}/console#${path}`

  async function go(to: string, on = page): Promise<void> {
    await on.goto('about:blank')
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

  /** The dialog's button, once. */
  const press = (name: string, on = page): Promise<void> =>
    on.getByRole('dialog').getByRole('button', { name, exact: true }).click()

  const said = (text: string | RegExp, on = page): Promise<void> =>
    on.locator('.done').getByText(text).waitFor()

  /** Opens the form, and waits until it has what it is made from. */
  async function open(name: string, on = page): Promise<void> {
    await on.getByRole('button', { name, exact: true }).click()
    await on.getByRole('dialog').waitFor()
  }

  /** Amounts of the cells of a table in the dialog: by its caption, of the column. */
  const cells = (caption: string, column: number, on = page): Promise<string[]> =>
    on
      .getByRole('dialog')
      .locator('table', { has: on.locator('caption', { hasText: caption }) })
      .locator(`tbody tr > :nth-child(${column})`)
      .allTextContents()

  async function previewed(on = page): Promise<void> {
    await press('Preview', on)
    await on.getByRole('heading', { name: 'What it comes to' }).waitFor()
  }

  test('from a policyholder by way of a referral to an issued policy', async () => {
    await signIn(page)
    await go('/')
    await page.getByRole('link', { name: 'New policyholder' }).click()
    await settled(page)
    await page.getByLabel('Salutation').selectOption('Frau')
    await page.getByLabel('Last name').fill('Sommer')
    await page.getByLabel('Postcode').fill('1011')
    // What is wrong is said at its field.
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await until(page, `document.querySelector('[name=postcode][aria-invalid]')`)
    const described = await page.getByLabel('Postcode').getAttribute('aria-describedby')
    expect(await page.locator(`[id="${described}"]`).textContent()).toContain('[0-9]{5}')
    for (const [label, text] of [
      ['First name', 'Ida'],
      ['Street', 'Parkweg 3'],
      ['Postcode', '10115'],
      ['City', 'Berlin'],
    ] as const)
      await page.getByLabel(label).fill(text)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await said('The policyholder is saved.')
    await settled(page)
    expect(await page.locator('h1').textContent()).toBe('Ida Sommer')

    await page.getByRole('link', { name: 'New quote' }).click()
    await settled(page)
    await page.getByLabel('Sales channel').selectOption('direct')
    expect(await page.getByLabel('Broker code').count()).toBe(0)
    await page.getByLabel('Sales channel').selectOption('broker')
    await page.getByLabel('Broker code').fill('BRK-1234')
    await page.getByLabel('Sales channel').selectOption('direct')
    await page.getByLabel('Delivery of documents').selectOption('post')
    await page.getByLabel(/^Regional class/).selectOption('R3')
    await page.getByLabel('Years without a claim').fill('8')
    await page.getByLabel('Has a previous insurer cancelled?').selectOption('yes')
    await page.getByLabel('Reason given by the previous insurer').fill('Many claims.')
    await page.getByRole('button', { name: 'Add: Named drivers' }).click()
    const driver = page.getByRole('group', { name: 'Named drivers 1' })
    await driver.getByLabel('Name', { exact: true }).fill('Ida Sommer')
    await driver.getByLabel('Date of birth').fill('1985-06-15')
    await driver.getByLabel(/^Licence withdrawn/).selectOption('no')
    await page.getByRole('button', { name: 'Add: Vehicle' }).click()
    const car = page.getByRole('group', { name: 'Vehicle 1' })
    await car.getByLabel('Vehicle type').selectOption('0603-BTP')
    await car.getByLabel('Registration plate').fill('B-IS 1')
    await car.getByLabel('Kind').selectOption('car')
    await car.getByLabel('Use', { exact: true }).selectOption('private')
    await car.getByLabel('Where it stands at night').selectOption('garage')
    await car.getByLabel('First registered in').fill('2021-04')
    await car.getByLabel('Value').fill('24500')
    await car.getByLabel('Kilometres a year').fill('9000000')
    await page.getByRole('button', { name: 'Quote', exact: true }).click()
    await until(page, `document.querySelector('[name=annual_mileage_km][aria-invalid]')`)
    await car.getByLabel('Kilometres a year').fill('12000')
    await page.getByRole('button', { name: 'Quote', exact: true }).dblclick()
    await said('The quote is there.')
    await settled(page)
    const locator = /policy\/(\d+)/.exec(page.url())![1]!
    const { policyholderLocator } = await policyOf(locator)
    const { policies } = await admin.call<{ policies: Locator[] }>(
      'GET',
      `/policies?policyholderLocator=${policyholderLocator}`,
    )
    // Pressed twice, made once.
    expect(policies).toHaveLength(1)
    expect((await quoteOf(locator)).automatedUnderwritingResult!.decision).toBe('none')

    // The underwriter decides.
    await page.getByRole('button', { name: /^Details of/ }).click()
    await page.getByText('A previous insurer has cancelled').first().waitFor()
    expect(await page.getByRole('button', { name: 'Accept', exact: true }).count()).toBe(0)
    await open('Decide')
    await page.getByLabel('Decision').selectOption('accept')
    await page.getByLabel('Note').fill('Known to us for years.')
    await press('Confirm')
    await said(/decided/)
    await settled(page)
    const { automatedUnderwritingResult } = await quoteOf(locator)
    expect(automatedUnderwritingResult!.decision).toBe('accept')
    expect(automatedUnderwritingResult!.notes.join(' ')).toContain('Known to us for years.')

    await page.getByRole('button', { name: /^Details of/ }).click()
    await open('Accept')
    const { total } = await admin.call<{ total: string }>(
      'GET',
      `/quotes/${(await quoteOf(locator)).locator}/price`,
    )
    await page
      .getByRole('dialog')
      .getByText(EUROS.format(Number(total)))
      .waitFor()
    await press('Accept')
    await said(/accepted/)
    await settled(page)
    expect((await quoteOf(locator)).state).toBe('accepted')
    await page.getByRole('button', { name: /^Details of/ }).click()
    await open('Issue')
    await press('Issue the policy')
    await said('The policy is issued.')
    await settled(page)
    const issued = await policyOf(locator)
    expect(
      issued.modifications.map(({ name, issuedTimestamp }) => [name, issuedTimestamp !== undefined]),
    ).toEqual([['modification.policy.create', true]])
    expect(issued.invoices.map(({ invoiceType }) => invoiceType)).toEqual(['newBusiness'])
  })

  test('an endorsement of a policy that is paid upfront bills exactly what its preview shows', async () => {
    const { locator } = await paidPolicy()
    await go(`/policy/${locator}`)
    await open('Endorse')
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    await page.getByLabel('Kilometres a year').fill('24000')
    await previewed()
    const [change] = await cells('What it comes to', 2)
    const billed = await cells('Invoices', 3)
    expect(billed).toHaveLength(1)
    // What is seen is confirmed: another entry takes it away.
    await page.getByLabel('Kilometres a year').fill('25000')
    expect(await page.getByRole('button', { name: 'Issue the endorsement' }).count()).toBe(0)
    await page.getByLabel('Kilometres a year').fill('24000')
    await previewed()
    expect([(await cells('What it comes to', 2))[0], await cells('Invoices', 3)]).toEqual([change, billed])
    await press('Issue the endorsement')
    await said('The endorsement is issued.')
    await settled(page)
    const { invoices, modifications } = await policyOf(locator)
    const own = invoices.filter(({ invoiceType }) => invoiceType === 'endorsement')
    expect(own.map(({ totalDue }) => EUROS.format(Number(totalDue)))).toEqual(billed)
    expect(change).toBe(`+${EUROS.format(Number(modifications.at(-1)!.premiumChange))}`)
  })

  test('a cancellation gives back what it shows, and a reinstatement brings the cover back', async () => {
    const { locator, modifications: before } = await paidPolicy()
    await go(`/policy/${locator}`)
    await open('Cancel policy')
    await page.getByLabel('Category').selectOption('vehicle_sold')
    await previewed()
    const [premium, , , total] = await cells('What it comes to', 2)
    const refunds = await cells('Invoices', 3)
    const givesBack = await page.locator('.gives-back').textContent()
    expect(givesBack).toBe(`Gives back ${total!.replace('-', '')}.`)
    await press('Cancel the policy')
    await said('The policy is cancelled.')
    await settled(page)
    const cancelled = await policyOf(locator)
    const change = Number(cancelled.modifications.at(-1)!.premiumChange)
    expect(EUROS.format(change)).toBe(premium)
    const refund = cancelled.invoices.find(({ invoiceType }) => invoiceType === 'cancellation')!
    expect(refunds).toEqual([EUROS.format(Number(refund.totalDue))])

    // The money goes out.
    await go(`/policy/${locator}/billing`)
    await page.getByRole('button', { name: /Details of Cancellation/ }).click()
    await open('Pay out')
    await page.getByLabel('Method').selectOption('bank_transfer')
    await press('Pay it out')
    await said(/is posted/)
    await settled(page)
    const paid = (await policyOf(locator)).invoices.find(one => one.locator === refund.locator)!
    expect(paid.payments.map(({ amount }) => Number(amount))).toEqual([Number(refund.totalDue)])

    await documentsMade(locator)
    await go(`/policy/${locator}`)
    expect(await page.getByRole('button', { name: 'Endorse' }).count()).toBe(0)
    await open('Reinstate')
    await previewed()
    const [back] = await cells('What it comes to', 2)
    expect(back).toBe(`+${EUROS.format(-change)}`)
    await press('Reinstate the policy')
    await said('The policy is reinstated.')
    await settled(page)
    const { modifications } = await policyOf(locator)
    expect(modifications.map(({ name }) => name)).toEqual([
      ...before.map(({ name }) => name),
      'modification.policy.cancel',
      'modification.policy.reinstate',
    ])
    expect(await page.getByRole('button', { name: 'Endorse' }).count()).toBe(1)
  })

  test('a renewal by keyboard alone: the focus goes into the dialog and back', async () => {
    const { locator } = await paidPolicy()
    await go(`/policy/${locator}`)
    const tabTo = async (name: string): Promise<void> => {
      const there = `(document.activeElement.textContent.trim() === ${JSON.stringify(name)})`
      for (let at = 0; at < 40 && !(await page.evaluate(there)); at += 1) await page.keyboard.press('Tab')
      expect(await page.evaluate(there), name).toBe(true)
    }
    await tabTo('Renew')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    expect(await focused(page)).toBe('dialog-renew')
    await page.keyboard.press('Escape')
    await until(page, `!document.querySelector('dialog')`)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Renew')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo('Preview')
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'What it comes to' }).waitFor()
    await tabTo('Issue the renewal')
    await page.keyboard.press('Enter')
    await said('The renewal is issued.')
    await settled(page)
    const { modifications } = await policyOf(locator)
    expect(modifications.at(-1)!.name).toBe('modification.policy.renew')
    // The term that runs keeps its premium: that of the new one is another.
    const [first] = modifications
    expect(await page.locator('.tiles dd').nth(1).textContent()).toBe(
      EUROS.format(Number(first!.premiumChange)),
    )
  })

  test('a payment is taken and reversed', async () => {
    const begin = Date.now()
    const { locator } = await admin.call<Locator>('POST', '/policy', {
      ...plain().policy,
      policyholderLocator: holder,
      policyStartTimestamp: begin,
      policyEndTimestamp: begin + 365 * DAY_MS,
    })
    await admin.call('POST', `/policy/${locator}/issue`)
    const [invoice] = (await policyOf(locator)).invoices
    const due = EUROS.format(Number(invoice!.totalDue))
    await go(`/policy/${locator}/billing`)
    await page.getByRole('button', { name: /Details of New business/ }).click()
    await open('Take a payment')
    await page.getByText(`The invoice asks for ${due}.`).waitFor()
    await page.getByLabel('Method').selectOption('direct_debit')
    // The mandate is missing, and is asked for where it belongs.
    await press('Post the payment')
    await until(page, `document.querySelector('[name=mandate_reference][aria-invalid]')`)
    await page.getByLabel('SEPA mandate reference').fill('MANDATE-7')
    await press('Post the payment')
    await said(`The payment of ${due} is posted.`)
    await settled(page)
    const paid = (await policyOf(locator)).invoices[0]!
    expect([paid.settlementStatus, paid.payments.map(({ amount }) => amount)]).toEqual([
      'settled',
      [invoice!.totalDue],
    ])
    await page.getByRole('button', { name: /Details of New business/ }).click()
    await open('Reverse')
    await press('Reverse')
    await said(`The payment of ${due} is reversed.`)
    const reversed = (await policyOf(locator)).invoices[0]!
    expect([reversed.settlementStatus, reversed.payments[0]!.reversedTimestamp !== undefined]).toEqual([
      'outstanding',
      true,
    ])
  })

  /** The service answers, and the answer never comes. */
  async function losing(path: string, times: number, on = page): Promise<() => number> {
    let lost = 0
    await on.route(path, async (route: Route) => {
      if (route.request().method() === 'GET' || lost >= times) return await route.continue()
      lost += 1
      await route.fetch()
      await route.abort('connectionreset')
    })
    return () => lost
  }

  test('an answer that is lost is asked for again, and nothing is done twice', async () => {
    const { locator, invoices } = await paidPolicy()
    const counted = async () => {
      const policy = await policyOf(locator)
      return {
        transactions: policy.modifications.length,
        invoices: policy.invoices.length,
        payments: policy.invoices.flatMap(({ payments }) => payments).length,
      }
    }
    const before = await counted()
    await go(`/policy/${locator}`)
    await open('Endorse')
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    await page.getByLabel('Kilometres a year').fill('30000')
    await previewed()
    const lost = await losing('**/endorsements', 2)
    await press('Issue the endorsement')
    await page.getByText('It is not known whether this was done.').waitFor()
    // What was sent cannot be changed any more.
    expect(await page.getByLabel('Kilometres a year').isDisabled()).toBe(true)
    await press('Try again')
    await expect.poll(lost).toBe(2)
    await page.getByText('It is not known whether this was done.').waitFor()
    await press('Try again')
    await said('The endorsement is issued.')
    await settled(page)
    expect(await counted()).toEqual({
      ...before,
      transactions: before.transactions + 1,
      invoices: before.invoices + 1,
    })
    await go(`/policy/${locator}/billing`)
    await page.getByRole('button', { name: /Details of Endorsement/ }).click()
    await open('Take a payment')
    await page.getByLabel('Method').selectOption('card')
    const lostPayment = await losing('**/pay', 1)
    await press('Post the payment')
    await page.getByText('It is not known whether this was done.').waitFor()
    expect(lostPayment()).toBe(1)
    await press('Try again')
    await said(/is posted/)
    expect((await counted()).payments).toBe(before.payments + 1)
    expect(invoices).toHaveLength(before.invoices)
    await page.unrouteAll()
  })

  test('two clicks do it once', async () => {
    const { locator } = await paidPolicy()
    await go(`/policy/${locator}`)
    await open('Cancel policy')
    await page.getByLabel('Category').selectOption('other')
    await previewed()
    let sent = 0
    await page.route('**/cancellations', async route => {
      if (route.request().method() === 'POST') sent += 1
      await route.continue()
    })
    await page.evaluate(
      `(button => { button.click(); button.click() })([...document.querySelectorAll('dialog button')].find(one => one.textContent === 'Cancel the policy'))`,
    )
    await said('The policy is cancelled.')
    expect(sent).toBe(1)
    expect(await admin.call<Locator[]>('GET', `/policies/${locator}/cancellations`)).toHaveLength(1)
    await page.unrouteAll()
  })

  test('what others changed meanwhile is not written over', async () => {
    const { locator } = await paidPolicy()
    await go(`/policy/${locator}`)
    await open('Endorse')
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    await page.getByLabel('Kilometres a year').fill('30000')
    await previewed()
    await admin.call('POST', `/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_contact',
      state: 'issued',
      fieldValues: { contact_phone: '+49 30 7654321' },
    })
    await press('Issue the endorsement')
    await page.getByRole('dialog').locator('.notice.bad').waitFor()
    expect((await policyOf(locator)).modifications.map(({ name }) => name)).toEqual([
      'modification.policy.create',
      'change_of_contact',
    ])
    await documentsMade(locator)
    await previewed()
    await press('Issue the endorsement')
    await said('The endorsement is issued.')
  })

  test('a session that ends takes nothing of what was typed', async () => {
    const { locator } = await paidPolicy()
    const { page: own, faults: wrong } = await browser.open()
    await signIn(own)
    await go(`/policy/${locator}/notes`, own)
    await own.getByLabel('Write a note').fill('Calls back on Monday.')
    // The signature is another: the service refuses, as it does when a session was revoked.
    let isRefused = true
    await own.route('**/notes', async route => {
      const headers = route.request().headers()
      if (isRefused) await route.continue({ headers: { ...headers, authorization: 'Bearer a.b.c' } })
      else await route.continue()
    })
    await own.getByRole('button', { name: 'Save the note' }).click()
    const dialog = own.getByRole('dialog', { name: 'Sign in again' })
    await dialog.waitFor()
    isRefused = false
    await dialog.getByLabel('User name').fill('anna.admin')
    await dialog.getByLabel('Password').fill('password')
    await own.keyboard.press('Enter')
    await own.getByText('The note is saved.').waitFor()
    expect(await own.locator('.notes').textContent()).toMatch(/Calls back on Monday\..*anna\.admin/)
    const { items } = await admin.call<{ items: { text: string; username: string }[] }>(
      'GET',
      `/notes?policyLocator=${locator}`,
    )
    expect(items.map(({ text, username }) => [text, username])).toEqual([
      ['Calls back on Monday.', 'anna.admin'],
    ])
    expect(wrong).toEqual([])
    await own.context().close()
  })

  test('on a phone the forms fit, and who may not do a thing is not offered it', async () => {
    const { locator } = await paidPolicy()
    const { page: phone } = await browser.open({ viewport: { width: 375, height: 720 }, colorScheme: 'dark' })
    await signIn(phone)
    await go(`/policy/${locator}`, phone)
    await open('Endorse', phone)
    await phone.getByLabel('Kind of change').selectOption('change_of_risk')
    await phone.getByLabel('Kilometres a year').fill('20000')
    await previewed(phone)
    expect(await overflows(phone)).toBe(false)
    expect(
      await phone.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('dialog'))`,
      ),
    ).toBe(false)
    expect(await faintTexts(phone)).toEqual([])
    await press('Issue the endorsement', phone)
    await said('The endorsement is issued.', phone)
    await phone.context().close()
    const { page: agent } = await browser.open()
    await signIn(agent, 'alice.agent')
    const { permissions } = await (await service.signInAs('agent')).call<{ permissions: string[] }>(
      'GET',
      '/auth/permissions',
    )
    await go(`/policy/${locator}`, agent)
    for (const [name, permission] of [
      ['Endorse', 'endorsements.write'],
      ['Renew', 'renewals.write'],
      ['Cancel policy', 'cancellations.write'],
    ] as const)
      expect([name, await agent.getByRole('button', { name, exact: true }).count()]).toEqual([
        name,
        permissions.includes(permission) ? 1 : 0,
      ])
    expect(await unlabelled(agent)).toEqual([])
    await agent.context().close()
  })

  test('breaks no rule of the page', () => expect(faults).toEqual([]))
})
