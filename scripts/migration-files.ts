import { readdirSync, readFileSync } from 'node:fs'
import { type Migration, readMigrations } from '../src/platform/database/migrations.ts'

/** The migrations of `migrations/control` or `migrations/tenant`, in the order in which they apply. */
export function migrationFiles(kind: 'control' | 'tenant'): Promise<Migration[]> {
  const folder = `migrations/${kind}`
  const names = readdirSync(folder).filter(name => name.endsWith('.sql'))
  return readMigrations(
    Object.fromEntries(names.map(name => [name, readFileSync(`${folder}/${name}`, 'utf8')])),
  )
}
