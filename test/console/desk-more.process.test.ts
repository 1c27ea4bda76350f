// More of the desk in a real browser: home insurance with files, dependent choices and documents; lost and slow responses,
// concurrent changes of a policy, sessions that end, phones and permissions.
import type { Dialog, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { DAY_MS, type Desk, EUROS, type Locator, plainRequest, startDesk } from './desk-steps.ts'
import { insureHome } from './home-journey.ts'
import { BROWSER, cutTexts, faintTexts, overflows, settled, unlabelled, until } from './page.ts'

/** The delay of each call of the interface. */
const LATENCY_MS = 600

const focusedText = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement?.textContent ?? ""') as Promise<string>

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the desk is not tried.')

describe.skipIf(!BROWSER)('The desk under difficult conditions', () => {
  let desk: Desk
  let admin: ApiClient
  let page: Page

  beforeAll(async () => {
    desk = await startDesk()
    ;({ admin, page } = desk)
    await desk.signIn()
  }, 180_000)
  afterAll(() => desk?.close())

  test('sells home insurance with dependent choices, files, a referral, quotes side by side and documents', () =>
    insureHome(desk))

  test('takes and reverses a payment', async () => {
    const begin = Date.now()
    const { locator } = await admin.call<Locator>('POST', '/policy', {
      ...plainRequest().policy,
      policyholderLocator: desk.holder,
      policyStartTimestamp: begin,
      policyEndTimestamp: begin + 365 * DAY_MS,
    })
    await admin.call('POST', `/policy/${locator}/issue`)
    const [invoice] = (await desk.policyOf(locator)).invoices
    const due = EUROS.format(Number(invoice!.totalDue))
    await desk.go(`/policy/${locator}/billing`)
    await page.getByRole('button', { name: /Details of New business/ }).click()
    await desk.open('Take a payment')
    await page.getByText(`Amount due: ${due}.`).waitFor()
    for (const typed of ['1,50', '-5']) {
      await page.getByLabel('Amount').fill(typed)
      await page.getByText('Enter an amount, such as 12.50.').waitFor()
      expect(await desk.dialog.getByRole('button', { name: 'Post the payment' }).isDisabled()).toBe(true)
      await page.getByLabel('Amount').fill('')
    }
    await page.getByLabel('Method').selectOption('direct_debit')
    // The mandate is missing, and its field shows the error.
    await desk.press('Post the payment')
    await until(page, `document.querySelector('[name=mandate_reference][aria-invalid]')`)
    await page.getByLabel('SEPA mandate reference').fill('MANDATE-7')
    await desk.press('Post the payment')
    await desk.said(`The payment of ${due} is posted.`)
    await settled(page)
    const paid = (await desk.policyOf(locator)).invoices[0]!
    expect([paid.settlementStatus, paid.payments.map(({ amount }) => amount)]).toEqual([
      'settled',
      [invoice!.totalDue],
    ])
    await page.getByRole('button', { name: /Details of New business/ }).click()
    await desk.open('Reverse')
    await desk.press('Reverse')
    await desk.said(`The payment of ${due} is reversed.`)
    const reversed = (await desk.policyOf(locator)).invoices[0]!
    expect([reversed.settlementStatus, reversed.payments[0]!.reversedTimestamp !== undefined]).toEqual([
      'outstanding',
      true,
    ])
  })

  test('repeats a request whose response is lost, and does nothing twice', async () => {
    const { locator, invoices } = await desk.paidPolicy()
    const counted = async () => {
      const policy = await desk.policyOf(locator)
      return {
        transactions: policy.modifications.length,
        invoices: policy.invoices.length,
        payments: policy.invoices.flatMap(({ payments }) => payments).length,
      }
    }
    const before = await counted()
    await desk.go(`/policy/${locator}`)
    await desk.open('Endorse')
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    await page.getByLabel('Kilometres a year').fill('30000')
    await desk.previewed()
    const lost = await desk.losing('**/endorsements', 2)
    await desk.press('Issue the endorsement')
    await page.getByText('It is unknown whether this was done.').waitFor()
    // What was sent can no longer be changed.
    await expect.poll(() => page.getByLabel('Kilometres a year').isDisabled()).toBe(true)
    await desk.press('Try again')
    await expect.poll(lost).toBe(2)
    await page.getByText('It is unknown whether this was done.').waitFor()
    await desk.press('Try again')
    await desk.said('The endorsement is issued.')
    await settled(page)
    expect(await counted()).toEqual({
      ...before,
      transactions: before.transactions + 1,
      invoices: before.invoices + 1,
    })
    await desk.go(`/policy/${locator}/billing`)
    await page.getByRole('button', { name: /Details of Endorsement/ }).click()
    await desk.open('Take a payment')
    await page.getByLabel('Method').selectOption('card')
    const lostPayment = await desk.losing('**/pay', 1)
    await desk.press('Post the payment')
    await page.getByText('It is unknown whether this was done.').waitFor()
    expect(lostPayment()).toBe(1)
    await desk.press('Try again')
    await desk.said(/is posted/)
    expect((await counted()).payments).toBe(before.payments + 1)
    expect(invoices).toHaveLength(before.invoices)
    await page.unrouteAll()
  })

  test('sends a request once when its button is clicked twice', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    await desk.open('Cancel policy')
    expect(await desk.dialog.getByRole('button', { name: 'Preview' }).isDisabled()).toBe(true)
    await page.getByLabel('Category').selectOption('other')
    await desk.previewed()
    let sent = 0
    await page.route('**/cancellations', async route => {
      if (route.request().method() === 'POST') sent += 1
      await route.continue()
    })
    await page.evaluate(
      `(button => { button.click(); button.click() })([...document.querySelectorAll('dialog button')].find(one => one.textContent === 'Cancel the policy'))`,
    )
    await desk.said('The policy is cancelled.')
    await page.getByText(/^Cancellation: cover ends/).waitFor()
    expect(sent).toBe(1)
    expect(await admin.call<Locator[]>('GET', `/policies/${locator}/cancellations`)).toHaveLength(1)
    await page.unrouteAll()
  })

  test('warns before Escape or Close discards entries', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    const warning = page.getByText('Close the dialog again to discard them.')
    await desk.open('Endorse')
    await page.getByLabel('Kilometres a year').fill('30000')
    await page.keyboard.press('Escape')
    await warning.waitFor()
    await page.getByLabel('Kilometres a year').fill('31000')
    await expect.poll(() => warning.count()).toBe(0)
    // Leaving the page asks too, and the dialog stays.
    const asked: string[] = []
    page.once('dialog', question => {
      asked.push(question.type())
      return question.dismiss()
    })
    await page.evaluate(`location.hash = '#/'`)
    await expect.poll(() => asked).toEqual(['confirm'])
    expect(await page.getByLabel('Kilometres a year').inputValue()).toBe('31000')
    await page.keyboard.press('Escape')
    await warning.waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => desk.dialog.count()).toBe(0)
    // Nothing was typed in the next one.
    await desk.open('Endorse')
    await page.keyboard.press('Escape')
    await expect.poll(() => desk.dialog.count()).toBe(0)
    await desk.open('Endorse')
    await desk.press('Close')
    await expect.poll(() => desk.dialog.count()).toBe(0)
    // The button warns as Escape does, also if it is clicked twice at once.
    await desk.open('Endorse')
    await page.getByLabel('Kilometres a year').fill('32000')
    await desk.dialog.getByRole('button', { name: 'Close' }).dblclick()
    await warning.waitFor()
    expect(await page.getByLabel('Kilometres a year').inputValue()).toBe('32000')
    await desk.press('Close')
    await expect.poll(() => desk.dialog.count()).toBe(0)
    await expect.poll(() => focusedText(page)).toBe('Endorse')
  })

  test('shows all policies of a policyholder a page at a time, and the state of a policy that is not on the first page', async () => {
    for (let at = 0; at < 4; at += 1)
      await admin.call('POST', '/policy', {
        ...plainRequest().policy,
        policyholderLocator: desk.holder,
        finalize: false,
      })
    const { locator } = await desk.paidPolicy()
    const listed = await admin.call<{ policies: Locator[] }>(
      'GET',
      `/policies?policyholderLocator=${desk.holder}&pageSize=100`,
    )
    const all = listed.policies.map(one => one.locator)
    expect(all.length).toBeGreaterThan(2)
    const { page: own, faults: wrong } = await desk.browser.open()
    const ownDesk = desk.on(own)
    await ownDesk.signIn()
    await own.route('**/policies?*', async route => {
      await route.continue({ url: route.request().url().replace('pageSize=50', 'pageSize=2') })
    })
    await ownDesk.go(`/policyholder/${desk.holder}`)
    const shown = own.locator('tbody tr')
    const more = own.getByRole('button', { name: 'Show more policies' })
    expect(await shown.count()).toBe(2)
    for (let count = 2; count < all.length; count += 2) {
      await expect.poll(() => shown.count()).toBe(count)
      await more.click()
    }
    await expect.poll(() => shown.count()).toBe(all.length)
    await expect.poll(() => more.count()).toBe(0)
    expect(await shown.locator('a').allTextContents()).toEqual(all)
    await ownDesk.go(`/policy/${locator}`)
    await own.locator('.policy-head .badge').getByText('Issued').waitFor()
    expect(wrong).toEqual([])
    await own.context().close()
  })

  test('keeps a note that is being written while an action changes the policy', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}/notes`)
    const note = page.getByLabel('Write a note')
    await note.fill('Asked for another schedule.')
    await desk.open('Change payment schedule')
    await desk.press('Change payment schedule')
    await desk.said('The payment schedule is changed.')
    await settled(page)
    expect(await note.inputValue()).toBe('Asked for another schedule.')
    await page.getByRole('button', { name: 'Reload' }).click()
    await settled(page)
    expect(await note.inputValue()).toBe('Asked for another schedule.')
    await page.getByRole('button', { name: 'Save the note' }).click()
    await page.getByText('The note is saved.').waitFor()
    expect(await note.inputValue()).toBe('')
    // A note that the user agreed to discard does not return.
    await note.fill('Discarded.')
    page.once('dialog', question => question.accept())
    await page.getByRole('link', { name: 'Cover' }).click()
    await settled(page)
    await page.getByRole('link', { name: 'Notes' }).click()
    await settled(page)
    expect(await note.inputValue()).toBe('')
  })

  test('warns before a dialog with an unknown outcome closes, even without entries', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    await desk.open('Withdraw policy')
    await desk.losing('**/withdraw', 1)
    await desk.press('Withdraw policy')
    await page.getByText('It is unknown whether this was done.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('close the dialog again and look for it on the page').waitFor()
    // The same request again finds out, and withdraws once.
    await desk.press('Try again')
    await desk.said('The policy is withdrawn.')
    await page.unrouteAll()
  })

  test('asks before a form with entries is left', async () => {
    const { locator } = await desk.paidPolicy()
    const { policyholderLocator } = await desk.policyOf(locator)
    const asked: string[] = []
    let leaves = false
    const respond = (question: Dialog): Promise<void> => {
      asked.push(question.type())
      return leaves ? question.accept() : question.dismiss()
    }
    const address = `#/new/quote/${policyholderLocator}`
    const hash = () => page.evaluate('location.hash')
    await page.route('**/products', async route => {
      const response = await route.fetch()
      const [motor] = (await response.json()) as object[]
      await route.fulfill({ response, json: [motor, { ...motor, name: 'other', displayName: 'Other' }] })
    })
    await desk.go(`/policyholder/${policyholderLocator}`)
    page.on('dialog', respond)
    // Nothing is asked without entries.
    await page.getByRole('link', { name: 'New quote' }).click()
    await settled(page)
    await page.goBack()
    await settled(page)
    expect([await hash(), asked]).toEqual([`#/policyholder/${policyholderLocator}`, []])
    await page.getByRole('link', { name: 'New quote' }).click()
    await settled(page)
    await page.getByLabel('Years without a claim').fill('8')
    await page.goBack()
    await expect.poll(() => asked).toEqual(['confirm'])
    await expect.poll(hash).toBe(address)
    expect(await page.getByLabel('Years without a claim').inputValue()).toBe('8')
    const product = page.getByLabel('Product', { exact: true })
    await product.selectOption('other')
    await expect.poll(() => product.inputValue()).toBe('private_motor')
    expect(asked.splice(0)).toEqual(['confirm', 'confirm'])
    leaves = true
    await page.reload()
    expect(asked).toEqual(['beforeunload'])
    await settled(page)
    await page.getByLabel('Years without a claim').fill('9')
    await page.locator('a.brand').click()
    await expect.poll(() => asked).toEqual(['beforeunload', 'confirm'])
    await settled(page)
    expect(await hash()).toBe('#/')
    page.off('dialog', respond)
    await page.unrouteAll()
  })

  test('does not overwrite what others have changed meanwhile', async () => {
    const locator = await desk.overtakenEndorsement()
    await desk.press('Issue the endorsement')
    await page.getByRole('dialog').locator('.notice.bad').waitFor()
    expect((await desk.policyOf(locator)).modifications.map(({ name }) => name)).toEqual([
      'modification.policy.create',
      'change_of_contact',
    ])
    await desk.previewed()
    await desk.press('Issue the endorsement')
    await desk.said('The endorsement is issued.')
  })

  test('keeps what was typed when the session ends', async () => {
    const { locator } = await desk.paidPolicy()
    const { page: own, faults: wrong } = await desk.browser.open()
    const ownDesk = desk.on(own)
    await ownDesk.signIn()
    await ownDesk.go(`/policy/${locator}/notes`)
    await own.getByLabel('Write a note').fill('Calls back on Monday.')
    // With an invalid token the service rejects the request, as it does when a session was revoked.
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
    // Long lists are shown a page at a time.
    for (const text of ['Called.', 'Has moved.'])
      await admin.call('POST', '/notes', { recordType: 'policy', recordLocator: locator, text })
    await own.route('**/notes?*', async route => {
      await route.continue({ url: route.request().url().replace('pageSize=200', 'pageSize=2') })
    })
    await ownDesk.go(`/policy/${locator}/notes`)
    const shown = own.locator('.notes .note')
    expect(await shown.allTextContents()).toEqual(['Called.', 'Calls back on Monday.'])
    const more = own.getByRole('button', { name: 'Show later notes' })
    await more.click()
    await own.getByText('Has moved.').waitFor()
    expect(await more.count()).toBe(0)
    expect(await shown.allTextContents()).toEqual(['Has moved.', 'Called.', 'Calls back on Monday.'])
    expect(wrong).toEqual([])
    await own.context().close()
  })

  test('fits on a phone, and offers only what the account may do', async () => {
    const { locator } = await desk.paidPolicy()
    const { page: phone } = await desk.browser.open({
      viewport: { width: 375, height: 720 },
      colorScheme: 'dark',
    })
    const phoneDesk = desk.on(phone)
    await phoneDesk.signIn()
    await phoneDesk.go(`/policy/${locator}`)
    await phoneDesk.open('Endorse')
    await phone.getByLabel('Kind of change').selectOption('change_of_risk')
    await phone.getByLabel('Kilometres a year').fill('20000')
    await phoneDesk.previewed()
    expect(await overflows(phone)).toBe(false)
    expect(
      await phone.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('dialog'))`,
      ),
    ).toBe(false)
    // Also at the width of a desk at 400 %.
    await phone.setViewportSize({ width: 320, height: 720 })
    expect(
      await phone.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))`,
      ),
    ).toBeLessThanOrEqual(0)
    expect(await faintTexts(phone)).toEqual([])
    await phoneDesk.press('Issue the endorsement')
    await phoneDesk.said('The endorsement is issued.')
    // Amounts in tables within opened rows are not cut off.
    for (const path of [
      `/policy/${locator}/cover`,
      `/policy/${locator}/worksheet`,
      `/policy/${locator}/billing`,
    ]) {
      await phoneDesk.go(path)
      await phone.evaluate(`{
        const rows = document.querySelectorAll('main .toggle[aria-expanded="false"], main details:not([open]) > summary')
        for (const row of [...rows].slice(0, 2)) row.click()
      }`)
      await settled(phone)
      expect([path, await cutTexts(phone), await overflows(phone)]).toEqual([path, [], false])
    }
    // A name may be one long word, which no cell, card or page cuts off.
    const last_name = 'Donaudampfschifffahrtsgesellschaftskapitänswitwenrente'
    const { locator: holder } = await admin.call<Locator>('POST', '/policyholder/create', {
      completed: true,
      values: { ...(plainRequest().policyholder.values as object), first_name: 'Anna-Maria', last_name },
    })
    await admin.call('POST', '/policy', { ...plainRequest().policy, policyholderLocator: holder })
    await phone.setViewportSize({ width: 360, height: 720 })
    for (const path of [`/new/quote/${holder}`, `/policyholder/${holder}`, `/search?q=${last_name}`]) {
      await phoneDesk.go(path)
      expect(await phone.locator('main').textContent()).toContain(last_name)
      expect([path, await cutTexts(phone), await overflows(phone)]).toEqual([path, [], false])
    }
    await phone.context().close()
    const { page: agent } = await desk.browser.open()
    const agentDesk = desk.on(agent)
    await agentDesk.signIn('alice.agent')
    const { permissions } = await (await desk.service.signInAs('agent')).call<{ permissions: string[] }>(
      'GET',
      '/auth/permissions',
    )
    await agentDesk.go(`/policy/${locator}`)
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

  test('sends nothing twice when responses are slow, and disables buttons that wait', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    const sent: string[] = []
    let isSlow = true
    await page.route(
      url => !url.pathname.startsWith('/console'),
      async route => {
        const request = route.request()
        sent.push(`${request.method()} ${new URL(request.url()).pathname.split('/').at(-1)}`)
        if (isSlow) await new Promise(resolve => setTimeout(resolve, LATENCY_MS))
        await route.continue()
      },
    )
    const counted = (call: string): number => sent.filter(one => one === call).length
    const twice = (name: string): Promise<unknown> =>
      page.evaluate(
        `(button => { button.click(); button.click() })([...document.querySelectorAll('dialog button')].find(one => one.textContent === ${JSON.stringify(name)}))`,
      )
    // Clicked again while the form is being loaded.
    await page.evaluate(
      `(button => { button.focus(); button.click(); button.click() })([...document.querySelectorAll('button')].find(one => one.textContent === 'Endorse'))`,
    )
    await desk.dialog.waitFor()
    expect(await desk.dialog.count()).toBe(1)
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    await page.getByLabel('Kilometres a year').fill('21000')
    await desk.press('Preview')
    await page.getByText('Calculating …').waitFor()
    await expect.poll(() => desk.dialog.getByRole('button', { name: 'Preview' }).isDisabled()).toBe(true)
    // Input made meanwhile outdates the response that is on its way.
    await page.getByLabel('Kilometres a year').fill('22000')
    await desk.previewed()
    expect(counted('POST preview')).toBe(2)
    expect(await desk.cells('What changes', 3)).toEqual(['22000'])
    await twice('Issue the endorsement')
    const working = desk.dialog.getByRole('button', { name: 'Working …' })
    await working.waitFor()
    await expect.poll(() => working.isDisabled()).toBe(true)
    await expect.poll(() => desk.dialog.getByRole('button', { name: 'Close' }).isDisabled()).toBe(true)
    await expect.poll(() => page.getByLabel('Kilometres a year').isDisabled()).toBe(true)
    // The browser lets a page prevent only some of several Escapes in a row.
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape')
    // The dialog opens again after the event that reports its end.
    await expect.poll(() => page.evaluate(`document.querySelector('dialog').open`)).toBe(true)
    await desk.said('The endorsement is issued.')
    expect(counted('POST endorsements')).toBe(1)
    await settled(page)
    // Keyboard users do not start at the top of the browser again.
    expect(await page.evaluate('document.activeElement === document.body')).toBe(false)
    isSlow = false
    await page.unrouteAll({ behavior: 'wait' })
    const { modifications } = await desk.policyOf(locator)
    expect(modifications).toHaveLength(2)
  })

  test('causes no script errors and no violations of its Content-Security-Policy', () =>
    expect(desk.faults).toEqual([]))
})
