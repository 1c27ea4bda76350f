// The reference at /docs. The library that renders it is served as static files (wrangler.toml, `assets`), because only this page
// loads it.
import { Refusal } from '../../../kernel/errors.ts'
import type { Page } from '../mount.ts'

/** The page, its content security policy, and the version of the library that it loads. */
type Reference = { readonly html: string; readonly policy: string; readonly version: string }

function pageResponse({ html, policy }: Reference): Response {
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

/** Returns a file of the library. A browser may keep it, because another version has another path. */
async function libraryFile({ version }: Reference, request: Request, { ASSETS }: Env): Promise<Response> {
  const [, , asked, ...path] = new URL(request.url).pathname.split('/')
  const file = path.join('/')
  const found =
    ASSETS && asked === version && /^(?:chunks\/)?[\w.-]+\.js$/.test(file)
      ? await ASSETS.fetch(new URL(`/${file}`, request.url))
      : undefined
  if (!found?.ok) {
    await found?.body?.cancel()
    throw new Refusal('unknownPath', `The API reference at /docs has no file '${file}'.`)
  }
  return new Response(found.body, {
    headers: {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    },
  })
}

/** Returns the pages of /docs. Each request calls `load`, which loads the page only once. 404 for an unknown file or version. */
export function referencePages(load: () => Promise<Reference>): readonly Page[] {
  const file: Page['respond'] = async (request, env) => await libraryFile(await load(), request, env)
  return [
    { path: '/docs', respond: async () => pageResponse(await load()) },
    { path: '/docs/{version}/{file}', respond: file },
    { path: '/docs/{version}/chunks/{file}', respond: file },
  ]
}
