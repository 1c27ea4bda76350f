// Builds the page at /docs as one module, with its small script and its policy. The library that it loads stays in separate files
// next to the Worker.
import { readFileSync } from 'node:fs'
import { builtForBrowsers, hashOf } from './console-page.ts'

const versionOf = (file: string): string => JSON.parse(readFileSync(file, 'utf8')).version

/** The text of the module that exports the page. src/bundles/reference.bundle.d.mts declares its exports. */
export async function referenceModule(): Promise<string> {
  const version = versionOf('node_modules/@scalar/api-reference/package.json')
  const script = await builtForBrowsers('reference/main.ts', { LIBRARY: JSON.stringify(`/docs/${version}`) })
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bindery: API reference</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>The reference needs JavaScript. The OpenAPI document is at /openapi.json.</noscript>
<div id="reference"></div>
<script type="module">${script}</script>
</body>
</html>
`
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${hashOf(script)}`,
    // The library adds its own inline styles.
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  const values = { html, policy, version }
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}\n`)
    .join('')
}
