import { compileScript } from '../../src/extension/plugins/script.ts'
import { readArchive } from '../../src/product/archive/read.ts'
import type { LiquidCheck } from '../../src/product/check/product/templates.ts'
import { type Compilation, compileConfiguration } from '../../src/product/compile.ts'
import { loadPatternEngine } from '../../src/product/fields/patterns.ts'
import { type ArchiveContent, zipOf } from './archive-maker.ts'

await loadPatternEngine()

const policy = 'products/boat/policy'

/** A configuration in which nothing is wrong. Paths: `policy` is `products/boat/policy`. */
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

/** The minimal configuration with files added, replaced, or (by undefined) left out, compiled. */
export function compileWith(
  changes: Record<string, ArchiveContent[string] | undefined>,
  compileLiquid = acceptAll,
): Compilation {
  const content: ArchiveContent = {}
  for (const [path, file] of Object.entries({ ...minimal, ...expanded(changes) }))
    if (file !== undefined) content[path] = file
  const { files, findings } = readArchive(zipOf(content))
  const compilation = compileConfiguration(files, { compileLiquid, compileScript })
  return { ...compilation, findings: [...findings, ...compilation.findings] }
}

/** Paths may be given from `policy/` on. */
const expanded = <T>(changes: Record<string, T>): Record<string, T> =>
  Object.fromEntries(
    Object.entries(changes).map(([path, file]) => [
      path.startsWith('policy/') ? `products/boat/${path}` : path,
      file,
    ]),
  )

/** What was found, as `ERROR code path:line`; the product's folder is left out. */
export const foundIn = ({ findings }: Compilation): string[] =>
  findings.map(
    ({ severity, code, path, line }) =>
      `${severity} ${code} ${path.replace('products/boat/', '')}${line === undefined ? '' : `:${line}`}`,
  )

/** Fields of the policy, in place of those of the minimal configuration. */
export const withFields = (fields: unknown): Compilation => compileWith({ 'policy/policy.json': { fields } })
