// The console (docs/design.md, section 3): one page, in a module apart that is loaded when somebody opens it.
import { loadConsole } from '../bundles/load.ts'

export async function consolePage(): Promise<Response> {
  const { html, policy } = await loadConsole()
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-cache',
      'cross-origin-opener-policy': 'same-origin',
    },
  })
}
