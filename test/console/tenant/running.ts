// What the tests of running a tenant share: a service with two versions of the motor example, a browser, and its administrator.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { ApiClient } from '../../../scripts/api-client.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts'
import { deployNext } from '../next-version.ts'
import { type ConsoleBrowser, settled, startBrowser } from '../page.ts'

export type Locator = { locator: string }

export type Running = {
  readonly service: ServiceProcess
  readonly browser: ConsoleBrowser
  readonly admin: ApiClient
  readonly page: Page
  readonly faults: readonly string[]
  /** The locator of the tenant. */
  readonly tenant: string
  /** The folder of the screenshots. */
  readonly pictures: string
  readonly go: (to: string, on?: Page) => Promise<void>
  readonly signIn: (on: Page, username: string) => Promise<void>
  readonly heading: (on?: Page) => Promise<string | null>
  /** The texts of the first cells in the table with the caption. */
  readonly firstCells: (caption: string) => Promise<string[]>
  /** Clicks the button of the dialog twice, as a user in a hurry does. */
  readonly confirm: (name: string, done: string) => Promise<void>
  readonly end: () => Promise<void>
}

export async function startRunning(): Promise<Running> {
  const pictures = process.env.BINDERY_SCREENSHOTS ? 'docs' : mkdtempSync(join(tmpdir(), 'bindery-pictures-'))
  const [service, browser] = await Promise.all([startServiceProcess(), startBrowser()])
  await deployNext(service)
  const admin = await service.signInAs('admin')
  const { page, faults } = await browser.open({ acceptDownloads: true })

  const address = (path: string): string => `${service.origin}/console#${path}`

  async function go(to: string, on = page): Promise<void> {
    await on.goto(address(to))
    await settled(on)
  }

  async function signIn(on: Page, username: string): Promise<void> {
    await on.goto(address('/'))
    await on.getByLabel('Tenant').fill(service.example().hostname)
    await on.getByLabel('User name').fill(username)
    await on.getByLabel('Password').fill('password')
    await on.getByRole('button', { name: 'Sign in' }).click()
    await settled(on)
  }

  const heading = (on = page): Promise<string | null> => on.locator('h1').textContent()

  const firstCells = (caption: string): Promise<string[]> =>
    page.evaluate(
      `[...document.querySelectorAll('table')].filter(one => one.caption.textContent === ${JSON.stringify(caption)})
        .flatMap(one => [...one.tBodies[0].rows]).filter(row => !row.matches('.detail'))
        .map(row => row.cells[0].textContent)`,
    ) as Promise<string[]>

  async function confirm(name: string, done: string): Promise<void> {
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).dblclick()
    await page.getByText(done).waitFor()
    await settled(page)
  }

  async function end(): Promise<void> {
    await browser.close()
    await service.remove()
    if (pictures !== 'docs') rmSync(pictures, { recursive: true, force: true })
  }

  return {
    service,
    browser,
    admin,
    page,
    faults,
    pictures,
    tenant: service.example().tenantLocator,
    go,
    signIn,
    heading,
    firstCells,
    confirm,
    end,
  }
}
