// Who may have a webhook or an integration send a secret: a test delivery shows the value to the owner of the address, so
// to name a secret is to read it.

import { Refusal } from '../../kernel/errors.ts'
import type { RequestContext } from '../../platform/context.ts'
import { requirePermission } from '../../platform/http/permissions.ts'
import { referencesIn } from '../../platform/outbound/secret-references.ts'
import { maySendTo } from './hosts.ts'
import { readInForce } from './sending.ts'

/** Where headers are sent to. */
export type Sender = {
  readonly url: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

/** What a change makes of a sender; `before` is absent for a new one. */
export type SenderChange = { readonly before?: Sender | undefined; readonly after: Sender }

/** Each header that names a secret, with its address: what is in here as it was sends nothing new, nor to another place. */
const named = (sender: Sender | undefined): string[] =>
  sender
    ? Object.entries(sender.headers)
        .flatMap(([name, values]) => [values].flat().map(value => [name.toLowerCase(), value] as const))
        .filter(([, value]) => referencesIn(value).length > 0)
        .map(([name, value]) => JSON.stringify([new URL(sender.url).href, name, value]))
    : []

/**
 * Refuses (403) a caller without `secrets.read` to name secrets in headers, or to send headers that name them to another
 * address; and (400) an address that a secret in force must not be sent to. Where nothing of that changes nothing is read.
 */
export async function requireMaySend(
  context: RequestContext,
  changes: readonly SenderChange[],
): Promise<void> {
  const changed = changes
    .filter(({ before, after }) => {
      const kept = new Set(named(before))
      return named(after).some(one => !kept.has(one))
    })
    .map(({ after }) => after)
  if (changed.length === 0) return
  requirePermission(context.caller, ['secrets.read'])
  const namesOf = (sender: Sender): string[] => [
    ...new Set(
      Object.values(sender.headers)
        .flat()
        .flatMap(referencesIn)
        .map(one => one.staticName),
    ),
  ]
  const secrets = await readInForce(context, [...new Set(changed.flatMap(namesOf))])
  for (const sender of changed)
    for (const staticName of namesOf(sender)) {
      const hosts = secrets.get(staticName)?.allowedHosts
      if (!maySendTo(hosts, sender.url))
        throw new Refusal(
          'invalidRequest',
          `The secret '${staticName}' may be sent to ${hosts!.join(', ')} only, not to '${new URL(sender.url).hostname}'.`,
        )
    }
}
