import type { PluginReference } from '../../configuration.ts'
import type { JsonPath } from '../json/read.ts'
import { lineIndex } from '../json/read.ts'
import type { Place, Report } from '../report.ts'
import type { PolicyFile } from '../schemas/product.ts'

/** The functions that are ever called (brief 5.6). */
const pluginFunctions = [
  'getPerilRates',
  'getUnderwritingResult',
  'getProrationResult',
  'createInstallments',
  'getPreGraceResult',
  'getPostPaymentReversal',
  'getPostIssuanceResult',
  'getDataAutofill',
  'executeLambda',
]

/** The plugins of a product, each with its script below `scripts/`. */
export function compilePlugins(
  files: PolicyFile['plugins'],
  place: (path: JsonPath) => Place,
  hasScript: (path: string) => boolean,
  report: Report,
): Record<string, PluginReference> {
  const plugins: Record<string, PluginReference> = {}
  for (const [name, { path: given, enabled }] of Object.entries(files)) {
    const where = place(['plugins', name])
    if (!pluginFunctions.includes(name)) {
      report.warning(
        where,
        'unknownPlugin',
        `'${name}' is no plugin function and is never called. Use one of ${pluginFunctions.join(', ')}.`,
      )
      continue
    }
    const path = given.replace(/^\.?\//, '').replace(/^scripts\//, '')
    if (!hasScript(path)) {
      const message = `The plugin '${name}' is in '${given}', which is not below scripts/. Add the script or correct the path.`
      if (enabled) report.error(where, 'missingPlugin', message)
      else report.warning(where, 'missingPlugin', message)
      continue
    }
    plugins[name] = { path, enabled }
  }
  return plugins
}

const REQUIRE = /\brequire\s*\(\s*(["'])(\.{1,2}\/[^"'\n]*)\1\s*\)/g

/** Warns of scripts that require a file which is not there. `scripts` are the sources by path below `scripts/`. */
export function checkRequires(scripts: Record<string, string>, report: Report): void {
  for (const [path, source] of Object.entries(scripts)) {
    const positionAt = lineIndex(source)
    for (const match of source.matchAll(REQUIRE)) {
      const target = resolve(path, match[2]!)
      const found = [target, `${target}.js`, `${target}.json`, `${target}/index.js`].some(one =>
        Object.hasOwn(scripts, one),
      )
      if (!found)
        report.warning(
          { path: `scripts/${path}`, ...positionAt(match.index) },
          'missingScript',
          `The script requires '${match[2]}', which is not below scripts/. Add the file or correct the path.`,
        )
    }
  }
}

function resolve(from: string, relative: string): string {
  const segments = from.split('/').slice(0, -1)
  for (const segment of relative.split('/'))
    if (segment === '..') segments.pop()
    else if (segment !== '.' && segment !== '') segments.push(segment)
  return segments.join('/')
}
