// The deployment log in the console: an entry shows what the interface returns, including a rejected attempt.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { zipOf } from '../../../scripts/example.ts'
import { overflows, settled, until } from '../page.ts'
import type { Running } from './running.ts'

type Entry = { locator: string; outcome: string; version?: string }

export function deploymentLogTests(running: () => Running): void {
  /** Deploys an archive with an error. Returns the log of the response. */
  async function refusedDeploy(): Promise<string> {
    const { service } = running()
    const folder = mkdtempSync(join(tmpdir(), 'bindery-broken-'))
    try {
      cpSync('examples/motor/configuration', folder, { recursive: true })
      writeFileSync(join(folder, 'config.json'), '{ "timezone": ')
      const form = new FormData()
      form.set('tenantName', service.example().tenantName)
      form.set('zipFile', new Blob([zipOf(folder)], { type: 'application/zip' }), 'motor.zip')
      const administration = await service.administration()
      const { logfile } = await administration.call<{ logfile: string }>(
        'POST',
        '/configuration/studio/deploy',
        form,
      )
      return logfile
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  test('shows each deployment with its steps and changes, and a rejected one with the reason', async () => {
    const { admin, page, faults, go, heading, firstCells } = running()
    const logfile = await refusedDeploy()
    expect(logfile).toContain('ERROR config.json')
    const { entries } = await admin.call<{ entries: Entry[] }>('GET', '/deployments/log/list')
    expect(entries.map(({ outcome, version }) => [outcome, version])).toEqual([
      ['refused', undefined],
      ['deployed', '2'],
      ['deployed', '1'],
    ])
    await go('/tenant/deployments')
    expect(await firstCells('Log')).toHaveLength(3)
    await page.getByLabel('Which').selectOption('true')
    await page.getByRole('button', { name: 'Show' }).click()
    await until(page, `location.hash === '#/tenant/deployments?refused=true'`)
    await settled(page)
    expect(await firstCells('Log')).toHaveLength(1)
    await page.locator('main table').last().locator('a').click()
    await until(page, `location.hash === '#/tenant/deployments/log/${entries[0]!.locator}'`)
    await settled(page)
    expect(await heading()).toBe('Deploy rejected')
    expect(await firstCells('Steps')).toEqual(['Archive received', 'Files checked'])
    await page.getByText('POST /configuration/studio/deploy').waitFor()
    const [finding] = (
      await admin.call<{ findings: { message: string }[] }>('GET', `/deployments/log/${entries[0]!.locator}`)
    ).findings
    expect(logfile).toContain(finding!.message)
    await page.getByText(finding!.message, { exact: true }).waitFor()
    expect(await page.getByText('What changed').count()).toBe(0)
    await page.setViewportSize({ width: 375, height: 800 })
    expect(await overflows(page)).toBe(false)
    await page.setViewportSize({ width: 1280, height: 860 })

    await go('/tenant/deployments/2')
    await page.locator('main table', { hasText: 'done' }).first().locator('a').first().click()
    await until(page, `location.hash === '#/tenant/deployments/log/${entries[1]!.locator}'`)
    await settled(page)
    expect(await heading()).toBe('Deploy done')
    expect((await firstCells('Steps')).at(-1)).toBe('In force')
    await page.getByText("table 'region_factor'", { exact: true }).waitFor()
    expect(faults).toEqual([])
  })
}
