// Reads the policies to price from a file.
import { readFileSync } from 'node:fs'
import { isJsonObject, type JsonObject } from '../../src/kernel/json.ts'
import { readJson } from '../../src/product/check/json/read.ts'
import { EXIT, Failure, usage } from '../exit.ts'
import { fileProblem } from '../file-problem.ts'

/** One policy of the file. `policy` is the body of POST /policy, `values` are those of its policyholder. */
export type PolicyCase = {
  readonly name: string | undefined
  readonly policy: Readonly<Record<string, unknown>>
  readonly values: unknown
}

/**
 * Reads the body of POST /policy; or an object with that as `policy` and the body of POST /policyholder/create as
 * `policyholder`; or a list of these, each with a `name` and the rest as its `request`, as in worked.json of the examples.
 */
export function readPolicyFile(file: string): PolicyCase[] {
  let text: string
  try {
    // Editors on Windows write a byte-order mark before the text.
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (problem) {
    throw usage(`The policy file '${file}' cannot be read: ${fileProblem(problem)}.`)
  }
  const document = readJson(text)
  if ('message' in document)
    throw new Failure(EXIT.refused, `${file}:${document.line}:${document.column}: ${document.message}`)
  const entries = Array.isArray(document.value) ? (document.value as unknown[]) : [document.value]
  if (entries.length === 0) throw new Failure(EXIT.refused, `${file} is a list without policies.`)
  return entries.map((entry, index) => policyCase(entry, entries.length > 1 ? `${file}[${index}]` : file))
}

function policyCase(entry: unknown, place: string): PolicyCase {
  const { name, request = entry } = isJsonObject(entry) ? entry : {}
  const { policyholder, policy = request } = isJsonObject(request) ? request : {}
  if (!isJsonObject(policy) || (policyholder !== undefined && !isJsonObject(policyholder)))
    throw new Failure(
      EXIT.refused,
      `${place} is not a policy. It must be the body of POST /policy, or an object with that body as 'policy' and a 'policyholder'.`,
    )
  return {
    name: typeof name === 'string' ? name : undefined,
    policy,
    values: (policyholder as JsonObject | undefined)?.values ?? {},
  }
}
