// Writes docs/growth.md: the inputs that the test of growth doubles, from the OpenAPI document. npm run docs:growth
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadDocument } from '../scripts/routes.ts'
import { ACCEPTED } from '../test/growth/accepted.ts'
import { inputsOf } from '../test/growth/inputs.ts'
import { DOUBLINGS } from '../test/growth/proportion.ts'
import type { JsonSchema, Operation } from '../test/support/openapi.ts'

const INTRODUCTION = `# Growth

Written from the OpenAPI document by \`npm run docs:growth\`; a test holds it.

What a request takes may grow in proportion to what was sent, and no faster. \`test/growth/growth.long.service.test.ts\` doubles each
input below three times. It counts the rows that D1 reads and writes. Where nothing can be counted it takes the time: it fails
when four times the input takes more than ten times as long.

- Inputs come from the document: each list (\`[]\`), map (\`{}\`) and text of a JSON body, each text and list of the query, and
  each part of the path. Nobody has to name a new one. A schema that is in itself is doubled once.
- What is no JSON is in \`test/growth/uploads.ts\`: archives, tables, templates, files. An operation that takes an upload and is
  not there fails the test.
- What such requests send is often refused. Requests that must be accepted are in \`test/growth/accepted.ts\`, and their test
  fails when one is refused. Each is a story of some steps. The rows of a step may grow no faster than the size, and four times
  the size may take seven times as long. Every step finds the objects of policies without memory of the one before.
- A page of a list reads the same rows however many policies, policyholders, invoices, payments and events there are.
- \`test/growth/templates.domain.test.ts\` counts the nodes of templates, and
  \`packages/pdf/test/growth.long.domain.test.ts\` the work of PDFs.
- \`test/migration/growth.domain.test.ts\` counts the work of a migrated policy.
- After each file of service tests the plans of all statements that it sent are checked
  (\`test/support/query-plans\`): the JSON of a parameter is read once, and not for each row of something else.

## Requests that are accepted

`

const BY_OPERATION = `
## Inputs by operation

An operation without inputs takes no body, and nothing in its path or query that could be longer.

`

type Document = {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: Operation['parameters']
        requestBody?: { content: Record<string, { schema: JsonSchema }> }
      }
    >
  >
  components: { schemas: Record<string, JsonSchema> }
}

/** Returns the page for the document, which is given as text. */
export function growthPage(text: string): string {
  const { paths, components } = JSON.parse(text) as Document
  const resolve = (schema: JsonSchema): JsonSchema =>
    schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1)!] ?? {})
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => {
      const content = requestBody?.content ?? {}
      const inputs = inputsOf({ path, parameters, body: content['application/json']?.schema }, resolve)
      const names = [...new Set(inputs.map(({ name }) => name))].map(name => `\`${name}\``)
      const uploads = Object.keys(content).some(type => type !== 'application/json') ? ['uploads'] : []
      return `- \`${method.toUpperCase()} ${path}\`: ${[...names, ...uploads].join(', ') || 'none'}\n`
    }),
  )
  const accepted = ACCEPTED.map(
    ({ name, smallest }) => `- ${name}: ${DOUBLINGS.map(times => smallest * times).join(', ')}\n`,
  )
  return INTRODUCTION + accepted.join('') + BY_OPERATION + rows.join('')
}

if (import.meta.main)
  writeFileSync(join(import.meta.dirname, '../docs/growth.md'), growthPage(await loadDocument()))
