// Home insurance at the desk, from the quote to its documents, as an underwriter of the tenant works.
import { expect } from 'vitest'
import { type Desk, DOLLARS, recordsOf, stepsOn } from './desk-steps.ts'
import { deployHome } from './home-tenant.ts'
import { settled } from './page.ts'

/** Generous, because the machine may be busy. */
const SOON = { timeout: 60_000, interval: 50 }

export async function insureHome({ service, browser }: Desk): Promise<void> {
  const { admin: owner, holder, hostName, repair } = await deployHome(service)
  const { page: home, faults } = await browser.open()
  const at = stepsOn(home, service.origin, hostName)
  const { policyOf, quotesOf } = recordsOf(owner)
  await at.signIn('uma.underwriter')
  await at.go(`/new/quote/${holder}`)

  // The choices of one field depend on another. A value that is no longer possible is removed, with a message.
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
  await home.getByText('Removed because no longer possible: NJ-PRI.').waitFor()
  await expect.poll(() => municipality.inputValue()).toBe('')
  await expect.poll(() => municipality.locator('option').count(), SOON).toBe(5)
  // Choices that were read are not requested again, and those of a state that is left immediately are not requested at all.
  await home.getByLabel('State', { exact: true }).selectOption('CT')
  await home.getByLabel('State', { exact: true }).selectOption('NJ')
  await expect.poll(() => municipality.locator('option').count(), SOON).toBe(4)
  expect(asked).toEqual(['state=NJ', 'state=NY'])
  // If the choices cannot be read, the form still works.
  await home.route('**/record*', route => route.abort())
  await home.getByLabel('State', { exact: true }).selectOption('PA')
  await home.getByText('The choices could not be loaded. You can type the value.').waitFor()
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
  await home.getByText('It is unknown whether this was done.').waitFor()
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
  await expect.poll(() => water.getByLabel('Deductible').inputValue()).toBe('1000')
  await water.getByLabel('Deductible').fill('2500')
  await water.getByLabel('Includes backup of sewers').selectOption('yes')
  await home.getByRole('button', { name: 'Quote', exact: true }).click()
  await at.said('The quote is saved.')
  await settled(home)
  const locator = /policy\/(\d+)/.exec(home.url())![1]!
  const made = await policyOf(locator)
  expect(Object.values(made.characteristics[0]!.mediaByLocator).map(({ fileName }) => fileName)).toEqual([
    'front.png',
  ])
  expect(made.characteristics[0]!.fieldValues.municipality).toEqual(['NY-LBE'])
  const [waterMade] = made.exposures[0]!.perils.filter(({ name }) => name === 'water_damage')
  expect(waterMade!.characteristics[0]!.deductible).toBe(2500)

  // A copy of the quote, which is withdrawn again.
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

  // A document is uploaded and removed while the policy is not issued.
  await at.go(`/policy/${locator}/documents`)
  await at.open('Upload a document')
  await at.dialog.getByLabel('File').setInputFiles(photo('letter.exe', 'MZ'))
  await home.getByText('Choose a PDF or an HTML file.').waitFor()
  await expect
    .poll(() => at.dialog.getByRole('button', { name: 'Upload', exact: true }).isDisabled())
    .toBe(true)
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

  // In an endorsement, the value of the policy stays until a field that it depends on is changed.
  await at.go(`/policy/${locator}`)
  await at.open('Endorse')
  await home.getByLabel('Kind of change').selectOption('coverage_change')
  await expect.poll(() => municipality.locator('option').count(), SOON).toBe(5)
  await expect.poll(() => municipality.inputValue()).toBe('NY-LBE')
  await home.getByLabel('State', { exact: true }).selectOption('NJ')
  await home.getByText('Removed because no longer possible: NY-LBE.').waitFor()
  await municipality.selectOption('NJ-LBI')
  await at.previewed()
  expect(await at.cells('What changes', 1)).toEqual(['State', 'Municipality'])
  expect(await at.cells('What changes', 2)).toEqual(['NY', 'Long Beach Nassau NY'])
  expect(await at.cells('What changes', 3)).toEqual(['NJ', 'Long Beach Island, township Ocean NJ'])
  await home.keyboard.press('Escape')

  // A document that could not be made is made again once its template is repaired.
  const state = async (): Promise<string | undefined> => (await policyOf(locator)).documents[0]?.state
  await expect.poll(state, SOON).toBe('renderError')
  await repair()
  await at.go(`/policy/${locator}/documents`)
  await at.open('Render again')
  await at.press('Render again')
  await at.said('The document is being rendered again.')
  await expect.poll(state, SOON).toBe('ready')
  expect(faults).toEqual([])
  await home.context().close()
}
