// The tenant in which operations are measured: the motor example without documents, which would be made on the same thread during
// a measurement (`--documents` measures them), and with a constraint on two fields, which is evaluated.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import type { ApiClient } from '../../scripts/api-client.ts'
import type { DeployedExample } from '../../scripts/example.ts'

const CONFIGURATION = 'examples/motor/configuration'
const POLICY = 'products/private_motor/policy'

export type Files = Record<string, Uint8Array>

/** Returns the files of the motor example, by their path in its archive. */
export function motorFiles(): Files {
  const entries = readdirSync(CONFIGURATION, { recursive: true, withFileTypes: true }).filter(one =>
    one.isFile(),
  )
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(CONFIGURATION.length + 1).replaceAll('\\', '/'), new Uint8Array(readFileSync(path))]
    }),
  )
}

const encoded = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

function changed(files: Files, path: string, change: (content: never) => unknown): Files {
  const content = JSON.parse(new TextDecoder().decode(files[path])) as never
  return { ...files, [path]: encoded(change(content)) }
}

/** Removes the documents of all records of the product. */
function withoutPapers(files: Files): Files {
  const kept = Object.entries(files).filter(
    ([path]) => !/\.template\.liquid$|\/static_documents\//.test(path),
  )
  return ['policy', 'endorsements', 'renewals', 'cancellations'].reduce(
    (rest, name) => changed(rest, `${POLICY}/${name}.json`, removeDocuments),
    Object.fromEntries(kept),
  )
}

/** Also makes the product lenient: a strict product would reject fields that only documents use. */
const removeDocuments = (content: never): unknown =>
  JSON.parse(JSON.stringify(content), (key, value) => {
    if (key === 'strict') return false
    return key === 'documents' && Array.isArray(value) ? [] : value
  })

/** Adds a constraint: the allowed models of a vehicle depend on its make. */
function withConstraint(files: Files): Files {
  const columns = { make: { dataType: 'string', makeDistinct: true }, model: { dataType: 'string' } }
  const tables = { vehicles: { columns, selectionTimeBasis: 'policyStartTime' } }
  const field = (name: string, more: object = {}) => ({ name, type: 'string', optional: true, ...more })
  const constraint = { table: 'vehicles', column: 'model', where: { make: { key: 'make' } } }
  const configured = changed(files, 'config.json', (config: object) => ({
    ...config,
    constraintTables: tables,
  }))
  return changed(
    configured,
    `${POLICY}/exposures/vehicle/exposure.json`,
    (vehicle: { fields: object[] }) => ({
      ...vehicle,
      fields: [...vehicle.fields, field('make'), field('model', { constraint })],
    }),
  )
}

export const paperlessFiles = (): Files => withoutPapers(motorFiles())

export const benchFiles = (): Files => withConstraint(paperlessFiles())

/** Returns an archive that differs from all earlier ones, because a deploy of the same bytes does nothing. */
export function archiveNumber(files: Files, number: number): Uint8Array<ArrayBuffer> {
  const path = `${POLICY}/underwriting.guidelines.liquid`
  const text = new TextDecoder().decode(files[path])
  const other = new TextEncoder().encode(`{% comment %}${number}{% endcomment %}${text}`)
  return new Uint8Array(zipSync({ ...files, [path]: other }))
}

/** Deploys the files to the test tenant with this suffix. */
export async function deployFiles(
  administration: ApiClient,
  suffix: string,
  files: Files,
): Promise<DeployedExample> {
  const form = new FormData()
  form.set('tenantNameSuffix', suffix)
  form.set('zipFile', new Blob([new Uint8Array(zipSync(files))], { type: 'application/zip' }), 'motor.zip')
  const { success, logfile, ...deployed } = await administration.call<
    DeployedExample & { success: boolean; logfile: string }
  >('POST', '/configuration/deployTest', form)
  if (!success) throw new Error(`The deployment was rejected:\n${logfile}`)
  return deployed
}
