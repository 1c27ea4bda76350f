import type { z } from 'zod'
import { ArchiveRefused } from '../../../../packages/zip/refusal.ts'
import { KIND_WORDS } from '../../../platform/wire-problem.ts'
import type { ArchiveFile } from '../../archive/read.ts'
import type { Place, Report } from '../report.ts'
import { type JsonPath, pathText, readJson } from './read.ts'

/** A JSON file as its schema sees it. What the schema refuses is reported and left out. */
export type Decoded<T> = { value: T; place: (path: JsonPath) => Place }

/** A file's text, or undefined with the reason reported. */
export function readText(file: ArchiveFile, report: Report): string | undefined {
  try {
    return file.text()
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error
    report.error({ path: file.path }, error.code, error.message)
    return undefined
  }
}

/** A JSON file's value with every `null` taken as absent, or undefined with the reason reported. */
export function readJsonFile(file: ArchiveFile, report: Report): Decoded<unknown> | undefined {
  const text = readText(file, report)
  if (text === undefined) return undefined
  const document = readJson(text)
  if ('message' in document) {
    report.error(
      { path: file.path, line: document.line, column: document.column },
      'badSyntax',
      document.message,
    )
    return undefined
  }
  const place = (path: JsonPath): Place => ({ path: file.path, ...document.positionOf(path) })
  for (const path of document.duplicates)
    report.warning(
      place(path),
      'duplicateKey',
      `'${pathText(path)}' stands in its object more than once; the last one counts. Remove the others.`,
    )
  dropNulls(document.value)
  return { value: document.value, place }
}

function dropNulls(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const container = value as Record<string, unknown>
  for (const key of Object.keys(container))
    if (container[key] !== null) dropNulls(container[key])
    else if (Array.isArray(value)) container[key] = undefined
    else delete container[key]
}

/** Rounds of leaving out what the schema refuses: one for each level that a refusal can climb. */
const MOST_ROUNDS = 12

/**
 * Reads a file by its schema. A problem takes out only the value concerned, or the list entry that cannot do
 * without it, so that the rest is still checked: all problems are reported, not the first. Undefined when nothing
 * is left. `schemaOf` is told the root, for files that may have one of several shapes.
 */
export function decodeFile<T>(
  file: ArchiveFile,
  schemaOf: (root: unknown) => z.ZodType<T>,
  report: Report,
): Decoded<T> | undefined {
  const document = readJsonFile(file, report)
  if (document === undefined) return undefined
  const schema = schemaOf(document.value)
  const reported = new Set<string>()
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const result = schema.safeParse(document.value)
    if (result.success) return { value: result.data, place: document.place }
    for (const issue of result.error.issues) {
      const text = pathText(issue.path)
      if (!reported.has(text)) reportIssue(issue, document, schema, report)
      if (issue.code !== 'unrecognized_keys') reported.add(text)
    }
    // All are chosen before any is taken out: what one issue removes must not make the next one climb.
    const removals = result.error.issues.map(issue => removalOf(document.value, issue))
    for (const remove of removals) remove?.()
    if (removals.includes(undefined)) return undefined
  }
  return undefined
}

type Issue = z.core.$ZodIssue

function reportIssue(issue: Issue, document: Decoded<unknown>, schema: z.ZodType, report: Report): void {
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(schema, issue.path)
    for (const key of issue.keys) {
      const path = [...issue.path, key]
      report.warning(
        document.place(path),
        'unknownProperty',
        `'${pathText(path)}' is not a property that is known here and is ignored. Correct its name or remove it.${report.meant(key, known)}`,
      )
    }
    return
  }
  const value = valueAt(document.value, issue.path)
  const text = issue.path.length > 0 ? `'${pathText(issue.path)}'` : 'The file'
  if (value === undefined && issue.path.length > 0)
    report.error(
      document.place(issue.path),
      'missingProperty',
      `${text} is missing; it must be ${expectation(issue)}.`,
    )
  else
    report.error(
      document.place(issue.path),
      'badValue',
      `${text} must be ${expectation(issue)}, not ${description(value)}.${meantValue(issue, value, report)}`,
    )
}

/** Of words that are listed the one that was meant. */
const meantValue = (issue: Issue, value: unknown, report: Report): string =>
  issue.code === 'invalid_value' && typeof value === 'string'
    ? report.meant(value, issue.values.map(String))
    : ''

function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return KIND_WORDS[issue.expected] ?? issue.expected
    case 'invalid_value':
      return `one of ${issue.values.map(value => `'${String(value)}'`).join(', ')}`
    case 'too_small':
      return issue.origin === 'string' ? 'text that is not empty' : `at least ${issue.minimum}`
    case 'too_big':
      return `at most ${issue.maximum}`
    default:
      return issue.message
  }
}

function description(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = typeof value === 'string' ? `'${value}'` : String(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

function valueAt(root: unknown, path: JsonPath): unknown {
  let value = root
  for (const key of path)
    value =
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined
  return value
}

/**
 * Takes out the value that the issue is about, or the nearest one around it that is there. Undefined when that
 * would be the whole file.
 */
function removalOf(root: unknown, issue: Issue): (() => void) | undefined {
  if (issue.code === 'unrecognized_keys') {
    const object = valueAt(root, issue.path) as Record<string, unknown>
    return () => {
      for (const key of issue.keys) delete object[key]
    }
  }
  for (let length = issue.path.length; length > 0; length -= 1) {
    const container = valueAt(root, issue.path.slice(0, length - 1)) as
      | Record<PropertyKey, unknown>
      | undefined
    const key = issue.path[length - 1]!
    if (container?.[key] === undefined) continue
    return () => {
      if (Array.isArray(container)) container[key as number] = undefined
      else delete container[key]
    }
  }
  return undefined
}

type Definition = {
  type: string
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  valueType?: z.ZodType
  innerType?: z.ZodType
  options?: readonly z.ZodType[]
  in?: z.ZodType
  out?: z.ZodType
}

const definitionOf = (schema: z.ZodType): Definition => schema._zod.def as unknown as Definition

/** Names of the properties that an object at the path may have; none where the schema does not say. */
function knownKeys(schema: z.ZodType, path: JsonPath): string[] {
  const [next, ...rest] = path
  return bare(schema).flatMap(({ type, shape = {}, element, valueType }) => {
    if (next === undefined) return type === 'object' ? Object.keys(shape) : []
    const inner = type === 'object' ? shape[String(next)] : (element ?? valueType)
    return inner ? knownKeys(inner, rest) : []
  })
}

/** What is left of a schema without what only makes it optional or reads it first; of a choice, each. */
function bare(schema: z.ZodType): Definition[] {
  const definition = definitionOf(schema)
  const { innerType, options, in: input, out: output } = definition
  if (innerType) return bare(innerType)
  if (options) return options.flatMap(bare)
  if (!input || !output) return [definition]
  return bare(definitionOf(input).type === 'transform' ? output : input)
}
