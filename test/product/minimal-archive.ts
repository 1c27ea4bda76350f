import { compileScript } from '../../src/extension/plugins/runners/script.ts'
import { readArchive } from '../../src/product/archive/read.ts'
import type { LiquidCheck } from '../../src/product/check/product/templates.ts'
import type { Analysis } from '../../src/product/check/strict/analysis.ts'
import { type Compilation, compileConfiguration } from '../../src/product/compile.ts'
import { loadPatternEngine } from '../../src/product/fields/patterns.ts'
import { type ArchiveContent, zipOf } from './archive-maker.ts'

await loadPatternEngine()

const policy = 'products/boat/policy'

/** A configuration without any finding. `policy` is the path `products/boat/policy`. */
export const minimal: ArchiveContent = {
  'config.json': { timezone: 'Europe/Berlin', currency: 'EUR' },
  'policyholder/policyholder.dictionary.json': [{ name: 'last_name', type: 'string', searchable: true }],
  [`${policy}/policy.json`]: {
    fields: [{ name: 'harbour', title: 'Home harbour', type: 'string' }],
  },
  [`${policy}/exposures/hull/exposure.json`]: { name: 'hull', displayName: 'Hull', fields: [] },
  [`${policy}/exposures/hull/perils/sinking.json`]: { name: 'sinking', fields: [] },
  [`${policy}/exposures/hull/perils/sinking.premium.liquid`]: '{{ 100 | set_year_premium }}',
}

const acceptAll: LiquidCheck = () => ({ findings: [] })

/** Compiles the minimal configuration with files added, replaced or (by undefined) left out. With `analyse`, as a deployment does. */
export function compileWith(
  changes: Record<string, ArchiveContent[string] | undefined>,
  compileLiquid = acceptAll,
  analyse?: Analysis,
): Compilation {
  const content: ArchiveContent = {}
  for (const [path, file] of Object.entries({ ...minimal, ...expanded(changes) }))
    if (file !== undefined) content[path] = file
  const { files, findings } = readArchive(zipOf(content))
  const compilation = compileConfiguration(files, {
    compileLiquid,
    compileScript,
    ...(analyse && { analyse }),
  })
  return { ...compilation, findings: [...findings, ...compilation.findings] }
}

/** Completes paths that begin with `policy/`. */
const expanded = <T>(changes: Record<string, T>): Record<string, T> =>
  Object.fromEntries(
    Object.entries(changes).map(([path, file]) => [
      path.startsWith('policy/') ? `products/boat/${path}` : path,
      file,
    ]),
  )

/** Returns each finding as `ERROR code path:line`, without the product's folder in the path. */
export const foundIn = ({ findings }: Compilation): string[] =>
  findings.map(
    ({ severity, code, path, line }) =>
      `${severity} ${code} ${path.replace('products/boat/', '')}${line === undefined ? '' : `:${line}`}`,
  )

/** Compiles the minimal configuration with these fields of the policy in place of its own. */
export const withFields = (fields: unknown): Compilation => compileWith({ 'policy/policy.json': { fields } })
