// Running a tenant in a real browser, as its administrator does, compared with what the interface returns. One service for all
// tests.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, overflows, settled, unlabelled, until } from './page.ts'
import { accountTests } from './tenant/accounts.ts'
import { configurationTests } from './tenant/configuration.ts'
import { deploymentLogTests } from './tenant/deployment-log.ts'
import { eventTests } from './tenant/events.ts'
import { migrationTests } from './tenant/migrations.ts'
import { roleTests } from './tenant/roles.ts'
import { type Running, startRunning } from './tenant/running.ts'

if (!BROWSER) console.warn('SKIPPED: no browser (chromium) is installed, so the console is not tried.')

const PAGES = [
  '',
  '/deployments',
  '/tables',
  '/users',
  '/roles',
  '/tokens',
  '/access',
  '/webhooks',
  '/plugins',
  '/audit',
  '/migrations',
]

const TAB_IS_VISIBLE = `(tab => {
  const { left, right } = tab?.getBoundingClientRect() ?? { left: 0, right: 0 }
  return left >= 0 && right <= innerWidth
})(document.querySelector('.tabs [aria-current]'))`

describe.skipIf(!BROWSER)('Running a tenant in the console', () => {
  let started: Running | undefined
  const running = (): Running => started!

  beforeAll(async () => {
    started = await startRunning()
  }, 180_000)
  afterAll(async () => await started?.end())

  test('has a link to each page, and each page has a title and fits on a phone', async () => {
    const { page, faults, go, signIn, heading } = running()
    await signIn(page, 'anna.admin')
    await page.getByRole('link', { name: 'Tenant', exact: true }).click()
    await until(page, `location.hash === '#/tenant'`)
    await settled(page)
    expect(await heading()).toBe('Tenant')
    expect(await page.locator('main .work a').count()).toBe(PAGES.length - 1)
    for (const path of PAGES) {
      await go(`/tenant${path}`)
      expect([path, await unlabelled(page), await page.locator('main .notice.bad').count()]).toEqual([
        path,
        [],
        0,
      ])
      expect(await page.title()).toBe(`${await heading()} · Bindery`)
      await page.setViewportSize({ width: 375, height: 800 })
      expect([path, await overflows(page)]).toEqual([path, false])
      // The tabs scroll sideways to that of the page.
      await page.reload()
      await settled(page)
      expect([path, await page.evaluate(TAB_IS_VISIBLE)]).toEqual([path, true])
      // The tenant's name is truncated, and the badge next to it stays on one line.
      expect(await page.evaluate(`document.querySelector('.tenant .badge').offsetHeight < 40`)).toBe(true)
      await page.setViewportSize({ width: 1280, height: 860 })
    }
    await go('/tenant/nothing')
    await page.getByText('There is no page of that name.').waitFor()
    expect(faults).toEqual([])
  })

  describe('Configuration', () => configurationTests(running))
  describe('The deployment log', () => deploymentLogTests(running))
  describe('Events', () => eventTests(running))
  describe('Migrations', () => migrationTests(running))
  describe('Accounts', () => accountTests(running))
  describe('Roles', () => roleTests(running))

  test('shows an account with some permissions only their pages and buttons', async () => {
    const { browser, go, signIn } = running()
    const { page: other, faults: otherFaults } = await browser.open()
    await signIn(other, 'alice.agent')
    await other.getByRole('link', { name: 'Tenant', exact: true }).click()
    await until(other, `location.hash === '#/tenant'`)
    await settled(other)
    expect(await other.locator('main .work strong').allTextContents()).toEqual([
      'Deployments',
      'Tables',
      'Your tokens',
    ])
    for (const path of ['/deployments', '/tables', '/tokens']) {
      await go(`/tenant${path}`, other)
      expect([path, await other.locator('main .notice').count()]).toEqual([path, 0])
    }
    expect(await other.getByRole('button', { name: 'Create a token' }).count()).toBe(0)
    await go('/tenant/deployments', other)
    expect(await other.locator('tbody a').count()).toBe(0)
    expect(otherFaults).toEqual([])
    await other.context().close()
  })

  test('hides the link and all pages from an account without permissions', async () => {
    const { browser, go, signIn } = running()
    const { page: other, faults: otherFaults } = await browser.open()
    const asked: string[] = []
    other.on('request', request => asked.push(new URL(request.url()).pathname))
    await signIn(other, 'nora.none')
    expect(await other.getByRole('link', { name: 'Tenant', exact: true }).count()).toBe(0)
    await go('/tenant', other)
    await other.getByText('This account may not open any page of the tenant.').waitFor()
    for (const path of PAGES.slice(1)) {
      await go(`/tenant${path}`, other)
      expect([path, await other.locator('main .tabs a').count()]).toEqual([path, 0])
      await other.getByText('This page needs the permission').waitFor()
    }
    const refused = /^\/(?:audit|auth\/(?!permissions)|event|migration|plugin|deployments|resource|tenant)/
    expect(asked.filter(path => refused.test(path))).toEqual([])
    expect(otherFaults).toEqual([])
    await other.context().close()
  })
})
