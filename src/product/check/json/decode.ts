import type { z } from 'zod'
import { shortened } from '../../../kernel/text.ts'
import { KIND_WORDS } from '../../../platform/wire-problem.ts'
import type { ArchiveFile } from '../../archive/read.ts'
import { readText } from '../archive.ts'
import type { ArchiveReport, ValueReport } from '../report.ts'
import { type JsonPath, pathText, readJson } from './read.ts'

/** A decoded value. `report` adds to each problem its place in the file. */
export type Decoded<T> = { value: T; report: ValueReport }

/**
 * Parses a JSON file. Removes `null` values and a `$schema` at the root, which is for editors. Returns undefined if there is no
 * file or it cannot be parsed, which is reported.
 */
export function readJsonFile(
  file: ArchiveFile | undefined,
  archive: ArchiveReport,
): Decoded<unknown> | undefined {
  const text = file && readText(file, archive)
  if (file === undefined || text === undefined) return undefined
  const { path } = file
  const document = readJson(text)
  if ('message' in document) {
    const { line, column, message } = document
    archive.at({ path, line, column }).error('badSyntax', message)
    return undefined
  }
  const report = archive.ofValue(inside => ({ path, ...document.positionOf(inside) }))
  for (const key of document.duplicates) {
    const message = `'${pathText(key)}' occurs more than once in its object; the last one counts. Remove the others.`
    report.at(...key).warning('duplicateKey', message)
  }
  dropSchema(document.value)
  dropNulls(document.value)
  return { value: document.value, report }
}

/** Removes `$schema`, which names the schema for editors and is not part of the content. */
function dropSchema(root: unknown): void {
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return
  const object = root as Record<string, unknown>
  if (typeof object.$schema === 'string') delete object.$schema
}

function dropNulls(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const container = value as Record<PropertyKey, unknown>
  for (const key of Object.keys(container))
    if (container[key] === null) removeValue(container, key)
    else dropNulls(container[key])
}

/** Leaves a hole in a list, so that indexes still refer to places in the file. */
function removeValue(container: Record<PropertyKey, unknown>, key: PropertyKey): void {
  if (Array.isArray(container)) container[key as number] = undefined
  else delete container[key]
}

/**
 * The most rounds of removing invalid values. Each removal can make the enclosing value invalid, one level up in the next round.
 */
const MOST_ROUNDS = 12

/**
 * Decodes a file and reports all its problems, not just the first. A problem removes only the invalid value, or the list entry that
 * cannot exist without it; the rest is still checked. Returns undefined if there is no file, or if nothing remains. `schema` can be
 * a function that chooses the schema by the root value.
 */
export function decodeFile<T>(
  file: ArchiveFile | undefined,
  schema: z.ZodType<T> | ((root: unknown) => z.ZodType<T>),
  archive: ArchiveReport,
): Decoded<T> | undefined {
  const document = readJsonFile(file, archive)
  if (document === undefined) return undefined
  const { value, report } = document
  const known = typeof schema === 'function' ? schema(value) : schema
  const reported = new Set<string>()
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const result = known.safeParse(value)
    if (result.success) return { value: result.data, report }
    const issues = result.error.issues.map(issue => ({ ...issue, path: pathInFile(value, issue.path) }))
    for (const [at, issue] of issues.entries()) {
      const text = pathText(issue.path)
      const keysAtIssue = (): string[] => knownKeys(known, result.error.issues[at]!.path)
      if (!reported.has(text)) reportIssue(issue, document, keysAtIssue)
      if (issue.code !== 'unrecognized_keys') reported.add(text)
    }
    // Choose all removals before applying any. Otherwise one removal could make the next issue remove an enclosing value.
    const removals = issues.map(issue => removalOf(value, issue))
    for (const remove of removals) remove?.()
    if (removals.includes(undefined)) return undefined
  }
  return undefined
}

type Issue = z.core.$ZodIssue

/** Converts the path of an issue: removes the indexes of lists for which the file has a single value. */
function pathInFile(root: unknown, path: JsonPath): PropertyKey[] {
  const inFile: PropertyKey[] = []
  for (const key of path) {
    const container = valueAt(root, inFile)
    if (typeof key !== 'number' || container === undefined || Array.isArray(container)) inFile.push(key)
  }
  return inFile
}

/** Names that properties of fields have in other systems, and what is meant by them here. */
const NAMES_ELSEWHERE: readonly (readonly [RegExp, property: string, more?: string])[] = [
  [/^(?:visible_?(?:if|when)|show_?(?:if|when)|conditions|conditional|depends_?on)$/i, 'condition'],
  [/^(?:required|mandatory)$/i, 'optional', ', with the opposite value'],
  [/^(?:options|choices|enum)$/i, 'values'],
  [/^pattern$/i, 'regex'],
  [/^label$/i, 'title'],
]

function suggestProperty(key: string, known: readonly string[], report: ValueReport): string {
  const elsewhere = NAMES_ELSEWHERE.find(([name, property]) => name.test(key) && known.includes(property))
  if (!elsewhere) return report.suggestion(key, known)
  const [, property, more = ''] = elsewhere
  return ` Did you mean '${property}'${more}?`
}

/** `keysThere` returns the properties that are known at the issue's place. */
function reportIssue(
  issue: Issue,
  { value: root, report: file }: Decoded<unknown>,
  keysThere: () => string[],
): void {
  const report = file.at(...issue.path)
  if (issue.code === 'unrecognized_keys') {
    const known = keysThere()
    for (const key of issue.keys) {
      const message = `'${pathText([...issue.path, key])}' is not a known property here and is ignored. Correct its name or remove it.${suggestProperty(key, known, report)}`
      report.at(key).warning('unknownProperty', message)
    }
    return
  }
  const value = valueAt(root, issue.path)
  const text = issue.path.length > 0 ? `'${pathText(issue.path)}'` : 'The file'
  if (value === undefined && issue.path.length > 0)
    report.error('missingProperty', `${text} is missing; it must be ${expectation(issue)}.`)
  else {
    // Only text gets a suggestion: the nearest permitted value.
    const isWord = issue.code === 'invalid_value' && typeof value === 'string'
    const suggestion = isWord ? report.suggestion(value, issue.values.map(String)) : ''
    const [only, other] = issue.path.length === 0 && Array.isArray(value) ? keysThere() : []
    const wrapping = only !== undefined && other === undefined ? ` Write {"${only}": [ … ]}.` : ''
    report.error(
      'badValue',
      `${text} must be ${expectation(issue)}, not ${description(value)}.${suggestion}${wrapping}`,
    )
  }
}

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
  return shortened(text, 80)
}

const valueAt = (root: unknown, path: JsonPath): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    root,
  )

/** Returns undefined if the issue concerns the whole file. */
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
    if (container?.[key] !== undefined) return () => removeValue(container, key)
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

/** The properties that the schema defines at the path; empty if it defines none. */
function knownKeys(schema: z.ZodType, path: JsonPath): string[] {
  const [next, ...rest] = path
  return innerDefinitionsOf(schema).flatMap(({ type, shape = {}, element, valueType }) => {
    if (next === undefined) return type === 'object' ? Object.keys(shape) : []
    const inner = type === 'object' ? shape[String(next)] : (element ?? valueType)
    return inner ? knownKeys(inner, rest) : []
  })
}

/** The schemas inside optional, default, preprocess and union schemas. */
function innerDefinitionsOf(schema: z.ZodType): Definition[] {
  const definition = definitionOf(schema)
  const { innerType, options, in: input, out: output } = definition
  if (innerType) return innerDefinitionsOf(innerType)
  if (options) return options.flatMap(innerDefinitionsOf)
  if (!input || !output) return [definition]
  return innerDefinitionsOf(definitionOf(input).type === 'transform' ? output : input)
}
