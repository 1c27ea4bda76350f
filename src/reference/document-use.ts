// What the newest configuration says of the documents that a template or a static document is used for: what they belong
// to, and when they are made.
import type { RequestContext } from '../platform/context.ts'
import { loadConfiguration, type VersionRow } from '../product/cache.ts'
import { type Configuration, type DocumentDefinition, documentDefinitions } from '../product/configuration.ts'
import type { ResourceResponse } from './contract.ts'
import type { Resource } from './resource.ts'

type DocumentUse = Pick<ResourceResponse, 'scope' | 'trigger'>

/** By static name. */
export type DocumentUses = ReadonlyMap<string, DocumentUse>

const NONE: DocumentUses = new Map()

/** Endings that names of templates have in a configuration, and static names have not. */
const ENDING = /(?:\.template)?\.(?:liquid|vm|velocity)$/

/** The static name of the resource that takes the place of the configuration's template of that name. */
export const staticNameOf = (templateName: string): string => templateName.replace(ENDING, '')

export const isOfDocuments = ({ type }: Resource): boolean =>
  type === 'documentTemplate' || type === 'staticDocument'

/** Reads the configuration, of which `newest` is the latest version, only where a resource is used for documents. */
export async function documentUses(
  { env, tenant, calls }: RequestContext,
  newest: VersionRow | undefined,
  resources: readonly Resource[],
): Promise<DocumentUses> {
  if (!newest || !resources.some(isOfDocuments)) return NONE
  const { configuration } = await loadConfiguration(env, tenant, newest.hash, calls)
  return usesIn(configuration)
}

function usesIn({ products }: Pick<Configuration, 'products'>): DocumentUses {
  const byTemplate = Map.groupBy(
    Object.values(products).flatMap(product => documentDefinitions(product)),
    one => staticNameOf(one.templateName),
  )
  return new Map(
    [...byTemplate].map(([name, documents]) => [
      name,
      { ...agreed('scope', documents), ...agreed('trigger', documents) },
    ]),
  )
}

/** What all documents say that say anything of it; nothing where they differ. */
function agreed(name: keyof DocumentUse, documents: readonly DocumentDefinition[]): DocumentUse {
  const said = new Set(documents.flatMap(one => one[name] ?? []))
  return said.size === 1 ? { [name]: [...said][0] } : {}
}
