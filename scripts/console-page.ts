// The console as one page: its script and its style inside, and the policy by which a browser runs these and nothing else.
import { createHash } from 'node:crypto'
import { build } from 'esbuild'

const FOLDER = 'console'

/** The browsers of the last two years: `light-dark()`, and `JSON.parse` that tells digits where it can. */
const TARGET = ['chrome123', 'firefox120', 'safari17.5']

/** How a content security policy names an element with the text. */
export const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** A script or style of `console/` as one text that can stand within a page. `define` puts values in the place of names. */
export async function builtForBrowsers(
  entry: string,
  define: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`${FOLDER}/${entry}`],
    bundle: true,
    format: 'esm',
    target: TARGET,
    minify: true,
    legalComments: 'none',
    charset: 'utf8',
    write: false,
    define,
    // What the page loads from the service.
    external: ['/docs/*'],
  })
  // What would end the element early, wherever it stands in a text.
  return outputFiles[0]!.text.trim().replaceAll('</', '<\\/')
}

/** Text of the module that has the page; src/bundles/console.bundle.d.mts says what it exports. */
export async function consoleModule(): Promise<string> {
  const [script, style] = await Promise.all([builtForBrowsers('main.ts'), builtForBrowsers('style.css')])
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
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  return `export const html = ${JSON.stringify(html)}\nexport const policy = ${JSON.stringify(policy)}\n`
}
