// Transactions at the desk in a real browser: each journey as a user takes it, compared with what the interface then returns.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { DAY_MS, type Desk, EUROS, type Locator, plainRequest, startDesk } from './desk-steps.ts'
import { BROWSER, focused, settled, until } from './page.ts'

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the desk is not tried.')

describe.skipIf(!BROWSER)('The desk', () => {
  let desk: Desk
  let admin: ApiClient
  let page: Page

  beforeAll(async () => {
    desk = await startDesk()
    ;({ admin, page } = desk)
    await desk.signIn()
  }, 180_000)
  afterAll(() => desk?.close())

  test('takes a new policyholder through a referral to an issued policy', async () => {
    await desk.go('/')
    await page.getByRole('link', { name: 'New policyholder' }).click()
    await settled(page)
    // The form asks for what policyholder.form.json requires, and goes to the first field.
    const invalid = () =>
      page.evaluate(`[...document.querySelectorAll('[aria-invalid]')].map(one => one.name)`)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Fill in the marked fields.').waitFor()
    expect(await invalid()).toEqual(['salutation', 'first_name', 'last_name', 'street', 'postcode', 'city'])
    expect(await page.evaluate('document.activeElement.name')).toBe('salutation')
    expect(await page.getByLabel('Telephone (optional)').count()).toBe(1)
    expect(await page.getByLabel('Company').count()).toBe(0)
    await page.getByLabel('Salutation').selectOption('Frau')
    for (const [label, text] of [
      ['First name', 'Ida'],
      ['Last name', 'Sommer'],
      ['Street', 'Parkweg 3'],
      ['Postcode', '1011'],
      ['City', 'Berlin'],
    ] as const)
      await page.getByLabel(label).fill(text)
    // The service's error is shown at its field, which gets the focus that the disabled button lost.
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await until(page, `document.activeElement.matches('[name=postcode][aria-invalid]')`)
    const described = await page.getByLabel('Postcode').getAttribute('aria-describedby')
    expect(await page.locator(`[id="${described}"]`).textContent()).toContain('[0-9]{5}')
    await page.getByLabel('Postcode').fill('10115')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await desk.said('The policyholder is saved.')
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
    await desk.said('The quote is saved.')
    await settled(page)
    const locator = /policy\/(\d+)/.exec(page.url())![1]!
    const { policyholderLocator } = await desk.policyOf(locator)
    const { policies } = await admin.call<{ policies: Locator[] }>(
      'GET',
      `/policies?policyholderLocator=${policyholderLocator}`,
    )
    // Clicked twice, created once.
    expect(policies).toHaveLength(1)
    expect((await desk.quoteOf(locator)).automatedUnderwritingResult!.decision).toBe('none')

    // The underwriter decides.
    await page.getByRole('button', { name: /^Details of/ }).click()
    await page.getByText('A previous insurer has cancelled').first().waitFor()
    expect(await page.getByRole('button', { name: 'Accept', exact: true }).count()).toBe(0)
    await desk.open('Decide')
    await page.getByLabel('Decision').selectOption('accept')
    await page.getByLabel('Note').fill('Known to us for years.')
    await desk.press('Confirm')
    await desk.said(/decided/)
    await settled(page)
    const { automatedUnderwritingResult } = await desk.quoteOf(locator)
    expect(automatedUnderwritingResult!.decision).toBe('accept')
    expect(automatedUnderwritingResult!.notes.join(' ')).toContain('Known to us for years.')

    await page.getByRole('button', { name: /^Details of/ }).click()
    await desk.open('Accept')
    const { total } = await admin.call<{ total: string }>(
      'GET',
      `/quotes/${(await desk.quoteOf(locator)).locator}/price`,
    )
    await page
      .getByRole('dialog')
      .getByText(EUROS.format(Number(total)))
      .waitFor()
    await desk.press('Accept')
    await desk.said(/accepted/)
    await settled(page)
    expect((await desk.quoteOf(locator)).state).toBe('accepted')
    await page.getByRole('button', { name: /^Details of/ }).click()
    await desk.open('Issue')
    await desk.press('Issue the policy')
    await desk.said('The policy is issued.')
    await settled(page)
    const issued = await desk.policyOf(locator)
    expect(
      issued.modifications.map(({ name, issuedTimestamp }) => [name, issuedTimestamp !== undefined]),
    ).toEqual([['modification.policy.create', true]])
    expect(issued.invoices.map(({ invoiceType }) => invoiceType)).toEqual(['newBusiness'])
  })

  test('bills for an endorsement of a policy paid upfront exactly what its preview shows', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    await desk.open('Endorse')
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    await page.getByLabel('Kilometres a year').fill('24000')
    await desk.previewed()
    const [change] = await desk.cells('Result', 2)
    const billed = await desk.cells('Invoices', 3)
    expect(billed).toHaveLength(1)
    // Only what was previewed can be confirmed: other input removes the button.
    await page.getByLabel('Kilometres a year').fill('25000')
    expect(await page.getByRole('button', { name: 'Issue the endorsement' }).count()).toBe(0)
    await page.getByLabel('Kilometres a year').fill('24000')
    await desk.previewed()
    expect([(await desk.cells('Result', 2))[0], await desk.cells('Invoices', 3)]).toEqual([change, billed])
    await desk.press('Issue the endorsement')
    await desk.said('The endorsement is issued.')
    await settled(page)
    const { invoices, modifications } = await desk.policyOf(locator)
    const own = invoices.filter(({ invoiceType }) => invoiceType === 'endorsement')
    expect(own.map(({ totalDue }) => EUROS.format(Number(totalDue)))).toEqual(billed)
    expect(change).toBe(`+${EUROS.format(Number(modifications.at(-1)!.premiumChange))}`)
  })

  test('changes groups, perils and their amounts by an endorsement, and lists the changes in its preview', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    await desk.open('Endorse')
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    const driver = (number: number) =>
      page.getByRole('group', { name: `Named drivers ${number}`, exact: true })
    await driver(1).getByLabel('Name', { exact: true }).fill('Greta Brandt')
    await desk.press('Add: Named drivers')
    await driver(2).getByLabel('Name', { exact: true }).fill('Paul Brandt')
    await driver(2).getByLabel('Date of birth').fill('1983-02-01')
    await driver(2)
      .getByLabel(/^Licence withdrawn/)
      .selectOption('no')
    await desk.dialog.locator('summary', { hasText: 'Own damage' }).click()
    await page.getByLabel('Deductible').fill('1000')
    await desk.dialog.locator('summary', { hasText: 'Theft' }).click()
    await page.getByLabel(/^Ends: Theft/).check()
    await desk.previewed()
    const [what, before, after] = await Promise.all([1, 2, 3].map(one => desk.cells('What changes', one)))
    expect(what).toEqual([
      'Named drivers',
      'Named drivers',
      expect.stringMatching(/^Vehicle .*: Own damage: Deductible$/),
      expect.stringMatching(/^Vehicle .*: Theft$/),
    ])
    expect([before![0], after![0]]).toEqual([
      expect.stringContaining('Name: Greta Lindner'),
      expect.stringContaining('Name: Greta Brandt'),
    ])
    expect([before!.slice(1), after!.slice(1)]).toEqual([
      ['–', '€500.00', 'Covered'],
      [expect.stringContaining('Name: Paul Brandt'), '€1,000.00', 'Not covered'],
    ])
    const [change] = await desk.cells('Result', 2)
    await desk.press('Issue the endorsement')
    await desk.said('The endorsement is issued.')
    await settled(page)
    const changed = await desk.policyOf(locator)
    expect(change!.replace(/^[+-]/, '')).toBe(
      EUROS.format(Math.abs(Number(changed.modifications.at(-1)!.premiumChange))),
    )
    const { fieldValues, fieldGroupsByLocator } = changed.characteristics.at(-1)!
    expect(fieldValues.named_drivers!.map(one => fieldGroupsByLocator[one]!.full_name).sort()).toEqual([
      ['Greta Brandt'],
      ['Paul Brandt'],
    ])
    const perils = new Map(changed.exposures[0]!.perils.map(one => [one.name, one.characteristics]))
    expect(perils.get('own_damage')!.at(-1)!.deductible).toBe(1000)
    // A driver is removed, and theft is covered again.
    await desk.go(`/policy/${locator}`)
    await desk.open('Endorse')
    await page.getByLabel('Kind of change').selectOption('change_of_risk')
    await desk.press('Remove Named drivers 2')
    await page.getByLabel('Theft').check()
    await desk.previewed()
    expect(await desk.cells('What changes', 3)).toEqual(['–', 'Covered'])
    await desk.press('Issue the endorsement')
    await desk.said('The endorsement is issued.')
    await settled(page)
    const last = (await desk.policyOf(locator)).characteristics.at(-1)!
    expect(last.fieldValues.named_drivers).toHaveLength(1)
  })

  test('changes fees and the payment schedule, and withdraws drafts and the policy', async () => {
    const { locator, fees: old } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    await desk.open('Change fees')
    await page.getByLabel('New fee').selectOption('postal_delivery_fee')
    await page.getByLabel('Amount').fill('a lot')
    await expect.poll(() => desk.dialog.getByRole('button', { name: 'Change fees' }).isDisabled()).toBe(true)
    await page.getByLabel('Amount').fill('12.50')
    await desk.dialog.getByText(`${EUROS.format(12.5)} is billed immediately.`).waitFor()
    const lost = await desk.losing('**/fees', 1)
    await desk.press('Change fees')
    await page.getByText('It is unknown whether this was done.').waitFor()
    expect(lost()).toBe(1)
    await desk.press('Try again')
    await desk.said('The fees are changed.')
    await settled(page)
    await page.unrouteAll()
    const { fees, invoices } = await desk.policyOf(locator)
    expect(fees.slice(old.length).map(({ name, amount }) => [name, Number(amount)])).toEqual([
      ['postal_delivery_fee', 12.5],
    ])
    expect(invoices.at(-1)).toMatchObject({ invoiceType: 'other' })
    await desk.open('Change fees')
    await page.getByLabel(/^Postal delivery, .12\.50/).check()
    await desk.dialog.getByText(`Fees of ${EUROS.format(12.5)} are reversed`).waitFor()
    await desk.press('Change fees')
    // The same message was shown for the first fee, so it does not show that this change is done.
    await expect.poll(async () => (await desk.policyOf(locator)).fees.at(-1)!.reversed).toBe(true)
    await desk.said('The fees are changed.')
    await settled(page)

    await desk.open('Change payment schedule')
    await page.getByLabel('Payment', { exact: true }).selectOption('monthly')
    await desk.press('Change payment schedule')
    await desk.said('The payment schedule is changed.')
    await settled(page)
    expect((await desk.policyOf(locator)).paymentScheduleName).toBe('monthly')

    const draft = await admin.call<Locator>('POST', `/policies/${locator}/cancellations`, {
      effectiveTimestamp: Date.now() + 30 * DAY_MS,
      name: 'customer_request',
      cancellationCategory: 'other',
    })
    await desk.go(`/policy/${locator}/transactions`)
    await page.getByRole('button', { name: /^Details of Cancellation/ }).click()
    await desk.open('Withdraw')
    await desk.press('Withdraw')
    await desk.said(/withdrawn/)
    await settled(page)
    expect(await admin.call('GET', `/cancellations/${draft.locator}`)).toMatchObject({ state: 'rescinded' })

    await desk.open('Withdraw policy')
    await desk.press('Withdraw policy')
    await desk.said('The policy is withdrawn.')
    await settled(page)
    const { modifications, cancellation } = await desk.policyOf(locator)
    expect(modifications.at(-1)!.name).toBe('modification.policy.withdraw')
    expect(cancellation!.modificationName).toBe('modification.policy.withdraw')
    expect(await page.getByRole('group', { name: 'Actions' }).count()).toBe(0)

    // A policy that was never issued is discarded.
    const unissued = await admin.call<Locator>('POST', '/policy', {
      ...plainRequest().policy,
      policyholderLocator: desk.holder,
      finalize: false,
    })
    await desk.go(`/policy/${unissued.locator}`)
    await desk.open('Discard policy')
    await desk.press('Discard policy')
    await desk.said('The policy is discarded.')
    await settled(page)
    expect((await desk.quoteOf(unissued.locator)).state).toBe('discarded')
    expect(await page.getByRole('group', { name: 'Actions' }).count()).toBe(0)
  })

  test('refunds for a cancellation what it shows, and restores the cover by a reinstatement', async () => {
    const { locator, modifications: before } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
    await desk.open('Cancel policy')
    await page.getByLabel('Category').selectOption('vehicle_sold')
    await desk.previewed()
    const [premium, , , total] = await desk.cells('Result', 2)
    const refunds = await desk.cells('Invoices', 3)
    const givesBack = await page.locator('.gives-back').textContent()
    expect(givesBack).toBe(`Refund: ${total!.replace('-', '')}.`)
    await desk.press('Cancel the policy')
    await desk.said('The policy is cancelled.')
    await settled(page)
    const cancelled = await desk.policyOf(locator)
    const change = Number(cancelled.modifications.at(-1)!.premiumChange)
    expect(EUROS.format(change)).toBe(premium)
    const refund = cancelled.invoices.find(({ invoiceType }) => invoiceType === 'cancellation')!
    expect(refunds).toEqual([EUROS.format(Number(refund.totalDue))])

    // The refund is paid out.
    await desk.go(`/policy/${locator}/billing`)
    await page.getByRole('button', { name: /Details of Cancellation/ }).click()
    await desk.open('Pay out')
    await page.getByLabel('Method').selectOption('bank_transfer')
    await desk.press('Pay it out')
    await desk.said(/is posted/)
    await settled(page)
    const paid = (await desk.policyOf(locator)).invoices.find(one => one.locator === refund.locator)!
    expect(paid.payments.map(({ amount }) => Number(amount))).toEqual([Number(refund.totalDue)])

    await desk.go(`/policy/${locator}`)
    expect(await page.getByRole('button', { name: 'Endorse' }).count()).toBe(0)
    await desk.open('Reinstate')
    await desk.previewed()
    const [back] = await desk.cells('Result', 2)
    expect(back).toBe(`+${EUROS.format(-change)}`)
    await desk.press('Reinstate the policy')
    await desk.said('The policy is reinstated.')
    await settled(page)
    const { modifications } = await desk.policyOf(locator)
    expect(modifications.map(({ name }) => name)).toEqual([
      ...before.map(({ name }) => name),
      'modification.policy.cancel',
      'modification.policy.reinstate',
    ])
    expect(await page.getByRole('button', { name: 'Endorse' }).count()).toBe(1)
  })

  test('issues a renewal by keyboard alone, and moves the focus into the dialog and back', async () => {
    const { locator } = await desk.paidPolicy()
    await desk.go(`/policy/${locator}`)
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
    const ends = page.getByLabel('New term ends')
    const day = await ends.inputValue()
    await ends.fill('')
    await page.getByText('Enter a day.').waitFor()
    expect(await desk.dialog.getByRole('button', { name: 'Preview' }).isDisabled()).toBe(true)
    // A rejected preview, and one that succeeds, move the focus from the button to the result.
    await ends.fill('2020-01-01')
    await tabTo('Preview')
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
    await page.keyboard.press('Enter')
    await page.getByText('must be after the policy').waitFor()
    expect(await page.evaluate(`document.activeElement.textContent`)).toContain('must be after the policy')
    await ends.fill(day)
    await tabTo('Preview')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Result')
    await tabTo('Issue the renewal')
    await page.keyboard.press('Enter')
    await desk.said('The renewal is issued.')
    await settled(page)
    const { modifications } = await desk.policyOf(locator)
    expect(modifications.at(-1)!.name).toBe('modification.policy.renew')
    // The current term keeps its premium; the new one has a different premium.
    const [first] = modifications
    expect(await page.locator('.tiles dd').nth(1).textContent()).toBe(
      EUROS.format(Number(first!.premiumChange)),
    )
  })

  test('causes no script errors and no violations of its Content-Security-Policy', () =>
    expect(desk.faults).toEqual([]))
})
