// Signing in to the console with a real OpenID provider, in a real browser.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { CLIENT, startProvider, type TestProvider } from '../support/oidc-provider.ts'
import { type Service, sharedTenant } from '../support/service-process.ts'
import { BROWSER, type ConsoleBrowser, settled, startBrowser, unlabelled, until } from './page.ts'

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the console is not tried.')

const GREETED = { name: 'Greta Lindner', preferred_username: 'greta', groups: ['bindery-heads'] }

describe.skipIf(!BROWSER)('Signing in to the console with an identity provider', () => {
  let service: Service
  let browser: ConsoleBrowser
  let provider: TestProvider
  let admin: ApiClient
  let tenant: string
  let callback: string

  const set = (changes: object = {}) =>
    admin.call('PUT', '/auth/providers/acme', {
      issuer: provider.issuer,
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      label: 'Acme',
      mappings: [{ claim: 'groups', value: 'bindery-heads', roles: ['admin'] }],
      ...changes,
    })

  beforeAll(async () => {
    ;[service, browser] = await Promise.all([sharedTenant(), startBrowser()])
    callback = `${service.origin}/account/authenticateByProvider/callback/${service.example().tenantName}/acme`
    provider = await startProvider(
      { greta: GREETED, stranger: { name: 'A Stranger', preferred_username: 'stranger' } },
      [callback],
    )
    admin = await service.signInAs('admin')
    tenant = service.example().hostname
    await set()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await provider?.close()
    await service?.remove()
  })

  /** Opens the console's sign-in page, with the provider's button. */
  async function atSignIn(hash = ''): Promise<{ page: Page; faults: string[] }> {
    const opened = await browser.open()
    await opened.page.goto(`${service.origin}/console${hash}`)
    await settled(opened.page)
    await opened.page.fill('#tenant', tenant)
    await opened.page.press('#tenant', 'Tab')
    await opened.page.waitForSelector('text=Sign in with Acme')
    return opened
  }

  /** Signs in at the provider, on the provider's own page. */
  async function continueAs(page: Page, login: string): Promise<void> {
    await page.click('text=Sign in with Acme')
    await page.waitForURL(`${provider.issuer}/**`)
    await page.fill('input[name=login]', login)
    await page.click('text=Continue')
    await page.waitForURL(`${service.origin}/console**`)
  }

  test('brings a user back signed in to the page they came from, without a token in any URL', async () => {
    const { page, faults } = await atSignIn('#/work')
    expect(await unlabelled(page)).toEqual([])
    const addresses: string[] = []
    page.on('request', request => addresses.push(request.url()))
    await continueAs(page, 'greta')
    await until(page, `document.querySelector('.person')?.textContent === 'Greta Lindner'`)
    await settled(page)
    expect(new URL(page.url()).hash).toBe('#/work')
    const token = String(await page.evaluate(`sessionStorage.getItem('bindery.session')`))
    expect(token).toMatch(/^ey/)
    expect(addresses.some(address => address.includes('code_challenge_method=S256'))).toBe(true)
    for (const address of addresses) expect(address).not.toMatch(/eyJ/)
    // No script can read the cookie.
    expect(await page.evaluate('document.cookie')).toBe('')
    const [cookie] = await page.context().cookies(`${service.origin}/account/authenticateByProvider`)
    expect(cookie).toMatchObject({ name: 'bindery-sign-in', httpOnly: true, sameSite: 'Lax' })
    expect(faults).toEqual([])
    const { entries } = await admin.call<{ entries: { username: string; details: object }[] }>(
      'GET',
      '/audit/list?action=login.success&username=greta',
    )
    expect(entries[0]!.details).toMatchObject({ provider: 'acme', made: true })
    // What administrators see of it.
    await page.goto(`${service.origin}/console#/tenant/users?username=greta`)
    await settled(page)
    await page.getByText('Provider acme').waitFor()
    await page.goto(`${service.origin}/console#/tenant/access`)
    await settled(page)
    await page.getByRole('button', { name: 'Details of Acme' }).click()
    await page.getByText('bindery-heads').waitFor()
    await page.getByText(callback).waitFor()
    expect(await page.content()).not.toContain(CLIENT.secret)
    expect(faults).toEqual([])
  })

  test('shows the reason to a user whom the provider rejects or who has no role', async () => {
    const { page } = await atSignIn()
    await continueAs(page, 'nobody')
    await page.waitForSelector('text=The identity provider did not sign you in.')
    expect(new URL(page.url()).hash).toBe('#/')
    await continueAs(page, 'stranger')
    await page.waitForSelector('text=none of the roles')
    expect(await page.evaluate(`sessionStorage.getItem('bindery.session')`)).toBe(null)
  })

  test('rejects a code of another browser, a forged code and a used code with 401', async () => {
    const { page } = await atSignIn()
    const held = page.waitForResponse(response => response.url().includes('/callback'))
    // The page itself must not use the code.
    await page.route('**/account/authenticateByProvider', route => route.abort())
    await continueAs(page, 'greta')
    const location = (await held).headers().location!
    const code = location.split('#/signed-in/')[1]!
    const redeem = (cookie: string | undefined, given = code) =>
      fetch(`${service.origin}/account/authenticateByProvider`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(cookie && { cookie }) },
        body: JSON.stringify({ code: given }),
      }).then(({ status }) => status)
    const [own] = await page.context().cookies(`${service.origin}/account/authenticateByProvider`)
    const mine = `${own!.name}=${own!.value}`
    const begun = await fetch(`${service.origin}/account/authenticateByProvider/begin`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'acme', hostName: tenant }),
    })
    const another = begun.headers.get('set-cookie')!.split(';')[0]!
    expect(await redeem(undefined)).toBe(401)
    expect(await redeem(another)).toBe(401)
    expect(await redeem(mine, `${code.slice(0, -4)}AAAA`)).toBe(401)
    expect(await redeem(mine)).toBe(200)
    expect(await redeem(mine)).toBe(401)
    // Another state than the one it began with.
    const back = await fetch(`${callback}?code=x&state=forged`, {
      redirect: 'manual',
      headers: { cookie: mine },
    })
    expect([back.status, back.headers.get('location')]).toEqual([302, '/console#/signed-in?failed=expired'])
  })

  test('reports a provider that is down, and stays in the console', async () => {
    const { page } = await atSignIn()
    await page.click('text=Sign in with Acme')
    await page.waitForURL(`${provider.issuer}/**`)
    provider.answer({ '/token': { status: 500 } })
    await page.fill('input[name=login]', 'greta')
    await page.click('text=Continue')
    await page.waitForSelector('text=The identity provider gave an unexpected response.')
    provider.answer({})
  })

  test('shows no password field if the provider replaces passwords', async () => {
    await set({ replacesPasswords: true })
    const { page } = await atSignIn()
    await until(page, `!document.querySelector('#password').checkVisibility()`)
    expect(await page.isVisible('button[type=submit]')).toBe(false)
    await continueAs(page, 'greta')
    await until(page, `document.querySelector('.person')?.textContent === 'Greta Lindner'`)
    await set()
  })

  test('lets an administrator add a provider, change it, make it replace passwords, and delete it', async () => {
    type Read = { issuer: string; hasClientSecret: boolean; replacesPasswords: boolean; mappings: unknown[] }
    const read = (name: string) => admin.call<Read>('GET', `/auth/providers/${name}`)
    const { page, faults } = await browser.open()
    const address = `${service.origin}/console#/tenant/access`
    await page.goto(address)
    await settled(page)
    await page.getByLabel('Tenant').fill(tenant)
    await page.getByLabel('User name').fill('anna.admin')
    await page.getByLabel('Password').fill('password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Add a provider' }).click()
    const dialog = page.getByRole('dialog')
    const make = dialog.getByRole('button', { name: 'Add a provider' })
    const confirm = async (button: string, done: string): Promise<void> => {
      await dialog.getByRole('button', { name: button, exact: true }).dblclick()
      await page.getByText(done).waitFor()
      await settled(page)
    }
    await dialog.getByLabel('Name', { exact: true }).fill('acme')
    await dialog.getByText('There is already a provider of that name.').waitFor()
    await dialog.getByLabel('Name', { exact: true }).fill('partner')
    await dialog.getByLabel('Label').fill('Partner')
    await dialog.getByLabel('Issuer').fill('https://id.partner.example/?x=1')
    await dialog.getByLabel('Client', { exact: true }).fill('bindery')
    await dialog.getByLabel('Client secret').fill('keep this')
    await expect.poll(() => make.isDisabled()).toBe(true)
    await dialog.getByLabel('Claim', { exact: true }).fill('groups')
    await dialog.getByLabel('Value', { exact: true }).fill('partners')
    await dialog.getByLabel('Read only user').check()
    await make.click()
    // An error is shown at its field.
    await dialog.locator('.fault', { hasText: 'must not have a query' }).waitFor()
    await dialog.getByLabel('Issuer').fill('https://id.partner.example')
    await confirm('Add a provider', 'The provider partner is added.')
    expect(await read('partner')).toMatchObject({
      issuer: 'https://id.partner.example',
      hasClientSecret: true,
      replacesPasswords: false,
      mappings: [{ claim: 'groups', value: 'partners', roles: ['account.tenant.read.only.user'] }],
    })
    expect(await page.content()).not.toContain('keep this')

    // Nobody has signed in with it yet, so passwords stay and the form says why.
    const open = async (label: string, button: string): Promise<void> => {
      await page.getByRole('button', { name: `Details of ${label}` }).click()
      await page.locator('.detail:not([hidden])').getByRole('button', { name: button }).click()
      await dialog.waitFor()
    }
    await open('Partner', 'Change')
    await dialog.getByRole('button', { name: 'Add another' }).click()
    await dialog.getByLabel('Claim', { exact: true }).last().fill('groups')
    await dialog.getByLabel('Value', { exact: true }).last().fill('heads')
    await dialog.getByLabel('Employee', { exact: true }).last().check()
    await dialog.getByLabel('No sign-in with passwords').check()
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.locator('.said .notice').waitFor()
    await dialog.getByLabel('No sign-in with passwords').uncheck()
    await confirm('Change', 'The provider partner is changed.')
    expect(await read('partner')).toMatchObject({ hasClientSecret: true, replacesPasswords: false })
    expect((await read('partner')).mappings).toHaveLength(2)

    await open('Acme', 'Change')
    await dialog.getByLabel('No sign-in with passwords').check()
    await confirm('Change', 'The provider acme is changed.')
    expect(await read('acme')).toMatchObject({ hasClientSecret: true, replacesPasswords: true })
    await page.getByText('No sign-in with passwords', { exact: true }).waitFor()

    await open('Partner', 'Delete')
    await confirm('Delete', 'The provider Partner is deleted.')
    expect(await admin.call<{ name: string }[]>('GET', '/auth/providers')).toMatchObject([{ name: 'acme' }])
    expect(faults).toEqual([])
    await set()
  })
})
