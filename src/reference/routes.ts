import { forTenant, type Route } from '../platform/http/route.ts'
import * as contract from './contract.ts'
import {
  createGroup,
  readGroup,
  readGroupList,
  readResourceList,
  retireGroup,
  showResource,
  updateGroup,
} from './service.ts'

const { get, patch, post } = forTenant('Resource groups')
const resources = forTenant('Resources')

const SELECTION =
  'The resources of a group are in force together from `selectionStartTime`. For each static name, the latest group that has begun and contains a matching resource decides. A static name that a group does not contain keeps its resource from older groups. Resources for the jurisdiction override those for none.'

const group = { schema: contract.ResourceGroupResponse, description: 'The resource group.' }
const list = { description: 'In order of creation. `extended=false` returns only the array.' }

export const resourceRoutes: readonly Route[] = [
  post('/resource/{tenantLocator}/groups', {
    summary: 'Create a resource group',
    description: SELECTION,
    permission: 'resource-groups.write',
    body: { schema: contract.ResourceGroupCreateRequest, required: true },
    answer: group,
    handle: ({ body }, context) => createGroup(body, context),
  }),
  get('/resource/{tenantLocator}/groups/list', {
    summary: 'List resource groups',
    permission: 'resource-groups.list',
    query: contract.GroupListQuery,
    answer: { schema: contract.ResourceGroupList, ...list },
    handle: ({ query }, context) => readGroupList(query, context),
  }),
  get('/resource/{tenantLocator}/groups/{locator}', {
    summary: 'Get a resource group',
    permission: 'resource-groups.read',
    answer: group,
    handle: ({ params }, context) => readGroup(params.locator, context),
  }),
  patch('/resource/{tenantLocator}/groups/{locator}', {
    summary: 'Change a resource group',
    description:
      'Removals are applied before additions. The start of a group that is in force can also be changed.',
    permission: 'resource-groups.write',
    body: { schema: contract.ResourceGroupUpdateRequest, required: true },
    answer: group,
    handle: ({ params, body }, context) => updateGroup(params.locator, body, context),
  }),
  patch('/resource/{tenantLocator}/groups/{locator}/retire', {
    summary: 'Retire a resource group',
    description: 'This cannot be undone: the group is never selected again, but can still be read.',
    permission: 'resource-groups.write',
    answer: group,
    handle: ({ params }, context) => retireGroup(params.locator, context),
  }),
  resources.get('/resource/{tenantLocator}/resources/list', {
    summary: 'List resources',
    permission: 'resources.list',
    query: contract.ListQuery,
    answer: { schema: contract.ResourceList, ...list },
    handle: ({ query }, context) => readResourceList(query, undefined, context),
  }),
  resources.get('/resource/{tenantLocator}/resources/type/{type}/list', {
    summary: 'List resources of a type',
    permission: 'resources.list',
    query: contract.ListQuery,
    answer: { schema: contract.ResourceList, ...list },
    handle: ({ params, query }, context) => readResourceList(query, params.type, context),
  }),
  resources.get('/resource/{tenantLocator}/resources/{name}', {
    summary: 'Get a resource',
    description: `${SELECTION} \`explain=true\` returns which group selected the resource, with which contents, and why; if no resource of the static name is in force, it returns the reasons.`,
    permission: 'resources.read',
    query: contract.ExplainQuery,
    answer: {
      schema: contract.ResourceAnswer,
      description: 'The resource. With `explain=true`, only the explanation if none is in force.',
    },
    handle: ({ params, query }, context) => showResource(params.name, query, context),
  }),
]
