// Roles in the console: created, assigned, changed and deleted, compared with what the interface returns.
import { expect, test } from 'vitest'
import { settled } from '../page.ts'
import type { Running } from './running.ts'

type User = { id: string; username: string; roles: string[]; permissions: string[] }
type Role = { name: string; title?: string; source: string; permissions: string[] }

export function roleTests(running: () => Running): void {
  test('creates a role, assigns it to an account, changes it, and deletes it once no account has it', async () => {
    const { admin, page, faults, go, confirm, firstCells } = running()
    await admin.call('POST', '/account/v1/account', {
      username: 'clara',
      name: 'Clara Claims',
      email: 'clara@example.com',
      type: 'employee',
      password: 'correct horse battery staple',
    })
    const clara = async (): Promise<User> =>
      (await admin.call<{ items: User[] }>('GET', '/auth/users?username=clara')).items[0]!
    const role = async (): Promise<Role | undefined> =>
      (await admin.call<Role[]>('GET', '/auth/roles')).find(({ name }) => name === 'claims-desk')
    const dialog = page.getByRole('dialog')

    await go('/tenant/roles')
    await page.getByRole('button', { name: 'Create a role' }).click()
    await expect.poll(() => dialog.getByRole('button', { name: 'Create a role' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Name', { exact: true }).fill('Claims Desk')
    await dialog.getByLabel('Title', { exact: true }).fill('Claims desk')
    await dialog.getByText('Policies', { exact: true }).click()
    await dialog.getByLabel('policies.read').check()
    await dialog.getByText('Notes', { exact: true }).click()
    await dialog.getByLabel('All of notes, including later additions').check()
    await expect.poll(() => dialog.getByLabel('notes.read').isChecked()).toBe(true)
    await dialog.getByRole('button', { name: 'Create a role' }).click()
    // An error is shown at its field.
    await dialog.locator('.fault', { hasText: 'lower-case letters' }).waitFor()
    await dialog.getByLabel('Name', { exact: true }).fill('claims-desk')
    await confirm('Create a role', 'The role claims-desk is created.')
    expect(await role()).toEqual({
      name: 'claims-desk',
      title: 'Claims desk',
      source: 'interface',
      permissions: ['policies.read', 'notes.*'],
    })
    expect(await firstCells('Roles')).toContain('Claims desk')

    await go('/tenant/users?username=clara')
    await page.getByRole('button', { name: 'Details of clara' }).click()
    await page.getByRole('button', { name: 'Give roles' }).click()
    await dialog.getByLabel('Claims desk').check()
    await confirm('Give roles', 'The roles of clara are changed.')
    expect(await clara()).toMatchObject({
      roles: ['claims-desk'],
      permissions: ['policies.read', 'notes.*'],
    })

    // Without one of its permissions, the group is no longer granted as a whole.
    await go('/tenant/roles')
    await page.getByRole('button', { name: 'Details of Claims desk' }).click()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.getByText('Notes (all)', { exact: true }).click()
    await dialog.getByLabel('notes.write').uncheck()
    await confirm('Change', 'The role claims-desk is changed.')
    const { permissions } = (await role())!
    expect(permissions).toContain('notes.read')
    expect(permissions).not.toContain('notes.*')
    expect(permissions).not.toContain('notes.write')
    expect((await clara()).permissions.toSorted()).toEqual(permissions.toSorted())

    // Changes that others make while the form is open are not overwritten.
    await page.getByRole('button', { name: 'Details of Claims desk' }).click()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.getByLabel('Title', { exact: true }).fill('Written over')
    const byOther = { title: 'Claims desk', permissions: ['policies.read'] }
    await admin.call('PUT', '/auth/roles/claims-desk', byOther)
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.getByText('The record has changed', { exact: false }).waitFor()
    expect(await role()).toMatchObject(byOther)
    await dialog.getByRole('button', { name: 'Close', exact: true }).click()
    await dialog.getByText('Close the dialog again to discard them.').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).click()

    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByText('clara', { exact: false }).first().waitFor()
    await page.keyboard.press('Escape')
    await go('/tenant/users?role=claims-desk')
    expect(await firstCells('Users')).toEqual(['clara'])
    await page.getByRole('button', { name: 'Details of clara' }).click()
    await page.getByRole('button', { name: 'Give roles' }).click()
    await dialog.getByLabel('Claims desk').uncheck()
    await confirm('Give roles', 'The roles of clara are changed.')
    await go('/tenant/roles')
    await page.getByRole('button', { name: 'Details of Claims desk' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await confirm('Delete', 'The role Claims desk is deleted.')
    await settled(page)
    expect(await role()).toBeUndefined()
    expect(faults).toEqual([])
  })
}
