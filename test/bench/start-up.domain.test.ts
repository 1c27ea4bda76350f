// How the bench looks at a bundle: in a process of its own, as `npm run bench -- --start-up` starts it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('routes of a bundle are counted, though a module beside it writes the document', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
  try {
    mkdirSync(join(folder, 'bundles'))
    writeFileSync(
      join(folder, 'bundles/document.mjs'),
      "export const paths = { '/a': { get: {}, put: {} }, '/b': { get: {} } }",
    )
    writeFileSync(
      join(folder, 'worker.js'),
      `import { DurableObject } from 'cloudflare:workers'
       import note from './note.txt'
       export class Policy extends DurableObject {}
       export default {
         fetch: async () => Response.json(await import('./bundles/document.mjs'), { headers: { note } })
       }`,
    )
    writeFileSync(join(folder, 'note.txt'), 'text')
    const count = execFileSync(
      process.execPath,
      [
        '--no-warnings',
        '--experimental-vm-modules',
        'tools/bench/count-routes.ts',
        join(folder, 'worker.js'),
      ],
      { encoding: 'utf8' },
    )
    expect(count).toBe('3')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
