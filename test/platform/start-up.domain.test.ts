import { build } from 'esbuild'
import { expect, test } from 'vitest'

/** What an isolate evaluates before its first request: files, and names of packages. */
async function evaluatedAtStart(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: ['src/worker.ts'],
    outdir: 'unwritten',
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    packages: 'external',
    external: ['cloudflare:*', '*.bundle.mjs', '*.ttf', '*.wasm'],
    loader: { '.html': 'text', '.sql': 'text' },
    logLevel: 'silent',
  })
  const found = new Set<string>()
  const look = (output: string): void => {
    const { inputs, imports } = metafile.outputs[output]!
    for (const file of Object.keys(inputs)) found.add(file)
    for (const { path, kind, external } of imports) {
      if (kind !== 'import-statement' || found.has(path)) continue
      found.add(path)
      if (!external) look(path)
    }
  }
  look('unwritten/worker.js')
  return [...found]
}

test('an isolate starts without contracts, routes and services', async () => {
  const evaluated = await evaluatedAtStart()
  expect(evaluated).toContain('src/platform/http/serve.ts')
  expect(evaluated).toContain('durable/delivery.ts')
  const room = /(?:^|\/)(?:contract|routes|service)(?:-[\w-]+)?\.ts$|\/contract\/|^src\/platform\/wire\.ts$/
  expect(evaluated.filter(name => room.test(name) || name === '@hono/zod-openapi')).toEqual([])
})
