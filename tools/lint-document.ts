// Checks the OpenAPI document of the service: the shape that OpenAPI 3.1 requires, and the rules of document-rules.ts. Part of
// `npm run lint`; uses no network.
import { Validator } from '@seriousme/openapi-schema-validator'
import { loadDocument } from '../scripts/routes.ts'
import { type Document, faultsOf } from './document-rules.ts'

const document: Document = JSON.parse(await loadDocument())
const { valid, errors } = await new Validator().validate(document)
const faults = valid ? faultsOf(document) : [errors].flat().map(error => JSON.stringify(error))
for (const fault of faults) console.error(fault)
console.info(
  faults.length === 0
    ? 'The OpenAPI document is valid.'
    : `The OpenAPI document has ${faults.length} faults.`,
)
process.exitCode = faults.length === 0 ? 0 : 1
