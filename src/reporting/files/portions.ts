// Lines of a report's portions, stored until its files are built: a file in R2 with an array of cells on each line.
import type { Uuid } from '../../kernel/locators.ts'
import { fileKey, type TenantPlace, tenantFiles } from '../../platform/tenancy.ts'
import type { Cell } from '../kind.ts'

const nameOf = (portion: number): string => `portion-${String(portion).padStart(6, '0')}.ndjson`

/** Returns the key of a report's file in R2. Without a name, it is the prefix of all its files. */
export const reportKey = ({ tenant }: TenantPlace, report: Uuid, name: string): string =>
  fileKey(tenant, 'reports', report, name)

/**
 * Writes the lines of a portion, counted from 0. Writing a portion again replaces it, because a portion that was interrupted is
 * repeated. One round trip.
 */
export async function putPortion(
  place: TenantPlace,
  report: Uuid,
  portion: number,
  lines: readonly (readonly Cell[])[],
): Promise<void> {
  const { env, tenant, calls } = place
  const text = lines.map(line => `${JSON.stringify(line)}\n`).join('')
  calls.r2 += 1
  await tenantFiles(env, tenant).put(reportKey(place, report, nameOf(portion)), text, {
    httpMetadata: { contentType: 'application/x-ndjson' },
  })
}

/**
 * Returns the lines of a portion, and the length of its file in UTF-16 units. Throws an error if the file is missing. One round
 * trip.
 */
export async function readPortion(
  place: TenantPlace,
  report: Uuid,
  portion: number,
): Promise<{ readonly lines: Cell[][]; readonly bytes: number }> {
  const { env, tenant, calls } = place
  calls.r2 += 1
  const found = await tenantFiles(env, tenant).get(reportKey(place, report, nameOf(portion)))
  if (!found) throw new Error(`Portion ${portion} of report ${report} is gone.`)
  const text = await found.text()
  const lines = JSON.parse(`[${text.trimEnd().split('\n').join(',')}]`) as Cell[][]
  return { lines, bytes: text.length }
}
