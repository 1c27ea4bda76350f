// Migrations in the console: watched to their end, with what failed, but not while the page is hidden.
import { readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { migratedAccount } from '../../support/migrated.ts'
import { settled, until } from '../page.ts'
import type { Locator, Running } from './running.ts'

/** More than the service finishes before a page is shown. */
const ACCOUNTS = 30

type Migration = Locator & { migrationState: string; accounts: Record<string, number> }
type Failures = {
  items: {
    accountOriginalId: string
    policies: Record<string, { errors: { validationItems: { errors: string[] }[] } }>
  }[]
}

export function migrationTests(running: () => Running): void {
  const runs = (): string => `/migration/${running().tenant}/migrations`

  const read = (locator: string): Promise<Migration> =>
    running().admin.call<Migration>('GET', `${runs()}/${locator}`)

  /** Creates a migration whose accounts wait, because it is paused immediately. */
  async function waiting(accounts: readonly object[]): Promise<string> {
    const { locator } = await running().admin.call<Migration>('POST', runs(), accounts)
    await running().admin.call('PATCH', `${runs()}/${locator}/pause`)
    return locator
  }

  /** The file in the service's store that contains the text. */
  function fileWith(text: string): string | undefined {
    const { dataFolder } = running().service
    const found = readdirSync(dataFolder, { recursive: true, encoding: 'utf8' })
      .filter(name => name.includes('blobs'))
      .map(name => join(dataFolder, name))
      .filter(path => statSync(path).isFile() && readFileSync(path).includes(text))
    expect(found.length).toBeLessThan(2)
    return found[0]
  }

  test('shows a migration from its start to its end, with what failed and why', async () => {
    const { admin, page, faults, pictures, go, firstCells, confirm } = running()
    const bad = migratedAccount('BAD')
    const [policy] = bad.policies
    const accounts = Array.from({ length: ACCOUNTS }, (_, at) =>
      at === 0
        ? { ...bad, policies: [{ ...policy, productName: 'private_boat' }] }
        : migratedAccount(`M-${at}`),
    )
    const locator = await waiting(accounts)
    await go('/tenant/migrations')
    await page.getByRole('link', { name: locator }).click()
    await until(page, `location.hash === '#/tenant/migrations/${locator}'`)
    await settled(page)
    expect(await page.locator('.migration').getAttribute('data-state')).toBe('paused')
    let asked = 0
    page.on('request', request => {
      if (request.method() === 'GET' && request.url().endsWith(locator)) asked += 1
    })
    await page.getByRole('button', { name: 'Resume' }).click()
    await confirm('Resume', 'The migration is resumed.')
    // Only the page itself polls.
    await page.locator('.migration[data-state="failed"]').waitFor({ timeout: 60_000 })
    await settled(page)
    expect(asked).toBeGreaterThan(0)
    const ended = await read(locator)
    expect(ended).toMatchObject({
      migrationState: 'failed',
      accounts: { completed: ACCOUNTS - 1, failed: 1 },
    })
    await page.getByText(`${ACCOUNTS} of ${ACCOUNTS} accounts are done`).waitFor()
    const { items } = await admin.call<Failures>('GET', `${runs()}/${locator}/failures/list`)
    const reasons = items.flatMap(({ policies }) =>
      Object.values(policies).flatMap(({ errors }) => errors.validationItems.flatMap(one => one.errors)),
    )
    expect(reasons.length).toBeGreaterThan(0)
    for (const reason of reasons) await page.getByText(reason, { exact: true }).first().waitFor()
    expect((await firstCells('Failures'))[0]).toBe('BAD')
    if (process.env.BINDERY_SCREENSHOTS)
      await page.screenshot({ path: join(pictures, 'console-migration.png') })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download all failures' }).click(),
    ])
    const csv = readFileSync(await download.path(), 'utf8')
    expect(csv.split('\r\n')[0]).toBe('account,kind,item,place,reason')
    for (const reason of reasons) expect(csv.replaceAll('""', '"')).toContain(reason)
    await page.getByText('Every account, in the order in which it was sent').click()
    await page.getByRole('button', { name: 'Details of BAD' }).waitFor()
    const accountsShown = await firstCells('Accounts')
    expect(accountsShown).toHaveLength(ACCOUNTS)
    expect(accountsShown[0]).toBe('BAD')
    // It has ended, so the page no longer polls.
    const before = asked
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.waitForTimeout(300)
    expect(asked).toBe(before)
    expect(faults).toEqual([])
  })

  test('pauses and resumes a running migration, which continues where it was', async () => {
    const { page, faults, go, confirm } = running()
    const count = 250
    const locator = await waiting(Array.from({ length: count }, (_, at) => migratedAccount(`P-${at}`)))
    await go(`/tenant/migrations/${locator}`)
    await page.getByRole('button', { name: 'Resume' }).click()
    await confirm('Resume', 'The migration is resumed.')
    await page.getByRole('button', { name: 'Pause' }).click()
    await confirm('Pause', 'The migration is paused.')
    await page.locator('.migration[data-state="paused"]').waitFor()
    const paused = await read(locator)
    expect(paused.migrationState).toBe('paused')
    expect(paused.accounts.completed).toBeLessThan(count)
    await page.getByRole('button', { name: 'Resume' }).click()
    await confirm('Resume', 'The migration is resumed.')
    await page.locator('.migration[data-state="finished"]').waitFor({ timeout: 120_000 })
    expect((await read(locator)).accounts).toMatchObject({ completed: count, failed: 0, error: 0 })
    expect(faults).toEqual([])
  }, 180_000)

  test('retries a migration that a system fault stopped, and finishes it', async () => {
    const { page, faults, go, confirm } = running()
    let locator = ''
    let file: string | undefined
    const state = async () => (await read(locator)).migrationState
    // On a busy machine the run may have begun, or ended, before it is paused. Then it finishes, and another one is tried.
    for (let tries = 0; locator === '' || (await state()) !== 'error'; tries += 1) {
      expect(tries).toBeLessThan(9)
      // A new account for each try, because an existing one is rejected.
      const account = `RECOVERED-${crypto.randomUUID()}`
      locator = await waiting([migratedAccount(account)]).catch((problem: Error) => {
        if (problem.message.includes('is finished and cannot be paused')) return ''
        throw problem
      })
      file = locator === '' ? undefined : fileWith(account)
      if (file === undefined) continue
      renameSync(file, `${file}.lost`)
      await running().admin.call('PATCH', `${runs()}/${locator}/resume`)
      await expect.poll(state, { timeout: 60_000 }).toMatch(/^(error|finished)$/)
    }
    await go(`/tenant/migrations/${locator}`)
    await page.getByText('The service failed 3 times').first().waitFor()
    renameSync(`${file}.lost`, file!)
    await page.getByRole('button', { name: 'Try again' }).click()
    await confirm('Try again', 'The accounts are being migrated again.')
    await page.locator('.migration[data-state="finished"]').waitFor({ timeout: 60_000 })
    expect((await read(locator)).accounts).toMatchObject({ completed: 1, error: 0 })
    expect(faults).toEqual([])
  }, 180_000)

  test('does not poll while its page is hidden, and catches up when it is visible', async () => {
    const { admin, page, go } = running()
    const locator = await waiting(Array.from({ length: ACCOUNTS }, (_, at) => migratedAccount(`H-${at}`)))
    await go(`/tenant/migrations/${locator}`)
    const seen = (isHidden: boolean): Promise<unknown> =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
        document.dispatchEvent(new Event('visibilitychange'))`)
    await seen(true)
    let asked = 0
    page.on('request', request => {
      if (request.url().endsWith(locator)) asked += 1
    })
    await admin.call('PATCH', `${runs()}/${locator}/resume`)
    await expect.poll(async () => (await read(locator)).migrationState, { timeout: 60_000 }).toBe('finished')
    expect([asked, await page.locator('.migration').getAttribute('data-state')]).toEqual([0, 'paused'])
    await seen(false)
    await page.locator('.migration[data-state="finished"]').waitFor()
    await page.getByText('No account has failed.').waitFor()
  })
}
