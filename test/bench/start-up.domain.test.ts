// How the benchmark inspects a bundle: in a separate process, as `npm run bench -- --start-up` does.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('the routes of a bundle are counted even if a separate module has the document', () => {
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
