// Files and the rows that name them: each row has its file, and each file has a row or a timer that will delete it.
import type { Contents, Row } from '../contents.ts'
import type { Violation } from '../violation.ts'

/** Folders of the tenant in R2 whose files are each named after one row, with its table and column. */
const FOLDERS: Readonly<Record<string, readonly [table: string, column: string]>> = {
  documents: ['document', 'locator'],
  media: ['medium', 'locator'],
  resources: ['resource_revision', 'locator'],
  'integration-calls': ['integration_call', 'locator'],
  migrations: ['migration_run', 'locator'],
  impacts: ['impact_run', 'locator'],
}

/**
 * Folders whose files are named after their contents. Files of a failed deployment stay, because the same archive may be sent
 * again: deleting them could remove a file that another deployment is about to reference.
 */
const BY_CONTENTS: ReadonlySet<string> = new Set(['archives', 'configurations'])

const names = (rows: readonly Row[] | undefined, column: string): Set<string> =>
  new Set((rows ?? []).map(row => String(row[column])))

function* there({ rows, files }: Contents): Generator<Violation> {
  const missing = (key: string, whose: string): Violation[] =>
    files.has(key) ? [] : [{ check: 'fileThere', says: `The file ${key} of ${whose} is not there.` }]
  for (const row of rows.document ?? [])
    if (row.state === 'ready')
      for (const violation of missing(`documents/${row.locator}`, `the document ${row.locator}`))
        yield { ...violation, policy: String(row.policy_locator) }
  for (const { locator } of rows.medium ?? []) yield* missing(`media/${locator}`, `the medium ${locator}`)
  for (const { locator } of rows.resource_revision ?? [])
    yield* missing(`resources/${locator}`, `the revision ${locator}`)
  for (const { version, hash } of rows.configuration_version ?? [])
    yield* missing(`archives/${hash}.zip`, `version ${version} of the configuration`)
}

/** Checks that each file is named by its row, or by the timer that deletes it if there is no row by then. */
function* named({ rows, files }: Contents): Generator<Violation> {
  const timers = names(rows.timer, 'subject')
  const known = Object.fromEntries(
    Object.entries(FOLDERS).map(([folder, [table, column]]) => [folder, names(rows[table], column)]),
  )
  // The data sent for a migration is deleted once all of it is migrated.
  known.migrations = names(
    rows.migration_run?.filter(row => row.state !== 'finished'),
    'locator',
  )
  for (const key of files) {
    const [folder = '', name = ''] = key.split('/')
    if (BY_CONTENTS.has(folder) || known[folder]?.has(name) || timers.has(name)) continue
    yield { check: 'fileNamed', says: `No row names the file ${key}.` }
  }
}

export function* files(contents: Contents): Generator<Violation> {
  yield* there(contents)
  yield* named(contents)
}
