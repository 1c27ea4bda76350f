// A second version of examples/motor: a different rate, a plugin that prints its decision, and a user who may read single policies
// and nothing else.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { zipOf } from '../../scripts/example.ts'
import type { Service } from '../support/service-process.ts'

const CHANGES = [
  ['products/private_motor/policy/tables/region_factor.csv', 'R4,1.08', 'R4,1.12'],
  [
    'products/private_motor/policy/policy.json',
    '"path": "main/underwriter.js", "enabled": false',
    '"path": "main/underwriter.js", "enabled": true',
  ],
  [
    'scripts/main/underwriter.js',
    '  return { decision, notes }',
    "  console.log('decided', decision)\n  return { decision, notes }",
  ],
  [
    'security/roles.json',
    '"agent":',
    '"portal": { "displayName": "Portal", "permissions": ["policies.read"] }, "agent":',
  ],
  [
    'security/test_users.json',
    '"users": [',
    '"users": [{ "username": "nora.none", "name": "Nora Lange", "password": "password", "roles": ["portal"] },',
  ],
] as const

/** Deploys the second version. This ends the sessions of the tenant, because its roles change. */
export async function deployNext(service: Service): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-next-'))
  try {
    cpSync('examples/motor/configuration', folder, { recursive: true })
    for (const [path, from, to] of CHANGES) {
      const text = readFileSync(join(folder, path), 'utf8')
      expect(text).toContain(from)
      writeFileSync(join(folder, path), text.replace(from, to))
    }
    const form = new FormData()
    form.set('tenantName', service.example().tenantName)
    form.set('zipFile', new Blob([zipOf(folder)], { type: 'application/zip' }), 'motor.zip')
    const administration = await service.administration()
    const { success, logfile } = await administration.call<{ success: boolean; logfile: string }>(
      'POST',
      '/configuration/studio/deploy',
      form,
    )
    expect([success, logfile]).toEqual([true, logfile])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
