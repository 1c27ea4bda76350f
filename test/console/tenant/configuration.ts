// Deployments and tables of a tenant in the console, compared with what the interface returns.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { settled, until } from '../page.ts'
import type { Running } from './running.ts'

export function configurationTests(running: () => Running): void {
  test('lists deployments with who made them, and shows what each one changed', async () => {
    const { admin, page, faults, go, firstCells } = running()
    const versions = await admin.call<{ version: string; username: string }[]>('GET', '/deployments/versions')
    await go('/tenant/deployments')
    expect(await firstCells('Deployments')).toEqual(['Version 2', 'Version 1'])
    for (const { username } of versions) await page.getByText(username).first().waitFor()
    await page.getByRole('link', { name: 'Version 2' }).click()
    await until(page, `location.hash === '#/tenant/deployments/2'`)
    await settled(page)
    const changes = await admin.call<{ count: number; changes: { subject: string }[] }>(
      'GET',
      '/deployments/2/changes',
    )
    expect(changes.changes.map(({ subject }) => subject)).toContain("table 'region_factor'")
    await page.getByText(`${changes.count} changes`).waitFor()
    for (const { subject } of changes.changes)
      await page.getByText(subject, { exact: true }).first().waitFor()
    await page.getByRole('button', { name: "Details of table 'region_factor'" }).click()
    await page.getByText('value: 1.08 → 1.12').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the archive' }).click(),
    ])
    expect(
      readFileSync(await download.path())
        .subarray(0, 2)
        .toString(),
    ).toBe('PK')
    expect(await page.content()).not.toContain('/files/')
    await go('/tenant/deployments/1')
    await page.getByText('There is no previous version.').waitFor()
    expect(faults).toEqual([])
  })

  test('shows the rows of tables, and their differences between versions and times', async () => {
    const { admin, page, faults, tenant, go, heading, firstCells } = running()
    await go('/tenant/tables')
    await page.getByLabel('Compare with version').selectOption('1')
    await page.getByRole('button', { name: 'Show' }).click()
    await until(page, `location.hash.includes('since=1')`)
    await settled(page)
    await page.getByText('Differences between version 1 and version 2').first().waitFor()
    expect(await page.locator('tbody tr.opens th').allTextContents()).toEqual(["table 'region_factor'"])
    await page.getByRole('link', { name: 'region_factor' }).click()
    await until(page, `location.hash.includes('path=')`)
    await settled(page)
    expect(await heading()).toBe('region_factor')
    expect(await firstCells('Rows of region_factor')).toEqual(['R1', 'R2', 'R3', 'R4', 'R5', 'R6'])
    await page.getByText('1.12').waitFor()
    // An uploaded table, at two times.
    const resource = `/resource/${tenant}`
    const upload = (name: string, text: string) =>
      admin.call(
        'POST',
        `${resource}/tables?name=${name}&staticName=rates`,
        new Blob([text], { type: 'text/csv' }),
      )
    await upload('rates_1', 'area,value\nA,1\nB,2\n')
    await upload('rates_2', 'area,value\nA,1\nB,3\nC,4\n')
    for (const [name, selectionStartTime] of [
      ['rates_1', '2026-01-01T00:00:00Z'],
      ['rates_2', '2027-01-01T00:00:00Z'],
    ] as const)
      await admin.call('POST', `${resource}/groups`, { name, selectionStartTime, resourceNames: [name] })
    await go('/tenant/tables')
    expect(await firstCells('Uploaded tables')).toEqual(['rates_1', 'rates_2'])
    await page.getByRole('button', { name: 'Details of rates_1' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download: rates_1' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('rates_1.zip')
    expect(
      readFileSync(await download.path())
        .subarray(0, 2)
        .toString(),
    ).toBe('PK')
    await page.getByRole('link', { name: 'Compare two times' }).click()
    await settled(page)
    await page.getByLabel('At', { exact: true }).fill('2026-06-01T00:00:00Z')
    await page.getByLabel('Compared with').fill('2027-06-01T00:00:00Z')
    await page.keyboard.press('Enter')
    await until(page, `location.hash.includes('to=')`)
    await settled(page)
    expect(await firstCells('Differences')).toEqual(['B', 'C'])
    await page.getByText('value: 2 → 3').waitFor()
    expect(faults).toEqual([])
  })
}
