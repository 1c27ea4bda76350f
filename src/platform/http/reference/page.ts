// The reference at /docs. The library that shows it is served from files beside the Worker (wrangler.toml, `assets`): only this page loads it.
import { loadReference } from '../../../bundles/load.ts'
import { Refusal } from '../../../kernel/errors.ts'
import type { Page } from '../mount.ts'

async function referencePage(): Promise<Response> {
  const { html, policy } = await loadReference()
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}

/** The version is in the path, so that a browser may keep the file: another version has another address. */
async function libraryFile(request: Request, { ASSETS }: Env): Promise<Response> {
  const [, , asked, ...path] = new URL(request.url).pathname.split('/')
  const { version } = await loadReference()
  const file = path.join('/')
  const found =
    ASSETS && asked === version && /^(?:chunks\/)?[\w.-]+\.js$/.test(file)
      ? await ASSETS.fetch(new URL(`/${file}`, request.url))
      : undefined
  if (!found?.ok) {
    await found?.body?.cancel()
    throw new Refusal('unknownPath', `The library of the reference at /docs has no file '${file}' here.`)
  }
  return new Response(found.body, {
    headers: {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    },
  })
}

export const REFERENCE_PAGES: readonly Page[] = [
  { path: '/docs', respond: referencePage },
  { path: '/docs/{version}/{file}', respond: libraryFile },
  { path: '/docs/{version}/chunks/{file}', respond: libraryFile },
]
