// What a group becomes (resources brief 2).
import { alreadyExists, invalidRequest, tooLarge, wrongState } from '../../kernel/errors.ts'
import { clashes, MOST_GROUP_RESOURCES } from '../../product/resources.ts'
import type { ResourceGroupCreateRequest, ResourceGroupUpdateRequest } from '../contract.ts'
import type { Resource, ResourceGroup } from '../resource.ts'

const MOST_NAMED = 50

export const newGroup = (
  { name, selectionStartTime, resourceNames }: ResourceGroupCreateRequest,
  made: Pick<ResourceGroup, 'locator' | 'createdAt' | 'createdBy'>,
): ResourceGroup => ({
  ...made,
  name,
  selectionStart: selectionStartTime,
  retired: false,
  version: 1,
  resourceNames: [...new Set(resourceNames)],
})

/** The group after the request: removals first, then additions. A retired group does not change (409). */
export function changedGroup(group: ResourceGroup, request: ResourceGroupUpdateRequest): ResourceGroup {
  if (group.retired)
    throw wrongState(`The resource group '${group.name}' is retired, for good; make another.`)
  const { name, selectionStartTime, addResources, removeResources } = request
  const strangers = removeResources.filter(one => !group.resourceNames.includes(one))
  if (strangers.length > 0)
    throw invalidRequest(`'removeResources' names what the group does not have: ${named(strangers)}.`)
  const kept = group.resourceNames.filter(one => !removeResources.includes(one))
  const resourceNames = [...new Set([...kept, ...addResources])]
  if (resourceNames.length > MOST_GROUP_RESOURCES)
    throw tooLarge(`A resource group has at most ${MOST_GROUP_RESOURCES} resources.`)
  return {
    ...group,
    name,
    selectionStart: selectionStartTime,
    resourceNames,
    version: group.version + 1,
  }
}

export const retiredGroup = (group: ResourceGroup): ResourceGroup => ({
  ...group,
  retired: true,
  version: group.version + 1,
})

/** Refuses names that no resource has (400), and two resources of which it would be open which is meant (409). */
export function checkMembers({ resourceNames }: ResourceGroup, members: readonly Resource[]): void {
  const known = new Set(members.map(one => one.name))
  const unknown = resourceNames.filter(one => !known.has(one))
  if (unknown.length > 0)
    throw invalidRequest(`There is no resource of these names: ${named(unknown)}. Upload it first.`)
  const [clash] = clashes(members)
  if (!clash) return
  const [one, other] = clash
  throw alreadyExists(
    `'${one.name}' and '${other.name}' both have the static name '${one.staticName}' for the same jurisdictions; a group has one of them.`,
  )
}

const named = (names: readonly string[]): string =>
  names
    .slice(0, MOST_NAMED)
    .map(name => `'${name}'`)
    .join(', ') + (names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '')
