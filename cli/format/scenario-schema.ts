// The JSON Schema of scenarios: steps with the bodies of the interface, and expectations. Values are loose, because a scenario
// writes days for times, names for locators, and numbers with or without quotes. Names are strict.
import { z } from 'zod'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { ScenarioForm } from '../scenario/format.ts'
import { OTHER_STEPS, STEPS, type StepDefinition } from '../scenario/steps.ts'
import { PARTS } from '../scenario/view.ts'
import type { JsonSchema } from './json-schema.ts'

const asJson = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    cycles: 'ref',
  }) as JsonSchema

/** Returns the names and descriptions of a body, without the types of its values. */
function named(schema: JsonSchema & { allOf?: JsonSchema[] }): JsonSchema {
  const { description, properties, items, anyOf, allOf } = schema
  const about = description === undefined ? {} : { description }
  const object = [schema, ...(anyOf ?? []), ...(allOf ?? [])].find(one => one.properties)
  const list = [schema, ...(anyOf ?? [])].find(one => one.items)
  if (properties || object)
    return {
      ...about,
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(object!.properties!).map(([name, one]) => [name, named(one)]),
      ),
      additionalProperties: false,
    }
  if (items || list) return { ...about, type: 'array', items: named(list!.items!) }
  return about
}

/** A step may have no body. */
const orNothing = (schema: JsonSchema): JsonSchema => ({ ...schema, type: ['object', 'null'] })

function bodyOf({ does, body, otherwise }: StepDefinition): JsonSchema {
  const bodies = [body, otherwise?.body].flatMap(one => (one ? [named(asJson(one))] : []))
  const properties = Object.assign({}, ...bodies.map(one => one.properties ?? {})) as Record<
    string,
    JsonSchema
  >
  // Steps up to the issue have these in addition to the body.
  const more = { issue: {}, state: {} }
  return orNothing({ description: does, properties: { ...more, ...properties }, additionalProperties: false })
}

const expectation: JsonSchema = {
  description: 'What is expected; only what is written is compared. Left empty, `--update` fills it in.',
  type: ['object', 'null'],
  properties: {
    ...Object.fromEntries(Object.entries(PARTS).map(([name, { says }]) => [name, { description: says }])),
    refused: {
      description: 'The step is refused: the code of the error, or `code` and a part of its `message`.',
      anyOf: [{ type: 'string' }, { type: 'object', properties: { code: {}, message: {} } }],
    },
  },
  additionalProperties: false,
}

const TIME = 'A day as 2027-01-31, or a time as 2027-01-31 14:30.'

function step(): JsonSchema {
  const bodies = Object.entries(STEPS as Record<string, StepDefinition>).map(([name, one]) => [
    name,
    bodyOf(one),
  ])
  const others = Object.entries(OTHER_STEPS).map(([name, does]) => [name, orNothing({ description: does })])
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries([...bodies, ...others]),
      at: { description: `When it is done: ${TIME} Left out: at the time of the step before.` },
      of: { description: 'Which record it acts on: its number, or the name that a step gave it by `as`.' },
      as: { description: 'Names the record that the step makes.', type: 'string' },
      why: { description: 'For readers.', type: 'string' },
      expect: expectation,
    },
    additionalProperties: false,
  }
}

/** Returns the schema of a file with one scenario, or a list of them. */
export function scenarioSchema(): JsonSchema {
  const form = asJson(ScenarioForm)
  const policy = named(asJson(PolicyCreateRequest))
  const scenario: JsonSchema = {
    ...form,
    properties: {
      ...form.properties,
      policy: {
        description: form.properties!.policy!.description!,
        anyOf: [{ type: 'string' }, policy],
      },
      expect: expectation,
      expected: expectation,
      steps: {
        description: 'What happens to the policy, in the order of time.',
        type: 'array',
        items: step(),
      },
    },
  }
  const { $schema, ...one } = scenario
  return { $schema, title: 'A scenario, or a list of them', anyOf: [one, { type: 'array', items: one }] }
}
