import { readFileSync } from 'node:fs'
import { build, type Metafile } from 'esbuild'
import { beforeAll, expect, test } from 'vitest'

type Outputs = Metafile['outputs']

/** The service in the chunks that an isolate loads. Built once for all tests. */
let outputs: Outputs
beforeAll(async () => {
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
  outputs = metafile.outputs
})

/** The files and packages that are evaluated when one chunk is loaded. */
function evaluatedWith(first: string): string[] {
  const found = new Set<string>()
  const look = (output: string): void => {
    const { inputs, imports } = outputs[output]!
    for (const file of Object.keys(inputs)) found.add(file)
    for (const { path, kind, external } of imports) {
      if (kind !== 'import-statement' || found.has(path)) continue
      found.add(path)
      if (!external) look(path)
    }
  }
  look(first)
  return [...found]
}

/** What is evaluated before the first request. */
const evaluatedAtStart = (): string[] => evaluatedWith('unwritten/worker.js')

test('starting an isolate does not load contracts, routes or services', () => {
  const evaluated = evaluatedAtStart()
  expect(evaluated).toContain('src/platform/http/serve.ts')
  expect(evaluated).toContain('durable/delivery.ts')
  const room = /(?:^|\/)(?:contract|routes|service)(?:-[\w-]+)?\.ts$|\/contract\/|^src\/platform\/wire\.ts$/
  expect(evaluated.filter(name => room.test(name) || name === '@hono/zod-openapi')).toEqual([])
})

test('neither starting an isolate nor loading all routes loads the code for agents', async () => {
  const evaluated = evaluatedAtStart()
  expect(evaluated).toContain('src/platform/http/door.ts')
  expect(
    evaluated.filter(name => name.includes('agents') || name.startsWith('@modelcontextprotocol/')),
  ).toEqual([])
  const { metafile } = await build({
    entryPoints: ['src/worker.ts'],
    write: false,
    metafile: true,
    bundle: true,
    format: 'esm',
    packages: 'external',
    external: ['cloudflare:*', '*.bundle.mjs', '*.ttf', '*.wasm'],
    loader: { '.html': 'text', '.sql': 'text' },
    logLevel: 'silent',
  })
  const files = Object.keys(metafile.inputs).filter(name => name.startsWith('src/agents/'))
  expect(files.sort()).toEqual([
    'src/agents/door.ts',
    'src/agents/kept-previews.ts',
    'src/agents/product-fields.ts',
  ])
})

test('the code for single sign-on and its token verification is loaded only by its own calls', () => {
  const atStart = evaluatedWith('unwritten/worker.js')
  expect(atStart.filter(name => name === 'jose' || name.includes('identity-providers'))).toEqual([])
  const routes = Object.entries(outputs).filter(([, { entryPoint }]) => /routes\.ts$/.test(entryPoint ?? ''))
  expect(routes.length).toBeGreaterThan(30)
  const loading = routes
    .filter(([output]) =>
      evaluatedWith(output).some(name =>
        /identity-providers\/(?!contract|routes)|^src\/agents|^@modelcontextprotocol/.test(name),
      ),
    )
    .map(([, { entryPoint }]) => entryPoint)
  expect(loading).toEqual([])
})

test('the bundle for agents is one file of less than 800 kB that compiles no code', () => {
  const bundle = readFileSync('src/bundles/agents.bundle.mjs', 'utf8')
  expect(bundle.length).toBeLessThan(800_000)
  expect(bundle).not.toMatch(/\bajv\b|\beval\(/i)
  expect([...bundle.matchAll(/^import|\bfrom"(?!data:)/gm)]).toEqual([])
})
