// Loads the routes of the service, for scripts and tests of what is written about them. The service is written for the Workers
// runtime, so it is first built into one file for Node, without what only responses need. The file is kept among the installed
// packages, which a test runner does not transform: it would transform the 4 MB again in each run, and keep 18 MB of each.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { Route } from '../src/platform/http/route.ts'
import { cachedBuild } from './kept-builds.ts'
import { sourcesAlone } from './source-key.ts'

const ROOT = join(import.meta.dirname, '..')

/** Includes the bundle that completes the OpenAPI document, and leaves out the other bundles, which are not needed here. */
const apart: Plugin = {
  name: 'apart',
  setup: build =>
    build.onResolve({ filter: /\.bundle\.mjs$/ }, ({ path }) =>
      path === './document.bundle.mjs'
        ? { path: join(ROOT, 'src/wording/apart.ts') }
        : { path, external: true },
    ),
}

const FILE = 'app.mjs'

/** Loaded once in each process. */
let routes: Promise<readonly Route[]> | undefined

export const loadRoutes = (): Promise<readonly Route[]> => (routes ??= readRoutes())

async function readRoutes(): Promise<readonly Route[]> {
  const folder = await cachedBuild('app', sourcesAlone, async made => {
    await build({
      entryPoints: [join(ROOT, 'src/app.ts')],
      outfile: join(made, FILE),
      bundle: true,
      format: 'esm',
      platform: 'node',
      loader: { '.html': 'text', '.ttf': 'empty', '.wasm': 'empty' },
      external: ['cloudflare:*'],
      plugins: [apart],
      logLevel: 'error',
    })
  })
  const { ROUTES } = (await import(pathToFileURL(join(folder, FILE)).href)) as { ROUTES: readonly Route[] }
  return ROUTES
}

/** Returns the OpenAPI document that the service responds with. */
export async function loadDocument(): Promise<string> {
  const route = (await loadRoutes()).find(({ path }) => path === '/openapi.json')!
  const { text } = (await route.handle({} as never, {} as never)) as { text: string }
  return text
}
