// Builds the console: a page with its first script and its style inline, files with the scripts that it loads when needed, and
// the content security policy that lets a browser run these and nothing else.
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { type BuildOptions, build } from 'esbuild'

const FOLDER = 'console'

/** The browsers of the last two years, which have `light-dark()`. `JSON.parse` reports the digits of numbers in those that can. */
const TARGET = ['chrome123', 'firefox120', 'safari17.5']

/** Returns the expression by which a content security policy allows an element with this text. */
export const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const OPTIONS = {
  bundle: true,
  format: 'esm',
  target: TARGET,
  minify: true,
  legalComments: 'none',
  charset: 'utf8',
  write: false,
  // File names are derived from paths too. A checkout that links to the packages of another gets the same names.
  preserveSymlinks: true,
} satisfies BuildOptions

/** Escapes text that would end the element early. */
const escapeInlineText = (text: string): string => text.trim().replaceAll('</', '<\\/')

/** Builds a script or style of `console/` into one text that can be inlined in a page. `define` replaces names by values. */
export async function builtForBrowsers(
  entry: string,
  define: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: [`${FOLDER}/${entry}`],
    define,
    // The page loads these from the service.
    external: ['/docs/*'],
  })
  return escapeInlineText(outputFiles[0]!.text)
}

/** The path of the console's files. */
const FILES = '/console/'

type Scripts = {
  /** The inline script of the page. */
  readonly main: string
  /** The scripts that it loads, by name. Each name changes with its contents. */
  readonly files: Readonly<Record<string, string>>
  /** Names of the scripts that the first page needs. */
  readonly first: readonly string[]
}

async function consoleScripts(): Promise<Scripts> {
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: [`${FOLDER}/main.ts`],
    splitting: true,
    metafile: true,
    outdir: 'out',
    publicPath: FILES,
    chunkNames: '[name]-[hash]',
  })
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]))
  const first = new Set(['main.js'])
  for (const name of first)
    for (const { path, kind } of outputs.get(name)!.imports)
      if (kind === 'import-statement') first.add(basename(path))
  const { 'main.js': main, ...files } = Object.fromEntries(texts)
  return { main: escapeInlineText(main!), files, first: [...first].filter(name => name !== 'main.js') }
}

export type ConsolePage = {
  readonly html: string
  readonly policy: string
  readonly files: Readonly<Record<string, string>>
  readonly first: readonly string[]
}

export async function consolePage(): Promise<ConsolePage> {
  const [{ main: script, files, first }, style] = await Promise.all([
    consoleScripts(),
    builtForBrowsers('style.css'),
  ])
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Bindery</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<noscript>The console needs JavaScript.</noscript>
<script type="module">${script}</script>
</body>
</html>
`
  const policy = [
    "default-src 'none'",
    // Allows the inline script by its hash, and the files one by one, so that nothing else from the host is ever run.
    ['script-src', hashOf(script), ...Object.keys(files).map(name => `{origin}${FILES}${name}`)].join(' '),
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  return { html, policy, files, first }
}

/** The text of the module that exports the page. src/bundles/console.bundle.d.mts declares its exports. */
export async function consoleModule(): Promise<string> {
  const { html, policy, files } = await consolePage()
  return Object.entries({ html, policy, files })
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}\n`)
    .join('')
}
