// A tool is one value: its name, its input and output, and the call that it makes.
import type { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { dataResult, refusalResult } from './answers.ts'
import type { Host } from './host.ts'

export type Tool = {
  readonly name: string
  readonly title: string
  /** For the model: what the tool answers, and when to use it. */
  readonly about: string
  readonly input: z.ZodObject
  readonly output: z.ZodType
  /** `carries out`: the tool that changes records of customers. `makes`: creates something else, such as a report or a preview. */
  readonly effect: 'reads' | 'makes' | 'carries out'
  readonly run: (input: never, host: Host) => Promise<object>
}

/** Defines a tool. `run` gets the parsed input; a thrown `Refused` becomes the problem that the model reads. */
export const defineTool = <Input extends z.ZodObject, Output extends z.ZodType<object>>(
  tool: Omit<Tool, 'input' | 'output' | 'run'> & {
    readonly input: Input
    readonly output: Output
    readonly run: (input: z.output<Input>, host: Host) => Promise<z.input<Output> & object>
  },
): Tool => tool

/** Adds a tool to the server. What `run` throws becomes a result that says what to do. */
export function register(
  server: McpServer,
  { name, title, about, input, output, effect, run }: Tool,
  host: Host,
): void {
  server.registerTool(
    name,
    {
      title,
      description: about,
      inputSchema: input,
      outputSchema: resultOf(output),
      annotations: {
        readOnlyHint: effect === 'reads',
        destructiveHint: effect === 'carries out',
        idempotentHint: effect === 'reads',
        openWorldHint: false,
      },
    },
    async args => await run(args as never, host).then(dataResult, refusalResult),
  )
}

/** Cached per tool, since each request creates a server. */
const results = new WeakMap<z.ZodType, z.ZodObject>()

function resultOf(output: z.ZodType): z.ZodObject {
  const known =
    results.get(output) ??
    z.object({
      notice: z.string().describe('How to treat the data.'),
      data: output.describe('The requested data.'),
    })
  results.set(output, known)
  return known
}
