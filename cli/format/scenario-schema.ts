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
function schemaWithoutTypes(schema: JsonSchema & { allOf?: JsonSchema[] }): JsonSchema {
  const { description, properties, items, anyOf, allOf } = schema
  const about = description === undefined ? {} : { description }
  const object = [schema, ...(anyOf ?? []), ...(allOf ?? [])].find(one => one.properties)
  const list = [schema, ...(anyOf ?? [])].find(one => one.items)
  if (properties || object)
    return {
      ...about,
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(object!.properties!).map(([name, one]) => [name, schemaWithoutTypes(one)]),
      ),
      additionalProperties: false,
    }
  if (items || list) return { ...about, type: 'array', items: schemaWithoutTypes(list!.items!) }
  return about
}

/** A step may have no body. */
const nullable = (schema: JsonSchema): JsonSchema => ({ ...schema, type: ['object', 'null'] })

function bodyOf({ does, body, alternative }: StepDefinition): JsonSchema {
  const bodies = [body, alternative?.body].flatMap(one => (one ? [schemaWithoutTypes(asJson(one))] : []))
  const properties = Object.assign({}, ...bodies.map(one => one.properties ?? {})) as Record<
    string,
    JsonSchema
  >
  // Steps up to the issue have these in addition to the body.
  const more = { issue: {}, state: {} }
  return nullable({ description: does, properties: { ...more, ...properties }, additionalProperties: false })
}

const expectation: JsonSchema = {
  description:
    'The expected results. Only the listed properties are compared. If it is empty, `--update` fills it in.',
  type: ['object', 'null'],
  properties: {
    ...Object.fromEntries(Object.entries(PARTS).map(([name, { says }]) => [name, { description: says }])),
    refused: {
      description: 'The step is rejected: the code of the error, or `code` and a part of its `message`.',
      anyOf: [{ type: 'string' }, { type: 'object', properties: { code: {}, message: {} } }],
    },
  },
  additionalProperties: false,
}

const TIME = 'A day such as 2027-01-31, or a time such as 2027-01-31 14:30.'

function step(): JsonSchema {
  const bodies = Object.entries(STEPS as Record<string, StepDefinition>).map(([name, one]) => [
    name,
    bodyOf(one),
  ])
  const others = Object.entries(OTHER_STEPS).map(([name, does]) => [name, nullable({ description: does })])
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries([...bodies, ...others]),
      at: { description: `The time of the step: ${TIME} Default: the time of the previous step.` },
      of: {
        description:
          'The record that the step acts on: its number, or the name that an earlier step gave it with `as`.',
      },
      as: { description: 'A name for the record that the step creates.', type: 'string' },
      why: { description: 'A remark for readers.', type: 'string' },
      expect: expectation,
    },
    additionalProperties: false,
  }
}

/** Returns the schema of a file with one scenario, or a list of them. */
export function scenarioSchema(): JsonSchema {
  const form = asJson(ScenarioForm)
  const policy = schemaWithoutTypes(asJson(PolicyCreateRequest))
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
        description: 'The steps of the policy, in the order of time.',
        type: 'array',
        items: step(),
      },
    },
  }
  const { $schema, ...one } = scenario
  return { $schema, title: 'A scenario, or a list of them', anyOf: [one, { type: 'array', items: one }] }
}
