// Problems of a request that breaks its contract. All are reported together, each as a sentence with the property, what it must be
// and what kind of value was sent. Never the value itself, which may be a password or personal data: messages are logged.
import type { z } from '@hono/zod-openapi'
import { ERROR_KINDS, type ErrorCode, Refusal } from '../kernel/errors.ts'
import { countText } from '../kernel/text.ts'

/** Problems listed in one response. The rest are counted. */
const MOST_PROBLEMS = 100
/** Characters of a property name that are shown. */
const SHOWN_LENGTH = 80

/** Words for zod's kinds of values. */
export const KIND_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const shortName = (name: PropertyKey): string => {
  const text = String(name)
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…` : text.toWellFormed()
}

/** Formats a path the way its author would write it: `exposures[0].perils[2].name`. Empty for the whole request. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (/^[\w$]+$/.test(String(part))) text += text === '' ? shortName(part) : `.${shortName(part)}`
    else text += `['${shortName(part)}']`
  }
  return text
}

const subject = (path: readonly PropertyKey[] = []): string =>
  path.length === 0 ? 'The request' : `'${pathText(path)}'`

function kind(input: unknown): string {
  if (input === null) return 'null'
  if (Array.isArray(input)) return 'a list'
  if (typeof input === 'object') return 'an object'
  if (typeof input === 'boolean') return 'true or false'
  if (typeof input === 'string') return 'text'
  return Number.isInteger(input) ? 'a number' : 'a fraction'
}

/** Builds a sentence from `expected`, with the kind of the actual value. */
const sentence = (path: readonly PropertyKey[] | undefined, expected: string, input: unknown): string =>
  input === undefined
    ? `${subject(path)} is missing; it ${expected}.`
    : `${subject(path)} ${expected}, not ${kind(input)}.`

/** Sets the message of a schema or check that can fail for one reason only: `z.string().regex(…, rule('must be …'))`. */
export const rule = (text: string) => ({
  error: (issue: z.core.$ZodRawIssue): string =>
    typeof issue.input === 'string' || issue.code === 'custom'
      ? `${subject(issue.path)} ${text}.`
      : sentence(issue.path, text, issue.input),
})

/** Reports from a transform or check that the value, or its part at `path`, breaks the rule `text`. */
export function reportProblem(ctx: z.core.ParsePayload, text: string, path: PropertyKey[] = []): void {
  ctx.issues.push({ code: 'custom', input: ctx.value, path, params: { rule: text } })
}

function boundMessage(issue: z.core.$ZodRawIssue & { code: 'too_big' | 'too_small' }): string {
  const limit = issue.code === 'too_big' ? issue.maximum : issue.minimum
  const side = issue.code === 'too_big' ? 'at most' : 'at least'
  if (issue.origin === 'string')
    return issue.code === 'too_small' && limit === 1
      ? 'must not be empty'
      : `must have ${side} ${countText(Number(limit), 'character')}`
  if (issue.origin === 'array') return `must have ${side} ${countText(Number(limit), 'entry', 'entries')}`
  return `must be ${side} ${limit}`
}

const alternatives = (values: readonly unknown[]): string => `must be one of ${quotedValues(values)}`

function quotedValues(values: readonly unknown[]): string {
  const shown = values.slice(0, 12).map(value => `'${String(value)}'`)
  return `${shown.join(', ')}${values.length > shown.length ? ` … (${values.length} in all)` : ''}`
}

/** The error map of every schema without its own message. */
export function describeProblem(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return sentence(issue.path, `must be ${KIND_WORDS[issue.expected] ?? issue.expected}`, issue.input)
    case 'invalid_value':
      return typeof issue.input === 'string'
        ? `${subject(issue.path)} ${alternatives(issue.values)}.`
        : sentence(issue.path, alternatives(issue.values), issue.input)
    case 'too_big':
    case 'too_small':
      return `${subject(issue.path)} ${boundMessage(issue)}.`
    case 'unrecognized_keys':
      return `${subject(issue.path)} has unknown properties: ${quotedValues(issue.keys)}.`
    case 'custom':
      return `${subject(issue.path)} ${issue.params?.rule ?? 'is not valid'}.`
    default:
      return `${subject(issue.path)} is not valid.`
  }
}

const isBound = ({ code }: z.core.$ZodIssue): boolean => code === 'too_big' || code === 'too_small'

/**
 * Returns the issues without the lengths of values that are of the wrong type anyway: zod counts the characters of a text in place
 * of a list.
 */
export function issuesOf({ issues }: z.core.$ZodError): readonly z.core.$ZodIssue[] {
  const placeOf = ({ path }: z.core.$ZodIssue): string => JSON.stringify(path)
  const wrongTypes = new Set(issues.filter(({ code }) => code === 'invalid_type').map(placeOf))
  return issues.filter(one => !isBound(one) || !wrongTypes.has(placeOf(one)))
}

/**
 * Returns 413 `tooLarge` when a list is too long, otherwise `code` (400). The message contains every problem. `fieldErrors` lists
 * each one with its place as `ontologyUri`.
 */
export function contractRefusal(
  error: z.core.$ZodError,
  code: Extract<ErrorCode, 'invalidRequest' | 'invalidParameter'>,
): Refusal {
  const issues = issuesOf(error)
  const tooLong = issues.some(issue => issue.code === 'too_big' && issue.origin === 'array')
  const errorCode = tooLong ? 'tooLarge' : code
  const shown = issues.slice(0, MOST_PROBLEMS)
  const more = issues.length - shown.length
  return new Refusal(
    errorCode,
    [...shown.map(issue => issue.message), ...(more > 0 ? [`There are ${more} more.`] : [])].join(' '),
    {
      fieldErrors: shown.map(issue => ({
        code: ERROR_KINDS[errorCode].api,
        ontologyUri: pathText(issue.path),
        validatorUri: issue.code,
        message: issue.message,
      })),
    },
  )
}
