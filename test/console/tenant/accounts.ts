// Users, tokens and agents of a tenant in the console.
import { expect, test } from 'vitest'
import { apiClient } from '../../../scripts/api-client.ts'
import { settled, until } from '../page.ts'
import type { Running } from './running.ts'

export function accountTests(running: () => Running): void {
  test('manages users, tokens and agents; a token is shown once, and nowhere afterwards', async () => {
    const { service, admin, page, faults, go, firstCells, confirm } = running()
    await go('/tenant/users')
    const { items } = await admin.call<{ items: { username: string }[] }>('GET', '/auth/users')
    expect(await firstCells('Users')).toEqual(items.map(({ username }) => username))
    await page.getByLabel('User name begins with').fill('nora')
    await page.keyboard.press('Enter')
    await until(page, `location.hash.includes('username=nora')`)
    await settled(page)
    expect(await firstCells('Users')).toEqual(['nora.none'])
    await page.getByRole('button', { name: 'Details of nora.none' }).click()
    await settled(page)
    await page.getByRole('button', { name: 'Disable' }).click()
    await confirm('Disable', 'nora.none is disabled.')
    await page.locator('.badge', { hasText: 'disabled' }).waitFor()
    await page.getByRole('button', { name: 'Details of nora.none' }).click()
    await page.getByRole('button', { name: 'Enable' }).click()
    await confirm('Enable', 'nora.none is enabled.')

    // Somebody has entered a wrong password too often.
    const user = async (username: string) =>
      (
        await admin.call<{ items: { id: string; locked: boolean }[] }>(
          'GET',
          `/auth/users?username=${username}`,
        )
      ).items[0]!
    const guess = { username: 'nora.none', password: 'a guess', hostName: service.example().hostname }
    for (let tries = 0; tries < 5; tries += 1)
      await apiClient(service.origin)
        .call('POST', '/account/authenticate', guess)
        .catch(() => {})
    expect((await user('nora.none')).locked).toBe(true)
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.locator('.badge', { hasText: 'locked' }).waitFor()
    await settled(page)
    await page.getByRole('button', { name: 'Details of nora.none' }).click()
    await page.getByRole('button', { name: 'Unlock' }).click()
    await confirm('Unlock', 'nora.none is unlocked.')
    expect((await user('nora.none')).locked).toBe(false)

    // A program gets its token from the administrator who created its account.
    await admin.call('POST', '/account/v1/account', {
      username: 'robot',
      name: 'Night run',
      email: 'robot@example.com',
      type: 'service',
      password: '',
    })
    await go('/tenant/users?service=true')
    await page.getByRole('button', { name: 'Details of robot' }).click()
    await page.getByRole('button', { name: 'Create a token' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name', { exact: true }).fill('night')
    await form.getByText('Reports', { exact: true }).click()
    await form.getByLabel('All of reports').check()
    await form.getByRole('button', { name: 'Create a token' }).click()
    await form.getByLabel('Token', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('The token night is created.').waitFor()
    await settled(page)
    const { id } = await user('robot')
    expect(await admin.call('GET', `/auth/users/${id}/tokens`)).toMatchObject([{ name: 'night' }])

    await go('/tenant/roles')
    await page.getByRole('button', { name: 'Details of Portal' }).click()
    await page.locator('.detail:not([hidden]) code', { hasText: 'read' }).waitFor()

    await go('/tenant/tokens')
    await page.getByRole('button', { name: 'Create a token' }).click()
    const dialog = page.getByRole('dialog')
    await expect.poll(() => dialog.getByRole('button', { name: 'Create a token' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Name', { exact: true }).fill('pipeline')
    await dialog.getByText('Policies', { exact: true }).click()
    await dialog.getByLabel('policies.read').check()
    await dialog.getByText('1 permission is chosen.').waitFor()
    await dialog.getByRole('button', { name: 'Create a token' }).dblclick()
    const token = await dialog.getByLabel('Token', { exact: true }).inputValue()
    expect(token).toMatch(/^bdy_/)
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByText('The token pipeline is created.').waitFor()
    await settled(page)
    expect(await firstCells('Long-lived tokens')).toEqual(['pipeline'])
    const kept = await page.evaluate(
      `JSON.stringify([location.href, document.documentElement.outerHTML, [...document.querySelectorAll('input')].map(one => one.value), { ...sessionStorage }, { ...localStorage }])`,
    )
    expect(String(kept)).not.toContain(token)
    const program = apiClient(service.origin, token)
    expect(await program.call('GET', '/auth/permissions')).toMatchObject({ permissions: ['policies.read'] })
    await page.getByRole('button', { name: 'Details of pipeline' }).click()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await confirm('Revoke', 'pipeline is revoked.')
    await page.getByText('There are no long-lived tokens.').waitFor()
    await expect
      .poll(() => program.call('GET', '/auth/permissions').catch(({ status }) => status), { timeout: 30_000 })
      .toBe(401)

    await go('/tenant/access')
    await page.getByText('Users sign in with passwords only.').waitFor()
    await page.getByRole('button', { name: 'Block agents' }).click()
    await confirm('Block agents', 'Agents are blocked.')
    expect(await admin.call('GET', '/tenant/agentAccess')).toEqual({ allowed: false })
    await page.getByRole('button', { name: 'Allow agents' }).waitFor()
    expect(faults).toEqual([])
  })
}
