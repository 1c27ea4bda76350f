// Products and their fields, as tools and as resources.
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { bodyOf, clean, markAsData, Refused, resourceOf } from '../answers.ts'
import type { Host, Json } from '../host.ts'
import { defineTool } from '../tool.ts'
import { NameIn } from '../values.ts'

const ProductSummary = z.strictObject({
  name: z.string(),
  title: z.string(),
  exposures: z.array(z.string()),
  paymentSchedules: z.array(z.string()).describe('The first is the default.'),
})

const listProducts = defineTool({
  name: 'list_products',
  title: 'List products',
  about: 'Lists the products of the latest configuration. read_product has the fields of one.',
  effect: 'reads',
  input: z.strictObject({}),
  output: z.strictObject({
    timeZone: z.string().describe('Policies begin and end at midnight in this time zone.'),
    currency: z.string(),
    products: z.array(ProductSummary),
  }),
  async run(_, host) {
    const { timeZone, currency, products } = await bodyOf(host.products())
    return { timeZone, currency, products: products.map(summaryOf) }
  },
})

const summaryOf = ({ name, title, exposures, paymentSchedules }: Json) => ({
  name,
  title,
  exposures: exposures.map((one: Json) => one.name),
  paymentSchedules: paymentSchedules.map((one: Json) => one.name),
})

const Field: z.ZodType = z.strictObject({
  name: z.string(),
  title: z.string(),
  type: z.string(),
  required: z.boolean(),
  repeatable: z.boolean().optional(),
  searchable: z.boolean().optional(),
  onlyIf: z.array(z.strictObject({ field: z.string(), values: z.array(z.string()) })).optional(),
  values: z.array(z.string()).optional().describe('The only allowed values.'),
  pattern: z.string().optional(),
  minimum: z.string().optional(),
  maximum: z.string().optional(),
  most: z.number().optional().describe('The largest number of characters of a text, or of groups.'),
  table: z.string().optional().describe('Table with the allowed values.'),
  get fields() {
    return z.array(Field).optional().describe('Fields of a group.')
  },
})

const part = { name: z.string(), title: z.string(), fields: z.array(Field) }

const Product = z.strictObject({
  ...part,
  timeZone: z.string(),
  currency: z.string(),
  configVersion: z.number().int(),
  policyholderFields: z.array(Field),
  exposures: z.array(z.strictObject({ ...part, perils: z.array(z.strictObject(part)) })),
  paymentSchedules: z.array(z.strictObject({ name: z.string(), title: z.string() })),
  endorsements: z
    .array(z.strictObject({ name: z.string(), title: z.string(), askForReprice: z.boolean() }))
    .describe('Use a name as endorsementName of preview_endorsement.'),
  cancellations: z
    .array(z.strictObject({ name: z.string(), title: z.string(), categories: z.array(z.string()) }))
    .describe('Use these as name and category of preview_cancellation.'),
})

async function productNamed(host: Host, name: string) {
  const { products, ...shared } = await bodyOf(host.products())
  const found = products.find((one: Json) => one.name === name)
  if (found) return { ...shared, ...found }
  const message = `There is no product '${name.slice(0, 100)}'.`
  throw new Refused({ status: 400, body: { code: 'invalidRequest', message } })
}

const readProduct = defineTool({
  name: 'read_product',
  title: 'Read a product',
  about:
    'Shows the fields of a product, of its exposures and perils and of policyholders: names, types, allowed values, and which are required. Read it before you price, quote or endorse.',
  effect: 'reads',
  input: z.strictObject({ product: NameIn }),
  output: Product,
  run: ({ product }, host) => productNamed(host, product),
})

export const productTools = [listProducts, readProduct]

const LIST = 'bindery://products'

const json = { mimeType: 'text/plain' } as const

const contentsOf = async (uri: URL, reading: Promise<unknown>) => ({
  contents: [{ uri: uri.href, ...json, text: markAsData(clean(await resourceOf(reading))) }],
})

/** Returns the name in the address. One that is not encoded correctly stays as it is; no product has it. */
function decodedName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Adds the list of products and one resource for each product: JSON, marked as data. */
export function registerProductResources(server: McpServer, host: Host): void {
  server.registerResource(
    'products',
    LIST,
    { title: 'Products', description: 'The products of the latest configuration.', ...json },
    async uri =>
      contentsOf(
        uri,
        bodyOf(host.products()).then(({ products, ...shared }) => ({
          ...shared,
          products: products.map(summaryOf),
        })),
      ),
  )
  const list = async () => ({
    resources: (await resourceOf(bodyOf(host.products()))).products.map(({ name, title }: Json) => ({
      name: String(name),
      title: String(title),
      uri: `${LIST}/${encodeURIComponent(name)}`,
      ...json,
    })),
  })
  server.registerResource(
    'product',
    new ResourceTemplate(`${LIST}/{name}`, { list }),
    {
      title: 'A product',
      description: 'Its fields, exposures, perils, endorsements and cancellations.',
      ...json,
    },
    async (uri, { name }) => contentsOf(uri, productNamed(host, decodedName(String(name)))),
  )
}
