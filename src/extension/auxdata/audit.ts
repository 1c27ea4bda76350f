// What is told of changes of auxiliary data: which keys of which locator, and by which plugin. Never the values.
import type { AuditEntry } from '../../access/audit/store.ts'

/** Keys that one entry lists. */
const MOST_KEYS = 200

type Change = { readonly locator: string; readonly key: string; readonly plugin?: string }

/** The entries of changes that are made together, one for each locator and plugin, or several where there are many keys. */
export function auditOf(changes: readonly Change[]): AuditEntry[] {
  const groups = Map.groupBy(changes, ({ locator, plugin }) => JSON.stringify([locator, plugin]))
  return [...groups.values()].flatMap(group => {
    const { locator, plugin } = group[0]!
    const keys = [...new Set(group.map(one => one.key))]
    const entries: AuditEntry[] = []
    for (let at = 0; at < keys.length; at += MOST_KEYS)
      entries.push({
        action: 'auxdata.write',
        subject: locator,
        details: { keys: keys.slice(at, at + MOST_KEYS), ...(plugin !== undefined && { plugin }) },
      })
    return entries
  })
}
