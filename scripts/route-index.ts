// Writes src/route-index.mjs: the method and path of every route, and the module that defines it. The service mounts all routes
// from it, and evaluates the contracts of a capability at the first request for it (docs/design.md, section 3).
import { readFileSync } from 'node:fs'
import { build, type Plugin } from 'esbuild'
import type { Method, Route } from '../src/platform/http/route.ts'
import { writeKept } from './kept-builds.ts'

const INDEX_FILE = 'src/route-index.mjs'

const APP = 'src/app.ts'

/** The place from which a route is exported: a list in a module, by its name. */
type Place = { module: string; list: string }

/** Replaces modules of the platform and files that are not code, which the lists of routes do not need. */
const absent: Plugin = {
  name: 'absent',
  setup(build) {
    build.onResolve({ filter: /^cloudflare:|\.(?:ttf|wasm|bundle\.mjs)$/ }, ({ path }) => ({
      path,
      namespace: 'absent',
    }))
    build.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({
      contents: 'export class DurableObject {}\nexport const env = {}\nexport default undefined',
    }))
  },
}

const platform: Plugin = {
  name: 'platform',
  setup: build =>
    build.onResolve({ filter: /^(?:fs|stream|zlib|buffer|util|events|assert|path|crypto)$/ }, ({ path }) => ({
      path: `node:${path}`,
      external: true,
    })),
}

/** Bundles the module, and returns its exports. */
async function evaluated(contents: string): Promise<Record<string, unknown>> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: '.', loader: 'ts' },
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['import'],
    target: 'es2024',
    loader: { '.html': 'text' },
    external: ['node:*'],
    plugins: [absent, platform],
    logLevel: 'error',
  })
  const text = Buffer.from(outputFiles[0]!.contents).toString('base64')
  return (await import(`data:text/javascript;base64,${text}`)) as Record<string, unknown>
}

/** Returns the modules that the app imports, as it names them. */
const importedBy = (source: string): string[] =>
  [...source.matchAll(/ from '(\.\/[^']*)'/g)].map(match => match[1]!)

type Indexed = { method: Method; path: string; place: Place }

/** Returns all routes in their order, each with a list that contains it. The app's own routes are in its list of all routes. */
async function indexedRoutes(): Promise<Indexed[]> {
  const modules = [...new Set([...importedBy(readFileSync(APP, 'utf8')), './app.ts'])]
  const exported = await evaluated(
    modules
      .map((module, at) => `export * as m${at} from ${JSON.stringify(`./src/${module.slice(2)}`)}`)
      .join('\n'),
  )
  const places = new Map<unknown, Place>()
  for (const [at, module] of modules.entries())
    for (const [list, value] of Object.entries(exported[`m${at}`] as Record<string, unknown>))
      if (Array.isArray(value))
        for (const route of value) if (!places.has(route)) places.set(route, { module, list })
  const app = exported[`m${modules.length - 1}`] as { ROUTES: readonly Route[] }
  return app.ROUTES.map(route => ({
    method: route.method,
    path: route.path,
    place: places.get(route)!,
  }))
}

function indexText(routes: readonly Indexed[]): string {
  const loaders = new Map<string, string>()
  const loaderOf = ({ module, list }: Place): string => {
    const load = `async () => (await import('${module}')).${list}`
    if (!loaders.has(load)) loaders.set(load, `load${loaders.size}`)
    return loaders.get(load)!
  }
  const lines = routes.map(
    ({ method, path, place }) =>
      `  { method: '${method}', path: ${JSON.stringify(path)}, load: ${loaderOf(place)} },`,
  )
  return [
    '// Made by `npm run config` of the routes in app.ts; do not edit.',
    ...[...loaders].map(([load, name]) => `const ${name} = ${load}`),
    'export const ROUTE_INDEX = [',
    ...lines,
    ']',
    '',
  ].join('\n')
}

export const writeRouteIndex = (): Promise<void> =>
  writeKept('routes', async () => ({ [INDEX_FILE]: indexText(await indexedRoutes()) }))

if (import.meta.main) await writeRouteIndex()
