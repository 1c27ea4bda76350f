// The page at /docs: the service's OpenAPI document, rendered by the library @scalar/api-reference. The service also serves the
// library, which calls no other host.
import { type SampledOperation, typeScriptSample } from './samples.ts'

/** The folder of the library's files, with its version. `scripts/reference-page.ts` inserts it. */
declare const LIBRARY: string

type Operation = SampledOperation & { operationId: string; 'x-codeSamples'?: object[] }
type Document = {
  info: { description: string }
  paths: Record<string, Record<string, Operation>>
  'x-error-codes': { code: string; httpStatus: number; apiErrorCode: number; about: string; remedy: string }[]
}

async function readDocument(): Promise<Document> {
  const answer = await fetch('/openapi.json')
  if (!answer.ok) throw new Error(`/openapi.json responded with status ${answer.status}.`)
  return (await answer.json()) as Document
}

function addSamples({ paths }: Document): void {
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods))
      operation['x-codeSamples'] = [
        {
          lang: 'TypeScript',
          label: 'TypeScript',
          source: typeScriptSample(location.origin, method, path, operation),
        },
      ]
}

/** Adds the error codes as a chapter of the introduction. They are a list because a table would be too wide for the page. */
function addErrorCodes(document: Document): void {
  const items = document['x-error-codes'].map(
    ({ code, httpStatus, apiErrorCode, about, remedy }) =>
      `- \`${code}\` (status ${httpStatus}, \`apiErrorCode\` ${apiErrorCode}). ${about} ${remedy}`,
  )
  document.info.description += `\n\n# Error codes\n\n${items.join('\n')}`
}

type Library = { createApiReference(at: string, configuration: object): void }

/** The library's samples other than curl and Python are hidden. The TypeScript sample is our own. */
const HIDDEN_SAMPLES = {
  ...Object.fromEntries(
    [
      ...[
        'c',
        'clojure',
        'csharp',
        'dart',
        'fsharp',
        'go',
        'http',
        'java',
        'js',
        'julia',
        'kotlin',
        'node',
        'objc',
      ],
      ...['ocaml', 'php', 'powershell', 'r', 'ruby', 'rust', 'swift'],
    ].map(language => [language, true]),
  ),
  shell: ['httpie', 'wget'],
  python: ['python3', 'aiohttp', 'httpx_sync', 'httpx_async'],
}

async function start(): Promise<void> {
  // Without it, zod in the library tests whether it may compile code, which the page's security policy forbids.
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
  const [document, { createApiReference }] = await Promise.all([
    readDocument(),
    import(`${LIBRARY}/standalone.esm.js`) as Promise<Library>,
  ])
  addSamples(document)
  addErrorCodes(document)
  createApiReference('#reference', {
    content: document,
    pageTitle: 'Bindery: API reference',
    // Uses no fonts, telemetry or proxy of the library's makers.
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    documentDownloadType: 'none',
    authentication: { preferredSecurityScheme: 'token' },
    persistAuth: false,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    hiddenClients: HIDDEN_SAMPLES,
    featuredClients: ['shell/curl', 'python/requests'],
    generateOperationSlug: ({ operationId }: Operation) => operationId,
  })
}

start().catch((problem: unknown) => {
  document.querySelector('#reference')!.textContent = String(problem)
})
