// Items of secrets that plugins ask for. Each read is in the audit trail before the plugin has the value.
import { type AuditEntry, auditRows } from '../../access/audit/store.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Query } from '../../platform/database.ts'
import { HOME_SHARD, homeDatabase } from '../../platform/tenancy.ts'
import { readInForce } from './sending.ts'

type Asked = { readonly staticName: string; readonly item: string }
type Given = readonly [staticName: string, item: string, value: unknown]

/** The items of the secrets in force, for no jurisdiction; null where there is none. */
export async function secretsForPlugin(
  context: RequestContext,
  asked: readonly Asked[],
  plugin: string,
): Promise<Given[]> {
  const secrets = await readInForce(context, [...new Set(asked.map(one => one.staticName))])
  const given = asked.map(({ staticName, item }): Given => {
    const items = secrets.get(staticName)?.items
    return [staticName, item, items && Object.hasOwn(items, item) ? items[item] : null]
  })
  const entries = [...secrets.keys()].flatMap((staticName): AuditEntry[] => {
    const items = given.filter(([of, , value]) => of === staticName && value !== null).map(([, item]) => item)
    return items.length === 0
      ? []
      : [{ action: 'secrets.read', subject: staticName, details: { staticName, items, plugin } }]
  })
  const database = homeDatabase(context)
  const rows = auditRows(database, context, HOME_SHARD, entries)
  if (rows.length > 0) await database.batch(rows as [Query, ...Query[]])
  return given
}
