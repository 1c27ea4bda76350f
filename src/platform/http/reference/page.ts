// The reference: one HTML file that reads /openapi.json in the browser and nothing from other hosts.
import { createHash } from 'node:crypto'
import html from './reference.html'

/** Hash of the page's only element with the tag, for its policy: no other script or style runs. */
function inlineHash(tag: 'script' | 'style'): string {
  const text = html.slice(html.indexOf(`<${tag}>`) + tag.length + 2, html.indexOf(`</${tag}>`))
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

let policy: string | undefined

export function referencePage(): Response {
  policy ??= [
    "default-src 'none'",
    `script-src ${inlineHash('script')}`,
    `style-src ${inlineHash('style')}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
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
