// The page at /docs: the service's OpenAPI document, as the library @scalar/api-reference shows it. The library comes from the service too,
// and calls no other host.
import { type SampledOperation, typeScriptSample } from './samples.ts'

/** Folder of the library's files, with its version; scripts/reference-page.ts puts it in. */
declare const LIBRARY: string

type Operation = SampledOperation & { operationId: string; 'x-codeSamples'?: object[] }
type Document = {
  info: { description: string }
  paths: Record<string, Record<string, Operation>>
  'x-error-codes': { code: string; httpStatus: number; apiErrorCode: number; about: string; remedy: string }[]
}

async function readDocument(): Promise<Document> {
  const answer = await fetch('/openapi.json')
  if (!answer.ok) throw new Error(`/openapi.json answered ${answer.status}.`)
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

/** The error codes, as a chapter of the introduction: a list, since the page has no room for a table. */
function addErrorCodes(document: Document): void {
  const items = document['x-error-codes'].map(
    ({ code, httpStatus, apiErrorCode, about, remedy }) =>
      `- \`${code}\` (status ${httpStatus}, \`apiErrorCode\` ${apiErrorCode}). ${about} ${remedy}`,
  )
  document.info.description += `\n\n# Error codes\n\n${items.join('\n')}`
}

type Library = { createApiReference(at: string, configuration: object): void }

/** Of the library's samples curl and Python are shown; one in TypeScript is ours. */
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
  // One of its parts would try whether it may make code of text, which the page's policy forbids.
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
    // Neither fonts, nor counting, nor a proxy of the library's makers.
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
