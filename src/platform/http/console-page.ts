// The console at /console, and the scripts that it loads on demand (docs/design.md, section 3).
import { Refusal } from '../../kernel/errors.ts'
import type { Page } from './mount.ts'

/** The page, its content security policy with the placeholder `{origin}`, and its scripts by name. */
type Console = {
  readonly html: string
  readonly policy: string
  readonly files: Readonly<Record<string, string>>
}

const pageResponse = ({ html, policy }: Console, request: Request): Response =>
  new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.replaceAll('{origin}', new URL(request.url).origin),
      'cache-control': 'no-cache',
      'cross-origin-opener-policy': 'same-origin',
    },
  })

/** Returns a script. Its name changes with its contents, so a browser may keep the file. */
function fileResponse({ files }: Console, request: Request): Response {
  const name = new URL(request.url).pathname.split('/').at(-1)!
  const text = Object.hasOwn(files, name) ? files[name] : undefined
  if (text === undefined) throw new Refusal('unknownPath', `The console has no file '${name}'.`)
  return new Response(text, {
    headers: {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    },
  })
}

/** Returns the pages of the console. Each request calls `load`, which loads the files only once. 404 for an unknown file. */
export const consolePages = (load: () => Promise<Console>): readonly Page[] => [
  { path: '/console', respond: async request => pageResponse(await load(), request) },
  { path: '/console/{file}', respond: async request => fileResponse(await load(), request) },
]
