import { forTenant, jsonText, type Route } from '../../platform/http/route.ts'
import * as contract from '../../policyholders/contract.ts'
import {
  createPolicyholder,
  getPolicyholder,
  listPolicyholders,
  overwriteData,
  updatePolicyholder,
} from './service.ts'

const { get, patch, post } = forTenant('Policyholders')
const policyholder = { schema: contract.PolicyholderResponse, description: 'The policyholder.' }

export const policyholderRoutes: readonly Route[] = [
  post('/policyholder/create', {
    summary: 'Create a policyholder',
    description:
      'To refer to a sub-entity before it has a locator, send its `localId` as the value of the field whose name is its `ontologyUri`.',
    permission: 'policyholders.write',
    body: { schema: contract.PolicyholderCreateRequest, required: true },
    answer: policyholder,
    handle: async ({ body }, context) => jsonText(await createPolicyholder(context, body)),
  }),
  post('/policyholder/update', {
    summary: 'Update a policyholder',
    description:
      'Values that you send replace the stored ones; `null` and an empty list remove them; other values stay. Responds with 409 if `version` is not the stored version.',
    permission: 'policyholders.write',
    body: { schema: contract.PolicyholderUpdateRequest, required: true },
    answer: policyholder,
    handle: async ({ body }, context) => jsonText(await updatePolicyholder(context, body)),
  }),
  get('/policyholders', {
    summary: 'List or search policyholders',
    description:
      'In order of creation. `searchField` names a searchable field of the dictionary; `searchValue` finds policyholders with that value, `searchPrefix` those with a value that begins with it. Letter case is ignored. Dates can also be searched as `YYYY-MM-DD`. Whether a value can be searched depends on the dictionary at the time when it was written.',
    permission: 'policyholders.list',
    query: contract.PolicyholderListQuery,
    answer: {
      schema: contract.PolicyholderPageResponse,
      description: 'A page. It may be shorter than requested.',
    },
    handle: ({ query }, context) => listPolicyholders(context, query),
  }),
  get('/policyholder/{policyholderLocator}', {
    summary: 'Get a policyholder',
    permission: 'policyholders.read',
    answer: policyholder,
    handle: ({ params }, context) => getPolicyholder(context, params.policyholderLocator),
  }),
  patch('/policyholder/{policyholderLocator}/overwriteData', {
    worksWhenFull: true,
    summary: 'Permanently overwrite data of a policyholder',
    description:
      'Replaces the values of the field with the text: in this and every earlier version, in sub-entities, search terms and stored responses, and as whole words in underwriting notes, descriptions of fees and taxes, events of plugins and auxiliary data. Quick quotes and logs of plugins and services are removed, and documents from templates are created again. docs/security.md lists what it does not reach. An empty text removes the values. Creates a new version. It cannot be undone.',
    permission: 'policyholders.overwrite',
    body: { schema: contract.PolicyholderOverwriteDataRequest, required: true },
    answer: { schema: contract.PolicyholderOverwriteDataResponse, description: 'Done.' },
    handle: async ({ params, body }, context) =>
      jsonText(await overwriteData(context, params.policyholderLocator, body)),
  }),
]
