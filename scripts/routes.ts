// The routes of the service for scripts that write documents of them. The service is written for the Worker's runtime, so
// that it is made one file for Node first, without what only answers need.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { Route } from '../src/platform/http/route.ts'

const ROOT = join(import.meta.dirname, '..')

/** What the document is completed with is a file apart for the Worker alone; other such files are not needed here. */
const apart: Plugin = {
  name: 'apart',
  setup: build =>
    build.onResolve({ filter: /\.bundle\.mjs$/ }, ({ path }) =>
      path === './document.bundle.mjs'
        ? { path: join(ROOT, 'src/wording/apart.ts') }
        : { path, external: true },
    ),
}

/** Built once in a process. */
let routes: Promise<readonly Route[]> | undefined

export const loadRoutes = (): Promise<readonly Route[]> => (routes ??= builtRoutes())

async function builtRoutes(): Promise<readonly Route[]> {
  const folder = mkdtempSync(join(tmpdir(), 'routes-'))
  const outfile = join(folder, 'app.mjs')
  try {
    await build({
      entryPoints: [join(ROOT, 'src/app.ts')],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      loader: { '.html': 'text', '.ttf': 'empty', '.wasm': 'empty' },
      external: ['cloudflare:*'],
      plugins: [apart],
      logLevel: 'error',
    })
    const { ROUTES } = (await import(pathToFileURL(outfile).href)) as { ROUTES: readonly Route[] }
    return ROUTES
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The OpenAPI document as the service answers it. */
export async function loadDocument(): Promise<string> {
  const route = (await loadRoutes()).find(({ path }) => path === '/openapi.json')!
  const { text } = (await route.handle({} as never, {} as never)) as { text: string }
  return text
}
