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
      'A sub-entity may be named before it has a locator: by its `localId`, as the value of the field that is called as its `ontologyUri`.',
    permission: 'policyholders.write',
    body: { schema: contract.PolicyholderCreateRequest, required: true },
    answer: policyholder,
    handle: async ({ body }, context) => jsonText(await createPolicyholder(context, body)),
  }),
  post('/policyholder/update', {
    summary: 'Update a policyholder',
    description:
      'Values that are sent replace those stored, `null` and an empty list remove, the others stay. Answers 409 when `version` is not the stored one.',
    permission: 'policyholders.write',
    body: { schema: contract.PolicyholderUpdateRequest, required: true },
    answer: policyholder,
    handle: async ({ body }, context) => jsonText(await updatePolicyholder(context, body)),
  }),
  get('/policyholders', {
    summary: 'List or search policyholders',
    description:
      'In the order of their creation. `searchField` names a searchable field of the dictionary; `searchValue` finds the policyholders with that value, `searchPrefix` those with a value that begins so, in any case. Dates are found as `YYYY-MM-DD` too. Values are found by what the dictionary said when they were written.',
    permission: 'policyholders.list',
    query: contract.PolicyholderListQuery,
    answer: {
      schema: contract.PolicyholderPageResponse,
      description: 'A page; it may be shorter than asked for.',
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
    summary: 'Overwrite data of a policyholder for good',
    description:
      'Puts the text in the place of the values of the field: in this and every earlier version, in sub-entities, search terms and stored answers, and as whole words in underwriting notes, descriptions of fees and taxes, events of plugins and auxiliary data. Quick quotes and logs of plugins and services are removed, and documents that templates made are made again. docs/security.md says what it does not reach. An empty text removes the values. Makes a new version. It cannot be undone.',
    permission: 'policyholders.overwrite',
    body: { schema: contract.PolicyholderOverwriteDataRequest, required: true },
    answer: { schema: contract.PolicyholderOverwriteDataResponse, description: 'Done.' },
    handle: async ({ params, body }, context) =>
      jsonText(await overwriteData(context, params.policyholderLocator, body)),
  }),
]
