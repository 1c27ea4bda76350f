import { forTenant, type Route } from '../../platform/http/route.ts'
import {
  AuxDataKeySetResponse,
  AuxDataKeysQuery,
  AuxDataResponse,
  AuxDataSetCreateRequest,
} from './contract.ts'
import { mergeAuxData, readAuxData, readAuxKeys, removeAuxData } from './service.ts'

const { delete: remove, get, put } = forTenant('Auxiliary data')

export const auxDataRoutes: readonly Route[] = [
  put('/auxData/{locator}', {
    summary: 'Set auxiliary data of a locator',
    description:
      'Keys that the request does not name are unchanged. The locator is any text, whether or not it identifies a record. Auxiliary data is not versioned, and remains after the record is deleted.',
    permission: 'auxdata.write',
    body: { schema: AuxDataSetCreateRequest, required: true },
    answer: { description: 'Set.' },
    handle: ({ params, body }, context) => mergeAuxData(context, params.locator, body),
  }),
  get('/auxData/{locator}/{key}', {
    summary: 'Get auxiliary data',
    description: 'The value is empty if there is none.',
    permission: 'auxdata.read',
    answer: { schema: AuxDataResponse, description: 'The value.' },
    handle: ({ params }, context) => readAuxData(context, params.locator, params.key),
  }),
  get('/auxData/{locator}', {
    summary: 'List the keys of a locator',
    permission: 'auxdata.read',
    query: AuxDataKeysQuery,
    answer: { schema: AuxDataKeySetResponse, description: 'A page of the keys, in order.' },
    handle: ({ params, query }, context) => readAuxKeys(context, params.locator, query.page),
  }),
  remove('/auxData/{locator}/{key}', {
    summary: 'Delete auxiliary data',
    permission: 'auxdata.delete',
    answer: { description: 'Deleted, or not present.' },
    handle: ({ params }, context) => removeAuxData(context, params.locator, params.key),
  }),
]
