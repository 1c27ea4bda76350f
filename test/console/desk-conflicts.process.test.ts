// What users can do when a request is rejected, and what a page does while it loads, in a real browser.
import type { Dialog, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { type Desk, EUROS, type Locator, plainRequest, startDesk } from './desk-steps.ts'
import { BROWSER, settled, unlabelled } from './page.ts'

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the desk is not tried.')

const REFERRED = { previous_insurer_cancelled: 'yes', cancellation_reason: 'Two claims.' }

/** Holds back each response of the interface, so that parts of a page arrive one after another. */
async function slowDown(page: Page): Promise<void> {
  let count = 0
  await page.route(
    ({ pathname }) => !pathname.startsWith('/console'),
    async route => {
      count += 1
      await new Promise(resolve => setTimeout(resolve, 60 * (1 + (count % 4))))
      await route.continue()
    },
  )
}

/** How far parts of the page have moved since it was loaded, as the browser measures it (0 to 1). */
const movement = (page: Page): Promise<number> =>
  page.evaluate(`new Promise(done => new PerformanceObserver(list => done(
    list.getEntries().filter(one => !one.hadRecentInput).reduce((sum, one) => sum + one.value, 0)
  )).observe({ type: 'layout-shift', buffered: true }) ?? setTimeout(() => done(0), 500))`) as Promise<number>

describe.skipIf(!BROWSER)('The desk after rejections', () => {
  let desk: Desk
  let admin: ApiClient
  let page: Page

  beforeAll(async () => {
    desk = await startDesk()
    ;({ admin, page } = desk)
    await desk.signIn()
  }, 180_000)
  afterAll(() => desk?.close())

  const button = (name: string) => desk.dialog.getByRole('button', { name, exact: true })

  test('a conflict offers to reload in the dialog: what others changed appears, and the entries stay', async () => {
    const locator = await desk.overtakenEndorsement()
    await desk.press('Issue the endorsement')
    await button('Reload').click()
    await desk.dialog.getByText('This is the latest data, with your entries.').waitFor()
    expect(await page.getByLabel('Kilometres a year').inputValue()).toBe('30000')
    expect(await desk.dialog.locator('[name=contact_phone]').inputValue()).toBe('+49 30 7654321')
    // The old preview is gone, and the keyboard stays in the dialog.
    expect(await page.getByRole('heading', { name: 'Result' }).count()).toBe(0)
    expect(await page.evaluate('document.activeElement.closest("dialog") !== null')).toBe(true)
    await desk.previewed()
    // Only the user's own change is sent.
    expect(await desk.cells('What changes', 3)).toEqual(['30000'])
    await desk.press('Issue the endorsement')
    await desk.said('The endorsement is issued.')
    const { modifications } = await desk.policyOf(locator)
    expect(modifications.map(({ name }) => name)).toEqual([
      'modification.policy.create',
      'change_of_contact',
      'change_of_risk',
    ])
  })

  test('a payment of an invoice that others have paid cannot be posted after a reload, and the page is then up to date', async () => {
    const begin = Date.now()
    const { locator } = await admin.call<Locator>('POST', '/policy', {
      ...quoteBody(),
      policyStartTimestamp: begin,
      policyEndTimestamp: begin + 365 * 86_400_000,
    })
    await admin.call('POST', `/policy/${locator}/issue`)
    const [invoice] = (await desk.policyOf(locator)).invoices
    await desk.go(`/policy/${locator}/billing`)
    await page.getByRole('button', { name: /Details of New business/ }).click()
    await desk.open('Take a payment')
    await page.getByLabel('Amount').fill('5')
    await page.getByLabel('Method').selectOption('card')
    await admin.call('POST', `/invoice/${invoice!.locator}/pay`, { fieldValues: { method: 'card' } })
    await desk.press('Post the payment')
    await button('Reload').click()
    await desk.dialog.getByText('The invoice is settled.').waitFor()
    expect([
      await page.getByLabel('Amount').inputValue(),
      await button('Post the payment').isDisabled(),
    ]).toEqual(['5', true])
    await desk.press('Close')
    await desk.press('Close')
    await page.locator('tbody .badge', { hasText: 'Paid' }).first().waitFor()
    await settled(page)
  })

  test('a preview that an overloaded service rejects says that nothing was changed, and can be repeated', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    await desk.open('Renew')
    const until = await page.getByLabel('New term ends').inputValue()
    await page.route('**/preview?**', route =>
      route.fulfill({ status: 503, json: { message: 'Try later.' } }),
    )
    await desk.press('Preview')
    await desk.dialog.getByText('Nothing was changed, and your entries are kept.').waitFor()
    expect(await button('Reload').count()).toBe(0)
    await page.unrouteAll()
    await desk.previewed()
    expect(await page.getByLabel('New term ends').inputValue()).toBe(until)
    await desk.press('Close')
    await desk.dialog.waitFor({ state: 'detached' })
  })

  test('the note of a decision that conflicts outlasts the reload, but not the dialog that the user closes', async () => {
    const { locator } = await admin.call<Locator>('POST', '/policy', {
      ...quoteBody(REFERRED),
      finalize: true,
    })
    const { locator: quote } = await desk.quoteOf(locator)
    const note = page.getByLabel('Note')
    const openDecision = async (): Promise<void> => {
      const details = page.getByRole('button', { name: /Details of quote/ })
      if ((await details.getAttribute('aria-expanded')) === 'false') await details.click()
      await desk.open('Decide')
    }
    await desk.go(`/policy/${locator}/quotes`)
    await openDecision()
    await note.fill('Spoke to the insurer.')
    await page.route('**/underwriting', route =>
      route.fulfill({ status: 409, json: { message: 'Changed.' } }),
    )
    await desk.press('Confirm')
    await button('Reload').click()
    await desk.dialog.waitFor({ state: 'detached' })
    await settled(page)
    await openDecision()
    expect(await note.inputValue()).toBe('Spoke to the insurer.')
    await page.unrouteAll()
    await note.fill('')
    await desk.press('Close')
    await desk.press('Close')
    await openDecision()
    expect(await note.inputValue()).toBe('')
    await note.fill('Once more.')
    // Others discard the quote: the reload shows it, and there is nothing to decide any more.
    await admin.call('PATCH', `/quotes/${quote}/discard`)
    await desk.press('Confirm')
    await button('Reload').click()
    await page.locator('tbody .badge', { hasText: 'Discarded' }).waitFor()
    expect(await desk.dialog.count()).toBe(0)
  })

  for (const [kind, name] of [
    ['Endorse', 'endorsement'],
    ['Renew', 'renewal'],
  ] as const)
    test(`a referred ${name} becomes an application, which a person accepts, and is then priced, accepted and issued`, async () => {
      const { locator } = await desk.paidPolicy()
      if (kind === 'Renew')
        // The endorsement makes underwriting refer the next renewal.
        await refer(locator)
      await desk.go(`/policy/${locator}`)
      await desk.open(kind)
      if (kind === 'Endorse') {
        await page.getByLabel('Kind of change').selectOption('change_of_risk')
        await desk.dialog.locator('[name=previous_insurer_cancelled]').selectOption('yes')
        await desk.dialog.locator('[name=cancellation_reason]').fill('Two claims.')
      }
      await desk.previewed()
      await desk.press('Prepare it as an application')
      await desk.said('The application is created.')
      await settled(page)
      // The page that has the next step.
      expect(await page.evaluate('location.hash')).toBe(`#/policy/${locator}/transactions`)
      const step = async (text: string, done: string, before = async () => {}): Promise<void> => {
        const details = page.getByRole('button', { name: new RegExp(`Details of ${name}`, 'i') }).first()
        if ((await details.getAttribute('aria-expanded')) === 'false') await details.click()
        await desk.open(text)
        await before()
        await desk.press(text === 'Decide' ? 'Confirm' : text)
        await desk.said(new RegExp(`${done}\\.$`))
        await settled(page)
      }
      await page
        .getByRole('button', { name: new RegExp(`Details of ${name}`, 'i') })
        .first()
        .click()
      // The underwriter sees why it was referred.
      await page.locator('.detail .facts').getByText('A previous insurer has cancelled').waitFor()
      await step('Decide', 'decided', async () => {
        await page.getByLabel('Note').fill('Seen.')
      })
      await step('Price and underwrite', 'priced')
      await step('Accept', 'accepted')
      await step('Issue', 'issued')
      const { modifications } = await desk.policyOf(locator)
      expect(modifications.at(-1)!.issuedTimestamp).toBeDefined()
      expect(modifications).toHaveLength(kind === 'Renew' ? 3 : 2)
    })

  test('a refund that is paid out in part is called a payout, with the amount and the rest of the interface', async () => {
    const { locator, invoices } = await desk.paidPolicy()
    await admin.call('POST', `/policy/${locator}/withdraw`)
    await desk.go(`/policy/${locator}`)
    const total = Number(invoices[0]!.totalDue)
    // The refund that is still to be paid out leads to the invoices.
    await page.getByRole('link', { name: EUROS.format(-total), exact: true }).click()
    await page.getByRole('button', { name: /Details of Cancellation/ }).click()
    await desk.open('Pay out')
    expect(await desk.dialog.getByLabel('To', { exact: true }).locator('option').allTextContents()).toEqual([
      'Paid out',
      'Credit of the policyholder',
    ])
    await page.getByLabel('Amount').fill('100')
    await page.getByLabel('Method').selectOption('card')
    await desk.press('Pay it out')
    await desk.said('The payout of €100.00 is posted.')
    await settled(page)
    const refund = (await desk.policyOf(locator)).invoices.find(one => one.invoiceType === 'cancellation')!
    expect(refund.payments.map(({ amount }) => Number(amount))).toEqual([-100])
    expect(await page.locator('tbody').first().textContent()).toContain(EUROS.format(100 - total))
  })

  test('a quote form of which only a day, the schedule or the draft was changed asks before it is left', async () => {
    const asked: string[] = []
    const stay = (question: Dialog): Promise<void> => {
      asked.push(question.type())
      return question.dismiss()
    }
    page.on('dialog', stay)
    const changes = [
      () => page.getByLabel('Ends', { exact: true }).fill('2040-05-01'),
      () => page.getByLabel('Payment', { exact: true }).selectOption({ index: 1 }),
      () => page.getByLabel('Save as a draft').check(),
    ]
    for (const change of changes) {
      await desk.go('/')
      await desk.go(`/new/quote/${desk.holder}`)
      await change()
      await page.locator('a.brand').click()
      await expect.poll(() => asked.splice(0)).toEqual(['confirm'])
      page.off('dialog', stay)
      page.once('dialog', question => void question.accept())
      await page.reload()
      page.on('dialog', stay)
      await settled(page)
    }
    page.off('dialog', stay)
  })

  test('nothing moves while the overview, the policies and the invoices load one part after another', async () => {
    const { locator } = await desk.paidPolicy()
    await slowDown(page)
    for (const path of ['/', '/work/policies', `/policy/${locator}/billing`]) {
      await desk.go(path)
      expect([path, Math.round((await movement(page)) * 100)]).toEqual([path, 0])
    }
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('the figures of the month request each report once, although the service runs only four at a time', async () => {
    const begun: string[] = []
    const refused: string[] = []
    page.on('response', response => {
      const { pathname } = new URL(response.url())
      if (response.request().method() !== 'POST' || !pathname.startsWith('/report/')) return
      begun.push(pathname)
      if (!response.ok()) refused.push(pathname)
    })
    await slowDown(page)
    await desk.go('/figures')
    expect([begun.toSorted(), refused]).toEqual([
      ['conversion', 'earnedPremium', 'payments', 'receivables', 'writtenPremium'].map(
        name => `/report/${name}`,
      ),
      [],
    ])
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('every group of inputs has a name', async () => {
    const { locator } = await desk.paidPolicy()
    const unnamed = `[...document.querySelectorAll('fieldset')].filter(one =>
      !one.getAttribute('aria-label') && one.querySelector(':scope > legend')?.textContent.trim() === undefined).length`
    await desk.go('/new/policyholder')
    expect([await page.evaluate(unnamed), await unlabelled(page)]).toEqual([0, []])
    await desk.go(`/policy/${locator}`)
    for (const name of ['Endorse', 'Renew', 'Cancel policy', 'Change fees', 'Change payment schedule']) {
      await desk.open(name)
      expect([name, await page.evaluate(unnamed)]).toEqual([name, 0])
      await desk.press('Close')
    }
  })

  test('causes no script errors and no violations of its Content-Security-Policy', () =>
    expect(desk.faults).toEqual([]))

  /** The body of a policy of the plain example, with other values. */
  function quoteBody(changed: object = {}): object {
    const { policy } = plainRequest()
    return {
      ...policy,
      policyholderLocator: desk.holder,
      fieldValues: { ...(policy.fieldValues as object), ...changed },
    }
  }

  /** Endorses the policy so that underwriting refers what follows. */
  async function refer(locator: string): Promise<void> {
    const path = `/policies/${locator}/endorsements`
    const made = await admin.call<Locator>('POST', path, {
      endorsementName: 'change_of_risk',
      fieldValues: REFERRED,
    })
    await admin.call('POST', `/endorsements/${made.locator}/underwriting`, { decision: 'accept' })
    for (const action of ['quote', 'accept', 'issue'])
      await admin.call('PATCH', `/endorsements/${made.locator}`, { action })
  }
})
