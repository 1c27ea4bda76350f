// More of the desk in a real browser: home insurance with files, dependent choices and documents; lost and late answers, others at
// the same policy, sessions that end, phones and rights.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { type Desk, DOLLARS, type Locator, recordsOf, startDesk, stepsOn } from './desk-steps.ts'
import { deployHome } from './home-tenant.ts'
import { BROWSER, faintTexts, overflows, settled, unlabelled } from './page.ts'

/** Generous: the machine may be busy. */
const SOON = { timeout: 60_000, interval: 50 }

/** On each call of the interface. */
const LATENCY_MS = 600

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the desk is not tried.')

describe.skipIf(!BROWSER)('the desk, with what comes in between', () => {
  let desk: Desk
  let admin: ApiClient
  let page: Page

  beforeAll(async () => {
    desk = await startDesk()
    ;({ admin, page } = desk)
    await desk.signIn()
  }, 180_000)
  afterAll(() => desk?.close())

  test('home insurance: dependent choices, files, a referral, quotes side by side, documents', async () => {
    const { service, browser } = desk
    const { admin: owner, holder, hostName, repair } = await deployHome(service)
    const { page: home, faults } = await browser.open()
    const at = stepsOn(home, service.origin, hostName)
    const { policyOf, quotesOf } = recordsOf(owner)
    await at.signIn('uma.underwriter')
    await at.go(`/new/quote/${holder}`)

    // The choices of one field follow another; what does not hold any more is taken out, and said.
    const municipality = home.getByLabel('Municipality')
    const asked: string[] = []
    home.on('request', request => {
      if (request.url().includes('/record'))
        asked.push(new URL(request.url()).searchParams.getAll('key').join())
    })
    await home.getByText('The choices depend on: State.').waitFor()
    await home.getByLabel('State', { exact: true }).selectOption('NJ')
    await expect.poll(() => municipality.locator('option').count(), SOON).toBe(4)
    expect(await municipality.locator('option').allTextContents()).toContain('Princeton Mercer NJ')
    await municipality.selectOption('NJ-PRI')
    await home.getByLabel('State', { exact: true }).selectOption('NY')
    await home.getByText('No longer possible, and taken out: NJ-PRI.').waitFor()
    expect(await municipality.inputValue()).toBe('')
    await expect.poll(() => municipality.locator('option').count(), SOON).toBe(5)
    // What was read is not asked for again, and what is passed over is not asked for at all.
    await home.getByLabel('State', { exact: true }).selectOption('CT')
    await home.getByLabel('State', { exact: true }).selectOption('NJ')
    await expect.poll(() => municipality.locator('option').count(), SOON).toBe(4)
    expect(asked).toEqual(['state=NJ', 'state=NY'])
    // Where the choices cannot be had, the form still works.
    await home.route('**/record*', route => route.abort())
    await home.getByLabel('State', { exact: true }).selectOption('PA')
    await home.getByText('The choices could not be read. You can type the value.').waitFor()
    await home.unrouteAll()
    await home.getByLabel('State', { exact: true }).selectOption('NY')
    await expect.poll(() => municipality.locator('option').count(), SOON).toBe(5)
    await municipality.selectOption('NY-LBE')

    await home.getByLabel('ZIP code').fill('11561')
    await home.getByLabel('Wind territory').selectOption('barrier_island')
    await home.getByLabel('Occupancy').selectOption('seasonal')
    await home.getByLabel('Months unoccupied in a year').fill('7')
    await home.getByLabel('Smoke detectors').check()
    await home.getByLabel('E-mail').fill('eleanor@example.com')
    await home.getByLabel('Phone').fill('+1 518 555 0142')
    await home.getByLabel('Is an inspection asked for?').selectOption('no')
    const file = home.getByLabel(/^Photographs and reports/)
    const photo = (name: string, text: string) => ({ name, mimeType: 'image/png', buffer: Buffer.from(text) })
    await file.setInputFiles(photo('nothing.png', ''))
    await home.getByText('The file is empty.').waitFor()
    const lost = await at.losing('**/media', 1)
    await file.setInputFiles(photo('front.png', 'front'))
    await home.getByText('It is not known whether this was done.').waitFor()
    expect(lost()).toBe(1)
    await home.getByRole('button', { name: 'Try again' }).click()
    await home.getByRole('button', { name: 'Remove front.png' }).waitFor()
    await home.unrouteAll()
    await file.setInputFiles(photo('back.png', 'back'))
    await home.getByRole('button', { name: 'Remove back.png' }).click()

    await home.getByRole('button', { name: 'Add: Dwelling' }).click()
    const dwelling = home.getByRole('group', { name: 'Dwelling 1' })
    await dwelling.getByLabel('Address').fill('1 Ocean Drive')
    await dwelling.getByLabel('Construction').selectOption('masonry')
    await dwelling.getByLabel('Built in').fill('1999')
    await dwelling.getByLabel('Replacement cost').fill('425050')
    await dwelling.getByLabel('Heating').selectOption('gas')
    await dwelling.getByText('Limits and details of Water damage').click()
    const water = dwelling.locator('details', { hasText: 'Limits and details of Water damage' })
    expect(await water.getByLabel('Deductible').inputValue()).toBe('1000')
    await water.getByLabel('Deductible').fill('2500')
    await water.getByLabel('Includes backup of sewers').selectOption('yes')
    await home.getByRole('button', { name: 'Quote', exact: true }).click()
    await at.said('The quote is there.')
    await settled(home)
    const locator = /policy\/(\d+)/.exec(home.url())![1]!
    const made = await policyOf(locator)
    expect(Object.values(made.characteristics[0]!.mediaByLocator).map(({ fileName }) => fileName)).toEqual([
      'front.png',
    ])
    expect(made.characteristics[0]!.fieldValues.municipality).toEqual(['NY-LBE'])
    const [waterMade] = made.exposures[0]!.perils.filter(({ name }) => name === 'water_damage')
    expect(waterMade!.characteristics[0]!.deductible).toBe(2500)

    // A copy beside it, which is withdrawn again.
    const rows = home.getByRole('button', { name: /^Details of/ })
    await rows.first().click()
    await at.open('Copy')
    await at.press('Copy')
    await at.said(/copied/)
    await settled(home)
    const quotes = await quotesOf(locator)
    const side = home.locator('table', { has: home.locator('caption', { hasText: 'Side by side' }) })
    const premium = DOLLARS.format(Number(quotes[0]!.characteristics.grossPremium))
    expect(await side.locator('tbody tr', { hasText: 'Premium' }).locator('td').first().textContent()).toBe(
      premium,
    )
    expect(await side.locator('thead th').count()).toBe(1 + quotes.length)
    const copy = quotes.findIndex(({ state }) => state === 'draft')
    await rows.nth(copy).click()
    await at.open('Withdraw')
    await at.press('Withdraw')
    await at.said(/withdrawn/)
    await settled(home)
    expect((await quotesOf(locator))[copy]!.state).toBe('discarded')

    // Referred: a person decides.
    const referred = 1 - copy
    expect(quotes[referred]!.automatedUnderwritingResult!.decision).toBe('none')
    await rows.nth(referred).click()
    await home.getByText('Seasonal home on a barrier island').first().waitFor()
    await at.open('Decide')
    await home.getByLabel('Decision').selectOption('accept')
    await home.getByLabel('Note', { exact: true }).fill('Storm shutters seen.')
    await at.press('Confirm')
    await at.said(/decided/)
    await settled(home)
    await rows.nth(referred).click()
    await at.open('Accept')
    await at.press('Accept')
    await at.said(/accepted/)
    await settled(home)

    // A document that is uploaded and removed while the policy is not issued.
    await at.go(`/policy/${locator}/documents`)
    await at.open('Upload a document')
    await at.dialog.getByLabel('File').setInputFiles(photo('letter.exe', 'MZ'))
    await home.getByText('Choose a PDF or an HTML file.').waitFor()
    expect(await at.dialog.getByRole('button', { name: 'Upload', exact: true }).isDisabled()).toBe(true)
    await at.dialog
      .getByLabel('File')
      .setInputFiles({ name: 'letter.html', mimeType: 'text/html', buffer: Buffer.from('<p>Hello</p>') })
    await at.press('Upload')
    await at.said('The document is uploaded.')
    await settled(home)
    expect((await policyOf(locator)).documents.map(({ displayName }) => displayName)).toEqual(['letter.html'])
    await at.open('Remove')
    await at.press('Remove')
    await at.said('The document is removed.')
    await settled(home)
    expect((await policyOf(locator)).documents).toEqual([])

    const [quote] = (await quotesOf(locator)).filter(({ state }) => state === 'accepted')
    const { total } = await owner.call<{ total: string }>('GET', `/quotes/${quote!.locator}/price`)
    await at.go(`/policy/${locator}/quotes`)
    await rows.nth(referred).click()
    await at.open('Issue')
    await at.dialog.getByText(DOLLARS.format(Number(total))).waitFor()
    await at.press('Issue the policy')
    await at.said('The policy is issued.')
    await settled(home)
    const issued = await policyOf(locator)
    expect(issued.invoices.reduce((sum, { totalDue }) => sum + Number(totalDue), 0)).toBeCloseTo(
      Number(total),
      2,
    )

    // One that could not be made is made again once its template is repaired.
    const state = async (): Promise<string | undefined> => (await policyOf(locator)).documents[0]?.state
    await expect.poll(state, SOON).toBe('renderError')
    await repair()
    await at.go(`/policy/${locator}/documents`)
    await at.open('Make again')
    await at.press('Make again')
    await at.said('The document is being made again.')
    await expect.poll(state, SOON).toBe('ready')
    expect(faults).toEqual([])
    await home.context().close()
  })

  test('an answer that is lost is asked for again, and nothing is done twice', async () => {
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
    await page.getByText('It is not known whether this was done.').waitFor()
    // What was sent cannot be changed any more.
    expect(await page.getByLabel('Kilometres a year').isDisabled()).toBe(true)
    await desk.press('Try again')
    await expect.poll(lost).toBe(2)
    await page.getByText('It is not known whether this was done.').waitFor()
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
    await page.getByText('It is not known whether this was done.').waitFor()
    expect(lostPayment()).toBe(1)
    await desk.press('Try again')
    await desk.said(/is posted/)
    expect((await counted()).payments).toBe(before.payments + 1)
    expect(invoices).toHaveLength(before.invoices)
    await page.unrouteAll()
  })

  test('two clicks do it once', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    await desk.open('Cancel policy')
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
    expect(sent).toBe(1)
    expect(await admin.call<Locator[]>('GET', `/policies/${locator}/cancellations`)).toHaveLength(1)
    await page.unrouteAll()
  })

  test('what others changed meanwhile is not written over', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    await desk.open('Endorse')
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    await page.getByLabel('Kilometres a year').fill('30000')
    await desk.previewed()
    await admin.call('POST', `/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_contact',
      state: 'issued',
      fieldValues: { contact_phone: '+49 30 7654321' },
    })
    await desk.press('Issue the endorsement')
    await page.getByRole('dialog').locator('.notice.bad').waitFor()
    expect((await desk.policyOf(locator)).modifications.map(({ name }) => name)).toEqual([
      'modification.policy.create',
      'change_of_contact',
    ])
    await desk.documentsMade(locator)
    await desk.previewed()
    await desk.press('Issue the endorsement')
    await desk.said('The endorsement is issued.')
  })

  test('a session that ends takes nothing of what was typed', async () => {
    const { locator } = await desk.paidPolicy()
    const { page: own, faults: wrong } = await desk.browser.open()
    const ownDesk = desk.on(own)
    await ownDesk.signIn()
    await ownDesk.go(`/policy/${locator}/notes`)
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
    expect(await faintTexts(phone)).toEqual([])
    await phoneDesk.press('Issue the endorsement')
    await phoneDesk.said('The endorsement is issued.')
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

  test('with slow answers nothing is sent twice, and what waits cannot be pressed', async () => {
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
    // Pressed again while the form is on its way.
    await page.evaluate(
      `(button => { button.focus(); button.click(); button.click() })([...document.querySelectorAll('button')].find(one => one.textContent === 'Endorse'))`,
    )
    await desk.dialog.waitFor()
    expect(await desk.dialog.count()).toBe(1)
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    await page.getByLabel('Kilometres a year').fill('21000')
    await desk.press('Preview')
    await page.getByText('Working it out …').waitFor()
    expect(await desk.dialog.getByRole('button', { name: 'Preview' }).isDisabled()).toBe(true)
    // What is typed meanwhile outdates the answer that is on its way.
    await page.getByLabel('Kilometres a year').fill('22000')
    await desk.previewed()
    expect(counted('POST preview')).toBe(2)
    expect(await desk.cells('What changes', 3)).toEqual(['22000'])
    await twice('Issue the endorsement')
    const working = desk.dialog.getByRole('button', { name: 'Working …' })
    await working.waitFor()
    expect(await working.isDisabled()).toBe(true)
    expect(await desk.dialog.getByRole('button', { name: 'Close' }).isDisabled()).toBe(true)
    expect(await page.getByLabel('Kilometres a year').isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    expect(await desk.dialog.count()).toBe(1)
    await desk.said('The endorsement is issued.')
    expect(counted('POST endorsements')).toBe(1)
    await settled(page)
    // Whoever goes on by keyboard does not begin at the top of the browser again.
    expect(await page.evaluate('document.activeElement === document.body')).toBe(false)
    isSlow = false
    await page.unrouteAll({ behavior: 'wait' })
    const { modifications } = await desk.policyOf(locator)
    expect(modifications).toHaveLength(2)
  })

  test('breaks no rule of the page', () => expect(desk.faults).toEqual([]))
})
