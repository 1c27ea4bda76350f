// Converts resources and groups to responses.
import type { RequestContext } from '../platform/context.ts'
import { loadConfiguration, type VersionRow } from '../product/cache.ts'
import { type Configuration, type DocumentDefinition, documentDefinitions } from '../product/configuration.ts'
import { type ResourceType, staticNameOf } from '../product/resources.ts'
import type {
  BasicResourceResponse,
  NothingInForceResponse,
  ResourceGroupResponse,
  ResourceResponse,
} from './contract.ts'
import type { Considered, Resource, ResourceGroup, Selecting, Selection } from './resource.ts'

const dateTime = (at: number): string => new Date(at).toISOString()

/** The name of a resource's locator in responses, by type. Secrets have none. */
const LOCATOR_NAMES = {
  table: 'lookupTableLocator',
  rangeTable: 'rangeTableLocator',
  constraintTable: 'constraintTableLocator',
  documentTemplate: 'template',
  documentTemplateSnippet: 'template',
  staticDocument: 'staticDocumentLocator',
  customFont: 'fontLocator',
  secret: undefined,
} as const satisfies Record<ResourceType, keyof BasicResourceResponse | undefined>

/** Returns the properties that all resources have. The type decides in which property the revision is. */
export function basicResourceResponse(resource: Resource): BasicResourceResponse {
  const { name, type, staticName, jurisdictions, createdAt, createdBy, revision, templateFormat } = resource
  const locatorName = LOCATOR_NAMES[type]
  return {
    name,
    resourceType: type,
    createdAt: dateTime(createdAt),
    createdBy,
    staticName,
    jurisdictions: [...jurisdictions],
    ...(locatorName && { [locatorName]: revision }),
    ...(templateFormat && { templateFormat }),
  }
}

export const resourceResponse = (resource: Resource, uses: DocumentUses): ResourceResponse => ({
  ...basicResourceResponse(resource),
  ...(resource.format && { format: resource.format as ResourceResponse['format'] }),
  ...(resource.type === 'staticDocument' && { rendering: 'prerendered' as const }),
  ...(resource.type === 'documentTemplate' && { rendering: 'dynamic' as const }),
  ...(isOfDocuments(resource) && uses.get(resource.staticName)),
})

type Explanation = NonNullable<ResourceResponse['explanation']>

const REASONS = {
  fits: 'it has a matching instance, and no group that began later has one',
  nothing: 'it has no instance of the static name',
  otherPlace: 'its instances are for other jurisdictions',
} as const

/**
 * Explains why a resource is in force: lists the groups that were considered, newest start first, and what the last one contains
 * for the jurisdiction.
 */
export function explainSelection(
  resource: Resource,
  { chosen, considered }: Selection<Resource>,
  jurisdiction: string | undefined,
): Explanation {
  return {
    ...(chosen && {
      group: chosen.group.name,
      groupLocator: chosen.group.locator,
      selectionStartTime: dateTime(chosen.group.selectionStart),
    }),
    revision: resource.revision,
    reasons: [
      ...considered.map(outcomeOf),
      ...(chosen ? [whyOfGroup(chosen.resource, jurisdiction)] : []),
      ...(chosen && chosen.resource.name !== resource.name
        ? [`So '${chosen.resource.name}' is in force at that time and place, and '${resource.name}' is not.`]
        : []),
    ],
  }
}

const outcomeOf = ({ group, outcome }: Considered): string =>
  `Group '${group.name}' from ${dateTime(group.selectionStart)}: ${REASONS[outcome]}.`

/** Explains why no resource of the static name is in force, with a reason for every group that contains one. */
export function nothingInForce(
  staticName: string,
  groups: readonly ResourceGroup[],
  { considered }: Selection<Resource>,
  { at, jurisdiction }: Selecting,
): NothingInForceResponse {
  const others = groups.filter(group => !considered.some(one => one.group === group))
  const place = jurisdiction === undefined ? '' : ` in '${jurisdiction}'`
  return {
    staticName,
    explanation: {
      reasons: [
        ...considered.map(outcomeOf),
        ...others.map(group =>
          group.retired
            ? `Group '${group.name}' is retired.`
            : `Group '${group.name}' begins at ${dateTime(group.selectionStart)}, which is later.`,
        ),
        ...(groups.length === 0 ? [`No group has a resource of the static name '${staticName}'.`] : []),
        `So no resource of the static name '${staticName}' is in force at ${dateTime(at)}${place}.`,
      ],
    },
  }
}

function whyOfGroup({ name, jurisdictions }: Resource, jurisdiction: string | undefined): string {
  if (jurisdictions.length === 0)
    return jurisdiction === undefined
      ? `'${name}' is for every jurisdiction, and none was requested.`
      : `'${name}' is for every jurisdiction, and the group has none for '${jurisdiction}' alone.`
  return jurisdiction === undefined
    ? `'${name}' is the only one in the group, and no jurisdiction was requested.`
    : `'${name}' is for '${jurisdiction}'.`
}

export const groupResponse = (group: ResourceGroup): ResourceGroupResponse => ({
  locator: group.locator,
  name: group.name,
  selectionStartTime: dateTime(group.selectionStart),
  createdAt: dateTime(group.createdAt),
  createdBy: group.createdBy,
  retired: group.retired,
  resourceNames: [...group.resourceNames],
})

// How the documents of the newest configuration use a template or static document: what they are about, and when they are made.

type DocumentUse = Pick<ResourceResponse, 'scope' | 'trigger'>

type DocumentUses = ReadonlyMap<string, DocumentUse>

const NONE: DocumentUses = new Map()

const isOfDocuments = ({ type }: Resource): boolean =>
  type === 'documentTemplate' || type === 'staticDocument'

/** Reads the configuration only if one of the resources can be used for documents. `newest` is the latest version. */
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
      { ...sharedUse('scope', documents), ...sharedUse('trigger', documents) },
    ]),
  )
}

/** The value that all documents with such a property share; nothing if they differ. */
function sharedUse(name: keyof DocumentUse, documents: readonly DocumentDefinition[]): DocumentUse {
  const values = new Set(documents.flatMap(document => document[name] ?? []))
  return values.size === 1 ? { [name]: [...values][0] } : {}
}
