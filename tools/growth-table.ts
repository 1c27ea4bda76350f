// Writes docs/growth.md: the inputs that the test of growth doubles, from the OpenAPI document. npm run docs:growth
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadDocument } from '../scripts/routes.ts'
import { ACCEPTED } from '../test/growth/accepted.ts'
import { inputsOf } from '../test/growth/inputs.ts'
import { DOUBLINGS } from '../test/growth/proportion.ts'
import type { JsonSchema, Operation } from '../test/support/openapi.ts'

const INTRODUCTION = `# Growth

Generated from the OpenAPI document by \`npm run docs:growth\`; a test checks it.

The cost of a request may grow at most in proportion to its input. \`test/growth/growth.long.service.test.ts\` doubles each input
below three times, and counts the rows that D1 reads and writes. Where nothing can be counted, it measures the time, and fails if
four times the input takes more than ten times as long.

- Inputs come from the document: each list (\`[]\`), map (\`{}\`) and text of a JSON body, each text and list of the query, and
  each part of the path. New inputs are found automatically. A recursive schema is doubled once.
- Inputs other than JSON are in \`test/growth/uploads.ts\`: archives, tables, templates, files. The test fails if an operation
  with an upload is missing there.
- Such generated requests are often rejected. Requests that must be accepted are in \`test/growth/accepted.ts\`, and their test
  fails if one is rejected. Each consists of several steps. The rows of a step may grow no faster than the size, and four times
  the size may take at most seven times as long. Every step starts with policy objects that have nothing in memory.
- A page of a list reads the same number of rows for any number of policies, policyholders, invoices, payments and events.
- \`test/growth/templates.domain.test.ts\` counts the nodes of templates, and
  \`packages/pdf/test/growth.long.domain.test.ts\` the work of PDFs.
- \`test/migration/growth.domain.test.ts\` counts the work of a migrated policy.
- After each file of service tests, the query plans of all its statements are checked
  (\`test/support/query-plans\`): the JSON of a parameter must be read once, not once for each row of another table.

## Requests that are accepted

`

const BY_OPERATION = `
## Inputs by operation

An operation without inputs has no body, and nothing in its path or query that could be longer.

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
