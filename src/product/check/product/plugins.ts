import {
  hasPlugin,
  isPluginFunction,
  PLUGIN_FUNCTIONS,
  type PluginFunction,
  type PluginReference,
  type ProductDefinition,
} from '../../configuration.ts'
import type { PolicyFile } from '../files.ts'
import { lineIndex } from '../json/read.ts'
import type { ArchiveReport, ValueReport } from '../report.ts'

/** Functions that are never called for a product without a grace period. */
const GRACE_FUNCTIONS: ReadonlySet<string> = new Set<PluginFunction>([
  'getPreGraceResult',
  'getPostPaymentReversal',
])

/** Compiles the plugins. Each needs its script under `scripts/`; problems are reported. */
export function compilePlugins(
  { plugins: declared, lapse }: Pick<PolicyFile, 'plugins' | 'lapse'>,
  report: ValueReport,
  scriptPaths: readonly string[],
): Record<string, PluginReference> {
  const plugins: Record<string, PluginReference> = {}
  for (const [name, { path: given, enabled }] of Object.entries(declared)) {
    const own = report.at(name)
    const path = given.replace(/^\.?\//, '').replace(/^scripts\//, '')
    if (!isPluginFunction(name)) {
      const message = `'${name}' is not a plugin function and is never called. Use one of ${PLUGIN_FUNCTIONS.join(', ')}.${report.suggestion(name, PLUGIN_FUNCTIONS)}`
      own.warning('unknownPlugin', message)
    } else if (!scriptPaths.includes(path)) {
      const message = `The plugin '${name}' is in '${given}', which is not under scripts/. Add the script or correct the path.${report.suggestion(path, scriptPaths)}`
      own[enabled ? 'error' : 'warning']('missingPlugin', message)
    } else {
      const message = `'${name}' is never called, because the product has no grace periods. Set lapse.gracePeriodDays, or disable the plugin.`
      if (enabled && GRACE_FUNCTIONS.has(name) && lapse.gracePeriodDays === undefined)
        own.warning('pluginWithoutGrace', message)
      plugins[name] = { path, enabled }
    }
  }
  return plugins
}

/** Parses a script as the sandbox does. `line` and `column` count from 1. */
export type ScriptCheck = (
  path: string,
  source: string,
) => { readonly problem?: { readonly message: string; readonly line: number; readonly column: number } }

const REQUIRE = /(?<![.\w$])require\s*\(\s*(["'])([^"'\n]+)\1\s*\)/g

/**
 * Warns about required files that are missing. Missing packages (names without dots) are reported only in scripts of enabled
 * plugins.
 */
export function checkRequires(
  scripts: Record<string, string>,
  products: readonly ProductDefinition[],
  report: ArchiveReport,
): void {
  const needed = neededScripts(scripts, pluginPaths(products))
  const paths = Object.keys(scripts)
  for (const [path, source] of Object.entries(scripts)) {
    const positionAt = lineIndex(source)
    for (const match of withoutComments(source).matchAll(REQUIRE)) {
      const request = match[2]!
      if (!request.startsWith('.') && !needed.has(path)) continue
      if (targetsOf(path, request, scripts).length > 0) continue
      const isAffordable = request.startsWith('.') && report.afford('comparisons', paths.length)
      const known = isAffordable ? paths.map(one => requestFor(path, one)) : []
      const message = `The script requires '${request}', which is not under scripts/. ${remedyFor(request)}${report.suggestion(request, known)}`
      report.at({ path: `scripts/${path}`, ...positionAt(match.index) }).warning('missingScript', message)
    }
  }
}

/** Modules that belong to Node. */
const OF_NODE =
  /^node:|^(?:assert|buffer|child_process|cluster|crypto|dns|events|fs|https?|net|os|path|perf_hooks|process|querystring|stream|timers|tls|url|util|vm|worker_threads|zlib)(?:\/|$)/

function remedyFor(request: string): string {
  if (request.startsWith('.')) return 'Add the file or correct the path.'
  if (OF_NODE.test(request)) return 'It belongs to Node, and plugins have only the language and socotraApi.'
  return `Add it as scripts/lib/${request.replace(/\.[cm]?js$/, '')}.js, built into one file if it is a package (node_modules and package.json are not read), or correct the path.`
}

const EXPORTED = /(?<![.\w$])(?:module\.)?exports\.([\w$]+)\s*=(?!=)/g
/** An export that is itself a function. Calls do not find it by its own name. */
const EXPORTED_FUNCTION =
  /(?<![.\w$])(?:module\.exports\s*=(?!=)|export\s+default\b)\s*(?:async\b\s*)?(?:function\b|\([^()]*\)\s*=>)/g
/**
 * Comments, and quoted text, which may look like a comment. An unterminated comment extends to the end of the text, and an escaped
 * quotation mark begins no quoted text; otherwise each `/*` and each `\"` would be searched to the end.
 */
const COMMENTS = /(\\.|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*/g
/**
 * Replaces comments by blanks, so that all offsets and lines remain. A pattern with `/*` looks like a comment too, so use it only
 * where overlooking something does no harm.
 */
const withoutComments = (source: string): string =>
  source.replace(COMMENTS, (found, quoted?: string) => quoted ?? found.replace(/[^\n]/g, ' '))

/** `this` is the exports object of the file. */
const MAY_EXPORT = /\b(?:exports?|module|this)\b/

/** The names that a script assigns to `exports`; undefined if it may export others in another way. */
function exportedNames(source: string): string[] | undefined {
  if (!MAY_EXPORT.test(source)) return []
  const code = source.replace(COMMENTS, '$1')
  const names = [...code.matchAll(EXPORTED)].map(match => match[1]!)
  const rest = code.replace(EXPORTED, '').replace(EXPORTED_FUNCTION, '')
  const isKnown = !/\bexports?\b/.test(rest) && (names.length > 0 || !MAY_EXPORT.test(rest))
  return isKnown ? names : undefined
}

/**
 * Warns about enabled plugins whose scripts never mention the function, or do not export it by its name, so that calls cannot find
 * it.
 */
export function checkFunctions(
  scripts: Record<string, string>,
  products: readonly ProductDefinition[],
  report: ArchiveReport,
): void {
  for (const product of products)
    for (const name of PLUGIN_FUNCTIONS) {
      if (!hasPlugin(product, name)) continue
      const { path } = product.plugins[name]!
      const own = [...neededScripts(scripts, [path])].map(one => scripts[one]!)
      const exported = exportedNames(scripts[path] ?? '')
      if (exported ? exported.includes(name) : own.some(source => source.includes(name))) continue
      const message = `The script exports no function ${name}, which the product '${product.name}' uses. End it with exports.${name} = ${name}.${exported?.length ? ` It exports ${exported.join(', ')}.` : ''}`
      report.at({ path: `scripts/${path}` }).warning('missingFunction', message)
    }
}

/** Reports scripts that do not parse: as an error if an enabled plugin needs the script, otherwise as a warning. */
export function checkScripts(
  scripts: Record<string, string>,
  products: readonly ProductDefinition[],
  compileScript: ScriptCheck,
  report: ArchiveReport,
): void {
  const needed = neededScripts(scripts, pluginPaths(products))
  for (const [path, source] of Object.entries(scripts)) {
    const { problem } = compileScript(path, source)
    if (!problem) continue
    const { message, line, column } = problem
    const at = report.at({ path: `scripts/${path}`, line, column })
    const problemText = `The script does not parse: ${message}.`
    if (needed.has(path)) at.error('badScript', `${problemText} A plugin needs it.`)
    else at.warning('badScript', `${problemText} No enabled plugin needs it.`)
  }
}

const NAMED = /\b(?:require\s*\(|from|import)\s*(["'])([^"'\n]+)\1/g

/** The scripts of enabled plugins. Those of disabled ones may have problems, because nothing calls them. */
const pluginPaths = (products: readonly ProductDefinition[]): string[] =>
  products.flatMap(product =>
    PLUGIN_FUNCTIONS.filter(name => hasPlugin(product, name)).map(name => product.plugins[name]!.path),
  )

/** The scripts at the paths, and everything that they require. */
export function neededScripts(
  scripts: Readonly<Record<string, string>>,
  paths: readonly string[],
): ReadonlySet<string> {
  const needed = new Set<string>()
  const waiting = [...paths]
  while (waiting.length > 0) {
    const path = waiting.pop()!
    if (needed.has(path) || !Object.hasOwn(scripts, path)) continue
    needed.add(path)
    for (const [, , request] of scripts[path]!.matchAll(NAMED))
      waiting.push(...targetsOf(path, request!, scripts))
  }
  return needed
}

/**
 * The files that a request can mean, found as the sandbox finds them: relative to the script, or under `scripts/` or its `lib/`.
 */
function targetsOf(from: string, request: string, scripts: Readonly<Record<string, string>>): string[] {
  const isRelative = /^\.\.?(\/|$)/.test(request)
  const target = resolve(isRelative ? from : '', request)
  const targets = isRelative ? [target] : [target, `lib/${target}`]
  return targets.flatMap(target => fileOf(target, scripts) ?? [])
}

/** Finds a file whose extension may be left out. */
const fileOf = (target: string, scripts: Readonly<Record<string, string>>): string | undefined =>
  ['', '.js', '.cjs', '.mjs', '.json', '/index.js']
    .map(ending => target + ending)
    .find(path => Object.hasOwn(scripts, path))

/** Returns how a script requires a file, such as `../lib/money`. */
function requestFor(from: string, path: string): string {
  const folder = from.split('/').slice(0, -1)
  const segments = path.replace(/\.(?:[cm]?js|json)$/, '').split('/')
  const differing = folder.findIndex((one, index) => one !== segments[index])
  const shared = differing === -1 ? folder.length : differing
  return `${'../'.repeat(folder.length - shared) || './'}${segments.slice(shared).join('/')}`
}

function resolve(from: string, relative: string): string {
  const segments = from.split('/').slice(0, -1)
  for (const segment of relative.split('/'))
    if (segment === '..') segments.pop()
    else if (segment !== '.' && segment !== '') segments.push(segment)
  return segments.join('/')
}
