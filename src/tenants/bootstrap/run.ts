// Creates a new tenant's resources, one item at a time. After an interruption it runs again and continues with the waiting items.
// Each item has its own idempotency key, so none is created twice.

import { isRefused } from '../../kernel/errors.ts'
import { newUuid, type Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { ShardPlace, Timer } from '../../platform/events/timers.ts'
import type { Upload } from '../../platform/http/body/upload.ts'
import { HOME_SHARD, homeDatabase, tenantNow } from '../../platform/tenancy.ts'
import type { ArchiveFile } from '../../product/archive/read.ts'
import { loadConfiguration, withArchive } from '../../product/cache.ts'
import type { Bootstrap, BootstrapResource, ResourceType } from '../../product/resources.ts'
import { createSecret } from '../../reference/secrets/service.ts'
import { createGroup } from '../../reference/service.ts'
import { createUpload, type UploadKind } from '../../reference/uploads/service.ts'
import { type BootstrapItem, readItems, writeItem } from './store.ts'

/** For an item that fails because of the service. */
const MOST_ATTEMPTS = 5

/**
 * Creates the resources that still wait. A rejected resource gets its reason as `message`. After a failure of the service it
 * throws, and the timer calls it again, up to `MOST_ATTEMPTS` for each item.
 */
export async function bootstrapDue({ payload }: Timer, { env, tenant, calls }: ShardPlace): Promise<void> {
  const { hash, accountLocator, username } = payload as Record<string, string>
  const database = homeDatabase({ env, tenant, calls })
  const waiting = (await readItems(database)).filter(({ status }) => status === 'queued')
  if (waiting.length === 0) return
  const { configuration } = await loadConfiguration(env, tenant, hash!, calls)
  const { bootstrap } = configuration
  if (!bootstrap) return
  const background: Promise<unknown>[] = []
  const contextOf = ({ kind, name }: BootstrapItem): RequestContext => ({
    env,
    tenant,
    calls,
    caller: { accountLocator: accountLocator as Uuid, username: username!, accountType: 'account.internal' },
    requestId: newUuid(HOME_SHARD),
    now: tenantNow(tenant),
    idempotency: { key: `bootstrap:${kind}:${name}`, bodyHash: hash! },
    later: work => void background.push(work),
  })
  await withArchive(env, tenant, hash!, calls, async files => {
    const byPath = new Map(files.map(file => [file.path, file]))
    for (const item of waiting) {
      const attempts = item.attempts + 1
      await writeItem(database, { ...item, attempts })
      const outcome = await createItem(item, bootstrap, contextOf(item), path => byPath.get(path))
      if (outcome === 'later' && attempts < MOST_ATTEMPTS)
        throw new Error(`The item '${item.name}' could not be created now.`)
      const message = outcome === 'later' ? 'The service failed. Upload the item yourself.' : outcome
      const status = message === undefined ? 'created' : 'failed'
      await writeItem(database, { ...item, attempts, status, message: message ?? null })
    }
  })
  await Promise.allSettled(background)
}

type FileAt = (path: string) => ArchiveFile | undefined

/** Returns undefined on success, and otherwise the reason, or `later` when another attempt may succeed. */
async function createItem(
  { kind, name }: BootstrapItem,
  { resources, groups }: Bootstrap,
  context: RequestContext,
  fileAt: FileAt,
): Promise<string | undefined> {
  try {
    if (kind === 'resource') {
      const resource = resources.find(resource => resource.name === name)!
      await CREATORS[resource.type](resource, fileAt(resource.path)!, context)
    } else {
      const { selectionStart, resourceNames } = groups.find(group => group.name === name)!
      const group = { name, selectionStartTime: selectionStart, resourceNames: [...resourceNames] }
      await createGroup(group, context)
    }
    return undefined
  } catch (problem) {
    if (isRefused(problem)) return problem.message
    console.error(JSON.stringify({ at: 'bootstrap', kind, name, problem: String(problem) }))
    return 'later'
  }
}

type Creator = (item: BootstrapResource, file: ArchiveFile, context: RequestContext) => Promise<unknown>

function uploadOf({ path, bytes }: ArchiveFile, mediaType: string | undefined): Upload {
  const content = bytes() as Uint8Array<ArrayBuffer>
  return {
    mediaType,
    fileName: path.slice(path.lastIndexOf('/') + 1),
    stream: (async function* () {
      for (let at = 0; at < content.length; at += PIECE_BYTES) yield content.subarray(at, at + PIECE_BYTES)
    })(),
  }
}
const PIECE_BYTES = 65_536

const dialect = (path: string) => (/\.(vm|velocity)$/i.test(path) ? 'velocity' : 'liquid')

const uploadAs =
  (type: UploadKind['type'], mediaType?: string, formatOf?: typeof dialect): Creator =>
  ({ name, staticName, jurisdictions }, file, context) =>
    createUpload(
      { type, ...(formatOf && { templateFormat: formatOf(file.path) }) },
      { name, staticName, jurisdiction: jurisdictions },
      uploadOf(file, mediaType),
      context,
    )

/** `$schema` is only for editors. */
function itemsOf(file: ArchiveFile): Record<string, unknown> {
  const { $schema: _, ...items } = JSON.parse(file.text()) as Record<string, unknown>
  return items
}

const CREATORS: Readonly<Record<ResourceType, Creator>> = {
  table: uploadAs('table', 'text/csv'),
  rangeTable: uploadAs('rangeTable', 'text/csv'),
  constraintTable: uploadAs('constraintTable', 'text/csv'),
  documentTemplate: uploadAs('documentTemplate', 'text/plain', dialect),
  documentTemplateSnippet: uploadAs('documentTemplateSnippet', 'text/plain', dialect),
  staticDocument: uploadAs('staticDocument'),
  customFont: uploadAs('customFont'),
  secret: ({ name, staticName, jurisdictions, allowedHosts }, file, context) =>
    createSecret(
      {
        name,
        staticName,
        secret: itemsOf(file),
        jurisdictions: [...jurisdictions],
        ...(allowedHosts && { allowedHosts: [...allowedHosts] }),
      },
      {},
      context,
    ),
}
