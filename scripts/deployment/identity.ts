// The record that the control database keeps of its own deployment: the environment to which it belongs, check values of the
// secrets on which its data depends, and the resources that the deployment has created. It is compared before anything is changed
// or uploaded, so that no deployment replaces the Worker of another, adopts its buckets, or runs with secrets that do not fit the
// data.
import { createHmac } from 'node:crypto'
import { migrate } from '../../src/platform/database/migrations.ts'
import type { MigrationTarget } from '../../src/platform/database/target.ts'
import { migrationFiles } from '../migration-files.ts'

export type Identity = { readonly environment: string; readonly domain: string }

/** Secrets that cannot be replaced once there is data. */
export const CHECKED_SECRETS = ['PASSWORD_PEPPER', 'SEALING_KEY'] as const

type CheckedSecret = (typeof CHECKED_SECRETS)[number]

type Secrets = Readonly<Partial<Record<string, string>>>

const COLUMN: Readonly<Record<CheckedSecret, string>> = {
  PASSWORD_PEPPER: 'pepper_check',
  SEALING_KEY: 'sealing_check',
}

/** Returns the first 16 bytes of a keyed hash, in hexadecimal, which reveal nothing of the secret. */
const checkValue = (name: CheckedSecret, secret: string): string =>
  createHmac('sha256', secret).update(`bindery ${name}`).digest('hex').slice(0, 32)

/** Returns the check values of a secret, which is a list. Its first value is for new data; the others still fit older data. */
const checksOf = (name: CheckedSecret, value: string): string[] =>
  value.split(',').map(secret => checkValue(name, secret.trim()))

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`

type Row = { environment: string; domain: string; pepper_check: string | null; sealing_check: string | null }

async function identityRow(control: MigrationTarget): Promise<Row | undefined> {
  const [row] = await control.query(
    'select environment, domain, pepper_check, sealing_check from deployment limit 1',
  )
  return row as Row | undefined
}

/**
 * Migrates the control database and assigns it to the environment. Returns the migrations applied now. Throws before it writes
 * anything if the database belongs to another environment or has tables of something else.
 */
export async function claimControl(control: MigrationTarget, identity: Identity): Promise<string[]> {
  const tables = await control.query(
    `select name from sqlite_master where type = 'table' and name in ('migration', 'tenant', 'deployment')`,
  )
  const names = new Set(tables.map(({ name }) => name))
  const [others] = await control.query(
    `select count(*) as count from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '_cf_%'`,
  )
  if (!names.has('migration') && Number(others?.count ?? 0) > 0)
    throw new Error('the database contains tables of another program. Choose another --environment.')
  if (names.has('deployment')) await requireSameIdentity(control, identity)
  const applied = await migrate(control, await migrationFiles('control'))
  await requireSameIdentity(control, identity)
  await control.execute([
    `insert into deployment (environment, domain, created_at)
     values (${text(identity.environment)}, ${text(identity.domain)}, unixepoch() * 1000) on conflict do nothing`,
  ])
  return applied
}

async function requireSameIdentity(
  control: MigrationTarget,
  { environment, domain }: Identity,
): Promise<void> {
  const row = await identityRow(control)
  if (!row || (row.environment === environment && row.domain === domain)) return
  throw new Error(
    `the control database belongs to the environment ${row.environment} of ${row.domain}, not to ${environment} of ${domain}. Nothing was changed.`,
  )
}

/** Whether the control database has check values of its secrets. From then on, no secret may be generated. */
export async function hasSecretChecks(control: MigrationTarget): Promise<boolean> {
  const row = await identityRow(control)
  return row?.pepper_check != null || row?.sealing_check != null
}

/**
 * Compares the secrets with the check values of the control database, and stores the check values of new ones. Throws one message
 * for a missing secret and another for a wrong one. `source` names the file of the secrets.
 */
export async function verifySecrets(
  control: MigrationTarget,
  secrets: Secrets,
  source: string,
): Promise<void> {
  const row = await identityRow(control)
  const kept: string[] = []
  for (const name of CHECKED_SECRETS) {
    const value = secrets[name]
    if (!value) throw new Error(`${name} is missing from ${source}. Restore that file from its copy.`)
    const known = row?.[COLUMN[name] as 'pepper_check' | 'sealing_check'] ?? undefined
    const checks = checksOf(name, value)
    if (known !== undefined && !checks.includes(known.split(',')[0]!))
      throw new Error(
        `${name} in ${source} is not the one with which the data of this environment was written. Nothing was changed. Restore the right file from its copy.`,
      )
    if (checks.join() !== known) kept.push(`${COLUMN[name]} = ${text(checks.join())}`)
  }
  if (kept.length > 0) await control.execute([`update deployment set ${kept.join(', ')}`])
}

/** Returns the names of the resources that the deployment has created, or was about to create when it was interrupted. */
export async function notedResources(control: MigrationTarget): Promise<Set<string>> {
  const rows = await control.query('select name from deployment_resource')
  return new Set(rows.map(({ name }) => String(name)))
}

/**
 * Notes that the deployment creates a resource, before it does. Throws if the resource exists although the deployment has not
 * noted it: then it belongs to something else.
 */
export async function noteResource(control: MigrationTarget, name: string, exists: boolean): Promise<void> {
  if (exists)
    throw new Error(
      `${name} already exists and was not created by this deployment. Choose another --environment, or remove it if nothing needs it.`,
    )
  await control.execute([
    `insert into deployment_resource (name, noted_at) values (${text(name)}, unixepoch() * 1000) on conflict do nothing`,
  ])
}
