// What a client takes. Compression is no matter of the service's: Cloudflare compresses between its edge and the client, as the
// client takes it, at no cost in CPU time, and the local runtime does as the edge.
import { Refusal } from '../../kernel/errors.ts'
import type { Route } from './route.ts'

/** Parts of a list with their weights, in lower case: `text/html;q=0.8` is `['text/html', 0.8]`. */
const weighted = (list: string): (readonly [string, number])[] =>
  list
    .toLowerCase()
    .split(',')
    .map(part => {
      const [name = '', ...parameters] = part.split(';').map(text => text.trim())
      const weight = parameters.find(text => text.startsWith('q='))
      return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0] as const
    })
    .filter(([name]) => name !== '')

/** Whether the list takes the name: the first of its wildcards, from the closest to the widest, that stands in it decides. */
function takes(list: string, ...names: readonly string[]): boolean {
  const parts = weighted(list)
  for (const name of names) {
    const part = parts.find(([listed]) => listed === name)
    if (part) return part[1] > 0
  }
  return parts.length === 0
}

/** Whether the client asks for a file by its media type, at least as much as for JSON. Wildcards ask for no file. */
export function asksForFile({ headers }: Request, { answer }: Route): boolean {
  const parts = new Map(weighted(headers.get('accept') ?? ''))
  const file = Math.max(0, ...(answer.fileMedia ?? []).map(media => parts.get(media) ?? 0))
  return file > 0 && file >= (parts.get('application/json') ?? 0)
}

/**
 * Refuses (406) who takes no JSON where the answer is JSON: before anything is done, since nobody could tell what was. Files
 * are sent as what they are, and probes and sign-ins are answered whoever asks.
 */
export function requireAcceptable(request: Request, route: Route): void {
  const { access, answer } = route
  const accept = request.headers.get('accept')
  if (accept === null || access.kind === 'public' || !answer.schema || answer.media !== undefined) return
  if (asksForFile(request, route)) return
  if (!takes(accept, 'application/json', 'application/*', '*/*'))
    throw new Refusal(
      'notAcceptable',
      'The answer is application/json, which the Accept header leaves out; add it.',
    )
}
