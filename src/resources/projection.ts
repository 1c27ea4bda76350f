// Resources and groups as answers show them.
import type { BasicResourceResponse, ResourceGroupResponse, ResourceResponse } from './contract.ts'
import type { Resource, ResourceGroup, ResourceType } from './resource.ts'
import type { Selection } from './selection.ts'

const dateTime = (at: number): string => new Date(at).toISOString()

/** Under which name a resource's locator stands; secrets have none. */
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

export const resourceResponse = (resource: Resource): ResourceResponse => ({
  ...basicResourceResponse(resource),
  ...(resource.format && { format: resource.format as ResourceResponse['format'] }),
  ...(resource.type === 'staticDocument' && { rendering: 'prerendered' as const }),
  ...(resource.type === 'documentTemplate' && { rendering: 'dynamic' as const }),
})

const REASONS = {
  fits: 'it has an instance that fits, and no group that began later has one',
  nothing: 'it has no instance of the static name',
  otherPlace: 'its instances are for other jurisdictions',
} as const

/** Why this resource: each group that was asked, newest start first, and what the last one has for the place. */
export function explained(
  resource: Resource,
  { chosen, considered }: Selection<Resource>,
  jurisdiction: string | undefined,
): NonNullable<ResourceResponse['explanation']> {
  return {
    ...(chosen && {
      group: chosen.group.name,
      groupLocator: chosen.group.locator,
      selectionStartTime: dateTime(chosen.group.selectionStart),
    }),
    revision: resource.revision,
    reasons: [
      ...considered.map(
        ({ group, outcome }) =>
          `Group '${group.name}' from ${dateTime(group.selectionStart)}: ${REASONS[outcome]}.`,
      ),
      ...(chosen ? [whyOfGroup(chosen.resource, jurisdiction)] : []),
      ...(chosen && chosen.resource.name !== resource.name
        ? [`So '${chosen.resource.name}' is in force then and there, and '${resource.name}' is not.`]
        : []),
    ],
  }
}

function whyOfGroup({ name, jurisdictions }: Resource, jurisdiction: string | undefined): string {
  if (jurisdictions.length === 0)
    return jurisdiction === undefined
      ? `'${name}' is for every jurisdiction, and none was named.`
      : `'${name}' is for every jurisdiction, and the group has none for '${jurisdiction}' alone.`
  return jurisdiction === undefined
    ? `'${name}' is the only one that the group has, and no jurisdiction was named.`
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
