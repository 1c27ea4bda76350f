// Checks the document of the interface by the rules of redocly.yaml; a part of `npm run lint`. Nothing is asked of the net.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadDocument } from './routes.ts'

const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
try {
  const file = join(folder, 'openapi.json')
  writeFileSync(file, await loadDocument())
  const { status } = spawnSync('node_modules/.bin/redocly', ['lint', '--config', 'redocly.yaml', file], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true })
}
